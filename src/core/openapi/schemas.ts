/**
 * The schemas of a document as self-contained JSON Schema 2020-12. A referenced schema is read on first use, once for all tools, and copied
 * to each tool's `$defs`, so that nothing multiplies and recursive schemas remain recursive. `tool-schema.ts` chooses the definitions of a
 * tool.
 */
import { cutToBytes } from '../text/utf8.ts';
import { distinctWireName, isWireName } from '../names/names.ts';
import { mapParts, typeOutline, without } from '../schema/schema-parts.ts';
import { resolvePointer } from '../schema/schema-references.ts';
import type { JsonSchema } from '../tools/tool.ts';
import { isRecord, isDeeperThan, listOf } from '../json/wire-value.ts';
import { referenceFaultText, type OpenApiDocument } from './document.ts';
import { limits } from '../limits.ts';

/** `input`: the request (without `readOnly` properties). `output`: the response. */
export type SchemaSide = 'input' | 'output';

export type ReadSchema = {
  schema: JsonSchema | boolean;
  /** The pointers of its references. */
  references: ReadonlySet<string>;
  /** The references to the same value (at its root, or within `allOf`); a cycle of these never ends. */
  same: ReadonlySet<string>;
};

export type Definition = ReadSchema & { pointer: string; name: string; characters: number };

export type Schemas = {
  read(part: unknown, side: SchemaSide, where: string): ReadSchema;
  /** Returns the definition at a pointer that `read` returned. */
  definition(pointer: string, side: SchemaSide): Definition;
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
      const content = read(resolvePointer(document.root, pointer), side, pointer.slice(2).replaceAll('/', '.'));
      const definition = { ...content, pointer, name: definitionName(pointer), characters: JSON.stringify(content.schema).length };
      known[side].set(pointer, definition);
      return definition;
    },
  };
}

/** Depends only on the pointer, so that it is equal in all tools. */
function definitionName(pointer: string): string {
  const name = pointer.slice(pointer.lastIndexOf('/') + 1);
  return pointer === `#/components/schemas/${name}` && isWireName(name) ? name : distinctWireName(pointer, name);
}

type Reading = { document: OpenApiDocument; side: SchemaSide; where: string; references: Set<string>; same: Set<string> };

/** Below the limit of listings, with room for the schema around it. */
const maxDepth = 24;

function readPart(reading: Reading, part: unknown, depth: number, isSame: boolean): JsonSchema | boolean {
  if (typeof part === 'boolean') return part;
  if (!isRecord(part)) return {};
  if (depth > maxDepth) {
    reading.document.warn(reading.where, `nests more than ${maxDepth} levels deep: any value is accepted there`);
    return typeOutline(part);
  }
  if (typeof part.$ref === 'string') return readReference(reading, part, part.$ref, depth, isSame);
  const mine = withoutOthers(reading, toJsonSchema2020(part));
  const known = reading.side === 'output' ? loosened(mine) : mine;
  return mapParts(known, '', (child, _path, keyword) => readPart(reading, child, depth + 1, isSame && keyword === 'allOf'));
}

/**
 * Documented but not enforced: documents often forget optional and additional fields, and MCP clients reject a result that does not match
 * its tool's output schema after the call has run.
 */
function loosened(part: JsonSchema): JsonSchema {
  const { required: _required, additionalProperties, oneOf, ...rest } = part;
  return {
    ...rest,
    ...(additionalProperties !== undefined && additionalProperties !== false && { additionalProperties }),
    // With fewer required fields, more than one branch may match.
    ...(oneOf !== undefined && (rest.anyOf === undefined ? { anyOf: oneOf } : {})),
  };
}

function readReference(reading: Reading, part: JsonSchema, reference: string, depth: number, isSame: boolean): JsonSchema {
  const { $ref: _reference, ...beside } = part;
  const { document } = reading;
  const pointer = reference.startsWith('#/') ? reference : null;
  if (pointer === null || resolvePointer(document.root, pointer) === undefined) {
    document.warn(reading.where, `${referenceFaultText(reference)}: any value is accepted`);
    return {};
  }
  reading.references.add(pointer);
  if (isSame) reading.same.add(pointer);
  // In OpenAPI 3.0, siblings of a reference are ignored, but documents still write descriptions there.
  const siblings = document.isOld ? words(beside) : beside;
  const read = readPart(reading, siblings, depth, isSame);
  const schema = { $ref: `#/$defs/${definitionName(pointer)}`, ...(isRecord(read) ? read : {}) };
  return document.isOld && beside.nullable === true ? allowNull(schema) : schema;
}

function words(beside: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(beside).filter(([keyword]) => keyword === 'description' || keyword === 'title'));
}

/** Removes the properties of the other side, also if only their reference's target is marked. */
function withoutOthers({ document, side }: Reading, part: JsonSchema): JsonSchema {
  if (!isRecord(part.properties)) return part;
  const kept = Object.entries(part.properties).filter(
    ([, property]) => appliesToSide(property, side) && appliesToSide(referred(document, property), side),
  );
  if (kept.length === Object.keys(part.properties).length) return part;
  const names = new Set(kept.map(([name]) => name));
  const given = part.properties;
  const required = (Array.isArray(part.required) ? part.required : []).filter((name) => names.has(name) || !Object.hasOwn(given, name));
  const { required: _required, ...rest } = part;
  return { ...rest, properties: Object.fromEntries(kept), ...(required.length > 0 && { required }) };
}

function referred({ root }: OpenApiDocument, property: unknown): unknown {
  return isRecord(property) && typeof property.$ref === 'string' && property.$ref.startsWith('#/')
    ? resolvePointer(root, property.$ref)
    : property;
}

// One part as JSON Schema 2020-12: OpenAPI 3.0 spellings (`nullable`, boolean bounds, `example`) are rewritten, and keywords without use for
// callers (`xml`, `discriminator`, `x-…`) are removed. OpenAPI 3.0.4 and 3.1.1, "Schema Object".

/** A default, an example or a list of values in an imported schema that nests deeper is left out. */
const maxOpenApiDataDepth = 8;

/** Skips `$ref`, which the reader handles. */
export function toJsonSchema2020(part: JsonSchema): JsonSchema {
  const entries = Object.entries(part).flatMap(([keyword, value]) => rewrite(keyword, value, part));
  if (Array.isArray(part.examples) === false && isSmallData(part.example)) entries.push(['examples', [part.example]]);
  const schema = Object.fromEntries(entries);
  return part.nullable === true ? allowNull(schema) : schema;
}

function rewrite(keyword: string, value: unknown, part: JsonSchema): [string, unknown][] {
  if (silent.has(keyword) || keyword.startsWith('x-')) return [];
  switch (keyword) {
    case 'description':
      return typeof value === 'string' ? [[keyword, cutToBytes(value, limits.maxOperationDescriptionBytes)]] : [];
    case 'title':
    case 'format':
    case 'pattern':
      return typeof value === 'string' ? [[keyword, value]] : [];
    case 'required': {
      // Some documents write `required: true` in a property.
      const names = listOf(value).filter((name) => typeof name === 'string');
      return names.length === 0 ? [] : [[keyword, [...new Set(names)]]];
    }
    case 'examples': {
      const examples = listOf(value).filter(isSmallData).slice(0, maxExamples);
      return examples.length === 0 ? [] : [[keyword, examples]];
    }
    case 'default':
    case 'const':
      return isShallow(value) ? [[keyword, value]] : [];
    case 'enum':
      return Array.isArray(value) && value.length > 0 && isShallow(value) ? [[keyword, value]] : [];
    case 'minimum':
      return typeof value !== 'number' ? [] : [[part.exclusiveMinimum === true ? 'exclusiveMinimum' : keyword, value]];
    case 'maximum':
      return typeof value !== 'number' ? [] : [[part.exclusiveMaximum === true ? 'exclusiveMaximum' : keyword, value]];
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return typeof value === 'number' ? [[keyword, value]] : [];
    default:
      return [[keyword, value]];
  }
}

const silent: ReadonlySet<string> = new Set([
  ...['xml', 'externalDocs', 'discriminator', 'nullable', 'readOnly', 'writeOnly', 'example', '$comment'],
  // Keywords that name parts: references are pointers into the document and are rewritten to the tool's definitions.
  ...['$schema', '$id', '$anchor', '$dynamicAnchor', '$dynamicRef', '$recursiveRef', '$recursiveAnchor'],
  ...['$vocabulary', '$defs', 'definitions'],
]);

const maxExamples = 3;
const maxExampleCharacters = 500;

function isSmallData(value: unknown): boolean {
  if (value === undefined || !isShallow(value)) return false;
  return typeof value === 'string' ? value.length <= maxExampleCharacters : JSON.stringify(value).length <= maxExampleCharacters;
}

function isShallow(value: unknown): boolean {
  return !isDeeperThan(value, maxOpenApiDataDepth);
}

export function allowNull(schema: JsonSchema): JsonSchema {
  const { type, ...rest } = schema;
  if (typeof type === 'string' && schema.allOf === undefined && schema.anyOf === undefined && schema.oneOf === undefined) {
    const values = Array.isArray(rest.enum) && !rest.enum.includes(null) ? { enum: [...rest.enum, null] } : {};
    return { type: type === 'null' ? type : [type, 'null'], ...rest, ...values };
  }
  if (Array.isArray(type)) return type.includes('null') ? schema : { ...schema, type: [...type, 'null'] };
  const rules = without(schema, 'description', 'title');
  return Object.keys(rules).length === 0 ? schema : { ...words(schema), anyOf: [rules, { type: 'null' }] };
}

/** Returns whether the property applies to this side: `readOnly` only to output, `writeOnly` only to input. */
export function appliesToSide(property: unknown, side: 'input' | 'output'): boolean {
  if (!isRecord(property)) return true;
  return side === 'input' ? property.readOnly !== true : property.writeOnly !== true;
}
