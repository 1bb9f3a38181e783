/**
 * Prompts and resources of a toolset's MCP servers for its clients: lists come from what is stored about the servers, other requests go to the
 * one server that the item belongs to (`request-offer.ts`). `serve-offers.ts` gives the names.
 */
import { limits } from '../../core/limits/limits.ts';
import { judgeCall } from '../policy/judge-call.ts';
import { recordOf } from '../../core/json/wire-value.ts';
import { Problem, nullIfNotFound, quoted } from '../../core/problem.ts';
import type { Principal } from '../../core/people/principal.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import { noOffers } from '../../core/servers/server-state.ts';
import type { Edition } from '../../core/toolset/edition-tool.ts';
import { isForModels } from '../../core/toolset/edition-tool.ts';
import { serverOfOffer } from '../../core/names/offer-pattern.ts';
import { toOfferEntry } from '../../core/toolset/offer-entry.ts';
import type { Directory } from '../../ports/directory.ts';
import type { ResourceSubscription } from '../../ports/mcp-sessions.ts';
import type { McpUpstream, UpstreamContext } from '../../ports/upstream.ts';
import type { UpstreamCaller } from '../servers/server-fetch.ts';
import { type OfferAnswer, type OfferRequest, offerTool, requestOffer } from './request-offer.ts';
import {
  findPrompt,
  findResource,
  type FoundOffer,
  linkedAs,
  nameOffers,
  type OffersOfServer,
  type ServedOffers,
  shownUri,
} from './serve-offers.ts';
import { linksOf, type ServeCallDeps, type ServedCaller } from './serve-call.ts';
import { type ServedView, toolsBehind } from './serve-view.ts';

export type OfferDeps = ServeCallDeps & {
  /** For the streams on which clients listen. */
  upstream: Pick<McpUpstream, 'listen'>;
  upstreamContext(workspace: string, server: ServerAccess, caller: UpstreamCaller, signal: AbortSignal): UpstreamContext;
  /** Called when a server reports a changed list: refreshes it. Resolves when the new list can be read, or could not be; never rejects. */
  serverChanged(workspace: string, server: string): Promise<void>;
};

/**
 * Returns the servers whose resources and prompts the toolset may offer: those with a callable tool in it, in the document's order, and those
 * that its entries name, unless a list of an agent narrows it.
 */
export function servedServers({ names, isNarrowed }: Pick<ServedView, 'names' | 'isNarrowed'>): string[] {
  const { edition, tools } = toolsBehind({ names });
  const { resources = [], prompts = [] } = isNarrowed ? {} : edition;
  const selected = [...resources, ...prompts].map((entry) => serverOfOffer(toOfferEntry(entry).pattern));
  const listed = tools.flatMap((tool) => (tool.kind === 'mcp' && isForModels(tool) ? [tool.server] : []));
  return [...new Set([...listed, ...selected])];
}

/**
 * Returns the servers' own instructions, for the start of a client's connection: those of trusted servers, unless an administrator wrote
 * others into the server's document.
 */
export async function readServerInstructions(
  { directory }: Pick<OfferDeps, 'directory'>,
  workspace: string,
  view: ServedView,
): Promise<{ server: string; text: string }[]> {
  const written = new Set(toolsBehind(view).edition.instructions?.map(({ server }) => server));
  const texts = await Promise.all(
    servedServers(view).map(async (server) => {
      const access = written.has(server) ? null : await nullIfNotFound(directory.server(workspace, server));
      const text = access?.trusted === true ? access.connection?.instructions : undefined;
      return text === undefined ? [] : [{ server, text }];
    }),
  );
  return texts.flat();
}

type Named = { of: readonly unknown[]; offers: ServedOffers };
/** The last result for each edition. What is read of servers has the same identity while it is cached. */
const named = new WeakMap<Edition, Named>();

export async function readServedOffers(
  { directory }: Pick<OfferDeps, 'directory'>,
  workspace: string,
  view: ServedView,
): Promise<ServedOffers> {
  const { edition, aliases } = toolsBehind(view);
  const read = await Promise.all(servedServers(view).map((server) => readOffers(directory, workspace, server)));
  const found = read.filter((one) => one !== null);
  const of = [aliases, ...found.flatMap(({ server, trusted, offers }) => [server, trusted, offers])];
  const last = named.get(edition);
  if (last !== undefined && last.of.length === of.length && last.of.every((part, index) => part === of[index])) return last.offers;
  const pages = pagesByServer(view);
  const all = found.map((one): OffersOfServer => ({ ...one, pages: pages.get(one.server) ?? [] }));
  const offers = nameOffers(all, edition, aliases);
  named.set(edition, { of, offers });
  return offers;
}

async function readOffers(directory: Directory, workspace: string, server: string): Promise<Omit<OffersOfServer, 'pages'> | null> {
  const [access, offers] = await Promise.all([
    nullIfNotFound(directory.server(workspace, server)),
    nullIfNotFound(directory.serverOffers(workspace, server)),
  ]);
  return access?.kind === 'mcp' ? { server, trusted: access.trusted, offers: offers ?? noOffers } : null;
}

/** MCP Apps: `_meta.ui.resourceUri` of a tool names its page. */
function pagesByServer(view: ServedView): Map<string, string[]> {
  const pages = new Map<string, string[]>();
  for (const { server, presentation } of toolsBehind(view).tools) {
    const { resourceUri } = recordOf(recordOf(presentation?.meta).ui);
    if (typeof resourceUri === 'string') pages.set(server, [...(pages.get(server) ?? []), resourceUri]);
  }
  return pages;
}

/** Throws `not_found` for a URI that the toolset does not offer. */
export async function readResource(
  deps: OfferDeps,
  caller: ServedCaller,
  uri: string,
  request: OfferRequest,
  signal: AbortSignal,
): Promise<OfferAnswer> {
  const { offers, found } = await requireResource(deps, caller, uri);
  const asked = { method: 'resources/read', kind: 'resource', found, shown: uri, params: { uri: found.own } } as const;
  const answer = await requestOffer(deps, caller, asked, request, signal);
  if (answer.kind === 'input') return answer;
  return { kind: 'result', result: withShownUris(answer.result, (own) => (own === found.own ? uri : shownUri(offers, found.server, own))) };
}

/** Throws `not_found` for a prompt that the toolset does not offer. */
export async function getPrompt(
  deps: OfferDeps,
  caller: ServedCaller,
  { name, arguments: args }: { name: string; arguments?: Record<string, string> },
  request: OfferRequest,
  signal: AbortSignal,
): Promise<OfferAnswer> {
  const offers = await readServedOffers(deps, caller.principal.workspace, caller.view);
  const found = findPrompt(offers, name);
  if (found === null) throw new Problem('not_found', `There is no prompt ${quoted(name)} here.`);
  const params = { name: found.own, ...(args && { arguments: args }) };
  return await requestOffer(deps, caller, { method: 'prompts/get', kind: 'prompt', found, shown: name, params }, request, signal);
}

/** `params` as in MCP. Returns no values where a server cannot complete the argument. Never asks for an approval, since users type meanwhile. */
export async function complete(
  deps: OfferDeps,
  caller: ServedCaller,
  { _meta, ...params }: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const offers = await readServedOffers(deps, caller.principal.workspace, caller.view);
  const ref = recordOf(params.ref);
  const kind = ref.type === 'ref/prompt' ? 'prompt' : 'resource';
  const shown = String(kind === 'prompt' ? ref.name : ref.uri);
  const found = kind === 'prompt' ? findPrompt(offers, shown) : (offers.templates.get(shown) ?? offers.resources.get(shown) ?? null);
  if (found === null) throw new Problem('not_found', 'There is no such prompt or resource template here.');
  const own = { ...params, ref: { ...ref, [kind === 'prompt' ? 'name' : 'uri']: found.own } };
  const asked = { method: 'completion/complete', kind, found, shown, params: own } as const;
  const answer = await requestOffer(deps, withoutQuestions(caller), asked, {}, signal);
  if (answer.kind === 'input') throw new Error('a request that cannot ask asks');
  return answer.result;
}

/** Authorizes a subscription. What it needs of the client is asked on the open connection, if it can ask. */
export async function subscribe(deps: OfferDeps, caller: ServedCaller, uri: string, signal: AbortSignal): Promise<ResourceSubscription> {
  const { found } = await requireResource(deps, caller, uri);
  const asked = { method: 'resources/subscribe', kind: 'resource', found, shown: uri, params: { uri: found.own } } as const;
  const { ask } = caller.channel;
  const on = ask === undefined ? withoutQuestions(caller) : caller;
  let answer = await requestOffer(deps, on, asked, {}, signal);
  while (answer.kind === 'input') {
    if (ask === undefined) throw new Error('a request that cannot ask asks');
    const responses = new Map<string, unknown>();
    for (const [key, question] of Object.entries(answer.requests)) responses.set(key, await ask(question, key));
    answer = await requestOffer(deps, on, asked, { responses: Object.fromEntries(responses), state: answer.state }, signal);
  }
  return { uri, server: found.server, own: found.own };
}

/** Whether a client may still be notified of changes of a resource: its toolset offers it, and no rule denies it. */
export async function maySubscribe(
  deps: OfferDeps,
  { principal, view }: { principal: Principal; view: ServedView },
  { uri, server, own }: ResourceSubscription,
): Promise<boolean> {
  const { workspace, keyId } = principal;
  const offers = await readServedOffers(deps, workspace, view);
  const selected = offers.select(server, own);
  const entry = selected === undefined ? offers.pages.get(own)?.find((page) => page.server === server)?.entry : selected;
  if (entry === undefined) return false;
  const found = { server, own, entry };
  const access = await deps.directory.server(workspace, server);
  const tool = offerTool({ method: 'resources/subscribe', kind: 'resource', found, shown: uri, params: {} }, access.trusted);
  const rules = await deps.directory.rules(workspace);
  return judgeCall(deps.callDeps(workspace), { rules, keyId, files: null }, tool, {}).decision.verdict !== 'deny';
}

async function requireResource(deps: OfferDeps, caller: ServedCaller, uri: string): Promise<{ offers: ServedOffers; found: FoundOffer }> {
  const offers = await readServedOffers(deps, caller.principal.workspace, caller.view);
  if (uri.length > limits.maxUrlLength) throw new Problem('not_found', `There is no resource ${quoted(uri)} here.`);
  const known = findResource(offers, uri, []);
  const found = known ?? findResource(offers, uri, await linksOf(deps, caller).find(linkedAs(offers, uri)));
  if (found === null) throw new Problem('not_found', `There is no resource ${quoted(uri)} here.`);
  if (found !== 'ambiguous') return { offers, found };
  throw new Problem('not_found', `Several servers have the resource ${quoted(uri)}. Name one of them: moniker://<server>/<URI>.`);
}

function withoutQuestions({ channel: { ask: _ask, ...channel }, openCall: _call, ...caller }: ServedCaller): ServedCaller {
  return { ...caller, channel, askable: {} };
}

export function upstreamCallerOf({ principal, conversation }: Pick<ServedCaller, 'principal' | 'conversation'>): UpstreamCaller {
  const { keyId: owner, egressHosts } = principal;
  return { conversation, owner, ...(egressHosts !== undefined && { egressHosts }) };
}

/** Replaces the URIs in resource contents by those that the client knows. */
function withShownUris(result: Record<string, unknown>, shown: (own: string) => string): Record<string, unknown> {
  const { contents } = result;
  if (!Array.isArray(contents)) return result;
  return {
    ...result,
    contents: contents.map(recordOf).map((part) => (typeof part.uri === 'string' ? { ...part, uri: shown(part.uri) } : part)),
  };
}
