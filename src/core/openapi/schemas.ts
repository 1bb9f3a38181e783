/**
 * The schemas of a document as tools use them: JSON Schema 2020-12 that stands for itself. What is referred to is read when it is first
 * needed, once for all tools, and stands in a tool's own `$defs`, so that nothing multiplies and what contains itself still does. Which
 * definitions a tool gets, and how much of them, is `tool-schema.ts`.
 */
import { distinctWireName, isWireName } from '../names.ts';
import { mapParts, outlineOf } from '../schema/schema-parts.ts';
import { partAt } from '../schema/schema-references.ts';
import type { JsonSchema } from '../tool.ts';
import { isRecord } from '../wire-value.ts';
import { referenceWords, type OpenApiDocument } from './document.ts';
import { inNewWords, isFor, orNull } from './schema-words.ts';

/** `input`: what is sent (without `readOnly` properties). `output`: what is answered. */
export type Side = 'input' | 'output';

export type ReadSchema = {
  schema: JsonSchema | boolean;
  /** The pointers that it refers to. */
  references: ReadonlySet<string>;
  /** Those of them that speak of the very same value (at its root, or within `allOf`): a cycle of these has no end. */
  same: ReadonlySet<string>;
};

export type Definition = ReadSchema & { pointer: string; name: string; characters: number };

export type Schemas = {
  read(part: unknown, side: Side, where: string): ReadSchema;
  /** What stands at a pointer that `read` gave. */
  definition(pointer: string, side: Side): Definition;
};

export function createSchemas(document: OpenApiDocument): Schemas {
  const known = { input: new Map<string, Definition>(), output: new Map<string, Definition>() };
  const read: Schemas['read'] = (part, side, where) => {
    const reading: Reading = { document, side, where, references: new Set(), same: new Set() };
    return { schema: readPart(reading, part, 0, true), references: reading.references, same: reading.same };
  };
  return {
    read,
    definition(pointer, side) {
      const before = known[side].get(pointer);
      if (before !== undefined) return before;
      const content = read(partAt(document.root, pointer), side, pointer.slice(2).replaceAll('/', '.'));
      const definition = { ...content, pointer, name: definitionName(pointer), characters: JSON.stringify(content.schema).length };
      known[side].set(pointer, definition);
      return definition;
    },
  };
}

/** By its pointer alone, so that it is the same in each tool. */
function definitionName(pointer: string): string {
  const name = pointer.slice(pointer.lastIndexOf('/') + 1);
  return pointer === `#/components/schemas/${name}` && isWireName(name) ? name : distinctWireName(pointer, name);
}

type Reading = { document: OpenApiDocument; side: Side; where: string; references: Set<string>; same: Set<string> };

/** Below what listings may have, with room for what a tool puts around it. */
const maxDepth = 24;

function readPart(reading: Reading, part: unknown, depth: number, isSame: boolean): JsonSchema | boolean {
  if (typeof part === 'boolean') return part;
  if (!isRecord(part)) return {};
  if (depth > maxDepth) {
    reading.document.warn(reading.where, `nests more than ${maxDepth} levels deep: any value is taken there`);
    return outlineOf(part);
  }
  if (typeof part.$ref === 'string') return readReference(reading, part, part.$ref, depth, isSame);
  const mine = withoutOthers(reading, inNewWords(part));
  const known = reading.side === 'output' ? loosened(mine) : mine;
  return mapParts(known, '', (child, _path, keyword) => readPart(reading, child, depth + 1, isSame && keyword === 'allOf'));
}

/**
 * Told and not enforced: documents forget that fields may be absent and that others may come, and MCP clients refuse a result that does not
 * fit the schema of its tool, after the call was made.
 */
function loosened(part: JsonSchema): JsonSchema {
  const { required: _required, additionalProperties, oneOf, ...rest } = part;
  return {
    ...rest,
    ...(additionalProperties !== undefined && additionalProperties !== false && { additionalProperties }),
    // With less asked of each, more than one may fit.
    ...(oneOf !== undefined && (rest.anyOf === undefined ? { anyOf: oneOf } : {})),
  };
}

function readReference(reading: Reading, part: JsonSchema, reference: string, depth: number, isSame: boolean): JsonSchema {
  const { $ref: _reference, ...beside } = part;
  const { document } = reading;
  const pointer = reference.startsWith('#/') ? reference : null;
  if (pointer === null || partAt(document.root, pointer) === undefined) {
    document.warn(reading.where, `${referenceWords(reference)}: any value is taken`);
    return {};
  }
  reading.references.add(pointer);
  if (isSame) reading.same.add(pointer);
  // In 3.0 what stands beside a reference is to be ignored; words are written there all the same, and meant.
  const siblings = document.isOld ? words(beside) : beside;
  const read = readPart(reading, siblings, depth, isSame);
  const schema = { $ref: `#/$defs/${definitionName(pointer)}`, ...(isRecord(read) ? read : {}) };
  return document.isOld && beside.nullable === true ? orNull(schema) : schema;
}

function words(beside: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(beside).filter(([keyword]) => keyword === 'description' || keyword === 'title'));
}

/** Without the properties that are the other side's, whether they say so themselves or what they refer to does. */
function withoutOthers({ document, side }: Reading, part: JsonSchema): JsonSchema {
  if (!isRecord(part.properties)) return part;
  const kept = Object.entries(part.properties).filter(([, property]) => isFor(property, side) && isFor(referred(document, property), side));
  if (kept.length === Object.keys(part.properties).length) return part;
  const names = new Set(kept.map(([name]) => name));
  const given = part.properties;
  const required = (Array.isArray(part.required) ? part.required : []).filter((name) => names.has(name) || !Object.hasOwn(given, name));
  const { required: _required, ...rest } = part;
  return { ...rest, properties: Object.fromEntries(kept), ...(required.length > 0 && { required }) };
}

function referred({ root }: OpenApiDocument, property: unknown): unknown {
  return isRecord(property) && typeof property.$ref === 'string' && property.$ref.startsWith('#/') ? partAt(root, property.$ref) : property;
}
