/**
 * Sends a request with one of the keys of its provider. Keys are used in turn; one that is refused or limited is put aside, as a model of a route is
 * (`core/model/target-health.ts`), and the request is sent with the next. What is known of keys is kept in the memory of the isolate.
 */
import { setNewest } from '../core/memoize.ts';
import type { ProviderAccess } from '../core/model/provider.ts';
import { delayInHeaders } from '../core/model/retry-after.ts';
import { beginRun, createTargetHealth, endRun, noteReply, type TargetHealth } from '../core/model/target-health.ts';
import { takeLeastDown, takeNext } from '../core/model/target-order.ts';
import { Problem } from '../core/problem.ts';
import type { Clock, Logger } from '../ports/runtime.ts';

export type KeyDeps = { clock: Pick<Clock, 'now'>; log?: Logger | undefined };

/** Statuses that are about the key. */
const ofKey: ReadonlySet<number> = new Set([401, 402, 429]);

/** Returns the first response that is not about its key, or the last one; `send` is called once at most for each key. */
export async function sendByKeys(
  { clock, log }: KeyDeps,
  { name, keys = [] }: Pick<ProviderAccess, 'name' | 'keys'>,
  send: (key: Readonly<Record<string, string>>) => Promise<Response>,
): Promise<Response> {
  turn = (turn + 1) % Number.MAX_SAFE_INTEGER;
  const all = keys.map((headers, index) => ({
    headers,
    number: index + 1,
    model: '',
    why: 'in-order' as const,
    health: healthOf(headers),
  }));
  const left = [...all.slice(turn % all.length), ...all.slice(0, turn % all.length)];
  let next = takeNext(left, clock.now()) ?? takeLeastDown(left, clock.now());
  if (next === null) throw new Error(`the provider ${name} has no keys`);
  for (;;) {
    const key = next;
    const run = beginRun(key.health, clock.now());
    const response = await send(key.headers).catch((error: unknown) => {
      endRun(key.health, run, null, clock.now());
      throw error;
    });
    if (!ofKey.has(response.status)) {
      noteReply(key.health, run, clock.now());
      endRun(key.health, run, null, clock.now());
      return response;
    }
    const retryAfterMs = delayInHeaders(response.headers, clock.now());
    const extra = { provider: name, upstreamStatus: response.status, retryable: true, ...(retryAfterMs !== null && { retryAfterMs }) };
    const pause = endRun(key.health, run, new Problem('upstream_error', 'The key failed.', extra), clock.now());
    const fields = { provider: name, key: key.number, status: response.status, pauseMs: pause?.ms };
    if (response.status === 429) log?.info('a key of a provider is limited', fields);
    else log?.error('a key of a provider was refused', fields);
    next = takeNext(left, clock.now());
    if (next === null) return response;
    await response.body?.cancel();
  }
}

let turn = 0;
const maxKeys = 2_000;
/** By the headers of a key. */
const known = new Map<string, TargetHealth>();

function healthOf(headers: Readonly<Record<string, string>>): TargetHealth {
  const id = JSON.stringify(headers);
  const found = known.get(id);
  if (found !== undefined) return found;
  const health = createTargetHealth();
  setNewest(known, id, health, maxKeys);
  return health;
}
