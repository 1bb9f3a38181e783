/**
 * Writing servers: the document, and its tools in rows of their own (`server-tools.ts`), which is what toolsets are compiled from. The
 * document keeps a hash in the place of the listing, which may be larger than a value of SQLite: another listing is another version.
 */
import { parseDocument } from '../core/issues.ts';
import { canonicalOf, rawOf, toServerTool } from '../core/kept-tool.ts';
import { requireNamed } from '../core/listing-report.ts';
import { invalidRequest } from '../core/problem.ts';
import type { Issue } from '../core/problem.ts';
import { secretHostOf, secretUseRefusal } from '../core/secret.ts';
import { callUrlOf, ownServers, Server, ServerName, toServerAccess } from '../core/server.ts';
import type { ListingReport, ServerAccess, ServerTool } from '../core/server.ts';
import { readShown } from '../core/shown-listing.ts';
import { goneTool, pinListing } from '../core/take-listing.ts';
import type { PinnedItem } from '../core/take-listing.ts';
import type { Page, PageRequest, StoredDocument } from '../ports/catalog.ts';
import type { CatalogContext } from './context.ts';
import { requireTool } from './accept-tool.ts';
import { listRows, requireRow } from './documents.ts';
import { knownTools } from './known-tools.ts';
import { readSealedSecrets } from './secrets.ts';
import { callableNames, definitionsOf, dropDefinitions, serverOf, toServerOfTools } from './server-definitions.ts';
import { forgetTool, pageOfTools, readTools, withToolCounts, writeTool } from './server-tools.ts';
import { namedTools, prepareListing } from './take-listing.ts';
import { recompileWith, revise } from './toolsets.ts';
import { checkNameInBody } from './write-document.ts';
import type { DocumentWriter } from './write-document.ts';
import type { Warning } from '../core/warning.ts';

export const serverWriter: DocumentWriter = {
  nameFault: (_context, name) =>
    ownServers.has(name) ? 'is one of Moniker’s own' : (ServerName.safeParse(name).error?.issues[0]?.message ?? null),

  prepare: async (context, name, body, previous) => {
    const { tools = [], ...server } = parseDocument(Server, body);
    checkNameInBody(name, server);
    const secrets = checkSecrets(context, server);
    const kept = readTools(context.sql, name);
    const shown = readShown(name, tools, kept);
    const listing = await pinListing(shown.tools, shown);
    requireNamed(listing);
    const after = toServerOfTools(name, server);
    const isOtherServer = previous === null || JSON.stringify(serverOf(context, name)) !== JSON.stringify(after);
    const taken = await prepareListing(context, after, { kept, listing, isFirst: previous === null, isOtherServer });
    return {
      body: { ...server, name, listing: listing.hash },
      warnings: [...secrets, ...taken.report.warnings],
      commit: taken.commit,
    };
  },

  /** Its tools are missing in toolsets that have them, and what was accepted is kept: a server made anew under the name meets it. */
  prepareRemoval: async (context, name) => {
    const named = namedTools(context.sql, name);
    const kept = readTools(context.sql, name);
    const gone = kept.filter((tool) => named.has(canonicalOf(name, tool.name))).map((tool) => ({ ...goneTool(tool), renamedTo: null }));
    const definitions = definitionsOf({ name, kind: 'static', trusted: false }, gone);
    const { revisions, warnings } = await recompileWith(context, named, knownTools(context, { server: { name, tools: definitions } }));
    for (const { message } of warnings) context.log.info('toolset not compiled anew', { server: name, message });
    return () => {
      for (const tool of kept) forgetTool(context.sql, name, tool.name);
      for (const tool of gone) writeTool(context, name, tool);
      dropDefinitions(context, name);
      for (const revision of revisions) revise(context, revision);
    };
  },
};

export function readServer(context: CatalogContext, name: string): ServerAccess {
  // Bodies of servers were parsed by the schema when they were written.
  const { body, version } = requireRow(context.sql, 'server', name);
  return toServerAccess(name, body as Server, { ...callableNames(context, name), version, connection: null, staleAt: null });
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
  return { items: items.map((item) => withToolCounts(context.sql, item)), nextCursor };
}

/** What a static server lists stands in its document: it is read again by the rules of now. */
export async function refreshServer(context: CatalogContext, server: string): Promise<ListingReport> {
  requireRow(context.sql, 'server', server);
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
  });
  context.transact(commit);
  return report;
}

/** A secret that is bound elsewhere is refused; one that does not exist yet is a warning. */
function checkSecrets(context: CatalogContext, server: Omit<Server, 'tools'>): Warning[] {
  const { headers = {} } = server;
  const host = secretHostOf(callUrlOf(server) ?? '');
  const warnings: Warning[] = [];
  const issues: Issue[] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string') continue;
    const path = `headers.${name}.secret`;
    const stored = readSealedSecrets(context, [value.secret])[0];
    if (stored === undefined) {
      warnings.push({ path, message: `There is no secret "${value.secret}" yet: until there is, its tools cannot be called.` });
      continue;
    }
    // Which tools it is bound to is asked at the call, which has one.
    const refusal = secretUseRefusal({ hosts: stored.hosts }, { host });
    if (refusal !== null) issues.push({ path, message: `the secret "${value.secret}" cannot be used here: ${refusal}` });
  }
  if (issues.length > 0) throw invalidRequest(issues);
  return warnings;
}
