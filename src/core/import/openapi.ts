/** The import of OpenAPI and Swagger documents. `openapi/` makes tools of them when the server lists its tools. */
import { type Json, recordOf, stringOf } from '../json/wire-value.ts';
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
  try {
    readOpenApi(value);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    draft.skip(title, error.detail);
    return;
  }
  // What its tools lack is reported by the listing of the server, of which a plan has one, too.
  const server = draft.add('servers', title, { kind: 'openapi', document: value });
  if (server === null) return;
  draft.add('toolsets', title, { tools: [{ tool: `${server}.*` }] });
}
