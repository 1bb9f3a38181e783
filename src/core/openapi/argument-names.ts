/**
 * The names under which parameters and members of a body become arguments of one tool: their own where those are legal and free. Legal is
 * what the strictest provider takes for a field (Anthropic: `^[a-zA-Z0-9_.-]{1,64}$`).
 */
import { distinctWireName } from '../names.ts';
import { isObjectMember } from '../reserved-names.ts';

/** Gives a free name to each that asks, in the order of asking; `where` goes before a name that is taken (`query_id`). */
export function createArgumentNames(): (name: string, where: string) => string {
  const taken = new Set<string>();
  return (name, where) => {
    const plain = legalArgument(name, name);
    const argument = !taken.has(plain) ? plain : legalArgument(`${where}_${name}`, `${where} ${name}`);
    // Two that differ in what had to be replaced: each is known by the whole of its name.
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
