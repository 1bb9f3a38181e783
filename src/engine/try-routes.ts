/**
 * Which models of routes a request is sent to, one after the other. What is known of the health of models is kept in the memory of the isolate, by
 * workspace. Loaded with the first route that is used.
 */
import { listOf, recordOf } from '../core/json/wire-value.ts';
import { backoffMs } from '../core/limits/backoff.ts';
import { SECOND } from '../core/limits/units.ts';
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
  targetState,
  type TargetHealth,
} from '../core/model/target-health.ts';
import { type TargetCandidate, leastPauseMs, orderTargets, takeLeastDown, takeNext } from '../core/model/target-order.ts';
import { Problem } from '../core/problem.ts';
import type { AttemptLimits } from '../core/model/timeouts.ts';
import type { Clock, Ids, Logger } from '../ports/runtime.ts';

/** What the order of the models of a route depends on. `session`: null outside of sessions; then `body` shows which conversation it is. */
export type Routing = {
  clock: Pick<Clock, 'now' | 'sleep'>;
  ids: Ids;
  log?: Logger | undefined;
  workspace: string;
  keyId: string;
  session: string | null;
  body?: Readonly<Record<string, unknown>>;
};

/** Of one model of a route. */
export type RouteAttempt = {
  limits: AttemptLimits;
  /** Which model replies, and why: for the response. */
  target: string;
  /** The first output has arrived. Called by `firstReply`, too. Only the first call counts. */
  begun(): void;
  /** The model was not asked: a stored reply was returned. Says nothing about its health. */
  unused(): void;
  /** The request failed without a reply, or in a turn. Without a problem it was aborted. Called by `firstReply`. */
  failed(problem?: Problem): void;
  /** The reply has ended. `isBroken`: counts only after the first output; before, the failure of the request says more. */
  over(isBroken: boolean): void;
};

/** A model to ask, or how long to wait before the next one. `attempt`: of a route. */
export type ModelTry = { model: string; attempt?: RouteAttempt } | { waitMs: number };

/** Clients choose the models of no route, but conversations are many. */
const maxKept = 5_000;

/** What is known of models, and which one a conversation had. */
export type RouteMemory = { models: Map<string, TargetHealth>; kept: Map<string, string> };

export function createRouteMemory(): RouteMemory {
  return { models: new Map(), kept: new Map() };
}

const ofIsolate = createRouteMemory();

type RoutedCandidate = TargetCandidate & { route: NamedRoute | null; keepAs: string | null };
type Failed = { model: string; code: string };

/** More, such as those of long lists of fallbacks, are not asked. */
const maxAttempts = 64;
/** A wait for the end of a pause, when every model has failed or is put aside: as long as a request without a route waits for `Retry-After`. */
const maxWaitMs = 20 * SECOND;
/** All waits of a request, also for that which asks the model after its pause. */
const maxWaitsMs = 30 * SECOND;
/** How often the models that are up again are asked. */
const maxRounds = 3;
const firstWaitMs = 500;

/**
 * Yields the models to ask until one replies; the failure of each is passed to `next`. When none is up, that whose pause ends first is asked once;
 * then the request waits for the end of a pause, unless its route says how often to retry. Ends when nothing is left, or when the total time of a
 * route has passed.
 */
export function* tryRoutes(
  models: readonly ResolvedModel[],
  routing: Routing,
  memory = ofIsolate,
): Generator<ModelTry, void, Problem | undefined> {
  const now = (): number => routing.clock.now();
  const startedAt = now();
  let left = models.flatMap((model) => candidatesOf(model, routing, memory));
  const failed: Failed[] = [];
  let again: RoutedCandidate[] = [];
  let context: RoutedCandidate | null = null;
  let [rounds, waits, waitedMs, failedBefore] = [0, 0, 0, 0];
  while (failed.length < maxAttempts) {
    const found: RoutedCandidate | null = context ?? takeNext(left, now()) ?? (failed.length === 0 ? takeLeastDown(left, now()) : null);
    if (found === null) {
      left = [...left, ...again].filter(({ route }) => route?.retries === undefined);
      again = [];
      waits += 1;
      // Another request may ask the only model whose pause has ended.
      if (failed.length > failedBefore) rounds += 1;
      failedBefore = failed.length;
      const waitMs = Math.max(leastPauseMs(left, now()), backoffMs({ firstMs: firstWaitMs }, waits));
      const leftMs = Math.min(...left.map(({ route }) => leftOf(route, now() - startedAt) ?? maxWaitMs));
      waitedMs += waitMs;
      if (rounds > maxRounds || waitMs > leftMs || waitedMs > maxWaitsMs) return;
      yield { waitMs };
      continue;
    }
    const leftMs = leftOf(found.route, now() - startedAt);
    if (leftMs !== null && leftMs <= 0 && failed.length > 0) return;
    context = null;
    const attempt = startAttempt({ found, leftMs, failed }, routing, memory);
    const problem: Problem | undefined = yield { model: found.model, attempt };
    if (problem === undefined) return;
    failed.push({ model: found.model, code: problem.code });
    if (problem.extra.retryable === true && problem.code !== 'upstream_timeout') again.push({ ...found, why: 'fallback' });
    if (reportedIn(problem.extra)?.code === overflowCode) context = contextOf(found, left, routing, memory);
  }
}

type Started = { found: RoutedCandidate; leftMs: number | null; failed: readonly Failed[] };

function startAttempt({ found, leftMs, failed }: Started, { clock, log, workspace }: Routing, memory: RouteMemory): RouteAttempt {
  const { model, why, health, route, keepAs } = found;
  const run = beginRun(health, clock.now());
  const beganAt = clock.now();
  const { totalMs: _totalMs, ...timeouts } = route?.timeouts ?? {};
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
      retries: route?.retries ?? 0,
      // The total time may have passed, and another request may have found the model down.
      mayRetry: () => targetState(health, clock.now()) === 'up' && (leftMs === null || clock.now() - beganAt < leftMs),
    },
    target: describeTarget(model, why, failed),
    begun() {
      if (hasBegun) return;
      hasBegun = true;
      noteReply(health, run, clock.now());
      if (keepAs !== null && memory.kept.get(keepAs) !== model) setNewest(memory.kept, keepAs, model, maxKept);
    },
    unused() {
      hasBegun = true;
      end();
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
  const isOrdered = resolved.strategy === undefined || resolved.strategy === 'in-order';
  const stuck = isOrdered ? null : stickyText(resolved, routing);
  const keepAs = stuck === null ? null : `${routing.workspace}\n${resolved.name}\n${stuck}`;
  const kept = keepAs === null ? null : memory.kept.get(keepAs);
  const seed = stuck ?? (isOrdered ? '' : routing.ids.next('route'));
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
  const known = models.get(key);
  if (known !== undefined) return known;
  const health = createTargetHealth();
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
  const next = (): RoutedCandidate | null => takeNext(left, now) ?? takeLeastDown(left, now);
  for (let found = next(); found !== null; found = next()) {
    const { model, why, health } = found;
    const latencyMs = health.firstOutputMs === null ? null : Math.round(health.firstOutputMs);
    const more = { state: targetState(health, now), pauseLeftMs: pauseLeftMs(health, now), code: health.pause?.code ?? null };
    order.push({ model, why, ...more, running: runningAt(health, now), latencyMs });
  }
  return order;
}
