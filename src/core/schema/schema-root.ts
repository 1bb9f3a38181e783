/**
 * Converts a tool's whole schema to an object schema: arguments are an object, and several providers accept no `anyOf`, `oneOf` or `allOf`
 * at the top level. Alternatives become one list of fields. A field described by only one alternative keeps that description. Used by the
 * schema compiler.
 */
import { pointer } from '../json/json-pointer.ts';
import { alternativesOf, appendDescription } from './schema-alternatives.ts';
import type { DialectRules } from './schema-dialects.ts';
import type { NarrowContext } from './schema-narrow.ts';
import { distinct, isAnnotation, sameJson, without } from './schema-parts.ts';
import { SchemaReport, previewValue } from './schema-report.ts';
import type { JsonSchema } from '../tools/tool.ts';
import { isRecord } from '../json/wire-value.ts';

/** Returns the schema, or a reason that completes "its input schema …". */
export function toObjectSchema(
  tree: JsonSchema | boolean,
  { rules, report, effort }: Pick<NarrowContext, 'rules' | 'report' | 'effort'>,
): JsonSchema | string {
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
  const choices = Array.isArray(schema.enum) ? schema.enum : Object.hasOwn(schema, 'const') ? [schema.const] : null;
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
  const choices = kinds.map(choicesOf);
  if (choices.some((values) => values === null)) return { anyOf: kinds };
  const values = choices.flatMap((some) => some ?? []);
  const types = new Set(kinds.flatMap((kind) => (isRecord(kind) && typeof kind.type === 'string' ? [kind.type] : [])));
  return {
    ...(types.size === 1 && kinds.every((kind) => isRecord(kind) && kind.type !== undefined) && { type: [...types][0] }),
    enum: distinct(values),
  };
}

function choicesOf(field: unknown): unknown[] | null {
  if (!isRecord(field) || !Object.keys(field).every((keyword) => ['type', 'const', 'enum', 'title'].includes(keyword))) return null;
  if (typeof field.type !== 'string' && field.type !== undefined) return null;
  return Object.hasOwn(field, 'const') ? [field.const] : Array.isArray(field.enum) ? field.enum : null;
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
