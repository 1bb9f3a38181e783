/**
 * Converts a Swagger 2.0 document to OpenAPI 3.0, so far as tools need it: servers, parameters, bodies, forms, schemas and security schemes.
 * References keep their form and point to the new places. Swagger Specification 2.0, "Swagger Object", "Parameter Object".
 */
import { type Json, isRecord, listOf, mapMembers, recordOf, stringOf } from '../json/wire-value.ts';

/** `value` has `swagger: "2.0"` and is not nested too deep. Responses are left out, since tools do not use them. */
export function fromSwagger(value: Json): Json {
  const {
    definitions,
    parameters,
    responses: _responses,
    securityDefinitions,
    paths,
    host,
    basePath,
    schemes,
    consumes,
    produces: _produces,
    ...rest
  } = value;
  const shared = recordOf(parameters);
  const converter: Converter = { shared, consumes: textsOf(consumes) };
  const converted = mapMembers(recordOf(paths), (item) => (isRecord(item) ? toPathItem(converter, item) : item));
  const servers = serversOf(host, basePath, schemes);
  return {
    ...rest,
    openapi: '3.0.3',
    ...(servers.length > 0 && { servers }),
    paths: converted,
    components: {
      schemas: mapMembers(recordOf(definitions), withNewReferences),
      parameters: mapMembers(shared, (parameter) => toParameter(recordOf(parameter))),
      securitySchemes: mapMembers(recordOf(securityDefinitions), toSecurityScheme),
    },
  };
}

type Converter = {
  /** The parameters of the document, which operations refer to. */
  shared: Json;
  consumes: readonly string[];
};

const methods: ReadonlySet<string> = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch']);

/** Without a host, the base path is relative to the URL of the document, as in OpenAPI 3. */
function serversOf(host: unknown, basePath: unknown, schemes: unknown): { url: string }[] {
  const path = stringOf(basePath).replace(/\/+$/, '');
  if (typeof host !== 'string' || host === '') return path === '' ? [] : [{ url: path }];
  const known = textsOf(schemes).filter((scheme) => scheme === 'https' || scheme === 'http');
  const scheme = known.includes('https') || known.length === 0 ? 'https' : 'http';
  return [{ url: `${scheme}://${host}${path === '' || path.startsWith('/') ? path : `/${path}`}` }];
}

function toPathItem(converter: Converter, item: Json): Json {
  const { parameters, ...rest } = item;
  const common = listOf(parameters).map((parameter) => resolve(converter, parameter));
  return mapMembers(rest, (operation, member) =>
    methods.has(member) && isRecord(operation) ? toOperation(converter, operation, common) : operation,
  );
}

/** Parameters of the path item are repeated in each operation, since its body may be among them. */
function toOperation(converter: Converter, operation: Json, common: readonly Json[]): Json {
  const { parameters, consumes, produces: _produces, schemes: _schemes, responses: _responses, ...rest } = operation;
  const own = listOf(parameters).map((parameter) => resolve(converter, parameter));
  const isOverridden = (one: Json): boolean => own.some((other) => other.name === one.name && other.in === one.in);
  const all = [...common.filter((one) => !isOverridden(one)), ...own];
  const types = Array.isArray(consumes) ? textsOf(consumes) : converter.consumes;
  const body = bodyOf(all, types);
  return {
    ...rest,
    parameters: all.filter((one) => one.in !== 'body' && one.in !== 'formData').map(toParameter),
    ...(body !== null && { requestBody: body }),
    responses: {},
  };
}

/** A reference to one of the document's parameters, or the parameter itself. */
function resolve({ shared }: Converter, parameter: unknown): Json {
  const { $ref } = recordOf(parameter);
  const name = /^#\/parameters\/(.+)$/.exec(stringOf($ref))?.[1]?.replaceAll('~1', '/').replaceAll('~0', '~');
  return name !== undefined && Object.hasOwn(shared, name) ? recordOf(shared[name]) : recordOf(parameter);
}

function bodyOf(parameters: readonly Json[], types: readonly string[]): Json | null {
  const body = parameters.find((one) => one.in === 'body');
  if (body !== undefined) {
    const content = { schema: withNewReferences(body.schema) };
    const type = types.find((one) => /json/i.test(one)) ?? types[0] ?? 'application/json';
    return { ...described(body), ...(body.required === true && { required: true }), content: { [type]: content } };
  }
  const fields = parameters.filter((one) => one.in === 'formData' && typeof one.name === 'string');
  if (fields.length === 0) return null;
  const isMultipart = fields.some(({ type }) => type === 'file') || types.includes('multipart/form-data');
  const required = fields.filter((one) => one.required === true).map(({ name }) => name);
  const schema = {
    type: 'object',
    properties: Object.fromEntries(fields.map((one) => [String(one.name), { ...schemaOf(one), ...described(one) }])),
    ...(required.length > 0 && { required }),
  };
  return {
    ...(required.length > 0 && { required: true }),
    content: { [isMultipart ? 'multipart/form-data' : 'application/x-www-form-urlencoded']: { schema } },
  };
}

function toParameter(parameter: Json): Json {
  if (typeof parameter.$ref === 'string') return { $ref: newReference(parameter.$ref) };
  const { name, in: place, required, collectionFormat, allowEmptyValue } = parameter;
  return {
    name,
    in: place,
    ...described(parameter),
    ...(required !== undefined && { required }),
    ...(allowEmptyValue === true && { allowEmptyValue }),
    ...(parameter.type === 'array' && styleOf(place, collectionFormat)),
    schema: schemaOf(parameter),
  };
}

/** `csv` is the default; `tsv` has no counterpart. */
function styleOf(place: unknown, format: unknown): Json {
  if (place !== 'query') return { style: 'simple' };
  if (format === 'multi') return { style: 'form', explode: true };
  if (format === 'ssv') return { style: 'spaceDelimited', explode: false };
  return { style: format === 'pipes' ? 'pipeDelimited' : 'form', explode: false };
}

/** Members of a schema that Swagger has in the parameter itself. */
const schemaMembers = [
  'type',
  'format',
  'items',
  'default',
  'maximum',
  'exclusiveMaximum',
  'minimum',
  'exclusiveMinimum',
  'maxLength',
  'minLength',
  'pattern',
  'maxItems',
  'minItems',
  'uniqueItems',
  'enum',
  'multipleOf',
] as const;

function schemaOf(parameter: Json): Json {
  const given = Object.fromEntries(
    schemaMembers.filter((member) => parameter[member] !== undefined).map((member) => [member, parameter[member]]),
  );
  return parameter.type === 'file' ? { type: 'string', format: 'binary' } : recordOf(withNewReferences(given));
}

function described({ description }: Json): Json {
  return typeof description === 'string' ? { description } : {};
}

function toSecurityScheme(value: unknown): unknown {
  const scheme = recordOf(value);
  return scheme.type === 'basic' ? { type: 'http', scheme: 'basic' } : scheme;
}

/** Returns a copy in which references to definitions and parameters name their places in OpenAPI 3. Bounded by the depth of the document. */
function withNewReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withNewReferences);
  if (!isRecord(value)) return value;
  return mapMembers(value, (member, name) =>
    name === '$ref' && typeof member === 'string' ? newReference(member) : withNewReferences(member),
  );
}

function newReference(reference: string): string {
  return reference.replace(/^#\/definitions\//, '#/components/schemas/').replace(/^#\/parameters\//, '#/components/parameters/');
}

function textsOf(value: unknown): string[] {
  return listOf(value).filter((one) => typeof one === 'string');
}
