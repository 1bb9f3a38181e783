/**
 * Converts an OpenAPI document to tools: one for each selected operation, with the data needed to call it. Pure. Time is linear in the
 * document plus the size of the tools. Used by the source of `openapi` servers (`http-tools/openapi/source.ts`), which parses the text.
 */
import { limits } from '../limits/limits.ts';
import { getOrBuild } from '../memoize.ts';
import { Problem, quoted, type Warning } from '../problem.ts';
import type { ServerOperation } from '../tools/server-operation.ts';
import {
  account,
  descriptionFault,
  operationsOf,
  readOpenApi,
  type OpenApiDescription,
  type FoundOperation,
  type NamedOperation,
  operationPath,
} from './description.ts';
import { toOperationTool } from './operation-tool.ts';
import { createSchemas } from './schemas.ts';
import { reportSecurity } from './security.ts';
import { fold } from '../names/fold.ts';
import { distinctWireName, isWireName } from '../names/names.ts';
import { isRecord, listOf, type Json, ownMember, recordOf, stringOf } from '../json/wire-value.ts';
import { utf8Length } from '../text/utf8.ts';
import { matchesPieces } from '../text/match-stars.ts';

export type ImportRequest = OperationSelection & {
  /** The URL of the document; `''` for an inline document. */
  documentUrl: string;
  /** The base URL of all operations; overrides the document's. */
  baseUrl?: string | undefined;
  /** Headers that the server sends with each call, so they are not arguments. */
  headers?: readonly string[];
  /** As `headers`, in the query. */
  query?: readonly string[];
};

export type ImportedTools = {
  tools: (Record<string, unknown> & { name: string })[];
  operations: Record<string, ServerOperation>;
  warnings: Warning[];
};

/** Throws `upstream_error` with a remedy if no tools can be created. */
export function importOpenApi(
  value: unknown,
  { documentUrl, baseUrl, headers = [], query = [], ...selection }: ImportRequest,
): ImportedTools {
  const api = readOpenApi(value);
  const all = operationsOf(api);
  const names = toolNames(all);
  const named = all.map((operation, index): NamedOperation => ({ ...operation, name: names[index] ?? '' }));
  const { selected, warnings } = selectOperations(named, selection);
  if (selected.length > limits.maxServerTools) {
    throw descriptionFault(
      `has ${selected.length} operations, but a server can have at most ${limits.maxServerTools} tools. List the operations you need in include`,
    );
  }
  if (selected.length === 0) api.warn('include', all.length === 0 ? 'the document has no operations' : 'no operation is selected');
  const locate = baseUrl === undefined ? createLocator(api, documentUrl) : withoutOwnServers(api);
  const schemas = createSchemas(api);
  const given = new Set([...headers.map((name) => `header ${name.toLowerCase()}`), ...query.map((name) => `query ${name}`)]);
  const isGiven = (place: string, name: string): boolean => given.has(`${place} ${place === 'header' ? name.toLowerCase() : name}`);
  const tools: ImportedTools['tools'] = [];
  const operations = new Map<string, ServerOperation>();
  let bytes = 0;
  for (const found of selected) {
    const place = locate(found);
    const made = place === null ? null : toOperationTool({ api, schemas, isGiven }, found);
    if (place === null || made === null) continue;
    if (operations.has(found.name)) {
      api.warn(`tools.${found.name}`, 'is the name of two operations; the first one is used');
      continue;
    }
    bytes += utf8Length(JSON.stringify(made.tool));
    if (bytes > limits.maxListingBytes)
      throw descriptionFault(`produces definitions of more than ${limits.maxListingBytes} bytes. List the operations you need in include`);
    tools.push(made.tool);
    operations.set(found.name, { ...made.operation, ...place });
  }
  reportSecurity(api, selected, isGiven);
  return { tools, operations: Object.fromEntries(operations), warnings: [...warnings, ...api.warnings()] };
}

/**
 * Returns the base URL of each operation; null and a warning if it is not a valid URL. Throws the fault of the document's own `servers`.
 */
function createLocator(api: OpenApiDescription, documentUrl: string): (found: NamedOperation) => { baseUrl: string } | null {
  /** By the list of servers, which many operations can share; null: it is not valid. */
  const known = new Map<unknown, { baseUrl: string } | null>();
  const read = (found: NamedOperation, level: Json): { baseUrl: string } | null => {
    try {
      return { baseUrl: documentBaseUrl(api, level, level === api.root ? 'servers' : `${operationPath(found)}.servers`, documentUrl) };
    } catch (error) {
      if (level === api.root) throw error;
      if (!(error instanceof Problem)) throw error;
      api.warn(`tools.${found.name}`, `skipped: ${error.detail}`);
      return null;
    }
  };
  return (found) => {
    const level = ownServers(found) ?? api.root;
    return getOrBuild(known, level.servers, Number.POSITIVE_INFINITY, () => read(found, level));
  };
}

/** The operation or its path, whichever is nearest and has servers of its own. */
function ownServers({ operation, item }: NamedOperation): Json | undefined {
  return [operation, item].find(({ servers }) => Array.isArray(servers) && servers.length > 0);
}

/** For a server's document with a base URL, which all operations use. */
function withoutOwnServers(api: OpenApiDescription): (found: NamedOperation) => { baseUrl?: string } {
  return (found) => {
    if (ownServers(found) !== undefined)
      api.warn(`${operationPath(found)}.servers`, 'are not used: the operation is called at the baseUrl of the server’s document');
    return {};
  };
}

/**
 * Returns the tool names in the order of `operations`: a legal form of `operationId`, otherwise method and path. Independent of the order
 * and the rest of the document, except that operations with the same name all get a hash of method and path as a suffix.
 */
function toolNames(operations: readonly Pick<FoundOperation, 'method' | 'path' | 'operationId'>[]): string[] {
  const plain = operations.map(plainName);
  const names = plain.map((name, index) => (isWireName(name) ? name : distinct(operations[index], name)));
  // A name with a hash may equal another operation's plain name. After two rounds only deliberate collisions remain.
  for (let round = 0; round < 2; round++) {
    const shared = new Map<string, number>();
    for (const name of names) shared.set(fold(name), (shared.get(fold(name)) ?? 0) + 1);
    for (const [index, name] of names.entries()) {
      if ((shared.get(fold(name)) ?? 0) > 1) names[index] = distinct(operations[index], plain[index] ?? '');
    }
  }
  return names;
}

function plainName({ method, path, operationId }: Pick<FoundOperation, 'method' | 'path' | 'operationId'>): string {
  const source = operationId ?? `${method.toLowerCase()} ${path}`;
  const illegal = operationId === null ? /[^a-zA-Z0-9]+/g : /[^a-zA-Z0-9_-]+/g;
  const name = source.replace(illegal, '_');
  return name === source ? name : name.replace(/^_+|_+$/g, '');
}

function distinct(operation: Pick<FoundOperation, 'method' | 'path'> | undefined, name: string): string {
  return distinctWireName(`${operation?.method} ${operation?.path}`, name);
}

/**
 * Returns the base URL of an operation: the first of its `servers` (OpenAPI 3.1.1, "Server Object"), with variables at their defaults,
 * relative to the document's URL. `level`: the operation, its path or the document. `documentUrl`: `''` for an inline document. The guard
 * decides which hosts may be called (`net/guard.ts`). Throws `upstream_error` with a remedy.
 */
function documentBaseUrl(api: OpenApiDescription, level: Json, where: string, documentUrl: string): string {
  const servers = listOf(level.servers);
  const server = isRecord(servers[0]) && typeof servers[0].url === 'string' ? servers[0] : undefined;
  // The default is "/", relative to the document's URL.
  const written = server === undefined ? '/' : withDefaults(server);
  if (server !== undefined) reportServers(api, servers, server, where);
  // Unfilled braces would be accepted as a host name.
  const url = /[{}]/.test(written) ? null : URL.parse(written, documentUrl === '' ? undefined : documentUrl);
  if (url === null) {
    const what =
      server !== undefined ? `calls ${quoted(written)}, which is not an absolute URL` : 'does not say where its operations are called';
    throw descriptionFault(`${what}. Set baseUrl in the server’s document`);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw descriptionFault(
      `uses ${quoted(url.protocol)} URLs, but only http and https are supported. Set baseUrl in the server’s document`,
    );
  if (url.username !== '' || url.password !== '')
    throw descriptionFault('has a password in a server URL. Set baseUrl in the server’s document');
  if (url.search !== '' || url.hash !== '') api.warn(`${where}[0].url`, 'is used without its query');
  return `${url.origin}${url.pathname}`;
}

/** Says which server is called, if there is a choice. */
function reportServers(api: OpenApiDescription, servers: readonly unknown[], first: Json, where: string): void {
  account(api, 'Server', first, `${where}[0]`);
  const remedy = 'Set baseUrl in the server’s document to call another one';
  for (const [name, variable] of Object.entries(recordOf(first.variables))) {
    const { default: value, enum: values } = recordOf(variable);
    account(api, 'Server Variable', variable, `${where}[0].variables.${name}`);
    const others = listOf(values).filter((other) => other !== value);
    const choice =
      others.length === 0
        ? ''
        : ` instead of ${others
            .slice(0, maxChoices)
            .map((other) => quoted(String(other)))
            .join(', ')}`;
    api.warn(`${where}[0].variables.${name}`, `is ${quoted(String(value ?? others[0]))}${choice}. ${remedy}`);
  }
  const others = servers.slice(1).flatMap((server) => (isRecord(server) ? [quoted(stringOf(server.url))] : []));
  if (others.length > 0)
    api.warn(
      where,
      `${quoted(stringOf(first.url))} is called, the first of several; others: ${others.slice(0, maxChoices).join(', ')}. ${remedy}`,
    );
}

/** Servers and values that one warning names. */
const maxChoices = 5;

function withDefaults({ url, variables }: Json): string {
  return String(url).replace(/\{([^{}]{1,200})\}/g, (whole, name: string) => {
    const variable = ownMember(recordOf(variables), name);
    const value = isRecord(variable) ? (variable.default ?? listOf(variable.enum)[0]) : undefined;
    return typeof value === 'string' || typeof value === 'number' ? String(value) : whole;
  });
}

// Selection by `include` and `exclude`: tool name, operation id, `tag:NAME` or `METHOD /path`, where `*` matches any text, including slashes.
// A pattern that matches nothing is reported, because it is usually misspelled.

export type OperationSelection = { include?: readonly string[] | undefined; exclude?: readonly string[] | undefined };

export function selectOperations(
  operations: readonly NamedOperation[],
  { include, exclude = [] }: OperationSelection,
): { selected: NamedOperation[]; warnings: Warning[] } {
  const warnings: Warning[] = [];
  const unmatched = (list: readonly Term[], path: string): void => {
    for (const [index, { text, isMet }] of list.entries())
      if (!isMet) warnings.push({ path: `${path}[${index}]`, message: `${quoted(text)} matches no operation of the document` });
  };
  const wanted = include?.map(toTerm);
  const unwanted = exclude.map(toTerm);
  const selected = operations.filter((operation) => {
    const words = wordsOf(operation);
    // Both lists are evaluated for each operation, to know which patterns match something.
    const isWanted = wanted === undefined || matches(wanted, words);
    return !matches(unwanted, words) && isWanted;
  });
  unmatched(wanted ?? [], 'include');
  unmatched(unwanted, 'exclude');
  return { selected, warnings };
}

type Term = { text: string; pieces: string[]; isMet: boolean };

function toTerm(written: string): Term {
  const text = written.trim();
  const [, method, path] = /^(\*|[A-Za-z]+)\s+(\/.*|\*)$/.exec(text) ?? [];
  const pattern = method === undefined ? text : `${method.toUpperCase()} ${path}`;
  return { text, pieces: pattern.split('*'), isMet: false };
}

function wordsOf({ name, operationId, method, path, tags }: NamedOperation): string[] {
  return [name, ...(operationId === null ? [] : [operationId]), `${method} ${path}`, ...tags.map((tag) => `tag:${tag}`)];
}

function matches(terms: readonly Term[], words: readonly string[]): boolean {
  let any = false;
  for (const term of terms) {
    if (!words.some((word) => matchesPieces(term.pieces, word))) continue;
    term.isMet = true;
    any = true;
  }
  return any;
}
