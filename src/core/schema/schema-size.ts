/**
 * Reduces a schema that is too large for a provider by dropping details at its deeper levels. Works on a tree without references; see
 * `schema-compiler.ts`.
 */
import { annotations, mapParts, typeOutline, without } from './schema-parts.ts';
import type { JsonSchema } from '../tools/tool.ts';
import { isRecord } from '../json/wire-value.ts';

/** Applied in order, each to the result of the one before, until the schema is small enough. */
export const simplifications: readonly { message: string; apply(schema: JsonSchema): JsonSchema }[] = [
  ...[4, 2, 1].map((level) => ({
    message: `too large: descriptions more than ${levels(level)} deep are removed`,
    apply: (schema: JsonSchema) => withoutWords(schema, level),
  })),
  ...[3, 1, 0].map((level) => ({
    message: `too large: parts more than ${levels(level + 1)} deep are not described`,
    apply: (schema: JsonSchema) => cut(schema, level),
  })),
  { message: 'too large: no field is described', apply: (schema) => withoutWords(schema, 0) },
];

function levels(count: number): string {
  return count === 1 ? 'one level' : `${count} levels`;
}

function withoutWords(schema: JsonSchema, level: number): JsonSchema {
  const reduced = level < 0 ? without(schema, ...annotations) : schema;
  return mapParts(reduced, '', (part) => (isRecord(part) ? withoutWords(part, level - 1) : part));
}

function cut(schema: JsonSchema, level: number): JsonSchema {
  if (level < 0) return typeOutline(schema);
  return mapParts(schema, '', (part) => (isRecord(part) ? cut(part, level - 1) : part));
}

/** Returns whether the schema has more than this many arrays and objects. Iterative, for schemas of any depth. */
export function hasMoreParts(schema: unknown, most: number): boolean {
  const waiting: unknown[] = [schema];
  for (let parts = 0; waiting.length > 0; ) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) continue;
    parts += 1;
    if (parts > most) return true;
    for (const member of Object.values(next)) waiting.push(member);
  }
  return false;
}
