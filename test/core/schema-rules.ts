/**
 * An independent check of what each provider rejects in a tool's schema: written from the providers' pages and messages, sharing nothing
 * with the compiler. Returns the errors, such as `/properties/a: no type`.
 */
import type { SchemaDialect } from '../../src/core/model/provider-profile.ts';

type Json = Record<string, unknown>;
type Fault = (path: string, what: string) => void;

export function schemaFaults(schema: unknown, dialect: SchemaDialect): string[] {
  const faults: string[] = [];
  const fault: Fault = (path, what) => faults.push(`${path}: ${what}`);
  const text = JSON.stringify(schema);
  if (text.length > 64 * 1024) fault('', 'too large');
  if (!isJson(schema)) return ['no object'];
  if (schema.type !== 'object') fault('', 'the top is no object');
  if (/^(openai|cohere)/.test(dialect) && !isJson(schema.properties)) fault('', 'no properties at the top');
  if (dialect !== 'full')
    for (const word of ['anyOf', 'oneOf', 'allOf', 'enum', 'const', 'not']) if (word in schema) fault('', `${word} at the top`);
  if (dialect.startsWith('anthropic') && isJson(schema.properties)) {
    for (const name of Object.keys(schema.properties)) if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(name)) fault('/properties', `key ${name}`);
  }
  visit(schema, '', 0, (part, path, depth) => {
    everywhere(part, path, fault);
    dialectFaults[dialect](part, path, fault, depth);
  });
  return faults;
}

/** Valid draft 2020-12 without external references. */
function everywhere(part: unknown, path: string, fault: Fault): void {
  if (typeof part === 'boolean') return;
  if (!isJson(part)) {
    fault(path, 'no schema');
    return;
  }
  for (const word of ['$ref', '$dynamicRef', '$defs', 'definitions', '$id', '$anchor', 'dependencies', 'additionalItems']) {
    if (word in part) fault(path, word);
  }
  const types = [part.type ?? []].flat();
  for (const type of types) if (!/^(string|number|integer|boolean|array|object|null)$/.test(String(type))) fault(path, `type ${type}`);
  if ('exclusiveMinimum' in part && typeof part.exclusiveMinimum !== 'number') fault(path, 'exclusiveMinimum is no number');
  if (Array.isArray(part.items)) fault(path, 'a list of items');
  if ('enum' in part && (!Array.isArray(part.enum) || part.enum.length === 0)) fault(path, 'empty enum');
  if ('required' in part && !Array.isArray(part.required)) fault(path, 'required is no list');
  for (const word of ['anyOf', 'oneOf', 'allOf'])
    if (word in part && (!Array.isArray(part[word]) || part[word].length === 0)) fault(path, `empty ${word}`);
}

const arraysAndObjects = (part: unknown, path: string, fault: Fault): void => {
  if (!isJson(part)) return;
  const types = [part.type ?? []].flat();
  if (types.includes('array') && !isJson(part.items)) fault(path, 'array schema missing items');
  if (types.includes('object') && !isJson(part.properties)) fault(path, 'object schema missing properties');
};

function onlyWords(part: Json, path: string, fault: Fault, words: string): void {
  const known = new Set(words.split(' '));
  for (const word of Object.keys(part)) if (!known.has(word)) fault(path, `unknown word ${word}`);
}

const dialectFaults: Record<SchemaDialect, (part: unknown, path: string, fault: Fault, depth: number) => void> = {
  full() {},
  anthropic() {},
  'anthropic-strict'(part, path, fault) {
    if (typeof part === 'boolean') return;
    if (!isJson(part)) return;
    onlyWords(part, path, fault, 'type title description enum const anyOf properties required additionalProperties items format pattern');
    if ([part.type].flat().includes('object') && part.additionalProperties !== false) fault(path, 'is open');
  },
  openai: arraysAndObjects,
  cohere: arraysAndObjects,
  ollama(part, path, fault) {
    if (isJson(part)) onlyWords(part, path, fault, 'type description enum items anyOf properties required');
  },
  'openai-strict'(part, path, fault, depth) {
    arraysAndObjects(part, path, fault);
    if (typeof part === 'boolean') return path.endsWith('/additionalProperties') ? undefined : fault(path, 'a boolean');
    if (!isJson(part)) return;
    onlyWords(
      part,
      path,
      fault,
      'type title description enum anyOf properties required additionalProperties items minItems maxItems pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf',
    );
    if (part.type === undefined && part.anyOf === undefined) fault(path, 'no type');
    if (depth > 12) fault(path, 'too deep');
    if (![part.type].flat().includes('object')) return;
    if (part.additionalProperties !== false) fault(path, 'is open');
    const names = Object.keys(isJson(part.properties) ? part.properties : {});
    if (JSON.stringify(part.required) !== JSON.stringify(names)) fault(path, 'not all are required');
  },
  gemini(part, path, fault) {
    if (!isJson(part)) return;
    onlyWords(
      part,
      path,
      fault,
      'type format title description enum items prefixItems minItems maxItems minimum maximum anyOf properties additionalProperties required propertyOrdering',
    );
    for (const value of Array.isArray(part.enum) ? part.enum : []) {
      if (typeof value !== 'string' && typeof value !== 'number') fault(path, 'a choice that is neither text nor number');
    }
  },
  'gemini-openapi'(part, path, fault) {
    if (!isJson(part)) return fault(path, 'no message');
    onlyWords(
      part,
      path,
      fault,
      'type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength maxLength pattern anyOf propertyOrdering items minimum maximum',
    );
    if (Array.isArray(part.type)) fault(path, 'type is a list');
    if (part.type === 'null') fault(path, 'type null');
    if (part.enum !== undefined && part.type !== 'string') fault(path, 'enum: only allowed for STRING type');
    for (const value of Array.isArray(part.enum) ? part.enum : [])
      if (typeof value !== 'string' || value === '') fault(path, 'enum: cannot be empty');
    if (part.anyOf !== undefined && Object.keys(part).length > 1) fault(path, 'any_of must be the only field set');
    if (part.type === 'array' && !isJson(part.items)) fault(path, 'items: missing field');
    if (typeof part.format === 'string' && !/^(date-time|float|double|int32|int64)$/.test(part.format))
      fault(path, `format ${part.format}`);
    const fields = isJson(part.properties) ? part.properties : {};
    for (const name of Array.isArray(part.required) ? part.required : [])
      if (!Object.hasOwn(fields, String(name))) fault(path, `required ${name}`);
  },
};

function visit(part: unknown, path: string, depth: number, see: (part: unknown, path: string, depth: number) => void): void {
  see(part, path, depth);
  if (!isJson(part)) return;
  for (const [word, value] of Object.entries(part)) {
    const at = `${path}/${word}`;
    if (/^(properties|patternProperties|dependentSchemas)$/.test(word) && isJson(value)) {
      for (const [name, field] of Object.entries(value)) visit(field, `${at}/${name}`, depth + 1, see);
    } else if (/^(anyOf|oneOf|allOf|prefixItems)$/.test(word) && Array.isArray(value)) {
      for (const [index, branch] of value.entries()) visit(branch, `${at}/${index}`, depth + 1, see);
    } else if (/^(items|additionalProperties|contains|not|if|then|else|propertyNames|unevaluated(Items|Properties))$/.test(word)) {
      visit(value, at, depth + 1, see);
    }
  }
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
