/**
 * An OpenAPI document as tools: one for each operation that its server takes, and how each is called. Pure, and linear in the document but
 * for what the tools themselves come to. Used by the source of `openapi` servers (`http-tools/openapi/source.ts`); the document's text is
 * read there.
 */
import { limits } from '../limits.ts';
import { Problem } from '../problem.ts';
import type { Operation } from '../servers/server-state.ts';
import type { Warning } from '../warning.ts';
import { baseUrlOf } from './base-url.ts';
import { fault, operationsOf, readOpenApi, type OpenApiDocument } from './document.ts';
import { toTool } from './operation-tool.ts';
import { createSchemas } from './schemas.ts';
import { selectOperations, type NamedOperation, type Selection } from './selection.ts';
import { toolNames } from './tool-names.ts';

export type ImportRequest = Selection & {
  /** Where the document comes from; `''`: it was given whole. */
  documentUrl: string;
  /** Where all operations are called, whatever the document says. */
  baseUrl?: string | undefined;
  /** Sent with each call by its server: no arguments. */
  headers?: readonly string[];
};

export type ImportedTools = {
  tools: (Record<string, unknown> & { name: string })[];
  operations: Record<string, Operation>;
  warnings: Warning[];
};

/** Throws `upstream_error` where no tools can be made of it, with what to do. */
export function importOpenApi(value: unknown, { documentUrl, baseUrl, headers = [], ...selection }: ImportRequest): ImportedTools {
  const document = readOpenApi(value);
  const all = operationsOf(document);
  const names = toolNames(all);
  const named = all.map((operation, index): NamedOperation => ({ ...operation, name: names[index] ?? '' }));
  const { selected, warnings } = selectOperations(named, selection);
  if (selected.length > limits.maxServerTools) {
    throw fault(`has ${selected.length} operations, and a server at most ${limits.maxServerTools} tools. Name those you need in include`);
  }
  if (selected.length === 0) document.warn('include', all.length === 0 ? 'the document has no operations' : 'no operation is taken');
  const locate = baseUrl === undefined ? createLocator(document, documentUrl) : () => ({});
  const schemas = createSchemas(document);
  const given = new Set(headers.map((name) => name.toLowerCase()));
  const tools: ImportedTools['tools'] = [];
  const operations = new Map<string, Operation>();
  let characters = 0;
  for (const found of selected) {
    const place = locate(found);
    const made = place === null ? null : toTool({ document, schemas, given }, found);
    if (place === null || made === null) continue;
    if (operations.has(found.name)) {
      document.warn(`tools.${found.name}`, 'is the name of two operations; the first one counts');
      continue;
    }
    characters += JSON.stringify(made.tool).length;
    if (characters > limits.maxListingBytes)
      throw fault(`makes definitions of more than ${limits.maxListingBytes} bytes. Name those you need in include`);
    tools.push(made.tool);
    operations.set(found.name, { ...made.operation, ...place });
  }
  return { tools, operations: Object.fromEntries(operations), warnings: [...warnings, ...document.warnings()] };
}

/** Where each is called; null: nowhere that is an address, which was warned of. The document's own fault is thrown. */
function createLocator(document: OpenApiDocument, documentUrl: string): (found: NamedOperation) => { baseUrl: string } | null {
  const hasOwn = ({ operation, item }: NamedOperation): boolean =>
    [operation, item].some(({ servers }) => Array.isArray(servers) && servers.length > 0);
  let common: string | null = null;
  return (found) => {
    if (!hasOwn(found)) {
      common ??= baseUrlOf([document.root], documentUrl);
      return { baseUrl: common };
    }
    try {
      return { baseUrl: baseUrlOf([found.operation, found.item, document.root], documentUrl) };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      document.warn(`tools.${found.name}`, `left out: ${error.detail}`);
      return null;
    }
  };
}
