/**
 * A tool's arguments in one line, `{owner: string, method: "get" | "list", page?: integer}`: enough to choose a tool, and usually enough to
 * call it. Not meant to be parsed. Used by `find_tools`.
 */
import type { JsonSchema } from '../tools/tool.ts';
import { isRecord } from '../json/wire-value.ts';
import { fixedChoices } from './schema-parts.ts';

/** Cuts after a complete argument at about `maxLength` characters, and states how many are missing. */
export function signatureText({ properties, required }: JsonSchema, maxLength: number): string {
  if (!isRecord(properties)) return '{}';
  const needed = new Set<unknown>(Array.isArray(required) ? required : []);
  // Required arguments come first, since they must not be cut.
  const names = Object.keys(properties).sort((a, b) => Number(needed.has(b)) - Number(needed.has(a)));
  const texts: string[] = [];
  let length = 0;
  for (const name of names) {
    const text = `${name}${needed.has(name) ? '' : '?'}: ${shortType(properties[name])}`;
    length += text.length + 2;
    if (length > maxLength) break;
    texts.push(text);
  }
  const more = names.length - texts.length;
  return `{${[...texts, ...(more > 0 ? [`… ${more} more`] : [])].join(', ')}}`;
}

const maxChoices = 8;
const maxChoiceLength = 40;

function shortType(schema: unknown, depth = 0): string {
  if (!isRecord(schema) || depth > 3) return 'any';
  const only = fixedChoices(schema);
  if (only !== null) return choices(only);
  const alternatives = [schema.anyOf, schema.oneOf].find(Array.isArray);
  if (alternatives !== undefined) {
    const types = alternatives.slice(0, maxChoices).map((part) => shortType(part, depth + 1));
    return [...new Set(types)].join(' | ');
  }
  const types = Array.isArray(schema.type) ? schema.type.filter((type) => typeof type === 'string').slice(0, maxChoices) : [schema.type];
  const named = types.flatMap((type) =>
    type === 'array' ? [`${shortType(schema.items, depth + 1)}[]`] : typeof type === 'string' ? [type] : [],
  );
  return named.length === 0 ? 'any' : named.join(' | ');
}

function choices(values: readonly unknown[]): string {
  const texts = values.slice(0, maxChoices).map((value) => (JSON.stringify(value) ?? 'null').slice(0, maxChoiceLength));
  return [...texts, ...(values.length > maxChoices ? ['…'] : [])].join(' | ');
}
