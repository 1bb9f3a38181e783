/** Documents for tests: a minimal document plus what a test is about. */
import { importOpenApi, type ImportRequest } from '../../../src/core/openapi/import.ts';
import type { Json } from '../../../src/core/json/wire-value.ts';

export const address = 'https://api.example.com/v1';

export function documentOf(paths: Json, more: Json = {}): Json {
  return { openapi: '3.1.0', info: { title: 'An API', version: '1' }, servers: [{ url: address }], paths, ...more };
}

export function imported(document: unknown, request: Partial<ImportRequest> = {}) {
  return importOpenApi(document, { documentUrl: '', ...request });
}

/** Returns the only tool of a document with one operation. */
export function toolFrom(operation: Json, { path = '/things', method = 'post', ...more }: { path?: string; method?: string } & Json = {}) {
  const { tools, operations, warnings } = imported(documentOf({ [path]: { [method]: operation } }, more));
  const [tool] = tools;
  if (tool === undefined) throw new Error(`no tool: ${JSON.stringify(warnings)}`);
  const called = operations[tool.name];
  if (called === undefined) throw new Error('no operation');
  return { tool: tool as Json, schema: tool.inputSchema as Json & { properties: Record<string, Json> }, operation: called, warnings };
}

/** Returns a JSON body with this schema. */
export function jsonBody(schema: unknown, more: Json = {}): Json {
  return { requestBody: { required: true, content: { 'application/json': { schema } }, ...more } };
}
