/** Reads JSON Schema for display: the type as a phrase, the limits as phrases, and the parts below a schema. */
import { isJsonRecord } from '../../text/json.ts';

export type ApiSchema = {
  $ref?: string;
  type?: string | string[];
  format?: string;
  contentEncoding?: string;
  description?: string;
  properties?: Record<string, ApiSchema>;
  required?: string[];
  additionalProperties?: boolean | ApiSchema;
  propertyNames?: ApiSchema;
  items?: ApiSchema;
  oneOf?: ApiSchema[];
  anyOf?: ApiSchema[];
  allOf?: ApiSchema[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  example?: unknown;
  examples?: unknown[];
  readOnly?: boolean;
  deprecated?: boolean;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  multipleOf?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
};
export type SchemaMap = Readonly<Record<string, ApiSchema>>;

export type SchemaField = { name: string; schema: ApiSchema; isRequired: boolean };
/** What can be expanded below a schema. */
export type SchemaParts =
  | { kind: 'none' }
  | { kind: 'fields'; fields: SchemaField[]; rest: ApiSchema | null }
  | { kind: 'values'; value: ApiSchema }
  | { kind: 'variants'; variants: ApiSchema[] };

export function refName(schema: ApiSchema): string | null {
  return schema.$ref?.split('/').at(-1) ?? null;
}

/** Follows `$ref`. Keywords beside it take precedence. */
export function dereference(schema: ApiSchema, schemas: SchemaMap): ApiSchema {
  const seen = new Set<string>();
  let current = schema;
  for (let name = refName(current); name !== null && !seen.has(name); name = refName(current)) {
    seen.add(name);
    const { $ref: _followed, ...beside } = current;
    current = { ...schemas[name], ...beside };
  }
  return current;
}

/** The schema without the alternative `null`, and whether there was one. */
export function splitNull(schema: ApiSchema): { schema: ApiSchema; isNullable: boolean } {
  if (Array.isArray(schema.type) && schema.type.includes('null')) {
    const types = schema.type.filter((type) => type !== 'null');
    return { schema: { ...schema, type: types.length === 1 ? types[0] : types }, isNullable: true };
  }
  const key = schema.anyOf ? 'anyOf' : 'oneOf';
  const variants = schema[key];
  const rest = variants?.filter((variant) => variant.type !== 'null');
  if (variants === undefined || rest === undefined || rest.length === variants.length) return { schema, isNullable: false };
  const { [key]: _variants, ...beside } = schema;
  return { schema: rest.length === 1 ? { ...rest[0], ...beside } : { ...beside, [key]: rest }, isNullable: true };
}

/** For example `string`, `array of Toolset`, `string or integer`, `map of string`. Names of schemas are not followed. */
export function typePhrase(given: ApiSchema): string {
  const { schema, isNullable } = splitNull(given);
  return isNullable ? `${corePhrase(schema)} or null` : corePhrase(schema);
}

function corePhrase(schema: ApiSchema): string {
  const name = refName(schema);
  if (name !== null) return name;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const variants = schema.oneOf ?? schema.anyOf;
  if (variants !== undefined) return variantsPhrase(variants);
  if (schema.allOf !== undefined) return schema.allOf.map(typePhrase).join(' and ');
  if (Array.isArray(schema.type)) return schema.type.join(' or ');
  if (schema.type === 'array' || schema.items !== undefined)
    return schema.items === undefined || isEmpty(schema.items) ? 'array' : `array of ${plural(typePhrase(schema.items))}`;
  const isMap = schema.properties === undefined && isJsonRecord(schema.additionalProperties);
  if (isMap)
    return isEmpty(schema.additionalProperties as ApiSchema) ? 'object' : `map of ${typePhrase(schema.additionalProperties as ApiSchema)}`;
  if (schema.type === undefined) return schema.enum ? 'enum' : schema.properties ? 'object' : 'any';
  const detail = schema.format ?? schema.contentEncoding;
  return detail === undefined ? schema.type : `${schema.type} (${detail})`;
}

const maxNamedVariants = 4;

function variantsPhrase(variants: readonly ApiSchema[]): string {
  const phrases = [...new Set(variants.map(typePhrase))];
  return phrases.length <= maxNamedVariants ? phrases.join(' or ') : `one of ${variants.length} variants`;
}

function plural(phrase: string): string {
  if (/[ (]/.test(phrase) && !phrase.includes(' (')) return `(${phrase})`;
  return /^(?:string|object|integer|number|boolean)$/.test(phrase) ? `${phrase}s` : phrase;
}

function isEmpty(schema: ApiSchema): boolean {
  return Object.keys(schema).length === 0;
}

/** Limits as phrases, for example `1 to 64 characters`. Zod's bounds of safe integers are left out: they tell the reader nothing. */
export function limitPhrases(given: ApiSchema): string[] {
  const { schema } = splitNull(given);
  const integer = (value: number | undefined): number | undefined => (Math.abs(value ?? 0) >= Number.MAX_SAFE_INTEGER ? undefined : value);
  return [
    range(schema.minLength, schema.maxLength, 'character'),
    range(schema.minItems, schema.maxItems, 'item'),
    range(integer(schema.minimum), integer(schema.maximum), ''),
    schema.exclusiveMinimum === undefined ? '' : `more than ${schema.exclusiveMinimum}`,
    schema.exclusiveMaximum === undefined ? '' : `less than ${schema.exclusiveMaximum}`,
    schema.multipleOf === undefined ? '' : `multiple of ${schema.multipleOf}`,
    schema.uniqueItems ? 'no duplicates' : '',
    schema.readOnly ? 'read-only' : '',
    schema.deprecated ? 'deprecated' : '',
  ].filter((phrase) => phrase !== '');
}

function range(min: number | undefined, max: number | undefined, unit: string): string {
  const units = (count: number): string => (unit === '' ? '' : ` ${unit}${count === 1 ? '' : 's'}`);
  const text = (value: number): string => value.toLocaleString('en-US');
  if (min !== undefined && max !== undefined)
    return min === max ? `exactly ${text(min)}${units(min)}` : `${text(min)} to ${text(max)}${units(max)}`;
  if (max !== undefined) return `at most ${text(max)}${units(max)}`;
  return min === undefined ? '' : `at least ${text(min)}${units(min)}`;
}

/** What is below a schema; arrays are passed through to their items. `schema` has no `$ref` (see `dereference`). */
export function schemaParts(given: ApiSchema, schemas: SchemaMap): SchemaParts {
  const { schema } = splitNull(given);
  if (schema.$ref !== undefined) {
    const resolved = dereference(schema, schemas);
    // Still a reference: to itself.
    return resolved.$ref === undefined ? schemaParts(resolved, schemas) : { kind: 'none' };
  }
  const variants = schema.oneOf ?? schema.anyOf;
  if (variants !== undefined) return variants.every(isLeaf) ? { kind: 'none' } : { kind: 'variants', variants };
  if (schema.allOf !== undefined) return mergedFields(schema.allOf, schemas);
  if (schema.items !== undefined) return schemaParts(schema.items, schemas);
  const rest = isJsonRecord(schema.additionalProperties) ? (schema.additionalProperties as ApiSchema) : null;
  if (schema.properties !== undefined && Object.keys(schema.properties).length > 0) {
    const required = new Set(schema.required);
    const fields = Object.entries(schema.properties).map(([name, property]) => ({
      name,
      schema: property,
      isRequired: required.has(name),
    }));
    // Required fields come first, as readers need them first.
    return { kind: 'fields', fields: fields.sort((a, b) => Number(b.isRequired) - Number(a.isRequired)), rest };
  }
  if (rest !== null && !isLeaf(rest)) return { kind: 'values', value: rest };
  return { kind: 'none' };
}

function mergedFields(all: readonly ApiSchema[], schemas: SchemaMap): SchemaParts {
  const parts = all.map((part) => schemaParts(part, schemas)).filter((part) => part.kind === 'fields');
  return parts.length === 0 ? { kind: 'none' } : { kind: 'fields', fields: parts.flatMap(({ fields }) => fields), rest: null };
}

/** Whether the phrase for the type says everything. */
function isLeaf(schema: ApiSchema): boolean {
  if (schema.$ref !== undefined || schema.oneOf || schema.anyOf || schema.allOf || schema.description) return false;
  if (schema.items !== undefined) return isLeaf(schema.items);
  return (
    Object.keys(schema.properties ?? {}).length === 0 &&
    (!isJsonRecord(schema.additionalProperties) || isLeaf(schema.additionalProperties as ApiSchema))
  );
}

/** A name for one of several variants: its schema, its fixed `type`, `kind` or `role`, its first required field, or its type. */
export function variantName(variant: ApiSchema, schemas: SchemaMap): string {
  const name = refName(variant);
  if (name !== null) return name;
  const { properties = {}, required = [] } = dereference(variant, schemas);
  for (const [field, property] of Object.entries(properties))
    if (property.const !== undefined) return `${field}: ${JSON.stringify(property.const)}`;
  return required[0] === undefined ? typePhrase(variant) : `object with ${required[0]}`;
}

/** The allowed values, if they are listed. */
export function allowedValues(given: ApiSchema): unknown[] {
  const { schema } = splitNull(given);
  if (schema.enum) return schema.enum;
  const variants = schema.oneOf ?? schema.anyOf ?? [];
  return variants.length > 0 && variants.every((variant) => variant.const !== undefined) ? variants.map((variant) => variant.const) : [];
}
