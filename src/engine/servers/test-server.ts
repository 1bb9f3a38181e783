/** Tests a server: connects and lists it as for a refresh, without storing anything. Faults of the server are returned, not thrown. */
import { reportListing } from '../../core/listing/listing-report.ts';
import { toServerTool } from '../../core/listing/stored-tool.ts';
import type { GivenListing } from '../../core/servers/server-tool.ts';
import { nullIfNotFound, Problem } from '../../core/problem.ts';
import { toServerAccess } from '../../core/servers/server.ts';
import { isSameClient } from '../../core/servers/server-identity.ts';
import type { ServerAccess, CompleteServer } from '../../core/servers/server.ts';
import type { ServerTest, Discovery } from '../../core/servers/server-state.ts';
import { boundedDiscovery } from '../../core/servers/refresh-state.ts';
import { applyListing } from '../../core/listing/apply-listing.ts';
import { pinListing } from '../../core/listing/pin-listing.ts';
import type { Directory } from '../../ports/directory.ts';
import type { Ids } from '../../ports/runtime.ts';
import { discoverServer, toFailure, type ReadDeps } from './refresh-server.ts';

export type TestDeps = ReadDeps & {
  ids: Ids;
  directory: Pick<Directory, 'server'>;
};

/** `document`: a document that need not be stored; absent: the stored one of this name (`not_found`). */
export async function testServer(deps: TestDeps, workspace: string, name: string, document?: CompleteServer): Promise<ServerTest> {
  const begun = deps.clock.now();
  const tested = await tryServer(deps, workspace, name, document);
  return { ...tested, durationMs: Math.round(deps.clock.now() - begun) };
}

async function tryServer(
  deps: TestDeps,
  workspace: string,
  name: string,
  document?: CompleteServer,
): Promise<Omit<ServerTest, 'durationMs'>> {
  const reading = deps.directory.server(workspace, name);
  const stored = document === undefined ? await reading : await nullIfNotFound(reading);
  const isGranted = document === undefined || isStoredClient(stored, document);
  const hasSignIn = isGranted && stored?.mcp?.oauth !== undefined;
  const server = document === undefined ? await reading : accessOf(name, document, hasSignIn);
  if (document?.kind === 'static') return { ...untried, ok: true, ...(await readTools(name, { tools: document.tools, operations: null })) };
  if (server.kind === 'static') return { ...untried, ok: true, tools: server.ready.length + server.held.length, held: server.held.length };
  // A test shares no state with users of the server, and tokens granted for the stored address are not sent to another one.
  const conversation = deps.ids.next('test');
  const change = {
    conversation,
    ...(document !== undefined && { document: async () => givenText(document) }),
    ...(!isGranted && { tokens: undefined }),
  };
  try {
    const known = new Set([...server.ready, ...server.held]);
    const { discovery, warnings } = boundedDiscovery(await discoverServer(deps, workspace, server, change), known);
    const { warnings: more, ...counts } = await readTools(name, discovery);
    const { prompts, resources } = discovery.offers;
    const { connection } = discovery;
    return {
      ok: true,
      health: { status: 'ok' },
      connection,
      ...counts,
      prompts: prompts.length,
      resources: resources.length,
      warnings: [...warnings, ...more],
    };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const health = toFailure(error);
    const isTokenless = !isGranted && server.mcp?.oauth !== undefined && health.status === 'unauthorized';
    return { ...untried, health: isTokenless ? { ...health, reason: `${health.reason} ${tokenless}` } : health };
  }
}

const tokenless = 'No token was sent: `oauth` takes effect after the server is stored and, where required, a user has signed in.';

function isStoredClient(stored: ServerAccess | null, document: CompleteServer): boolean {
  if (stored?.kind !== 'mcp' || document.kind !== 'mcp') return false;
  return isSameClient({ url: stored.url, oauth: stored.mcp?.oauth }, document);
}

const untried: Omit<ServerTest, 'durationMs'> = {
  ok: false,
  health: { status: 'unknown' },
  connection: null,
  tools: 0,
  held: 0,
  prompts: 0,
  resources: 0,
  warnings: [],
};

function accessOf(name: string, document: CompleteServer, hasSignIn = false): ServerAccess {
  return toServerAccess(name, document, { ready: [], held: [], version: 0, connection: null, staleAt: null }, hasSignIn);
}

function givenText(document: CompleteServer): string | null {
  const given = document.kind === 'openapi' ? document.document : undefined;
  return given === undefined || typeof given === 'string' ? (given ?? null) : JSON.stringify(given);
}

/** Lists a server that has its OpenAPI document in its own, which needs no request. As the first listing of a new server. */
export async function listGiven(deps: TestDeps, workspace: string, name: string, document: CompleteServer): Promise<GivenListing> {
  const change = { conversation: deps.ids.next('test'), document: async () => givenText(document), tokens: undefined };
  const { discovery, warnings } = boundedDiscovery(await discoverServer(deps, workspace, accessOf(name, document), change), new Set());
  const { listing, taken } = await readListing(discovery);
  const tools = taken.tools.map((tool) => toServerTool(name, tool));
  return { tools, warnings: [...warnings, ...reportListing(name, listing, taken, []).warnings] };
}

async function readListing({ tools, operations }: Pick<Discovery, 'tools' | 'operations'>) {
  const listing = await pinListing(tools, { operations: operations ?? {} });
  return { listing, taken: applyListing({ kept: [], items: listing.items, isFirst: true, isNamed: () => false }) };
}

/** Counts tools as the first listing of a new server would. */
async function readTools(
  name: string,
  found: Pick<Discovery, 'tools' | 'operations'>,
): Promise<Pick<ServerTest, 'tools' | 'held' | 'warnings'>> {
  const { listing, taken } = await readListing(found);
  const { tools: count, held, warnings } = reportListing(name, listing, taken, []);
  return { tools: count, held: held.length, warnings };
}
