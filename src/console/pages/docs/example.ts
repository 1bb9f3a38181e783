/** Generates an example value from a schema, where the document has none. */
import { isJsonRecord } from '../../text/json.ts';
import { dereference, type ApiSchema, refName, type SchemaMap, splitNull } from './schema.ts';

/** `request`: only required fields and those that clients may send. `response`: all fields. */
export type ExampleFor = 'request' | 'response';

/** Nested objects below this depth are empty, so that an example stays readable. */
const maxDepth = 6;

export function exampleOf(schema: ApiSchema, schemas: SchemaMap, use: ExampleFor): unknown {
  return build(schema, { schemas, use, trail: [], name: '' });
}

/** `trail`: the named schemas above, which end a recursion. `name`: the field that is built, which suggests a value. */
type Position = { schemas: SchemaMap; use: ExampleFor; trail: readonly string[]; name: string };

function build(given: ApiSchema, at: Position): unknown {
  const name = refName(given);
  const isRecursive = name !== null && at.trail.includes(name);
  const inner = name === null ? at : { ...at, trail: [...at.trail, name] };
  const { schema } = splitNull(dereference(given, at.schemas));
  if (schema.$ref !== undefined) return build(schema, inner);
  const own = givenExample(schema);
  if (own !== undefined) return own;
  if (isRecursive || at.trail.length > maxDepth) return schema.type === 'array' ? [] : {};
  const variants = schema.oneOf ?? schema.anyOf;
  if (variants?.[0] !== undefined) return build(variants[0], inner);
  if (schema.allOf !== undefined) return Object.assign({}, ...schema.allOf.map((part) => build(part, inner)));
  if (schema.type === 'array' || schema.items !== undefined) return arrayExample(schema, inner);
  if (schema.type === 'object' || schema.properties !== undefined) return objectExample(schema, inner);
  return scalarExample(schema, at.name);
}

function givenExample(schema: ApiSchema): unknown {
  const enumeration = schema.enum?.[0];
  return [schema.example, schema.examples?.[0], schema.const, schema.default, enumeration].find((value) => value !== undefined);
}

function arrayExample({ items, minItems = 0 }: ApiSchema, at: Position): unknown[] {
  if (items === undefined || Object.keys(items).length === 0) return [];
  const name = refName(items);
  if (name !== null && at.trail.includes(name) && minItems === 0) return [];
  return [build(items, at)];
}

function objectExample(schema: ApiSchema, at: Position): Record<string, unknown> {
  const { properties = {}, required = [], additionalProperties } = schema;
  const shown = Object.entries(properties).filter(([name, property]) => {
    const isRequired = required.includes(name);
    if (at.use === 'request') return isRequired && !dereference(property, at.schemas).readOnly;
    const reference = refName(splitNull(property).schema);
    return isRequired || reference === null || !at.trail.includes(reference);
  });
  const value = Object.fromEntries(shown.map(([name, property]) => [name, build(property, deeper(at, name))]));
  if (shown.length > 0 || !isJsonRecord(additionalProperties) || Object.keys(additionalProperties).length === 0) return value;
  return at.use === 'request' ? value : { name: build(additionalProperties as ApiSchema, deeper(at, 'name')) };
}

/** An unnamed object counts as a level too. */
function deeper(at: Position, name: string): Position {
  return { ...at, trail: [...at.trail, ''], name };
}

const formats: Readonly<Record<string, string>> = {
  'date-time': '2026-01-31T12:00:00.000Z',
  date: '2026-01-31',
  uri: 'https://example.com',
  url: 'https://example.com',
  uuid: '3f0d6d2e-6a51-4d0c-9a5e-0a1b2c3d4e5f',
  email: 'name@example.com',
};

const names: Readonly<Record<string, unknown>> = {
  model: 'rehearsal/default',
  url: 'https://example.com',
  name: 'name',
  jsonrpc: '2.0',
};

function scalarExample({ type, format, minimum = 0, exclusiveMinimum }: ApiSchema, name: string): unknown {
  switch (Array.isArray(type) ? type[0] : type) {
    case 'integer':
    case 'number':
      return Math.abs(minimum) >= Number.MAX_SAFE_INTEGER ? 0 : (exclusiveMinimum ?? minimum - 1) + 1;
    case 'boolean':
      return false;
    case 'null':
      return null;
    case 'string':
      return formats[format ?? ''] ?? (/(?:At|_at)$/.test(name) ? formats['date-time'] : (names[name] ?? 'string'));
    default:
      // No type: any value. An object is the most likely one.
      return {};
  }
}
