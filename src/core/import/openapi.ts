/** The import of OpenAPI and Swagger documents. `openapi/` makes tools of them when the server lists its tools. */
import { isRecord, type Json, listOf, recordOf, stringOf } from '../json/wire-value.ts';
import { readOpenApi } from '../openapi/description.ts';
import { Problem } from '../problem.ts';
import type { ImportDraft } from './draft.ts';
import { legalName } from './names.ts';

/** An OpenAPI or Swagger document becomes a server with the document inline, and a toolset with its operations. */
export function readOpenApiDocument(draft: ImportDraft, value: Json, fileName: string): void {
  const title = legalName(
    'servers',
    stringOf(recordOf(value.info).title)
      .replace(/\b(swagger|openapi|api)\b/gi, ' ')
      .trim() ||
      fileName ||
      'api',
  );
  let root: Json;
  try {
    ({ root } = readOpenApi(value));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    draft.skip(title, error.detail);
    return;
  }
  const server = draft.add('servers', title, { kind: 'openapi', document: value });
  if (server === null) return;
  const url = stringOf(recordOf(listOf(root.servers)[0]).url);
  if (!/^https?:\/\//i.test(url))
    draft.warn(
      `servers.${server}.baseUrl`,
      `the document does not say where its operations are called: PATCH /v1/servers/${server} {"baseUrl": "https://…"}`,
    );
  const schemes = Object.values(recordOf(recordOf(root.components).securitySchemes)).filter(isRecord);
  const headers = [...new Set(schemes.flatMap(headerOf))];
  if (headers.length > 0)
    draft.warn(
      `servers.${server}.headers`,
      `the API needs credentials: store a secret, and PATCH /v1/servers/${server} {"headers": {"${headers[0]}": {"secret": "<name>"}}}`,
    );
  draft.add('toolsets', title, { tools: [{ tool: `${server}.*` }] });
}

function headerOf({ type, in: place, name }: Json): string[] {
  if (type === 'apiKey') return place === 'header' && typeof name === 'string' ? [name] : [];
  return ['authorization'];
}
