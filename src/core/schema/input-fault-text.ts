/** Texts for a fault in arguments: its path, the expected value and the received one. Written for models. */
import { typesOf } from './schema-parts.ts';
import { isRecord } from '../json/wire-value.ts';
import { cutToLength } from '../text/utf8.ts';

/** `a.b[0]`; an ambiguous key is quoted: `a["b.c"]`. */
export function fieldPath(path: readonly (string | number)[]): string {
  let text = '';
  for (const key of path) {
    if (typeof key === 'number') text += `[${key}]`;
    else if (!/^[\w$-]+$/.test(key)) text += `[${JSON.stringify(key.slice(0, 100))}]`;
    else text += text === '' ? key : `.${key}`;
  }
  return text;
}

/** Returns a short description of the expected value. */
export function describeExpected(schema: unknown): string {
  if (!isRecord(schema)) return 'a value';
  if (Object.hasOwn(schema, 'const')) return preview(schema.const);
  if (Array.isArray(schema.enum)) {
    const shown = schema.enum.slice(0, 20).map(preview).join(', ');
    return `one of ${shown}${schema.enum.length > 20 ? ', …' : ''}`;
  }
  const types = typesOf(schema);
  if (types !== null) return types.map(withArticle).join(' or ');
  const list = Array.isArray(schema.anyOf) ? schema.anyOf : schema.oneOf;
  if (!Array.isArray(list)) return 'a value';
  const isUnion = (branch: unknown): boolean => isRecord(branch) && (branch.anyOf !== undefined || branch.oneOf !== undefined);
  return [...new Set(list.slice(0, 8).map((branch) => (isUnion(branch) ? 'a value' : describeExpected(branch))))].join(' or ');
}

function withArticle(type: string): string {
  return type === 'null' ? type : `${/^[aio]/.test(type) ? 'an' : 'a'} ${type}`;
}

export function nameOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  return typeof value === 'string' ? `the string ${preview(value)}` : `the ${typeof value} ${String(value)}`;
}

const maxPreviewLength = 60;

export function preview(value: unknown): string {
  return cutToLength(JSON.stringify(beginningOf(value, { left: maxPreviewLength })) ?? 'nothing', maxPreviewLength);
}

/** Returns the part of a value that is shown, since arguments may be large. Each value in it takes at least one character. */
function beginningOf(value: unknown, room: { left: number }): unknown {
  room.left -= 1;
  if (typeof value === 'string') return value.slice(0, maxPreviewLength + 1);
  if (typeof value !== 'object' || value === null) return value;
  const isList = Array.isArray(value);
  const beginning: [string, unknown][] = [];
  for (const key in value) {
    if (room.left < 0) break;
    beginning.push([isList ? key : key.slice(0, maxPreviewLength), beginningOf((value as Record<string, unknown>)[key], room)]);
  }
  return isList ? beginning.map(([, item]) => item) : Object.fromEntries(beginning);
}
