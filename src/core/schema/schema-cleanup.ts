/**
 * Rewrites one part of a schema in JSON Schema 2020-12: converts the spellings of older drafts and of OpenAPI, and removes what is not JSON
 * Schema, because one such keyword makes a provider reject the whole request (Anthropic: "JSON schema is invalid. It must match JSON Schema
 * draft 2020-12", anthropics/claude-code#586, openclaw/openclaw#98588). Does not visit nested parts; `schema-references.ts` does.
 */
import { isRecord } from '../json/wire-value.ts';
import { pointer } from '../json/json-pointer.ts';
import { keywordOf, typeNames } from './schema-keywords.ts';
import { isAnnotation } from './schema-parts.ts';
import { previewValue } from './schema-report.ts';
import type { JsonSchema } from '../tools/tool.ts';

/** `isInvalid`: the value has no meaning and is lost, unlike one that is converted or not needed. */
type Note = (message: string, isInvalid?: true) => void;

/** Returns the same object if nothing changes. */
export function modernize(
  schema: JsonSchema,
  path: string,
  report: { add(path: string, message: string, isInvalid?: true): void },
): JsonSchema {
  if (Object.entries(schema).every(([keyword, value]) => isClean(keyword, value))) return schema;
  const entries = Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
    if (isClean(keyword, value) && !isTouched(keyword, schema)) return [[keyword, value]];
    return rewrite(keyword, value, schema, (message, isInvalid) => report.add(pointer(path, keyword), message, isInvalid));
  });
  const cleaned: JsonSchema = Object.fromEntries(entries);
  return schema.nullable === true ? makeNullable(cleaned) : cleaned;
}

function isClean(keyword: string, value: unknown): boolean {
  if (keyword === '$schema') return value === draft2020 || value === `${draft2020}#`;
  if (obsoleteKeywords.has(keyword)) return false;
  return keywordOf(keyword).is(value);
}

const draft2020 = 'https://json-schema.org/draft/2020-12/schema';

/** Keywords without use in 2020-12, with what happens to them; those that name parts are not needed once references are expanded. */
const obsoleteKeywords: ReadonlyMap<string, string> = new Map([
  ...['$id', '$anchor', '$dynamicAnchor', '$recursiveAnchor', '$vocabulary'].map(
    (keyword) => [keyword, 'removed: references are expanded, so parts need no names'] as const,
  ),
  ...['$defs', 'definitions'].map((keyword) => [keyword, 'removed: definitions are expanded where they are used'] as const),
  ['nullable', 'an OpenAPI keyword: true is converted to the type null'],
  ['dependencies', 'converted to dependentRequired and dependentSchemas, as since draft 2019-09'],
  ['additionalItems', 'converted to items if there is a list of items; without effect otherwise'],
]);

/** Valid alone, but with a different meaning next to a keyword that is converted. */
function isTouched(keyword: string, schema: JsonSchema): boolean {
  return (
    (keyword === 'minimum' && schema.exclusiveMinimum === true) ||
    (keyword === 'maximum' && schema.exclusiveMaximum === true) ||
    ((keyword === 'dependentRequired' || keyword === 'dependentSchemas') && schema.dependencies !== undefined)
  );
}

function rewrite(keyword: string, value: unknown, schema: JsonSchema, note: Note): [string, unknown][] {
  const old = obsoleteKeywords.get(keyword);
  if (old !== undefined) note(old);
  switch (keyword) {
    case '$schema':
      note('removed: the schema is converted to draft 2020-12');
      return [];
    case 'type':
      return cleanType(value, note);
    case 'required':
      return cleanRequired(value, note);
    case 'items':
      if (!Array.isArray(value)) break;
      note('a list of schemas is converted to prefixItems');
      return [
        ['prefixItems', value],
        ...(schema.additionalItems === undefined ? [] : [['items', schema.additionalItems] as [string, unknown]]),
      ];
    case 'minimum':
    case 'maximum':
      // It was converted to the exclusive bound.
      if (isClean(keyword, value)) return [];
      break;
    case 'exclusiveMinimum':
    case 'exclusiveMaximum': {
      const bound = keyword === 'exclusiveMinimum' ? schema.minimum : schema.maximum;
      if (typeof value !== 'boolean') break;
      note('converted to a number, as since draft 6');
      return value && typeof bound === 'number' ? [[keyword, bound]] : [];
    }
    case 'dependencies':
      return isRecord(value) ? splitDependencies(value, schema) : [];
    case 'dependentRequired':
    case 'dependentSchemas':
      return rest(keyword, value, schema);
    default:
  }
  if (old !== undefined) return [];
  note(`removed: ${previewValue(value)} is not a valid value of this keyword`, true);
  return [];
}

/** Type names of other languages that occur in real schemas. */
const foreignTypes: ReadonlyMap<string, string> = new Map([
  ...(['str', 'text'] as const).map((name) => [name, 'string'] as const),
  ...(['int', 'long'] as const).map((name) => [name, 'integer'] as const),
  ...(['float', 'double', 'decimal'] as const).map((name) => [name, 'number'] as const),
  ...(['bool'] as const).map((name) => [name, 'boolean'] as const),
  ...(['list', 'tuple'] as const).map((name) => [name, 'array'] as const),
  ...(['dict', 'map'] as const).map((name) => [name, 'object'] as const),
  ...(['none', 'nil'] as const).map((name) => [name, 'null'] as const),
]);

function cleanType(value: unknown, note: Note): [string, unknown][] {
  const names = Array.isArray(value) ? value : [value];
  const known = names.map((name) => {
    const lower = typeof name === 'string' ? name.toLowerCase() : '';
    return typeNames.has(lower) ? lower : foreignTypes.get(lower);
  });
  const types = [...new Set(known)];
  if (types.length === 0 || types.includes(undefined)) {
    note(`removed: ${previewValue(value)} is not a JSON Schema type, so any value is accepted`, true);
    return [];
  }
  note(`${previewValue(value)} is converted to ${types.join(' or ')}`);
  return [['type', types.length === 1 ? types[0] : types]];
}

function cleanRequired(value: unknown, note: Note): [string, unknown][] {
  if (!Array.isArray(value)) {
    note('removed: a list of required names belongs next to properties', true);
    return [];
  }
  note('duplicates and names that are not strings are removed');
  return [['required', [...new Set(value.filter((name) => typeof name === 'string'))]]];
}

/** Draft 7 has one keyword for both. */
function splitDependencies(value: Record<string, unknown>, schema: JsonSchema): [string, unknown][] {
  const names = Object.entries(value).filter(([, needs]) => Array.isArray(needs));
  const schemas = Object.entries(value).filter(([, needs]) => isRecord(needs) || typeof needs === 'boolean');
  const required = { ...Object.fromEntries(names), ...(isRecord(schema.dependentRequired) && schema.dependentRequired) };
  const dependent = { ...Object.fromEntries(schemas), ...(isRecord(schema.dependentSchemas) && schema.dependentSchemas) };
  return [
    ...(names.length > 0 ? [['dependentRequired', required] as [string, unknown]] : []),
    ...(schemas.length > 0 ? [['dependentSchemas', dependent] as [string, unknown]] : []),
  ];
}

/** Next to `dependencies`, the keyword was merged into its replacements. */
function rest(keyword: string, value: unknown, { dependencies }: JsonSchema): [string, unknown][] {
  const needs = isRecord(dependencies) ? Object.values(dependencies) : [];
  const taken = needs.some((need) => Array.isArray(need) === (keyword === 'dependentRequired'));
  return taken || !isRecord(value) ? [] : [[keyword, value]];
}

/** OpenAPI's `nullable`: adds null to the type, or wraps the schema. */
export function makeNullable(schema: JsonSchema): JsonSchema {
  const isSimple = Object.keys(schema).every((keyword) => !composing.has(keyword));
  if (!isSimple) {
    const entries = Object.entries(schema);
    const texts = Object.fromEntries(entries.filter(([keyword]) => isAnnotation(keyword)));
    const rules = Object.fromEntries(entries.filter(([keyword]) => !isAnnotation(keyword)));
    return { ...texts, anyOf: [rules, { type: 'null' }] };
  }
  const types = [schema.type ?? []].flat();
  return {
    ...schema,
    ...(types.length > 0 && { type: types.includes('null') ? schema.type : [...types, 'null'] }),
    ...(Array.isArray(schema.enum) && { enum: schema.enum.includes(null) ? schema.enum : [...schema.enum, null] }),
  };
}

const composing: ReadonlySet<string> = new Set(['$ref', '$dynamicRef', '$recursiveRef', 'const', 'allOf', 'anyOf', 'oneOf', 'not', 'if']);
