/**
 * Sends a chat without server tools and session to its provider, or to the models of its route until one replies. If its dialect is the
 * provider's own wire, the client's request is forwarded (`passed/forward-chat.ts`); other chats are translated
 * (`engine/proxy/translate-chat.ts`).
 */
import type { Redaction } from '../core/redaction/redaction.ts';
import type { TextRedactor } from '../core/redaction/redact-text.ts';
import { splitModelRef } from '../core/turn/agent.ts';
import { overflowCode, reportedIn } from '../core/model/provider-failure.ts';
import { Problem } from '../core/problem.ts';
import { toAnswerId } from '../core/text/reference.ts';
import { createReplyEncoder } from '../dialects/reply-encoder.ts';
import { firstReply } from '../engine/first-reply.ts';
import type { RouteAttempt } from '../engine/try-routes.ts';
import { createDropped } from '../core/model/dropped.ts';
import type { ProviderAccess } from '../core/model/provider.ts';
import { apiHeader } from '../core/model/provider-profile.ts';
import type { Principal } from '../core/people/principal.ts';
import { startBodyLog } from '../engine/proxy/body-log.ts';
import { startMeter, type CallMeter } from '../engine/proxy/call-meter.ts';
import type { CacheableRequest, CachedReplies, OpenCache } from '../engine/proxy/reply-cache.ts';
import { type AskedChat, type ProxiedChat, translateChat } from '../engine/proxy/translate-chat.ts';
import type { KeptReplies } from '../engine/proxy/kept-replies.ts';
import { readAllowedProvider, readRouteRules } from '../engine/plan/plan-models.ts';
import type { ModelRule } from '../core/model/model-name.ts';
import { limitRequest, type LimitedRequest } from '../engine/proxy/reserve-request.ts';
import type { Limiter } from '../ports/limiter.ts';
import type { Directory } from '../ports/directory.ts';
import type { ChatModel } from '../ports/chat-model.ts';
import type { OutboundHttp } from '../ports/outbound.ts';
import type { Clock, Ids, Logger } from '../ports/runtime.ts';
import type { UsageRecorder } from '../ports/usage.ts';
import type { IdSeal } from './passed/provider-ids.ts';
import { accessFor, needsOf, otherAccess } from './api-choice.ts';
import { rehearsalHttp } from './rehearsal/rehearsal.ts';
import { endingRoute, toRouting, withTarget } from './routed-reply.ts';
import type { WithTelemetry } from '../ports/telemetry.ts';
import { wireAccess } from './wire-access.ts';
import { canForward, proxyChat } from './passed/forward-chat.ts';

export type ProxyDeps = WithTelemetry & {
  /** Absent: failures of the models of routes are not logged. */
  log?: Logger;
  directory: Directory;
  outbound: OutboundHttp;
  model: ChatModel;
  clock: Clock;
  ids: Ids;
  /** What translated replies need again, for a key. */
  kept?(principal: Principal): KeptReplies;
  /** Signs ids of files. Absent: files are not passed. */
  fileIds?: IdSeal;
  /** Absent: no replies are cached. */
  cached?(): Promise<CachedReplies>;
  /** Absent: nothing is metered. */
  usage?: Pick<UsageRecorder, 'gather'>;
  /** Absent: there are no limits. */
  limiter?: Limiter;
  background?(work: Promise<unknown>): void;
  /** Compiles redaction rules. Absent: bodies that need them are not logged. */
  redactor?(redaction: Redaction): Promise<TextRedactor>;
};

/** Throws the problem of the model, or that of its fallbacks. */
export async function proxyModelRequest(deps: ProxyDeps, principal: Principal, chat: AskedChat): Promise<Response> {
  const { ref: first, fallbacks = [], ...asked } = chat;
  const models = [first, ...fallbacks];
  const rules = await readRouteRules(deps.directory, principal, models);
  try {
    return await firstReply(models, { ...toRouting(deps, principal), body: chat.body }, (ref, route) =>
      withTarget(
        route,
        proxyToModel(
          deps,
          principal,
          { ...asked, ref, ...(route && { target: route.target, timeouts: { ...route.limits, ...chat.timeouts } }) },
          { rules, route },
        ),
      ),
    );
  } catch (error) {
    const failed = error instanceof Problem && chat.body.stream === true ? failedStream(deps, chat, error) : null;
    if (failed === null) throw error;
    return failed;
  }
}

/**
 * A stream of Responses reports in its events that the conversation does not fit the model, as OpenAI's API does: clients such as Codex shorten it
 * then, and look for it nowhere else.
 */
function failedStream({ ids }: ProxyDeps, { dialect, body }: AskedChat, problem: Problem): Response | null {
  if (dialect.name !== 'openai-responses' || reportedIn(problem.extra)?.code !== overflowCode) return null;
  const encoder = createReplyEncoder(dialect, { id: toAnswerId(dialect.name, ids.next('cmpl')), model: body.model, created: 0 });
  const text = encoder.encode({ type: 'error', problem: problem.toBody(), retryable: false });
  return new Response(text, { headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store, no-transform' } });
}

async function proxyToModel(
  deps: ProxyDeps,
  principal: Principal,
  asGiven: ProxiedChat,
  { rules, route }: { rules: readonly ModelRule[]; route: RouteAttempt | undefined },
): Promise<Response> {
  const { ref, dialect, requestId, agentName } = asGiven;
  const { access: given, isListed } = await readAllowedProvider(deps.directory, principal, ref, rules);
  const access = wireAccess(given, splitModelRef(ref).model);
  const chat = await withFileIds(deps, principal, asGiven, given);
  const readText = (): string => chat.text ?? JSON.stringify(chat.body);
  // Prices have the names of the document.
  const asked = { access: given, model: splitModelRef(ref).model, limited: chat.limited };
  const { usage, reserve, hasBudget } = await limitRequest(deps, principal, asked);
  const bodies = startBodyLog({ ...deps, usage }, principal.workspace, readText);
  const ending = endingRoute(bodies.usage, route);
  const keyed = [ref, chat.agent, chat.headers, isListed, hasBudget];
  const hit = (): void => route?.unused();
  const cache = await openCache(deps, principal, access, { asked: chat.cache, body: chat.body, dialect: dialect.name, keyed, hit });
  const meter = startMeter(
    { ...deps, usage: cache === null ? ending : cache.usage(ending) },
    { principal, ref, agent: agentName, requestId, dialect: dialect.name },
    given,
  );
  try {
    const send = (own: ProxyDeps) => sendChat(own, principal, chat, { access, isListed, reserve, hasBudget }, meter);
    const kept = cache === null ? undefined : deps.kept?.(principal);
    const sent = cache === null ? send(deps) : cache.answer(meter, kept, (given) => send(given ? { ...deps, kept: () => given } : deps));
    // What it uses is counted although its client disconnects.
    if (reserve !== undefined) deps.background?.(sent.catch(() => undefined));
    return await bodies.watch(await sent);
  } catch (error) {
    bodies.fail();
    meter.fail(error);
    throw error;
  }
}

/** Files have ids for their key (`passed/provider-ids.ts`), which is loaded only for a chat that names one. */
async function withFileIds(
  { fileIds }: ProxyDeps,
  principal: Principal,
  chat: ProxiedChat,
  { name }: ProviderAccess,
): Promise<ProxiedChat> {
  if (fileIds === undefined || chat.text?.includes('"file-eyJ') !== true) return chat;
  const { withProviderIds } = await import('./passed/provider-ids.ts');
  return await withProviderIds(fileIds, principal, chat, name);
}

/** Loaded only if something asks for the cache. */
export async function openCache(
  deps: ProxyDeps,
  principal: Principal,
  { kind, baseUrl, headers, profile, cloud }: ProviderAccess,
  request: CacheableRequest,
): Promise<OpenCache | null> {
  const { cached, usage, directory } = deps;
  if (cached === undefined || usage === undefined) return null;
  const isAsked = request.asked !== undefined || principal.cache !== undefined;
  if (!isAsked && !(await directory.modelAliases(principal.workspace)).some(({ cache }) => cache !== undefined)) return null;
  const { openReplyCache } = await import('../engine/proxy/reply-cache.ts');
  const keyed = [kind, baseUrl, headers, profile, cloud?.apiVersion ?? null, ...request.keyed];
  return await openReplyCache({ ...deps, cached: await cached() }, principal, { ...request, keyed });
}

/** Names the API in the response if it is not that of the provider's kind. */
async function sendChat(deps: ProxyDeps, principal: Principal, chat: ProxiedChat, rules: SendRules, meter: CallMeter): Promise<Response> {
  const { ref, dialect, body, agent, signal } = chat;
  const { access } = rules;
  const { model } = splitModelRef(ref);
  const needs = needsOf(body, dialect.name);
  const sent = accessFor(access, model, needs, deps.clock.now());
  const isForwarded = !agent?.isOwn && canForward(sent, model, dialect, agent?.protocol);
  if (isForwarded) {
    try {
      return withApiHeader(await forwardChat(deps, principal, chat, { ...rules, access: sent }, meter), sent === access ? null : sent.kind);
    } catch (error) {
      // Otherwise the translated request goes by the other API.
      if (otherAccess({ access, model, needs, sent, error, now: deps.clock.now() }) === null) throw error;
    }
  }
  let kind: ProviderAccess['kind'] | null = null;
  const translated = {
    ...{ access, model, dialect, body, ref: body.model, meter, timeouts: chat.timeouts, target: chat.target },
    ...(agent !== undefined && { agent }),
    ...(deps.kept !== undefined && { kept: deps.kept(principal) }),
    // A request that was refused is reserved already.
    ...(!isForwarded && { reserve: rules.reserve }),
    sentBy: (used: ProviderAccess['kind']) => {
      kind = used;
    },
  };
  return withApiHeader(await translateChat(deps, translated, signal), kind);
}

function withApiHeader(response: Response, kind: ProviderAccess['kind'] | null): Response {
  if (kind !== null) response.headers.set(apiHeader, kind);
  return response;
}

async function forwardChat(
  { outbound, kept, telemetry, clock, ids, log }: ProxyDeps,
  principal: Principal,
  { ref, dialect, body, agent, text, headers, signal, timeouts, target }: ProxiedChat,
  { access, isListed, reserve, hasBudget }: SendRules,
  meter: CallMeter,
): Promise<Response> {
  const { model } = splitModelRef(ref);
  const http = access.kind === 'rehearsal' ? rehearsalHttp : outbound;
  // With other instructions, the body no longer equals the received text.
  const sent = agent === undefined ? { body, text } : { body: dialect.withInstructions(body, agent.instructions), agentRef: body.model };
  const storing = dialect.name === 'openai-responses' && kept !== undefined && { kept: kept(principal) };
  // An agent decides on its model, too.
  const isChecked = isListed || hasBudget || agent !== undefined;
  // Written anew, a limited body has no member twice, of which the provider might read another one.
  const isLimited = isChecked || reserve !== undefined;
  const { checkedBody } = isLimited ? await import('../core/model/request-extras.ts') : {};
  const dropped = createDropped();
  meter.dropped(dropped);
  const checked = checkedBody && { body: checkedBody(sent.body, { isChecked, hasBudget, dropped }), text: undefined };
  const own = { ...sent, ...checked, ...storing, reserve, dropped };
  const request = { access, model, dialect, headers, http, clock, ids, log, signal, meter, timeouts, ...own };
  if (telemetry == null) return await proxyChat(request);
  const { observeForward } = await import('./observe-forward.ts');
  return await observeForward(telemetry, request, proxyChat, target);
}

/** `isListed`: the model must be on an allow-list. */
type SendRules = { access: ProviderAccess; isListed: boolean } & Pick<LimitedRequest, 'reserve' | 'hasBudget'>;
