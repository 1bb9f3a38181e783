/**
 * Converts a tool's input schema (any JSON Schema 2020-12 or what is called that) to what one provider accepts, and reports every change. A
 * schema that cannot be converted has a fault, and only its tool is skipped. The passes: expand references (`schema-references.ts`), make
 * the root an object, narrow the parts to the dialect (`schema-narrow.ts`), and drop details if it is too large. Deterministic; never changes
 * the given object, and returns it if no change is needed.
 */
import { getOrBuild, memoizeByObject } from '../memoize.ts';
import { limits } from '../limits/limits.ts';
import { KB } from '../limits/units.ts';
import type { SchemaDialect } from '../model/provider-profile.ts';
import { dialectRules, type DialectRules } from './schema-dialects.ts';
import { narrowToDialect, type NarrowContext } from './schema-narrow.ts';
import { expandReferences } from './schema-references.ts';
import { type SchemaChange, SchemaReport, previewValue } from './schema-report.ts';
import type { JsonSchema } from '../tools/tool.ts';
import { utf8Length } from '../text/utf8.ts';
import { collectParts, isRecord } from '../json/wire-value.ts';
import { pointer } from '../json/json-pointer.ts';
import { alternativesOf, appendDescription } from './schema-alternatives.ts';
import { annotations, fixedChoices, distinct, isAnnotation, mapParts, sameJson, typeOutline, without } from './schema-parts.ts';

/** Larger schemas are simplified. 16,000 tokens for one tool; the largest of 1,472 public ones has 7 KB, and gateways have the same limit. */
export const maxSchemaBytes = 64 * KB;
/** How often a recursive schema is expanded: models rarely nest deeper, and each level may multiply its size. */
const maxSchemaRecursion = 3;
/** Keywords and fields of one schema that are combined for its alternatives: under 0.1 s in the worst case. */
const maxSchemaEffort = 50_000;

/** `fault` completes "its input schema …". */
export type CompiledSchema = { ok: true; schema: JsonSchema; changes: readonly SchemaChange[] } | { ok: false; fault: string };

/** The cost of compiling, in visited parts; equal for cached results. */
export type CompileCost = { parts: number };

/** Compiles once per schema object, since definitions live as long as their edition. Adds the cost to `spent`. */
export function compileSchema(schema: JsonSchema, dialect: SchemaDialect, spent: CompileCost = { parts: 0 }): CompiledSchema {
  if (!isRecord(schema)) return { ok: false, fault: 'is not a JSON Schema' };
  const { result, parts } = getOrBuild(compiledFor(schema), dialect, Number.POSITIVE_INFINITY, () => {
    const own = { parts: 0 };
    return { result: compile(schema, dialect, own), parts: own.parts };
  });
  spent.parts += parts;
  return result;
}

const compiledFor = memoizeByObject((_schema: JsonSchema) => new Map<SchemaDialect, { result: CompiledSchema; parts: number }>());

function compile(schema: JsonSchema, dialect: SchemaDialect, spent: CompileCost): CompiledSchema {
  if (collectParts(schema, limits.maxSchemaSourceParts) === null)
    return { ok: false, fault: `has more than ${limits.maxSchemaSourceParts} parts` };
  for (let recursion: number = maxSchemaRecursion; ; recursion -= 1) {
    const report = new SchemaReport();
    const tree = expandReferences(schema, recursion, report);
    if (tree.isCut) spent.parts += limits.maxSchemaParts;
    // With fewer levels of recursion, more of the rest may fit.
    if (tree.isCut && tree.isRecursive && recursion > 1) continue;
    const attempt = compileTree(tree.schema, dialect, report, spent);
    if (attempt.ok && isTooLarge(attempt.schema)) {
      if (tree.isRecursive && recursion > 1) continue;
      return isRecord(tree.schema) ? simplify(tree.schema, dialect, report, spent) : tooLarge;
    }
    return attempt;
  }
}

/** `written`: the report so far. Each attempt starts from a copy, so that failed attempts leave no entries. */
function compileTree(tree: JsonSchema | boolean, dialect: SchemaDialect, written: SchemaReport, spent: CompileCost): CompiledSchema {
  const rules = dialectRules[dialect];
  const report = new SchemaReport(written);
  const narrowing = { rules, report, parts: 0, effort: { left: maxSchemaEffort }, done: new Map() };
  const root = toObjectSchema(tree, narrowing);
  if (typeof root === 'string') return { ok: false, fault: root };
  const schema = narrowToDialect(narrowing, root, { path: '', depth: 0 });
  spent.parts += narrowing.parts + (maxSchemaEffort - narrowing.effort.left) / effortPerPart;
  if (schema === false) return { ok: false, fault: 'accepts no object' };
  return { ok: true, schema, changes: report.changes() };
}

/** The effort per part, calibrated to similar cost. */
const effortPerPart = 10;

function simplify(tree: JsonSchema, dialect: SchemaDialect, report: SchemaReport, spent: CompileCost): CompiledSchema {
  // Tries the smallest version first: most schemas that are too large are too large because of their fields alone.
  const least = compileTree(
    simplifications.reduce((schema, { apply }) => apply(schema), tree),
    dialect,
    report,
    spent,
  );
  if (!least.ok || isTooLarge(least.schema)) return tooLarge;
  let simple = tree;
  for (const { message, apply } of simplifications) {
    simple = apply(simple);
    report.add('', message);
    const attempt = compileTree(simple, dialect, report, spent);
    if (!attempt.ok || !isTooLarge(attempt.schema)) return attempt;
  }
  return tooLarge;
}

const tooLarge: CompiledSchema = { ok: false, fault: `is larger than ${maxSchemaBytes / 1024} KB, even without descriptions` };

function isTooLarge(schema: JsonSchema): boolean {
  return utf8Length(JSON.stringify(schema)) > maxSchemaBytes;
}

/**
 * Converts the root to an object schema: arguments are an object, and several providers accept no `anyOf`, `oneOf` or `allOf` at the top
 * level. Alternatives become one list of fields; a field of only one alternative keeps its description. Returns the schema, or a reason that
 * completes "its input schema …".
 */
function toObjectSchema(tree: JsonSchema | boolean, { rules, report, effort }: NarrowContext): JsonSchema | string {
  if (tree === false) return 'accepts no value';
  const whole = tree === true ? {} : tree;
  // A dialect that accepts composition at the top level only needs the check, not the report.
  const place = { path: '', report: rules.composedTop ? new SchemaReport() : report, effort };
  const objects = alternativesOf(whole, place).filter(({ type }) => type === undefined || type === 'object');
  if (objects.length === 0)
    return typeof whole.type === 'string' ? `accepts a value of type ${whole.type}, but arguments are an object` : 'accepts no object';
  if (rules.composedTop) return asObject(whole, rules, report);
  const [only] = objects;
  if (objects.length === 1 && only !== whole) report.add('', 'only the alternative that is an object is sent');
  const plain = plainTop(objects.length === 1 && only !== undefined ? only : unite(objects, whole, report), report);
  return withNames(rules, asObject(plain, rules, report), report);
}

function asObject(schema: JsonSchema, { needsFields }: DialectRules, report: SchemaReport): JsonSchema {
  let root = schema;
  if (root.type !== 'object') {
    report.add('', 'converted to an object, because arguments are an object');
    root = { type: 'object', ...without(root, 'type') };
  }
  if (root.properties !== undefined || !needsFields) return root;
  report.add('', 'no fields are described: an empty list of fields is added');
  return { ...root, properties: {} };
}

/** Keywords that no provider accepts at the top level. */
function plainTop(schema: JsonSchema, report: SchemaReport): JsonSchema {
  const choices = fixedChoices(schema);
  for (const keyword of ['enum', 'const', 'not']) {
    if (Object.hasOwn(schema, keyword))
      report.add(pointer('', keyword), 'not supported at the top level: removed, or moved to the description');
  }
  const plain = without(schema, 'enum', 'const', 'not');
  return choices === null ? plain : appendDescription(plain, `(one of: ${previewValue(choices)})`);
}

function unite(objects: readonly JsonSchema[], whole: JsonSchema, report: SchemaReport): JsonSchema {
  report.add('', `${objects.length} alternatives are merged into one list of fields`);
  const required = objects.map((object) => new Set(Array.isArray(object.required) ? (object.required as string[]) : []));
  const always = [...(required[0] ?? [])].filter((name) => required.every((names) => names.has(name)));
  const isClosed = objects.every((object) => object.additionalProperties === false && object.patternProperties === undefined);
  const sharedAnnotations = Object.fromEntries(Object.entries(whole).filter(([keyword]) => isAnnotation(keyword)));
  const united: JsonSchema = {
    type: 'object',
    ...sharedAnnotations,
    properties: uniteFields(objects),
    ...(always.length > 0 && { required: always }),
    ...(isClosed && { additionalProperties: false }),
    ...shared(objects, report),
  };
  const groups = [...new Set(required.map((names) => [...names].filter((name) => !always.includes(name)).join(' and ')))];
  return groups.length < 2 || groups.includes('') ? united : appendDescription(united, `Needed: ${groups.join('; or ')}.`);
}

/** Keeps the keywords that all alternatives share. */
function shared(objects: readonly JsonSchema[], report: SchemaReport): JsonSchema {
  const [first = {}] = objects;
  const own = new Set(['type', 'properties', 'required', 'additionalProperties']);
  const keywords = new Set(
    objects.flatMap((object) => Object.keys(object)).filter((keyword) => !own.has(keyword) && !isAnnotation(keyword)),
  );
  const entries: [string, unknown][] = [];
  for (const keyword of keywords) {
    if (objects.every((object) => sameJson(object[keyword], first[keyword]))) entries.push([keyword, first[keyword]]);
    else report.add('', `${keyword} applies to some of the alternatives only and is removed`);
  }
  return Object.fromEntries(entries);
}

function uniteFields(objects: readonly JsonSchema[]): JsonSchema {
  const fields = new Map<string, unknown[]>();
  for (const { properties } of objects) {
    for (const [name, field] of Object.entries(isRecord(properties) ? properties : {})) {
      const known = fields.get(name) ?? [];
      if (field !== false) known.push(field);
      fields.set(name, known);
    }
  }
  return Object.fromEntries([...fields].map(([name, kinds]) => [name, uniteField(distinct(kinds))]));
}

/** The discriminator of the alternatives (`{"kind": {"const": "a"}}`) becomes one list of choices. */
function uniteField(kinds: readonly unknown[]): unknown {
  if (kinds.length < 2) return kinds[0] ?? false;
  const choices = kinds.map(plainChoices);
  if (choices.some((values) => values === null)) return { anyOf: kinds };
  const values = choices.flatMap((some) => some ?? []);
  const types = new Set(kinds.flatMap((kind) => (isRecord(kind) && typeof kind.type === 'string' ? [kind.type] : [])));
  return {
    ...(types.size === 1 && kinds.every((kind) => isRecord(kind) && kind.type !== undefined) && { type: [...types][0] }),
    enum: distinct(values),
  };
}

function plainChoices(field: unknown): readonly unknown[] | null {
  if (!isRecord(field) || !Object.keys(field).every((keyword) => ['type', 'const', 'enum', 'title'].includes(keyword))) return null;
  if (typeof field.type !== 'string' && field.type !== undefined) return null;
  return fixedChoices(field);
}

/** Fields with names that the provider rejects are described in words, and the object is opened for them. */
function withNames({ fieldName }: DialectRules, root: JsonSchema, report: SchemaReport): JsonSchema {
  const { properties } = root;
  if (fieldName === null || !isRecord(properties)) return root;
  const names = Object.keys(properties).filter((name) => !fieldName.test(name));
  if (names.length === 0) return root;
  for (const name of names) report.add(pointer('/properties', name), 'the name is not supported: moved to the description');
  const fields = names.map((name) => `${JSON.stringify(name)}: ${previewValue(properties[name])}`).join('; ');
  const required = Array.isArray(root.required) ? root.required.filter((name) => !names.includes(String(name))) : [];
  const open = {
    ...without(root, 'required', 'additionalProperties', 'unevaluatedProperties'),
    properties: without(properties, ...names),
    ...(required.length > 0 && { required }),
  };
  return appendDescription(open, `(Also accepts ${fields})`);
}

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

/** Removes the texts of parts that are more than `level` levels deep; -1: of all parts. */
export function withoutWords(schema: JsonSchema, level: number): JsonSchema {
  const reduced = level < 0 ? without(schema, ...annotations) : schema;
  return mapParts(reduced, '', (part) => (isRecord(part) ? withoutWords(part, level - 1) : part));
}

function cut(schema: JsonSchema, level: number): JsonSchema {
  if (level < 0) return typeOutline(schema);
  return mapParts(schema, '', (part) => (isRecord(part) ? cut(part, level - 1) : part));
}
