/**
 * Expands the references of a schema: the result is one self-contained tree in clean 2020-12 (`schema-cleanup.ts`). Nothing is fetched:
 * remote references become "any value". Recursive parts are expanded a few times and then accept any value, and the number of parts is
 * limited. Used by the schema compiler; the argument check uses the pointer lookup.
 */
import { pointerTokens, valueAt } from '../json/json-pointer.ts';
import { limits } from '../limits/limits.ts';
import { modernize } from './schema-cleanup.ts';
import { isAnnotation, mapParts, typeOutline, without } from './schema-parts.ts';
import { type SchemaReport, previewValue } from './schema-report.ts';
import type { JsonSchema } from '../tools/tool.ts';
import { collectParts, isRecord } from '../json/wire-value.ts';

export type ExpandedSchema = {
  schema: JsonSchema | boolean;
  /** Parts were dropped because there were too many. */
  isCut: boolean;
  /** A part contains itself. */
  isRecursive: boolean;
};

/** `recursion`: how many times a part may be nested in itself, including the first. */
export function expandReferences(root: JsonSchema, recursion: number, report: SchemaReport): ExpandedSchema {
  const writing: Writing = {
    root,
    recursion,
    report,
    open: new Map([[root, 1]]),
    parts: 0,
    places: null,
    isCut: false,
    isRecursive: false,
  };
  const schema = write(writing, root, { path: '', depth: 0, resource: root, isCopy: false });
  return { schema, isCut: writing.isCut, isRecursive: writing.isRecursive };
}

type Writing = {
  root: JsonSchema;
  recursion: number;
  report: SchemaReport;
  /** How many times each referenced part is currently being expanded. */
  open: Map<object, number>;
  parts: number;
  /** Parts by their own `$id` or `$anchor`; built on first use. */
  places: Map<string, JsonSchema> | null;
  isCut: boolean;
  isRecursive: boolean;
};

type Place = { path: string; depth: number; resource: JsonSchema; isCopy: boolean };

function write(writing: Writing, part: unknown, place: Place): JsonSchema | boolean {
  const { report } = writing;
  if (typeof part === 'boolean') return part;
  if (!isRecord(part)) {
    report.add(place.path, `${previewValue(part)} is not a schema: any value is accepted`);
    return {};
  }
  writing.parts += 1;
  if (place.depth > limits.maxSchemaDepth) {
    report.add(place.path, `more than ${limits.maxSchemaDepth} levels deep: any value is accepted`);
    return modernize(typeOutline(part), place.path, report);
  }
  if (place.isCopy && writing.parts > limits.maxSchemaParts) {
    writing.isCut = true;
    report.add(
      place.path,
      `removed: with references expanded, the schema has more than ${limits.maxSchemaParts} parts; any value is accepted`,
    );
    return {};
  }
  const resource = typeof part.$id === 'string' && !part.$id.startsWith('#') ? part : place.resource;
  const schema = modernize(part, place.path, report);
  const reference = referenceOf(schema);
  if (reference === null) return writeParts(writing, schema, { ...place, resource });
  const siblings = writeParts(writing, without(schema, '$ref', '$dynamicRef', '$recursiveRef'), { ...place, resource });
  return join(siblings, writeTarget(writing, reference, { ...place, resource }));
}

function writeParts(writing: Writing, schema: JsonSchema, place: Place): JsonSchema {
  return mapParts(schema, place.path, (part, path, keyword) => {
    const written = write(writing, part, { ...place, path, depth: place.depth + 1 });
    // Some servers only accept objects; `true` remains where it is common.
    if (written !== true || booleanKeywords.has(keyword)) return written;
    writing.report.add(path, 'true is converted to {}: any value is accepted');
    return {};
  });
}

const booleanKeywords: ReadonlySet<string> = new Set(['additionalProperties', 'unevaluatedProperties', 'unevaluatedItems']);

function referenceOf(schema: JsonSchema): string | null {
  const reference = schema.$ref ?? schema.$dynamicRef ?? schema.$recursiveRef;
  return typeof reference === 'string' ? reference : null;
}

function writeTarget(writing: Writing, reference: string, place: Place): JsonSchema | boolean {
  const { report, open } = writing;
  const target = find(writing, reference, place.resource);
  if (target === undefined) {
    const why = reference.startsWith('#') ? 'is not in the schema' : 'is remote and is never fetched';
    report.add(place.path, `the reference ${previewValue(reference)} ${why}: any value is accepted`);
    return {};
  }
  if (!isRecord(target)) return write(writing, target, place);
  const times = open.get(target) ?? 0;
  if (times > 0) writing.isRecursive = true;
  if (times >= writing.recursion) {
    report.add(place.path, `${previewValue(reference)} contains itself: expanded ${writing.recursion} times, then any value is accepted`);
    return modernize(typeOutline(target), place.path, report);
  }
  report.add(place.path, `the reference ${previewValue(reference)} is expanded`);
  open.set(target, times + 1);
  const written = write(writing, target, { ...place, depth: place.depth + 1, isCopy: true });
  open.set(target, times);
  return written;
}

/** Keywords next to a reference apply together with its target; their texts take precedence. */
function join(siblings: JsonSchema, target: JsonSchema | boolean): JsonSchema | boolean {
  if (target === true) return siblings;
  if (target === false) return false;
  const keywords = Object.keys(siblings);
  if (keywords.length === 0) return target;
  if (keywords.every(isAnnotation)) return { ...target, ...siblings };
  return { ...siblings, allOf: [...(Array.isArray(siblings.allOf) ? siblings.allOf : []), target] };
}

function find(writing: Writing, reference: string, resource: JsonSchema): unknown {
  const hash = reference.indexOf('#');
  const base = hash < 0 ? reference : reference.slice(0, hash);
  const fragment = hash < 0 ? '' : reference.slice(hash);
  if (base === '') {
    const found =
      resolvePointer(resource, fragment || '#') ?? (resource === writing.root ? undefined : resolvePointer(writing.root, fragment));
    return found ?? placesOf(writing).get(fragment);
  }
  const places = placesOf(writing);
  const home = places.get(base) ?? places.get(resolved(base, resource.$id));
  if (home === undefined) return undefined;
  return fragment === '' ? home : (resolvePointer(home, fragment) ?? places.get(fragment));
}

/** Every `$id`, as written and as an absolute URL, and every `#anchor`. */
function placesOf(writing: Writing): Map<string, JsonSchema> {
  if (writing.places !== null) return writing.places;
  const places = new Map<string, JsonSchema>();
  for (const part of collectParts(writing.root, Number.POSITIVE_INFINITY) ?? []) {
    if (!isRecord(part)) continue;
    for (const keyword of ['$anchor', '$dynamicAnchor']) if (typeof part[keyword] === 'string') places.set(`#${part[keyword]}`, part);
    if (typeof part.$id !== 'string') continue;
    places.set(part.$id, part);
    places.set(resolved(part.$id, writing.root.$id), part);
  }
  writing.places = places;
  return places;
}

function resolved(reference: string, base: unknown): string {
  return typeof base === 'string' && URL.canParse(reference, base) ? new URL(reference, base).href : reference;
}

/** Returns a part of the document by its JSON Pointer fragment, such as `#/$defs/node`; undefined if it does not exist. */
export function resolvePointer(root: JsonSchema, fragment: string): unknown {
  if (fragment !== '#' && !fragment.startsWith('#/')) return undefined;
  return valueAt(root, pointerTokens(fragment.slice(1)).map(percentDecoded))?.json;
}

function percentDecoded(token: string): string {
  try {
    return decodeURIComponent(token);
  } catch {
    // Not percent-encoded: the text itself is the key.
    return token;
  }
}
