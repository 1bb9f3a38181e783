/**
 * Which models of routes a request is sent to, one after the other. What is known of the health of models is kept in the memory of the isolate, by
 * workspace. Loaded with the first route that is used.
 */
import { listOf, recordOf } from '../core/json/wire-value.ts';
import { setNewest } from '../core/memoize.ts';
import { overflowCode, reportedIn } from '../core/model/provider-failure.ts';
import type { NamedRoute, ResolvedModel } from '../core/model/route.ts';
import {
  beginRun,
  createTargetHealth,
  endRun,
  noteReply,
  pauseLeftMs,
  runningAt,
  stateOf,
  type TargetHealth,
} from '../core/model/target-health.ts';
import { type Candidate, orderTargets, pickNext } from '../core/model/target-order.ts';
import { Problem } from '../core/problem.ts';
import type { ModelTry, RouteAttempt, Routing } from './first-reply.ts';

/** Clients choose the models of no route, but conversations are many. */
const maxKept = 5_000;

/** What is known of models, and which one a conversation had. */
export type RouteMemory = { models: Map<string, TargetHealth>; kept: Map<string, string> };

export function createRouteMemory(): RouteMemory {
  return { models: new Map(), kept: new Map() };
}

const ofIsolate = createRouteMemory();

type RoutedCandidate = Candidate & { route: NamedRoute | null; keepAs: string | null };
type Failed = { model: string; code: string };

/** Yields the models to ask until one replies; the failure of each is passed to `next`. Ends early when the total time of its route is over. */
export function* tryRoutes(models: readonly ResolvedModel[], routing: Routing, memory = ofIsolate): Generator<ModelTry, void, Problem> {
  const now = (): number => routing.clock.now();
  const startedAt = now();
  const left = models.flatMap((model) => candidatesOf(model, routing, memory));
  const failed: Failed[] = [];
  let context: RoutedCandidate | null = null;
  for (let found = pickNext(left, now()); found !== null; found = context ?? pickNext(left, now())) {
    const leftMs = leftOf(found.route, now() - startedAt);
    if (leftMs !== null && leftMs <= 0 && failed.length > 0) return;
    context = null;
    const isLast = left.length === 0;
    const attempt = startAttempt({ found, isLast, leftMs, failed }, routing, memory);
    const problem: Problem = yield { model: found.model, attempt };
    failed.push({ model: found.model, code: problem.code });
    if (reportedIn(problem.extra)?.code === overflowCode) context = contextOf(found, left, routing, memory);
  }
}

type Started = { found: RoutedCandidate; isLast: boolean; leftMs: number | null; failed: readonly Failed[] };

function startAttempt({ found, isLast, leftMs, failed }: Started, { clock, log, workspace }: Routing, memory: RouteMemory): RouteAttempt {
  const { model, why, health, route, keepAs } = found;
  const run = beginRun(health, clock.now());
  const beganAt = clock.now();
  const { totalMs: _totalMs, ...timeouts } = route?.timeouts ?? {};
  const retries = route?.retries ?? (isLast && why !== 'all-down' ? undefined : 0);
  let hasBegun = false;
  let hasEnded = false;
  const end = (failure?: Problem): void => {
    if (hasEnded) return;
    hasEnded = true;
    const pause = endRun(health, run, failure ?? null, clock.now());
    const at = { workspace, route: route?.name, model };
    if (failure !== undefined) log?.info('a model of a route failed', { ...at, code: failure.code });
    if (pause !== null) log?.info('a model of a route is put aside', { ...at, code: pause.code, ms: pause.ms });
  };
  return {
    limits: {
      ...timeouts,
      ...(leftMs !== null && { leftMs }),
      ...(retries !== undefined && { retries }),
      // The total time may be over, and another request may have found the model down.
      mayRetry: () => stateOf(health, clock.now()) === 'up' && (leftMs === null || clock.now() - beganAt < leftMs),
    },
    target: describeTarget(model, why, failed),
    begun() {
      if (hasBegun) return;
      hasBegun = true;
      noteReply(health, run, clock.now());
      if (keepAs !== null) setNewest(memory.kept, keepAs, model, maxKept);
    },
    failed: end,
    over(isBroken) {
      if (!isBroken) end();
      else if (hasBegun) end(new Problem('upstream_error', 'The reply broke off.', { provider: model, retryable: true }));
    },
  };
}

/** A model outside of a route is one candidate. */
function candidatesOf(resolved: ResolvedModel, routing: Routing, memory: RouteMemory): RoutedCandidate[] {
  const healthOf = (model: string): TargetHealth => readHealth(memory, routing.workspace, model);
  if (typeof resolved === 'string') return [{ model: resolved, why: 'fallback', health: healthOf(resolved), route: null, keepAs: null }];
  const stuck = stickyText(resolved, routing);
  const keepAs = stuck === null ? null : JSON.stringify([routing.workspace, resolved.name, stuck]);
  const kept = keepAs === null ? null : memory.kept.get(keepAs);
  const seed = stuck ?? routing.ids.next('route');
  const ordered = orderTargets(resolved, { healthOf, now: routing.clock.now(), seed, isSticky: stuck !== null, kept });
  const isKept = resolved.strategy === 'least-busy' || resolved.strategy === 'lowest-latency';
  return ordered.map((candidate) => ({ ...candidate, route: resolved, keepAs: isKept ? keepAs : null }));
}

function stickyText({ sticky = 'session' }: NamedRoute, { keyId, session, body }: Routing): string | null {
  if (sticky !== 'session') return sticky === 'key' ? keyId : null;
  if (session !== null) return session;
  const text = body === undefined ? null : conversationText(body);
  return text === null ? null : `${keyId}\n${text}`;
}

const maxConversationText = 2_000;

/** Returns what all requests of a conversation have in common: the key of its prompt cache, or else its first input; null: nothing is known. */
function conversationText({ prompt_cache_key: key, messages, input, contents }: Readonly<Record<string, unknown>>): string | null {
  if (typeof key === 'string') return key.slice(0, maxConversationText);
  if (typeof input === 'string') return input.slice(0, maxConversationText);
  const first = listOf(messages ?? input ?? contents).find((message) => recordOf(message).role === 'user');
  if (first === undefined) return null;
  const { content, parts } = recordOf(first);
  if (typeof content === 'string') return content.slice(0, maxConversationText);
  const text = listOf(content ?? parts)
    .map((part) => recordOf(part).text)
    .find((one) => typeof one === 'string');
  return typeof text === 'string' ? text.slice(0, maxConversationText) : null;
}

/** The context fallback of the route whose model refused, unless it was asked already. */
function contextOf(
  { route, model, why }: RoutedCandidate,
  left: RoutedCandidate[],
  routing: Routing,
  memory: RouteMemory,
): RoutedCandidate | null {
  const other = route?.contextFallback;
  if (other === undefined || other === model || why === 'context') return null;
  const listed = left.findIndex((candidate) => candidate.model === other);
  if (listed >= 0) left.splice(listed, 1);
  return { model: other, why: 'context', health: readHealth(memory, routing.workspace, other), route, keepAs: null };
}

function leftOf(route: NamedRoute | null, elapsedMs: number): number | null {
  const totalMs = route?.timeouts?.totalMs;
  return totalMs === undefined ? null : totalMs - Math.max(0, elapsedMs);
}

const maxModels = 2_000;

function readHealth({ models }: RouteMemory, workspace: string, model: string): TargetHealth {
  const key = `${workspace}\n${model}`;
  const health = models.get(key) ?? createTargetHealth();
  setNewest(models, key, health, maxModels);
  return health;
}

// ---- What is shown ----

const maxFailedShown = 8;

/** The value of `x-moniker-target`: `openai/gpt-5.5; why=fallback; attempts=2; failed="azure-eu/gpt-5.5:rate_limited"`. */
function describeTarget(model: string, why: string, failed: readonly Failed[]): string {
  const shown = failed.slice(0, maxFailedShown).map((one) => `${headerText(one.model)}:${one.code}`);
  return `${headerText(model)}; why=${why}; attempts=${failed.length + 1}${shown.length > 0 ? `; failed="${shown.join(' ')}"` : ''}`;
}

/** Names of models may have any characters. */
function headerText(model: string): string {
  return encodeURI(model.toWellFormed()).replace(/[;"]/g, encodeURIComponent);
}

/** Returns in which order a request would be sent to the models of a route now, and what is known of each. Changes nothing. */
export function explainRoute(route: NamedRoute, routing: Routing, memory = ofIsolate) {
  const now = routing.clock.now();
  const left = candidatesOf(route, routing, memory);
  const order = [];
  for (let found = pickNext(left, now); found !== null; found = pickNext(left, now)) {
    const { model, why, health } = found;
    const latencyMs = health.firstOutputMs === null ? null : Math.round(health.firstOutputMs);
    const more = { state: stateOf(health, now), pauseLeftMs: pauseLeftMs(health, now), code: health.pause?.code ?? null };
    order.push({ model, why, ...more, running: runningAt(health, now), latencyMs });
  }
  return order;
}
