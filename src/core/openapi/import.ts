/**
 * Converts an OpenAPI document to tools: one for each selected operation, with the data needed to call it. Pure. Time is linear in the
 * document plus the size of the tools. Used by the source of `openapi` servers (`http-tools/openapi/source.ts`), which parses the text.
 */
import { limits } from '../limits.ts';
import { Problem } from '../problem.ts';
import type { ServerOperation } from '../servers/server-state.ts';
import type { Warning } from '../warning.ts';
import { documentBaseUrl } from './base-url.ts';
import { documentFault, operationsOf, readOpenApi, type OpenApiDocument } from './document.ts';
import { toOperationTool } from './operation-tool.ts';
import { createSchemas } from './schemas.ts';
import { selectOperations, type NamedOperation, type OperationSelection } from './selection.ts';
import { toolNames } from './tool-names.ts';

export type ImportRequest = OperationSelection & {
  /** The URL of the document; `''` for an inline document. */
  documentUrl: string;
  /** The base URL of all operations; overrides the document's. */
  baseUrl?: string | undefined;
  /** Headers that the server sends with each call, so they are not arguments. */
  headers?: readonly string[];
};

export type ImportedTools = {
  tools: (Record<string, unknown> & { name: string })[];
  operations: Record<string, ServerOperation>;
  warnings: Warning[];
};

/** Throws `upstream_error` with a remedy if no tools can be created. */
export function importOpenApi(value: unknown, { documentUrl, baseUrl, headers = [], ...selection }: ImportRequest): ImportedTools {
  const document = readOpenApi(value);
  const all = operationsOf(document);
  const names = toolNames(all);
  const named = all.map((operation, index): NamedOperation => ({ ...operation, name: names[index] ?? '' }));
  const { selected, warnings } = selectOperations(named, selection);
  if (selected.length > limits.maxServerTools) {
    throw documentFault(
      `has ${selected.length} operations, but a server can have at most ${limits.maxServerTools} tools. List the operations you need in include`,
    );
  }
  if (selected.length === 0) document.warn('include', all.length === 0 ? 'the document has no operations' : 'no operation is selected');
  const locate = baseUrl === undefined ? createLocator(document, documentUrl) : () => ({});
  const schemas = createSchemas(document);
  const given = new Set(headers.map((name) => name.toLowerCase()));
  const tools: ImportedTools['tools'] = [];
  const operations = new Map<string, ServerOperation>();
  let characters = 0;
  for (const found of selected) {
    const place = locate(found);
    const made = place === null ? null : toOperationTool({ document, schemas, given }, found);
    if (place === null || made === null) continue;
    if (operations.has(found.name)) {
      document.warn(`tools.${found.name}`, 'is the name of two operations; the first one is used');
      continue;
    }
    characters += JSON.stringify(made.tool).length;
    if (characters > limits.maxListingBytes)
      throw documentFault(`produces definitions of more than ${limits.maxListingBytes} bytes. List the operations you need in include`);
    tools.push(made.tool);
    operations.set(found.name, { ...made.operation, ...place });
  }
  return { tools, operations: Object.fromEntries(operations), warnings: [...warnings, ...document.warnings()] };
}

/**
 * Returns the base URL of each operation; null and a warning if it is not a valid URL. Throws the fault of the document's own `servers`.
 */
function createLocator(document: OpenApiDocument, documentUrl: string): (found: NamedOperation) => { baseUrl: string } | null {
  const hasOwn = ({ operation, item }: NamedOperation): boolean =>
    [operation, item].some(({ servers }) => Array.isArray(servers) && servers.length > 0);
  let common: string | null = null;
  return (found) => {
    if (!hasOwn(found)) {
      common ??= documentBaseUrl([document.root], documentUrl);
      return { baseUrl: common };
    }
    try {
      return { baseUrl: documentBaseUrl([found.operation, found.item, document.root], documentUrl) };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      document.warn(`tools.${found.name}`, `skipped: ${error.detail}`);
      return null;
    }
  };
}
