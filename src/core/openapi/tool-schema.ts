/**
 * Combines a tool's schema with the definitions that it needs, within the size limit of a definition. If it is too large, descriptions are
 * dropped first and deep fields next, so that the operation can still be called. Used for the input and output of an operation.
 */
import { limits } from '../limits/limits.ts';
import { schemaFault, weigh } from '../listing/listing-schema.ts';
import { typeOutline, without } from '../schema/schema-parts.ts';
import { simplifications, withoutWords } from '../schema/schema-compiler.ts';
import type { JsonSchema } from '../tools/tool.ts';
import { isRecord, recordOf } from '../json/wire-value.ts';
import type { Definition, Schemas, SchemaSide } from './schemas.ts';
import { KB } from '../limits/units.ts';

/** The output schema of an operation: a larger one is left out, because it would cost more than it is worth. */
const maxOperationOutputCharacters = 8 * KB;

/** Half of a definition; the rest is for the output schema and the texts. */
const maxInputCharacters = limits.maxDefinitionBytes / 2 - limits.maxOperationDescriptionBytes;

/** The shortest property of an object: `"a":{},`. */
const minPropertyCharacters = 7;

export type SchemaRoot = { schema: JsonSchema; references: Iterable<string> };

/** `change`: what was removed. null: no schema fits. */
export function inputSchema(schemas: Schemas, root: SchemaRoot): { schema: JsonSchema; change: string | null } | null {
  // No attempt has fewer properties than the root.
  if (Object.keys(recordOf(root.schema.properties)).length * minPropertyCharacters > maxInputCharacters) return null;
  for (const { schema, change } of attempts(schemas, root)) {
    if (sizeOf(schema) <= maxInputCharacters && schemaFault(schema, '') === null) return { schema, change };
  }
  return null;
}

/** null: it is too large. */
export function outputSchema(schemas: Schemas, root: SchemaRoot): JsonSchema | null {
  const levels = reachable(schemas, root, 'output', maxOperationOutputCharacters);
  if (levels === null) return null;
  const schema = withDefinitions(schemas, root, levels.flat(), 'output');
  return sizeOf(schema) <= maxOperationOutputCharacters && schemaFault(schema, '') === null ? schema : null;
}

type Attempt = { schema: JsonSchema; change: string | null };

/** Yields variants with decreasing detail. */
function* attempts(schemas: Schemas, root: SchemaRoot): Generator<Attempt> {
  const levels = reachable(schemas, root, 'input', maxInputCharacters * 2);
  if (levels !== null) {
    yield { schema: withDefinitions(schemas, root, levels.flat(), 'input'), change: null };
    const schema = withDefinitions(schemas, root, levels.flat().map(bare), 'input');
    yield { schema, change: 'is too large: its deeper fields are not described' };
  }
  const first = [...nextLevel(schemas, root.references, new Set(), 'input')].map(bare);
  yield { schema: withDefinitions(schemas, root, first, 'input'), change: 'is too large: its deeper fields are removed' };
  let schema = withDefinitions(schemas, root, [], 'input');
  yield { schema, change: 'is too large: its deeper fields are removed' };
  for (const { message, apply } of simplifications) {
    schema = apply(schema);
    const { $defs: _definitions, ...root } = schema;
    yield { schema: JSON.stringify(root).includes('"$ref"') ? schema : root, change: `is ${message}` };
  }
}

/** Returns the definitions by distance from the root, in references; null: together they are larger than `most`. */
function reachable(schemas: Schemas, root: SchemaRoot, side: SchemaSide, most: number): Definition[][] | null {
  const seen = new Set<string>();
  const levels: Definition[][] = [];
  let size = 0;
  for (let references = root.references; ; ) {
    const level: Definition[] = [];
    for (const definition of nextLevel(schemas, references, seen, side)) {
      size += definition.characters + definition.name.length;
      if (size > most) return null;
      level.push(definition);
    }
    if (level.length === 0) return withoutEndless(levels);
    levels.push(level);
    references = level.flatMap((definition) => [...definition.references]);
  }
}

function* nextLevel(schemas: Schemas, references: Iterable<string>, seen: Set<string>, side: SchemaSide): Generator<Definition> {
  for (const pointer of references) {
    if (seen.has(pointer)) continue;
    seen.add(pointer);
    yield schemas.definition(pointer, side);
  }
}

/** Definitions that are referenced but not in `described` are added in outline. */
function withDefinitions(schemas: Schemas, root: SchemaRoot, described: readonly Definition[], side: SchemaSide): JsonSchema {
  const known = new Set(described.map(({ pointer }) => pointer));
  const references = [root.references, ...described.map((definition) => definition.references)].flatMap((list) => [...list]);
  const others = [...nextLevel(schemas, references, known, side)].map(outlined);
  const definitions = [...described, ...others].map(({ name, schema }) => [name, schema] as const);
  return definitions.length === 0 ? root.schema : { ...root.schema, $defs: Object.fromEntries(definitions) };
}

/** A definition that refers to itself as the same value matches no value, so it is dropped. */
function withoutEndless(levels: Definition[][]): Definition[][] {
  const all = new Map(levels.flat().map((definition) => [definition.pointer, definition]));
  const { loops } = weigh([...all.values()], ({ same }) => [...same].flatMap((pointer) => all.get(pointer) ?? []));
  return loops.size === 0 ? levels : levels.map((level) => level.map((item) => (loops.has(item) ? outlined(item) : item)));
}

function outlined(definition: Definition): Definition {
  return { ...definition, schema: without(typeOutline(definition.schema), 'description'), references: new Set(), same: new Set() };
}

function bare(definition: Definition): Definition {
  return isRecord(definition.schema) ? { ...definition, schema: withoutWords(definition.schema, -1) } : definition;
}

/** The size of the JSON in characters, which approximates its bytes. */
function sizeOf(schema: JsonSchema): number {
  return JSON.stringify(schema).length;
}
