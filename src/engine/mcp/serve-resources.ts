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
import type { ListName } from '../../core/servers/server-state.ts';
import { type Extensions, passedExtensions } from '../../core/tools/mcp-input.ts';
import type { ResourceSubscription } from '../../ports/mcp-sessions.ts';
import type { McpUpstream, UpstreamContext } from '../../ports/upstream.ts';
import type { UpstreamCaller } from '../servers/server-fetch.ts';
import { type OfferAnswer, type OfferRequest, offerTool, requestOffer } from './request-offer.ts';
import { uriOfServer } from './offer-names.ts';
import { readServedOffers, servedServers } from './read-offers.ts';
import type { ServeCallDeps, ServedCaller } from './serve-call.ts';
import { findPrompt, findResource, type FoundOffer, linkedAs, otherNames } from './serve-offers.ts';
import { type ServedView, toolsBehind } from './serve-view.ts';
import { linksOf } from './shown-links.ts';

export type OfferDeps = ServeCallDeps & {
  /** For the streams on which clients listen. */
  upstream: Pick<McpUpstream, 'listen'>;
  upstreamContext(workspace: string, server: ServerAccess, caller: UpstreamCaller, signal: AbortSignal): UpstreamContext;
  /** Called when a server reports a changed list: refreshes it. Resolves when the new list can be read, or could not be; never rejects. */
  serverChanged(workspace: string, server: string): Promise<void>;
};

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

/** Returns `_meta` of a list of the toolset: that of its servers; of two members with the same name, those of the first server. */
export async function readListMeta(
  { directory }: Pick<OfferDeps, 'directory'>,
  workspace: string,
  view: ServedView,
  list: ListName,
): Promise<{ _meta?: Record<string, unknown> }> {
  const servers = await Promise.all(servedServers(view).map((server) => nullIfNotFound(directory.server(workspace, server))));
  const _meta: Record<string, unknown> = Object.assign({}, ...servers.toReversed().map((server) => server?.connection?.listMeta?.[list]));
  return Object.keys(_meta).length === 0 ? {} : { _meta };
}

/** Returns the extensions that the servers of the toolset declare; of two with the same name, those of the first server. */
export async function readServerExtensions(
  { directory }: Pick<OfferDeps, 'directory'>,
  workspace: string,
  view: ServedView,
): Promise<Extensions | undefined> {
  const servers = await Promise.all(servedServers(view).map((server) => nullIfNotFound(directory.server(workspace, server))));
  const declared = servers.toReversed().map((server) => passedExtensions(recordOf(server?.connection?.capabilities)));
  const extensions = Object.assign({}, ...declared) as Extensions;
  return Object.keys(extensions).length === 0 ? undefined : extensions;
}

/** Throws `not_found` for a URI that the toolset does not offer. */
export async function readResource(
  deps: OfferDeps,
  caller: ServedCaller,
  uri: string,
  request: OfferRequest,
  signal: AbortSignal,
): Promise<OfferAnswer> {
  const found = await requireResource(deps, caller, uri);
  const asked = { method: 'resources/read', kind: 'resource', found, shown: uri, params: { uri: found.own } } as const;
  return await requestOffer(deps, caller, asked, request, signal);
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
  const found =
    kind === 'prompt'
      ? findPrompt(offers, shown)
      : (offers.templates.get(shown) ?? offers.resources.get(shown) ?? offers.resourceAliases.get(shown) ?? null);
  if (found === null) throw new Problem('not_found', 'There is no such prompt or resource template here.');
  const own = { ...params, ref: { ...ref, [kind === 'prompt' ? 'name' : 'uri']: found.own } };
  const asked = { method: 'completion/complete', kind, found, shown, params: own } as const;
  const answer = await requestOffer(deps, withoutQuestions(caller), asked, {}, signal);
  if (answer.kind === 'input') throw new Error('a request that cannot ask asks');
  return answer.result;
}

/** Authorizes a subscription. What it needs of the client is asked on the open connection, if it can ask. */
export async function subscribe(deps: OfferDeps, caller: ServedCaller, uri: string, signal: AbortSignal): Promise<ResourceSubscription> {
  const found = await requireResource(deps, caller, uri);
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
  const entry = selected === undefined ? offers.pages.get(offers.shown.get(server)?.get(own) ?? '')?.entry : selected;
  if (entry === undefined) return false;
  const found = { server, own, entry };
  const access = await deps.directory.server(workspace, server);
  const tool = offerTool({ method: 'resources/subscribe', kind: 'resource', found, shown: uri, params: {} }, access.trusted);
  const rules = await deps.directory.rules(workspace);
  return judgeCall(deps.callDeps(workspace), { rules, keyId, files: null }, tool, {}).decision.verdict !== 'deny';
}

async function requireResource(deps: OfferDeps, caller: ServedCaller, uri: string): Promise<FoundOffer> {
  if (uri.length > limits.maxUrlLength) throw new Problem('not_found', `There is no resource ${quoted(uri)} here.`);
  const offers = await readServedOffers(deps, caller.principal.workspace, caller.view);
  const known = findResource(offers, uri, []);
  const found = known ?? findResource(offers, uri, await linksOf(deps, caller).find(linkedAs(offers, uri)));
  if (found !== null && found !== 'ambiguous') return found;
  const names = found === 'ambiguous' ? [...offers.servers.keys()].map((server) => uriOfServer(server, uri)) : otherNames(offers, uri);
  if (names.length === 0) throw new Problem('not_found', `There is no resource ${quoted(uri)} here.`);
  const several = `Several servers of this toolset may have the resource ${quoted(uri)}`;
  throw new Problem('not_found', `${several}. Name one of them: ${names.map(quoted).join(', ')}.`);
}

function withoutQuestions({ channel: { ask: _ask, ...channel }, openCall: _call, ...caller }: ServedCaller): ServedCaller {
  return { ...caller, channel, askable: {} };
}

export function upstreamCallerOf({ principal, conversation }: Pick<ServedCaller, 'principal' | 'conversation'>): UpstreamCaller {
  const { keyId: owner, egressHosts } = principal;
  return { conversation, owner, ...(egressHosts !== undefined && { egressHosts }) };
}
