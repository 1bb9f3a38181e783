/**
 * Writes servers: the document, and its tools in separate rows (`server-tools.ts`), from which toolsets are compiled. The document has a
 * hash in place of the listing, which may be larger than an SQLite value: another listing is another version.
 */
import { hiddenWarnings, keepHidden, type WithoutHidden } from '../../../core/secrets/hidden-values.ts';
import { canonicalOf, isRemembered, missingTool, rawOf, toServerTool, withoutAnnotations } from '../../../core/listing/stored-tool.ts';
import { requireNamedItems } from '../../../core/listing/listing-report.ts';
import { Problem, type Warning, issuePath, parseInput } from '../../../core/problem.ts';
import { sameJson } from '../../../core/schema/schema-parts.ts';
import { secretHostOf, secretUseRefusal } from '../../../core/secrets/secret.ts';
import {
  callUrlOf,
  Server,
  ServerName,
  updatePolicyOf,
  type McpServer,
  type OpenApiServer,
  type StaticServer,
  type CompleteServer,
} from '../../../core/servers/server.ts';
import type { ListingReport, ServerTool } from '../../../core/servers/server-tool.ts';
import { reservedServers } from '../../../core/names/reserved-names.ts';
import { changedLaunch } from '../../../core/servers/launched-settings.ts';
import { isSameCommand } from '../../../core/servers/stdio.ts';
import { isSameClient } from '../../../core/servers/server-identity.ts';
import { afterDocumentChange, healthOf, shownState } from '../../../core/servers/refresh-state.ts';
import { statusCounts, type ServerStatuses } from '../../../core/servers/server-state.ts';
import type { ListingUpdates } from '../../../core/listing/apply-listing.ts';
import { pinListing, readEchoedListing, type PinnedItem } from '../../../core/listing/pin-listing.ts';
import { unlisted } from '../../../core/listing/stored-offer.ts';
import type { Page, PageRequest, StoredDocument, WriteOptions } from '../../../ports/catalog.ts';
import type { CatalogContext } from '../context.ts';
import { findRow, listRows, requireRow, toStoredDocument, type DocumentRow } from '../documents/documents.ts';
import { knownTools } from '../tools/known-tools.ts';
import { checkSecretUses, type NamedSecret } from '../documents/secrets.ts';
import { definitionsOfServer, dropDefinitions, serverOf, toServerOfTools } from './server-definitions.ts';
import { dropGrant } from './server-grants.ts';
import { readOffers, storeOffers } from './server-offers.ts';
import {
  deleteServerState,
  readServerState,
  allServerStates,
  readServerStates,
  writeServerState,
  givenDocument,
  storeDocument,
  withDocument,
} from './server-state.ts';
import { requireLauncher } from './require-launcher.ts';
import { deleteServerTool, pageOfTools, readTools, requireTool, toolCounts, writeTool } from './server-tools.ts';
import { prepareListing, prepareTools } from './accept-listing.ts';
import { namedTools } from '../toolsets/toolset-versions.ts';
import { enqueuePublish } from '../records/publications.ts';
import { recompileWith } from '../toolsets/toolsets.ts';
import { checkNameInBody, type DocumentWriter, type Prepared } from '../documents/write-document.ts';

export const serverWriter: DocumentWriter = {
  nameFault: (_context, name) =>
    reservedServers.has(name) ? 'is reserved by Moniker' : (ServerName.safeParse(name).error?.issues[0]?.message ?? null),

  prepare: async (context, name, body, previous, options) => {
    const given = parseInput(Server, body);
    checkNameInBody(name, given);
    const document = keepHidden('server', given, () => rawDocument(context, previous));
    requireLauncher(context, changedLaunch(previous?.body ?? null, document), options);
    const warnings = checkSecrets(context, name, document);
    const prepared =
      document.kind === 'static'
        ? await prepareStatic(context, name, document, previous, options.by)
        : await prepareSelfListing(context, name, document, previous);
    return { ...prepared, warnings: [...warnings, ...(prepared.warnings ?? [])] };
  },

  /** Toolsets then show its tools as missing. Accepted definitions and rejections are kept, and apply if a server is created again under the name. */
  prepareRemoval: async (context, name) => {
    const named = namedTools(context.sql, name);
    const kept = readTools(context.sql, name);
    const isNamed = (tool: string): boolean => named.has(canonicalOf(name, tool));
    const gone = kept.filter((tool) => isRemembered(tool, isNamed)).map((tool) => ({ ...missingTool(tool), renamedTo: null }));
    const definitions = definitionsOfServer({ name, kind: 'static', trusted: false }, gone);
    const { warnings, commit } = await recompileWith(context, named, knownTools(context, { server: { name, tools: definitions } }));
    for (const { message } of warnings) context.log.info('toolset not recompiled', { server: name, message });
    return () => {
      for (const tool of kept) deleteServerTool(context.sql, name, tool.name);
      for (const tool of gone) writeTool(context, name, tool);
      dropDefinitions(context, name);
      forgetReading(context.sql, name);
      dropGrant(context.sql, name);
      commit();
    };
  },
};

/** A static server, whose document contains its tools. */
async function prepareStatic(
  context: CatalogContext,
  name: string,
  document: WithoutHidden<StaticServer>,
  previous: DocumentRow | null,
  by: string,
): Promise<Prepared> {
  const { tools, ...server } = document;
  const kept = readTools(context.sql, name);
  const shown = readEchoedListing(name, tools, kept);
  const listing = await pinListing(shown.tools, shown);
  requireNamedItems(listing);
  const after = toServerOfTools(name, server);
  const isOtherServer = previous === null || JSON.stringify(serverOf(context, name)) !== JSON.stringify(after);
  const updates: ListingUpdates = { policy: updatePolicyOf(document, true), decided: { by, at: context.now() } };
  const taken = await prepareListing(context, after, {
    kept,
    listing,
    isFirst: previous === null,
    isOtherServer,
    updates,
    price: document.price,
  });
  return {
    body: { ...server, name, listing: listing.hash },
    warnings: taken.report.warnings,
    commit: () => {
      taken.commit();
      forgetReading(context.sql, name);
      if (isOtherClient(previous, document)) dropGrant(context.sql, name);
    },
  };
}

/** Its tools stay unchanged until it is refreshed (`server-refresh.ts`), which the caller does next. */
async function prepareSelfListing(
  context: CatalogContext,
  name: string,
  document: WithoutHidden<McpServer> | WithoutHidden<OpenApiServer>,
  previous: DocumentRow | null,
): Promise<Prepared> {
  const {
    tools: _tools,
    health: _health,
    connection: _connection,
    offers: _offers,
    authorization: _authorization,
    warnings: _warnings,
    ...server
  } = document;
  const given = document.kind === 'openapi' ? await givenDocument(document) : null;
  const { document: _document, ...rest } = { document: undefined, ...server };
  const body = { ...rest, name, ...(given !== null && { givenDocument: given.kept }) };
  const after = toServerOfTools(name, server);
  const isOtherServer = previous === null || JSON.stringify(serverOf(context, name)) !== JSON.stringify(after);
  const kept = readTools(context.sql, name);
  // Annotations were accepted for the server at this URL.
  const annotated = isSamePlace(previous, document) ? [] : kept.filter(({ accepted }) => accepted?.annotationsAccepted === true);
  const tools = annotated.length === 0 ? kept : kept.map((tool) => ({ ...tool, accepted: withoutAnnotations(tool.accepted) }));
  const same = isOtherServer || annotated.length > 0 ? await prepareTools(context, after, tools, tools) : null;
  return {
    body,
    warnings: same?.warnings ?? [],
    commit: ({ version }, changed) => {
      if (!changed) return;
      for (const tool of annotated) writeTool(context, name, { ...tool, accepted: withoutAnnotations(tool.accepted) });
      same?.commit();
      storeDocument(context.sql, name, given?.text ?? null);
      renewState(context, name, { version, body }, document, previous);
      if (isOtherClient(previous, document)) dropGrant(context.sql, name);
    },
  };
}

function renewState(
  context: CatalogContext,
  name: string,
  { version, body }: Pick<DocumentRow, 'version' | 'body'>,
  document: CompleteServer,
  previous: DocumentRow | null,
): void {
  const before = readServerState(context.sql, name);
  const isSame = isSamePlace(previous, document);
  if (!isSame) {
    storeOffers(context.sql, name, unlisted(readOffers(context.sql, name)));
    enqueuePublish(context, 'offers', name);
  }
  const isOwn = document.kind === 'openapi' && previous !== null && !sameJson(operationsOf(previous.body), operationsOf(body));
  const state = afterDocumentChange(before, version, { isSamePlace: isSame, isOwn: isOwn || before?.isOwn === true }, context.now());
  // The listing of a static server is as old as its document.
  const listedAt = state.listedAt ?? (previous?.body.kind === 'static' ? previous.updatedAt : null);
  writeServerState(context.sql, name, { ...state, listedAt });
}

/** What selects the operations of an OpenAPI server. */
function operationsOf({ kind, url, givenDocument, baseUrl, include, exclude }: Record<string, unknown>): unknown[] {
  return [kind, url, givenDocument, baseUrl, include, exclude];
}

function isSamePlace(previous: DocumentRow | null, document: CompleteServer): boolean {
  return (
    previous?.body.kind === document.kind &&
    previous.body.url === document.url &&
    isSameCommand(previous.body, document.kind === 'mcp' ? document : {})
  );
}

/** Another client would receive the grant. Secrets are bound to hosts by themselves. */
function isOtherClient(previous: DocumentRow | null, document: CompleteServer): boolean {
  if (previous === null) return true;
  const before = previous.body as Server; // Parsed by the schema on write.
  return before.kind !== 'mcp' || document.kind !== 'mcp' || !isSameClient(before, document);
}

function forgetReading(sql: SqlStorage, name: string): void {
  deleteServerState(sql, name);
  storeOffers(sql, name, unlisted(readOffers(sql, name), true));
  storeDocument(sql, name, null);
}

/** The server as GET shows it, with the results of its last refresh. */
export function showServer(context: CatalogContext, row: DocumentRow): StoredDocument {
  const stored = toStoredDocument(row);
  const { givenDocument } = row.body;
  const body = { ...stored.body, ...shownReadings(context, [row.name])(row.name), ...(givenDocument !== undefined && { givenDocument }) };
  return { ...stored, body: withDocument(context.sql, row.name, body) };
}

/** Returns the fields that the refreshes of these servers add to their documents. A `static` server has no state: it contains its tools. */
function shownReadings({ sql }: CatalogContext, servers: readonly string[]): (server: string) => Record<string, unknown> {
  const counts = toolCounts(sql, servers);
  const states = readServerStates(sql, servers);
  return (server) => {
    const counted = counts.get(server) ?? { toolCount: 0, held: 0 };
    const state = states.get(server);
    if (state === undefined) return counted;
    return { ...counted, ...shownState(state, counted.held) };
  };
}

/** `static` servers have no health. */
export function countStatuses({ sql }: CatalogContext): ServerStatuses {
  const states = allServerStates(sql);
  const counts = toolCounts(sql, [...states.keys()]);
  return statusCounts([...states].map(([server, state]) => healthOf(state, counts.get(server)?.held ?? 0).status));
}

/** Returns a document to test. Throws as a write of it, if it gives something to a program. */
export function completeServer(context: CatalogContext, name: string, given: Server, options: WriteOptions): CompleteServer {
  const stored = findRow(context.sql, 'server', name);
  const document = keepHidden('server', given, () => rawDocument(context, stored));
  requireLauncher(context, changedLaunch(stored?.body ?? null, document), options);
  return document;
}

/** The document as it was sent, with all its values. */
function rawDocument(context: CatalogContext, row: DocumentRow | null): Record<string, unknown> | null {
  return row === null ? null : withDocument(context.sql, row.name, row.body);
}

export function listServerTools(context: CatalogContext, server: string, page: PageRequest): Page<ServerTool> {
  requireRow(context.sql, 'server', server);
  return pageOfTools(context.sql, server, page);
}

export function readServerTool(context: CatalogContext, server: string, name: string): ServerTool {
  return toServerTool(server, requireTool(context, server, name));
}

export function listServers(context: CatalogContext, page: PageRequest): Page<StoredDocument> {
  const { items, nextCursor } = listRows(context.sql, 'server', page);
  const reading = shownReadings(
    context,
    items.map(({ name }) => name),
  );
  return { items: items.map((item) => ({ ...item, body: { ...item.body, ...reading(item.name) } })), nextCursor };
}

/** Checks the tools in a static server's document again with current rules. */
export async function refreshServer(context: CatalogContext, server: string, by: string): Promise<ListingReport> {
  const { body } = requireRow(context.sql, 'server', server);
  if (body.kind !== 'static') throw new Problem('conflict', `The server "${server}" lists its tools itself. Refresh it instead.`);
  const kept = readTools(context.sql, server);
  const tools = kept.flatMap(({ listed }) => (listed === null ? [] : [rawOf(listed)]));
  const refused = kept.flatMap(({ name, refused, findings }): PinnedItem[] =>
    refused === null ? [] : [{ path: 'tools', name, listed: null, refused, findings, isSuspicious: false }],
  );
  const listing = await pinListing(tools, { paths: tools.map(() => 'tools'), refused });
  const { report, commit } = await prepareListing(context, serverOf(context, server), {
    kept,
    listing,
    isFirst: false,
    isOtherServer: false,
    by,
  });
  context.transact(commit);
  return report;
}

function checkSecrets(context: CatalogContext, name: string, server: CompleteServer): Warning[] {
  // Without a baseUrl, the OpenAPI document names the URL of its operations, often at another host. Each call checks that host.
  const url = server.kind === 'openapi' && server.baseUrl === undefined ? null : callUrlOf({ ...server, name });
  const use = (path: string, { secret }: { secret: string }, to: string | null): NamedSecret => {
    // The tools that it is bound to are checked at the call.
    return { path, secret, refusal: ({ hosts }) => (to === null ? null : secretUseRefusal({ hosts }, { host: secretHostOf(to) })) };
  };
  const { env = {}, args = [] } = server.kind === 'mcp' ? server : {};
  const places = { headers: server.headers ?? {}, query: server.query ?? {}, env, args };
  const uses = Object.entries(places).flatMap(([place, values]) =>
    Object.entries<string | { secret: string }>(values).flatMap(([key, value]) =>
      typeof value === 'string' ? [] : [use(issuePath([place, Array.isArray(values) ? Number(key) : key, 'secret']), value, url)],
    ),
  );
  // The host of the token endpoint is known only when tokens are requested.
  const clientSecret = server.kind === 'mcp' ? server.oauth?.clientSecret : undefined;
  if (clientSecret !== undefined) uses.push(use('oauth.clientSecret.secret', clientSecret, null));
  const hidden = hiddenWarnings('server', server, url === null ? null : secretHostOf(url));
  return [...hidden, ...checkSecretUses(context, uses, "The server's tools cannot be called")];
}
