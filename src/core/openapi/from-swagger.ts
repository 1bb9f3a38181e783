/**
 * Converts a Swagger 2.0 document to OpenAPI 3.0, so far as tools need it: servers, parameters, bodies, forms, schemas and security schemes.
 * References keep their form and point to the new places. Swagger Specification 2.0, "Swagger Object", "Parameter Object".
 */
import { type Json, isRecord, listOf, mapMembers, mapMemberTexts, recordOf, stringOf } from '../json/wire-value.ts';

/** `value` has `swagger: "2.0"` and is not nested too deep. Responses are left out, since tools do not use them. */
export function fromSwagger(value: Json, warn: Warn): Json {
  const {
    definitions,
    parameters,
    responses: _responses,
    securityDefinitions,
    swagger: _swagger,
    paths,
    host,
    basePath,
    schemes,
    consumes,
    produces: _produces,
    ...rest
  } = value;
  const shared = recordOf(parameters);
  const converter: Converter = { shared, consumes: textsOf(consumes), warn, serversOf: (used) => serversOf(host, basePath, used) };
  const converted = mapMembers(recordOf(paths), (item, path) => (isRecord(item) ? toPathItem(converter, item, `paths.${path}`) : item));
  const servers = serversOf(host, basePath, schemes);
  reportSchemes(converter, schemes, 'schemes');
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

type Warn = (path: string, message: string) => void;

type Converter = {
  /** The parameters of the document, which operations refer to. */
  shared: Json;
  consumes: readonly string[];
  warn: Warn;
  serversOf(schemes: unknown): { url: string }[];
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

function reportSchemes({ warn }: Converter, schemes: unknown, where: string): void {
  const others = textsOf(schemes).filter((scheme) => scheme !== 'https' && scheme !== 'http');
  if (others.length > 0) warn(where, `${others.slice(0, 5).join(', ')} cannot be used: calls are sent over https, or http`);
}

function toPathItem(converter: Converter, item: Json, where: string): Json {
  const { parameters, ...rest } = item;
  const common = listOf(parameters).map((parameter) => resolve(converter, parameter));
  return mapMembers(rest, (operation, member) =>
    methods.has(member) && isRecord(operation) ? toOperation(converter, operation, common, `${where}.${member}`) : operation,
  );
}

/** Parameters of the path item are repeated in each operation, since its body may be among them. */
function toOperation(converter: Converter, operation: Json, common: readonly Json[], where: string): Json {
  const { parameters, consumes, produces: _produces, schemes, responses: _responses, ...rest } = operation;
  const { warn } = converter;
  const own = listOf(parameters).map((parameter) => resolve(converter, parameter));
  const keyOf = (one: Json): string => `${one.in} ${one.name}`;
  const ownKeys = new Set(own.map(keyOf));
  const all = [...common.filter((one) => !ownKeys.has(keyOf(one))), ...own];
  const types = Array.isArray(consumes) ? textsOf(consumes) : converter.consumes;
  const body = bodyOf(all, types, warn, where);
  const servers = Array.isArray(schemes) ? converter.serversOf(schemes) : [];
  reportSchemes(converter, schemes, `${where}.schemes`);
  return {
    ...rest,
    parameters: all
      .filter((one) => one.in !== 'body' && one.in !== 'formData')
      .map((one) => toParameter(one, warn, `${where}.parameters.${String(one.name)}`)),
    ...(servers.length > 0 && { servers }),
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

function bodyOf(parameters: readonly Json[], types: readonly string[], warn: Warn, where: string): Json | null {
  const body = parameters.find((one) => one.in === 'body');
  if (body !== undefined) {
    const media = { schema: withNewReferences(body.schema) };
    if (parameters.some((one) => one.in === 'formData')) warn(`${where}.parameters`, 'has a body, so its form parameters are skipped');
    const content = Object.fromEntries((types.length > 0 ? types : ['application/json']).map((type) => [type, media]));
    return { ...described(body), ...(body.required === true && { required: true }), content };
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
  // A list is joined with commas, unless its collectionFormat says otherwise.
  const lists = fields.filter(({ type, items }) => type === 'array' && recordOf(items).type !== 'file');
  const encoding = Object.fromEntries(
    lists.map((one) => [String(one.name), listStyle(one, warn, `${where}.parameters.${String(one.name)}`)]),
  );
  return {
    ...(required.length > 0 && { required: true }),
    content: { [isMultipart ? 'multipart/form-data' : 'application/x-www-form-urlencoded']: { schema, encoding } },
  };
}

/** Members that are not of Swagger stay, so that they are reported with those of OpenAPI. Without `warn`: operations that use it warn. */
function toParameter(parameter: Json, warn: Warn = () => undefined, where = ''): Json {
  if (typeof parameter.$ref === 'string') return { $ref: newReference(parameter.$ref) };
  const { name, in: place, required, collectionFormat: _format, allowEmptyValue, description: _description, ...rest } = parameter;
  const others = Object.entries(rest).filter(([member]) => !inSchema.has(member));
  return {
    ...Object.fromEntries(others),
    name,
    in: place,
    ...described(parameter),
    ...(required !== undefined && { required }),
    ...(allowEmptyValue === true && { allowEmptyValue }),
    ...(parameter.type === 'array' && listStyle(parameter, warn, where)),
    schema: schemaOf(parameter),
  };
}

/** How a list is written; `csv` is the default. `tsv` has no counterpart, and so have lists in lists. */
function listStyle({ in: place, collectionFormat: format = 'csv', items }: Json, warn: Warn, where: string): Json {
  const { collectionFormat: inner } = recordOf(items);
  if (inner !== undefined && inner !== 'csv') warn(`${where}.items.collectionFormat`, 'is not used: lists in lists are written as JSON');
  const isInQuery = place === 'query' || place === 'formData';
  if (format === 'multi' && isInQuery) return { style: 'form', explode: true };
  if (format === 'ssv' && isInQuery) return { style: 'spaceDelimited', explode: false };
  if (format === 'pipes' && isInQuery) return { style: 'pipeDelimited', explode: false };
  if (format !== 'csv')
    warn(`${where}.collectionFormat`, `${JSON.stringify(format)} cannot be written in ${String(place)}: values are joined with commas`);
  return { style: isInQuery ? 'form' : 'simple', explode: false };
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

const inSchema: ReadonlySet<string> = new Set(schemaMembers);

function schemaOf(parameter: Json): Json {
  const { collectionFormat: _format, ...items } = recordOf(parameter.items);
  const written: Json = { ...parameter, ...(isRecord(parameter.items) && { items }) };
  const given = Object.fromEntries(
    schemaMembers.filter((member) => written[member] !== undefined).map((member) => [member, written[member]]),
  );
  return parameter.type === 'file' ? { type: 'string', format: 'binary' } : recordOf(withNewReferences(given));
}

function described({ description }: Json): Json {
  return typeof description === 'string' ? { description } : {};
}

function toSecurityScheme(value: unknown): unknown {
  const { flow, authorizationUrl, tokenUrl, scopes, ...scheme } = recordOf(value);
  if (scheme.type === 'basic') return { ...scheme, type: 'http', scheme: 'basic' };
  if (scheme.type !== 'oauth2') return value;
  const how = { ...(authorizationUrl !== undefined && { authorizationUrl }), ...(tokenUrl !== undefined && { tokenUrl }), scopes };
  return { ...scheme, ...(typeof flow === 'string' && { flows: { [flowNames.get(flow) ?? flow]: how } }) };
}

const flowNames: ReadonlyMap<string, string> = new Map([
  ['accessCode', 'authorizationCode'],
  ['application', 'clientCredentials'],
]);

/** References to definitions and parameters name their places in OpenAPI 3. */
function withNewReferences(value: unknown): unknown {
  return mapMemberTexts(value, (text, name) => (name === '$ref' ? newReference(text) : text));
}

function newReference(reference: string): string {
  return reference.replace(/^#\/definitions\//, '#/components/schemas/').replace(/^#\/parameters\//, '#/components/parameters/');
}

function textsOf(value: unknown): string[] {
  return listOf(value).filter((one) => typeof one === 'string');
}
