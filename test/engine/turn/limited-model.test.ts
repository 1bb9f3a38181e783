/** Calls of a model under limits: what is reserved before they are sent, what they count as however they end, and what they wait for. */
import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/core/model/chat-event.ts';
import { rehearsalAccess, type ProviderAccess } from '../../../src/core/model/provider.ts';
import { Problem } from '../../../src/core/problem.ts';
import type { LimitedHolder, UsageLimits } from '../../../src/core/usage-limits.ts';
import { limitModel } from '../../../src/engine/turn/limited-model.ts';
import type { ChatModel, ChatRequest } from '../../../src/ports/chat-model.ts';
import type { CallEstimate, Limiter } from '../../../src/ports/limiter.ts';

const access: ProviderAccess = {
  ...{ ...rehearsalAccess, name: 'acme', kind: 'openai-compatible' },
  prices: { priced: { input: 1_000, output: 10_000, cacheWrite: 2_000 } },
};
const request = (model = 'priced'): ChatRequest => ({ access, model, messages: [], tools: [], toolChoice: 'auto', settings: {} });
const bound = { inputTokens: 100, outputTokens: 50 };
const holderOf = (limits: UsageLimits): LimitedHolder => ({ of: 'key', name: 'k1', limits });

const text: ChatEvent = { type: 'text', text: 'hi' };
const usage: ChatEvent = { type: 'usage', usage: { inputTokens: 10, outputTokens: 5 } };
const finish: ChatEvent = { type: 'finish', reason: 'stop', raw: 'stop' };
const failed: ChatEvent = { type: 'error', problem: new Problem('upstream_error', 'no').toBody(), retryable: false };

/** `refusals`: of the limiter, before it admits. */
function limited(
  reply: (sent: ChatRequest) => AsyncGenerator<ChatEvent[]>,
  limits: UsageLimits = { dailyCost: 1 },
  refusals: Problem[] = [],
) {
  const seen = { reserved: [] as CallEstimate[], settled: [] as unknown[], sent: 0, slept: [] as number[] };
  let now = 0;
  const limiter = {
    async reserveCall(_workspace: string, _holders: unknown, estimate: CallEstimate) {
      const refusal = refusals.shift();
      if (refusal !== undefined) throw refusal;
      seen.reserved.push(estimate);
      return { settle: (used: unknown) => void seen.settled.push(used) };
    },
  } as unknown as Limiter;
  const clock = {
    now: () => now,
    after: () => () => undefined,
    sleep: async (ms: number) => {
      seen.slept.push(ms);
      now += ms;
    },
  };
  const model: ChatModel = {
    async *stream(sent, signal) {
      await sent.reserve?.(bound);
      seen.sent += 1;
      signal.throwIfAborted();
      yield* reply(sent);
    },
  };
  return { seen, model: limitModel(model, { limiter, clock }, 'w', [holderOf(limits)]) };
}

async function read(model: ChatModel, sent = request(), { stopAfter = 99, signal = new AbortController().signal } = {}): Promise<unknown> {
  try {
    let batches = 0;
    for await (const _ of model.stream(sent, signal)) if (++batches >= stopAfter) break;
    return null;
  } catch (error) {
    return error;
  }
}

const replying = (...batches: (ChatEvent[] | Error)[]) =>
  async function* () {
    for (const batch of batches) {
      if (batch instanceof Error) throw batch;
      yield batch;
    }
  };

describe('a call under limits', () => {
  it('reserves the most that it can use, at the dearest price of its input', async () => {
    const { model, seen } = limited(replying([text, usage, finish]));
    expect(await read(model)).toBeNull();
    expect(seen.reserved).toEqual([{ tokens: 150, cost: (100 * 2_000 + 50 * 10_000) / 1e6 }]);
    expect(seen.settled).toEqual([{ tokens: 15, cost: (10 * 1_000 + 5 * 10_000) / 1e6 }]);
  });

  it.each([
    ['ends without usage', [[text], [finish]], 'unknown'],
    ['fails before any output', [[failed]], { tokens: 0, cost: 0 }],
    ['fails after output', [[text], [failed]], 'unknown'],
    ['fails after output in the same read', [[text, failed]], 'unknown'],
    ['fails after output and reports usage', [[text], [usage, failed]], { tokens: 15, cost: 0.06 }],
    ['is refused by the provider', [new Problem('upstream_error', 'no')], { tokens: 0, cost: 0 }],
    ['is not answered in time', [new Problem('upstream_timeout', 'late')], 'unknown'],
    ['breaks with an error of ours', [new Error('oops')], 'unknown'],
    ['breaks off after output', [[text], new Problem('upstream_error', 'gone')], 'unknown'],
  ] as [string, (ChatEvent[] | Error)[], unknown][])('that %s counts as %j', async (_how, batches, settled) => {
    const { model, seen } = limited(replying(...batches));
    await read(model);
    expect(seen.settled).toEqual([settled]);
  });

  it('that the reader or its turn ends counts with its reservation', async () => {
    const stopped = limited(replying([text], [usage], [finish]));
    await read(stopped.model, request(), { stopAfter: 1 });
    expect(stopped.seen.settled).toEqual(['unknown']);
    const aborted = limited(replying([text]));
    await read(aborted.model, request(), { signal: AbortSignal.abort(new Error('enough')) });
    expect(aborted.seen.settled).toEqual(['unknown']);
  });
});

describe('a model without a price', () => {
  it.each([{ dailyCost: 1 }, { monthlyCost: 1 }, { tokensPerMinute: 5, monthlyCost: 1 }])(
    'is refused under %j, before it is sent',
    async (limits) => {
      const { model, seen } = limited(replying([text]), limits);
      const name = limits.dailyCost === undefined ? 'monthlyCost' : 'dailyCost';
      expect(await read(model, request('Priceless'))).toMatchObject({
        code: 'invalid_request',
        detail: expect.stringMatching(
          new RegExp(`^model: ${name} of the key "k1" .*acme/Priceless .*\`prices\`.*PUT /v1/providers/acme.*0 if`),
        ),
        extra: { limit: name, of: 'key', name: 'k1', model: 'acme/Priceless', issues: [{ path: 'model' }] },
      });
      expect(seen).toMatchObject({ sent: 0, reserved: [] });
    },
  );

  it('may be used under limits of tokens, and one with the price 0 under all', async () => {
    expect(await read(limited(replying([text]), { tokensPerMinute: 5 }).model, request('other'))).toBeNull();
    const free = { ...request('other'), access: { ...access, prices: { '*': { input: 0, output: 0 } } } };
    const { model, seen } = limited(replying([text]));
    expect(await read(model, free)).toBeNull();
    expect(seen.reserved).toEqual([{ tokens: 150, cost: 0 }]);
  });
});

describe('a call that finds nothing left', () => {
  const refusal = (extra: object, code: 'rate_limited' | 'unavailable' = 'rate_limited') =>
    new Problem(code, 'no', { max: 10, retryAfterMs: 5_000, ...extra });

  it.each([
    ['tokens of the next minute', refusal({ limit: 'tokensPerMinute', used: 10 })],
    ['what calls in flight return', refusal({ limit: 'dailyCost', used: 3, reserved: 7 })],
    ['a counter that is away', refusal({}, 'unavailable')],
  ])('waits for %s', async (_what, problem) => {
    const { model, seen } = limited(replying([text]), undefined, [problem, problem]);
    expect(await read(model)).toBeNull();
    expect(seen).toMatchObject({ slept: [5_000, 5_000], sent: 1 });
  });

  it('does not wait for a budget that is used', async () => {
    const { model, seen } = limited(replying([text]), undefined, [refusal({ limit: 'dailyCost', used: 10, reserved: 2 })]);
    expect(await read(model)).toMatchObject({ code: 'rate_limited' });
    expect(seen).toMatchObject({ slept: [], sent: 0 });
  });

  it('gives up after three minutes', async () => {
    const refusals = Array.from({ length: 100 }, () => refusal({ limit: 'dailyCost', used: 3, reserved: 7 }));
    const { model, seen } = limited(replying([text]), undefined, refusals);
    expect(await read(model)).toMatchObject({ code: 'rate_limited', extra: { limit: 'dailyCost' } });
    const waited = seen.slept.reduce((sum, ms) => sum + ms, 0);
    expect(waited).toBeGreaterThan(170_000);
    expect(waited).toBeLessThanOrEqual(183_000);
    expect(seen.sent).toBe(0);
  });
});
