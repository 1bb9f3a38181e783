/**
 * The schemas of a document as self-contained JSON Schema 2020-12. A referenced schema is read on first use, once for all tools, and copied
 * to each tool's `$defs`, so that nothing multiplies and recursive schemas remain recursive. `tool-schema.ts` chooses the definitions of a
 * tool.
 */
import { cutToBytes } from '../text/utf8.ts';
import { distinctWireName, isWireName } from '../names/names.ts';
import { getOrBuild } from '../memoize.ts';
import { pointer } from '../json/json-pointer.ts';
import { isAnnotation, mapParts, typeOutline } from '../schema/schema-parts.ts';
import { resolvePointer } from '../schema/schema-references.ts';
import type { JsonSchema } from '../tools/tool.ts';
import { isRecord, isDeeperThan, listOf } from '../json/wire-value.ts';
import { account, referenceFaultText, type OpenApiDescription } from './description.ts';
import { limits } from '../limits/limits.ts';
import { modernize, makeNullable } from '../schema/schema-cleanup.ts';

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

export function createSchemas(api: OpenApiDescription): Schemas {
  const known = { input: new Map<string, Definition>(), output: new Map<string, Definition>() };
  const read: Schemas['read'] = (part, side, where) => {
    const reading: Reading = { api, side, where, references: new Set(), same: new Set() };
    return { schema: readPart(reading, part, '', 0, true), references: reading.references, same: reading.same };
  };
  return {
    read,
    definition(pointer, side) {
      return getOrBuild(known[side], pointer, Number.POSITIVE_INFINITY, () => {
        const content = read(resolvePointer(api.root, pointer), side, pointer.slice(2).replaceAll('/', '.'));
        return { ...content, pointer, name: definitionName(pointer), characters: JSON.stringify(content.schema).length };
      });
    },
  };
}

/** Depends only on the pointer, so that it is equal in all tools. */
function definitionName(pointer: string): string {
  const name = pointer.slice(pointer.lastIndexOf('/') + 1);
  return pointer === `#/components/schemas/${name}` && isWireName(name) ? name : distinctWireName(pointer, name);
}

type Reading = { api: OpenApiDescription; side: SchemaSide; where: string; references: Set<string>; same: Set<string> };

/** Below the limit of listings, with room for the schema around it. */
const maxDepth = 24;

/** `path`: a JSON Pointer, from the schema at `reading.where`. */
function readPart(reading: Reading, part: unknown, path: string, depth: number, isSame: boolean): JsonSchema | boolean {
  reading.api.spend(1);
  if (typeof part === 'boolean') return part;
  if (!isRecord(part)) {
    if (part !== undefined) lose(reading, path, 'is not a schema: any value is accepted');
    return {};
  }
  if (depth > maxDepth) {
    reading.api.warn(reading.where, `nests more than ${maxDepth} levels deep: any value is accepted there`);
    return typeOutline(part);
  }
  if (reading.side === 'input') account(reading.api, 'Schema', part, path === '' ? reading.where : `${reading.where}${path}`);
  if (typeof part.$ref === 'string') return readReference(reading, { part, path, depth, isSame }, part.$ref);
  const mine = withoutOthers(reading, toJsonSchema2020(reading, part, path));
  const known = reading.side === 'output' ? loosened(mine) : mine;
  return mapParts(known, path, (child, at, keyword) => readPart(reading, child, at, depth + 1, isSame && keyword === 'allOf'));
}

function lose({ api, where }: Reading, path: string, message: string): void {
  api.warn(where, path === '' ? message : `${path}: ${message}`);
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

type Place = { part: JsonSchema; path: string; depth: number; isSame: boolean };

function readReference(reading: Reading, { part, path, depth, isSame }: Place, reference: string): JsonSchema {
  const { $ref: _reference, ...beside } = part;
  const { api } = reading;
  const pointer = reference.startsWith('#/') ? reference : null;
  if (pointer === null || resolvePointer(api.root, pointer) === undefined) {
    api.warn(reading.where, `${referenceFaultText(reference)}: any value is accepted`);
    return {};
  }
  reading.references.add(pointer);
  if (isSame) reading.same.add(pointer);
  // In OpenAPI 3.0, siblings of a reference are ignored, but documents still write descriptions there.
  const siblings = api.isOld ? words(beside) : beside;
  if (api.isOld && hasKeywordsBeside(part)) lose(reading, path, ignoredBeside);
  const read = readPart(reading, siblings, path, depth, isSame);
  const schema = { $ref: `#/$defs/${definitionName(pointer)}`, ...(isRecord(read) ? read : {}) };
  return api.isOld && beside.nullable === true ? makeNullable(schema) : schema;
}

/** Whether a reference has keywords beside it that more than describe it. */
export function hasKeywordsBeside(part: JsonSchema): boolean {
  return Object.keys(part).some((keyword) => keyword !== '$ref' && keyword !== 'nullable' && !isAnnotation(keyword));
}

export const ignoredBeside = 'keywords beside $ref are ignored, as OpenAPI 3.0 requires';

function words(beside: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(beside).filter(([keyword]) => keyword === 'description' || keyword === 'title'));
}

/** Removes the properties of the other side, also if only their reference's target is marked. */
function withoutOthers({ api, side }: Reading, part: JsonSchema): JsonSchema {
  if (!isRecord(part.properties)) return part;
  const kept = Object.entries(part.properties).filter(
    ([, property]) => appliesToSide(property, side) && appliesToSide(referred(api, property), side),
  );
  if (kept.length === Object.keys(part.properties).length) return part;
  const names = new Set(kept.map(([name]) => name));
  const given = part.properties;
  const required = (Array.isArray(part.required) ? part.required : []).filter((name) => names.has(name) || !Object.hasOwn(given, name));
  const { required: _required, ...rest } = part;
  return { ...rest, properties: Object.fromEntries(kept), ...(required.length > 0 && { required }) };
}

function referred({ root }: OpenApiDescription, property: unknown): unknown {
  return isRecord(property) && typeof property.$ref === 'string' && property.$ref.startsWith('#/')
    ? resolvePointer(root, property.$ref)
    : property;
}

// One part as JSON Schema 2020-12: OpenAPI 3.0 spellings (`nullable`, boolean bounds, `example`) are rewritten, and keywords without use for
// callers (`xml`, `discriminator`, `x-…`) are removed. OpenAPI 3.0.4 and 3.1.1, "Schema Object".

/** A default, an example or a list of values in an imported schema that nests deeper is left out. */
const maxOpenApiDataDepth = 8;

/** Skips `$ref`, which the reader handles. */
function toJsonSchema2020(reading: Reading, part: JsonSchema, path: string): JsonSchema {
  const entries = Object.entries(part).flatMap(([keyword, value]) => {
    const kept = keptOf(keyword, value);
    if (kept.length === 0 && constraints.has(keyword)) lose(reading, pointer(path, keyword), 'removed: the value nests too deep');
    return kept;
  });
  if (Array.isArray(part.examples) === false && isSmallData(part.example)) entries.push(['examples', [part.example]]);
  return modernize(Object.fromEntries(entries), path, {
    // Conversions are not reported: these documents are OpenAPI, not a mistake.
    add: (at, message, isInvalid) => isInvalid && lose(reading, at, message),
  });
}

function keptOf(keyword: string, value: unknown): [string, unknown][] {
  if (silent.has(keyword) || keyword.startsWith('x-')) return [];
  switch (keyword) {
    case 'description':
      return [[keyword, typeof value === 'string' ? cutToBytes(value, limits.maxOperationDescriptionBytes) : value]];
    case 'examples': {
      const examples = listOf(value).filter(isSmallData).slice(0, maxExamples);
      return examples.length === 0 ? [] : [[keyword, examples]];
    }
    case 'default':
    case 'const':
    case 'enum':
      return isShallow(value) ? [[keyword, value]] : [];
    default:
      return [[keyword, value]];
  }
}

const silent: ReadonlySet<string> = new Set([
  ...['xml', 'externalDocs', 'discriminator', 'readOnly', 'writeOnly', 'example', '$comment', '$schema'],
  // Keywords that name parts: references are pointers into the document and are rewritten to the tool's definitions.
  ...['$id', '$anchor', '$dynamicAnchor', '$dynamicRef', '$recursiveRef', '$recursiveAnchor', '$vocabulary', '$defs', 'definitions'],
]);

const constraints: ReadonlySet<string> = new Set(['const', 'enum']);

const maxExamples = 3;
const maxExampleCharacters = 500;

function isSmallData(value: unknown): boolean {
  if (value === undefined || !isShallow(value)) return false;
  return typeof value === 'string' ? value.length <= maxExampleCharacters : JSON.stringify(value).length <= maxExampleCharacters;
}

function isShallow(value: unknown): boolean {
  return !isDeeperThan(value, maxOpenApiDataDepth);
}

/** Returns whether the property applies to this side: `readOnly` only to output, `writeOnly` only to input. */
export function appliesToSide(property: unknown, side: 'input' | 'output'): boolean {
  if (!isRecord(property)) return true;
  return side === 'input' ? property.readOnly !== true : property.writeOnly !== true;
}
