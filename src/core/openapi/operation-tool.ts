/**
 * Converts one operation to a tool: description, one schema for parameters and body, output schema, annotations, and the data for the call
 * (`Operation`). `import.ts` selects the operations and their names.
 */
import { cutToBytes } from '../text/utf8.ts';
import { limits } from '../limits/limits.ts';
import type { ServerOperation, OperationParameter } from '../tools/server-operation.ts';
import type { JsonSchema, ToolAnnotations } from '../tools/tool.ts';
import { isRecord, recordOf, stringOf } from '../json/wire-value.ts';
import { account, type NamedOperation, type OpenApiDescription, operationPath, resolveReference, resolveSchema } from './description.ts';
import { parametersOf } from './parameters.ts';
import { bodyOf, fileSchema, isFile, type FoundBody } from './request-body.ts';
import type { ReadSchema, Schemas } from './schemas.ts';
import { inputSchema, outputSchema } from './tool-schema.ts';
import { distinctWireName } from '../names/names.ts';
import { isObjectMember } from '../names/reserved-names.ts';

export type OperationTool = { tool: Record<string, unknown> & { name: string }; operation: Omit<ServerOperation, 'baseUrl'> };

/** `isGiven`: whether the server's document sends this parameter, so that it is not an argument. */
export type ImportContext = { api: OpenApiDescription; schemas: Schemas; isGiven: (place: string, name: string) => boolean };

/** null and a warning: the operation cannot be described. */
export function toOperationTool(importing: ImportContext, found: NamedOperation): OperationTool | null {
  const { api, schemas } = importing;
  const where = operationPath(found);
  account(api, 'Operation', found.operation, where);
  const input = buildInput(importing, found, where);
  const fitted = inputSchema(schemas, { schema: input.schema, references: input.references });
  if (fitted === null) {
    api.warn(`tools.${found.name}`, 'has more arguments than a definition may have; skipped');
    return null;
  }
  if (fitted.change !== null) api.warn(`tools.${found.name}`, fitted.change);
  const output = readOutput(api, schemas, found, where);
  return {
    tool: {
      name: found.name,
      description: describe(found),
      inputSchema: fitted.schema,
      ...(output !== null && { outputSchema: output }),
      annotations: annotate(found),
    },
    operation: {
      ...{ method: found.method, path: found.target.path, parameters: input.parameters, body: input.body },
      ...(input.query.length > 0 && { query: input.query }),
    },
  };
}

/** The summary comes first, because long descriptions are cut at the end. */
function describe({ operation, method, path }: NamedOperation): string {
  const { summary, description, deprecated } = operation;
  const texts = [deprecated === true ? 'Deprecated.' : '', stringOf(summary).trim(), stringOf(description).trim()];
  const words = texts.filter((text, index) => text !== '' && texts.indexOf(text) === index).join('\n\n');
  return cutToBytes(words === '' ? `${method} ${path}` : words, limits.maxOperationDescriptionBytes).trim();
}

/** What the method promises (RFC 9110 §9.2). The server may break it, so it counts only for trusted servers. */
function annotate({ operation, method }: NamedOperation): ToolAnnotations {
  const title = cutToBytes(stringOf(operation.summary).trim(), 200);
  return {
    ...(title !== '' && { title }),
    ...((method === 'GET' || method === 'HEAD') && { readOnlyHint: true }),
    ...(method === 'DELETE' && { destructiveHint: true }),
    ...((method === 'PUT' || method === 'DELETE') && { idempotentHint: true }),
    openWorldHint: true,
  };
}

type Input = {
  schema: JsonSchema;
  references: Set<string>;
  parameters: OperationParameter[];
  query: NonNullable<ServerOperation['query']>;
  body: ServerOperation['body'];
};

type Gathered = { properties: Map<string, JsonSchema | boolean>; required: string[]; references: Set<string> };

function buildInput({ api, schemas, isGiven }: ImportContext, found: NamedOperation, where: string): Input {
  const nameOf = createArgumentNames();
  const gathered: Gathered = { properties: new Map(), required: [], references: new Set() };
  const add = (argument: string, { schema, references }: ReadSchema, description: string | null, isRequired: boolean): void => {
    gathered.properties.set(argument, described(schema, description));
    if (isRequired) gathered.required.push(argument);
    for (const reference of references) gathered.references.add(reference);
  };
  const asked = parametersOf(api, found, where, isGiven);
  const parameters = asked.parameters.map((parameter): OperationParameter => {
    const { isRequired, isDeprecated, description, schema, ...how } = parameter;
    const argument = nameOf(parameter.name, parameter.in);
    const read = schemas.read(schema, 'input', `${where}.${parameter.name}`);
    add(argument, isDeprecated ? deprecated(read) : read, description, isRequired);
    return { argument, ...how };
  });
  const body = bodyOf(api, found, where);
  const written = body === null ? null : addBody({ api, schemas, nameOf, add, where }, body);
  const additional = additionalOf(schemas, body, gathered, where);
  const { properties, required, references } = gathered;
  const schema = {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    ...(additional !== undefined && { additionalProperties: additional }),
  };
  return { schema, references, parameters, query: asked.query, body: written };
}

function deprecated(read: ReadSchema): ReadSchema {
  return isRecord(read.schema) ? { ...read, schema: { ...read.schema, deprecated: true } } : read;
}

function described(schema: JsonSchema | boolean, description: string | null): JsonSchema | boolean {
  if (description === null || description === '') return schema;
  const words = cutToBytes(description, limits.maxOperationDescriptionBytes);
  if (schema === true) return { description: words };
  return schema === false ? false : { ...schema, description: words };
}

type Adding = {
  api: OpenApiDescription;
  schemas: Schemas;
  nameOf: (name: string, where: string) => string;
  add: (argument: string, schema: ReadSchema, description: string | null, isRequired: boolean) => void;
  where: string;
};

function addBody({ api, schemas, nameOf, add, where }: Adding, body: FoundBody): NonNullable<ServerOperation['body']> {
  const { contentType, isRequired, styles, types, object, form } = body;
  const how = { contentType, isRequired, ...(styles && { styles }), ...(types && { types }) };
  const readFile = (property: unknown): ReadSchema => ({ schema: fileSchema(property), references: new Set(), same: new Set() });
  if (object === null) {
    const argument = nameOf('body', 'request');
    const content = form === 'text' ? plainText(contentType) : form === 'binary' ? readFile({}) : schemas.read(body.schema, 'input', where);
    add(argument, content, form === 'binary' ? null : body.description, isRequired);
    return { ...how, argument };
  }
  const members: [string, string][] = [];
  const files: string[] = [];
  for (const [name, property] of object.properties) {
    const argument = nameOf(name, 'body');
    const isOne = isFile(api, property, form);
    if (isOne) files.push(name);
    add(argument, isOne ? readFile(property) : schemas.read(property, 'input', `${where}.${name}`), null, object.required.has(name));
    members.push([name, argument]);
  }
  return { ...how, argument: null, members: Object.fromEntries(members), ...(files.length > 0 && { files }) };
}

function plainText(contentType: string): ReadSchema {
  return { schema: { type: 'string', description: `The body, as ${contentType}.` }, references: new Set(), same: new Set() };
}

/** The additional properties: those of a merged body; without one none, because they would not be sent. */
function additionalOf(schemas: Schemas, body: FoundBody | null, gathered: Gathered, where: string): JsonSchema | boolean | undefined {
  if (body === null || body.object === null) return false;
  const { additional } = body.object;
  if (additional === undefined || typeof additional === 'boolean') return additional;
  const { schema, references } = schemas.read(additional, 'input', where);
  for (const reference of references) gathered.references.add(reference);
  return schema;
}

/** Returns the output schema if all successful responses are one JSON object. */
function readOutput(api: OpenApiDescription, schemas: Schemas, { operation }: NamedOperation, where: string): JsonSchema | null {
  for (const [status, response] of Object.entries(recordOf(operation.responses)))
    if (isRecord(response) && response.$ref === undefined) account(api, 'Response', response, `${where}.responses.${status}`);
  const good = Object.entries(recordOf(operation.responses)).filter(([status]) => /^2(?:\d\d|XX)$/i.test(status));
  const [only] = good;
  if (only === undefined || good.length > 1) return null;
  const response = resolveReference(api, only[1], `${where}.responses`);
  const media = Object.entries(recordOf(response?.content)).find(([type]) => /[/+]json\b/i.test(type))?.[1];
  if (!isRecord(media) || media.schema === undefined) return null;
  const root = resolveSchema(api, media.schema, `${where}.responses`);
  if (root === null || root.type !== 'object') return null;
  const { schema, references } = schemas.read(root, 'output', `${where}.responses`);
  return isRecord(schema) && schema.type === 'object' ? outputSchema(schemas, { schema, references }) : null;
}

/**
 * Returns a function that gives each parameter or body member a free argument name, in the order of calls: its own name if that is legal
 * for the strictest provider (Anthropic: `^[a-zA-Z0-9_.-]{1,64}$`) and free. `where` becomes the prefix of a taken name (`query_id`).
 */
function createArgumentNames(): (name: string, where: string) => string {
  const taken = new Set<string>();
  return (name, where) => {
    const plain = legalArgument(name, name);
    const argument = !taken.has(plain) ? plain : legalArgument(`${where}_${name}`, `${where} ${name}`);
    // Names that differ only in replaced characters get a hash of the full name.
    const free = taken.has(argument) ? distinctWireName(`${where} ${name} ${taken.size}`, argument) : argument;
    taken.add(free);
    return free;
  };
}

function legalArgument(name: string, identity: string): string {
  const legal = name.replace(/[^a-zA-Z0-9_.-]+/g, '_');
  const trimmed = legal === name ? name : legal.replace(/^_+|_+$/g, '');
  return trimmed === '' || trimmed.length > 64 || isObjectMember(trimmed) ? distinctWireName(identity, trimmed) : trimmed;
}
