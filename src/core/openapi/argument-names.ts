/**
 * Chooses argument names for parameters and body members: their own names if legal and free. Legal means accepted by the strictest provider
 * (Anthropic: `^[a-zA-Z0-9_.-]{1,64}$`).
 */
import { distinctWireName } from '../names/names.ts';
import { isObjectMember } from '../names/reserved-names.ts';

/**
 * Returns a function that gives each caller a free name, in the order of calls. `where` becomes the prefix of a taken name (`query_id`).
 */
export function createArgumentNames(): (name: string, where: string) => string {
  const taken = new Set<string>();
  return (name, where) => {
    const plain = legalArgument(name, name);
    const argument = !taken.has(plain) ? plain : legalArgument(`${where}_${name}`, `${where} ${name}`);
    // Names that differ only in replaced characters get a hash of the full name.
    const free = taken.has(argument) ? distinctWireName(`${where} ${name} ${taken.size}`, argument) : argument;
    taken.add(free);
    return free;
  };
}

function legalArgument(name: string, identity: string): string {
  const legal = name.replace(/[^a-zA-Z0-9_.-]+/g, '_');
  const trimmed = legal === name ? name : legal.replace(/^_+|_+$/g, '');
  return trimmed === '' || trimmed.length > 64 || isObjectMember(trimmed) ? distinctWireName(identity, trimmed) : trimmed;
}
