/** A request to an operation, as the user filled it in: its URL, headers and body. The snippets and the tester both use it. */
import type { ApiOperation, Content, Parameter } from './reference.ts';
import { jsonTypeOf, streaming } from './reference.ts';
import { exampleOf } from './example.ts';
import type { SchemaMap } from './schema.ts';
import { recordIn } from '../../text/json.ts';

export type CallForm = {
  /** By place and name, see `fieldId`; '' means that the parameter is not sent. */
  values: Readonly<Record<string, string>>;
  /** Null: the operation has no body. */
  body: string | null;
  contentType: string;
  /** Sent instead of `body`. */
  file: File | null;
  stream: boolean;
};

export type ApiCall = {
  method: string;
  /** Path and query, encoded. */
  url: string;
  /** Without the key. */
  headers: [name: string, value: string][];
  body: string | File | null;
  needsKey: boolean;
};

export function fieldId({ in: place, name }: Parameter): string {
  return `${place}:${name}`;
}

/** The initial form: required parameters with their examples, and an example body. */
export function initialForm(operation: ApiOperation, schemas: SchemaMap): CallForm {
  const values = operation.parameters
    .filter(({ required }) => required)
    .map((parameter) => [fieldId(parameter), exampleText(parameter, schemas)]);
  const content = operation.requestBody?.content;
  const contentType = content === undefined ? '' : (jsonTypeOf(content) ?? Object.keys(content)[0] ?? '');
  return {
    values: Object.fromEntries(values),
    body: content === undefined ? null : isMcpMessage(operation) ? mcpExample : exampleBody(content, contentType, schemas),
    contentType: contentType === '*/*' ? 'application/octet-stream' : contentType,
    file: null,
    stream: streaming(operation) === 'always',
  };
}

/** The example of a JSON body, also as a form; '' for other content types. */
export function exampleBody(content: Content, contentType: string, schemas: SchemaMap): string {
  const { example, schema } = content[contentType] ?? {};
  const isForm = contentType === 'application/x-www-form-urlencoded';
  const isJson = jsonTypeOf({ [contentType]: {} }) !== null;
  const value = example ?? (schema && (isJson || isForm) ? exampleOf(schema, schemas, 'request') : '');
  if (typeof value === 'string') return value;
  return isForm ? new URLSearchParams(value as Record<string, string>).toString() : JSON.stringify(value, null, 2);
}

function exampleText({ in: place, example, schema = {} }: Parameter, schemas: SchemaMap): string {
  const value =
    example ?? (place === 'path' && schema.example === undefined && schema.enum === undefined ? '' : exampleOf(schema, schemas, 'request'));
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** MCP requires both types in `accept`, and the document leaves the message open. */
export function isMcpMessage({ method, path }: ApiOperation): boolean {
  return method === 'post' && /^\/mcp(?:\/|$)/.test(path);
}

const mcpExample = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, null, 2);

/** Names of required parameters without a value. */
export function missingParameters({ parameters }: ApiOperation, { values }: CallForm): string[] {
  return parameters.filter((parameter) => parameter.required && !values[fieldId(parameter)]).map(({ name }) => name);
}

export function toCall(operation: ApiOperation, form: CallForm): ApiCall {
  const textOf = (parameter: Parameter): string => form.values[fieldId(parameter)] ?? '';
  const inPlace = (place: Parameter['in']): Parameter[] =>
    operation.parameters.filter((parameter) => parameter.in === place && textOf(parameter) !== '');
  let path = operation.path;
  for (const parameter of inPlace('path')) path = path.replace(`{${parameter.name}}`, () => encodePath(textOf(parameter), parameter.name));
  const query = new URLSearchParams(inPlace('query').map((parameter) => [parameter.name, textOf(parameter)])).toString();
  const headers = inPlace('header').map((parameter): [string, string] => [parameter.name, textOf(parameter)]);
  const setHeader = (name: string, value: string): void => {
    if (!headers.some(([other]) => other.toLowerCase() === name)) headers.push([name, value]);
  };
  if (form.body !== null && form.contentType !== '') setHeader('content-type', form.contentType);
  if (isMcpMessage(operation)) setHeader('accept', 'application/json, text/event-stream');
  else if (form.stream && !streamsByBody(operation)) setHeader('accept', 'text/event-stream');
  return {
    method: operation.method.toUpperCase(),
    url: query === '' ? path : `${path}?${query}`,
    headers,
    body: form.body === null ? null : (form.file ?? form.body),
    needsKey: operation.security.length > 0,
  };
}

/** The paths of files may contain slashes. */
function encodePath(value: string, name: string): string {
  return (name === 'path' ? value.split('/') : [value]).map(encodeURIComponent).join('/');
}

/** Whether `stream` in the body selects the stream, as in the APIs of OpenAI and Anthropic. */
export function streamsByBody({ path }: ApiOperation): boolean {
  return ['/v1/chat/completions', '/v1/responses', '/v1/messages'].includes(path);
}

/** Sets or removes `stream: true` in a JSON body; a body that is not a JSON object is returned unchanged. */
export function withStream(body: string, stream: boolean): string {
  const value = recordIn(body);
  // The user is still typing; the form reports the error.
  if (value === null) return body;
  const { stream: _previous, ...rest } = value;
  return JSON.stringify(stream ? { ...rest, stream: true } : rest, null, 2);
}

/** Returns the error of a JSON text with its line, or null. */
export function jsonError(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const position = /position (\d+)/.exec(message)?.[1];
    const line = position === undefined || /line \d/.test(message) ? '' : ` (line ${text.slice(0, Number(position)).split('\n').length})`;
    return `The body is not valid JSON: ${message}${line}`;
  }
}
