/** Counters of limits: what isolates together admit, also in parallel, when the clock jumps, and when a counter cannot be reached. */
import { runInDurableObject } from 'cloudflare:test';
import { describe, expect, it, vi } from 'vitest';
import type { LimitedHolder, UsageLimits } from '../../../src/core/usage-limits.ts';
import { toModelUse, type UsageReport } from '../../../src/core/records/usage.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { createLazyLimiter } from '../../../src/objects/limits/client/lazy-limiter.ts';
import { type LeaseExchange, limitCounter } from '../../../src/objects/limits/client/limit-counter-client.ts';
import { createLimiter } from '../../../src/objects/limits/client/limit-counters.ts';
import { objectPlace } from '../../../src/objects/shared/object-place.ts';
import type { Bindings } from '../../../src/storage/bindings.ts';
import { send } from '../catalog/real-service.ts';
import { keptLog } from '../../fakes/runtime.ts';
import { testEnv } from '../../storage/workspace.ts';

const anyWorkspace = () => `w-${crypto.randomUUID().slice(0, 8)}`;
const holderOf = (limits: UsageLimits, name = 'k1'): LimitedHolder => ({ of: 'key', name, limits });

function isolate(own: { bindings?: Pick<Bindings, 'LIMITS'>; now?: () => number } = {}) {
  const work: Promise<unknown>[] = [];
  const log = keptLog();
  // Flushes do not wait.
  const clock = { ...systemClock, now: own.now ?? systemClock.now, sleep: async () => undefined };
  const limiter = createLimiter({ bindings: own.bindings ?? testEnv, clock, log, background: (one) => void work.push(one) });
  const settled = async (): Promise<void> => void (await Promise.all(work.splice(0)));
  return { limiter, log, settled };
}

const admitted = async (tries: readonly Promise<unknown>[]): Promise<number> =>
  (await Promise.allSettled(tries)).filter(({ status }) => status === 'fulfilled').length;

function report(id: string, cost: number, holder: LimitedHolder, part = 1): UsageReport {
  const call = {
    at: Date.now(),
    model: 'a/b',
    durationMs: 5,
    failed: false,
    usage: { inputTokens: cost * 1e6, outputTokens: 0 },
    wasBilled: true,
  };
  return {
    ...{ id, part, at: call.at, keyId: 'k1', agent: null, toolset: null, tools: [], request: null },
    models: [toModelUse(call, { input: 1, output: 0 })],
    budgets: [holder],
  };
}

/** Tests that count within a minute must not cross its end. */
async function inOneMinute<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    const minute = Math.floor(Date.now() / 60_000);
    const result = await work();
    if (minute === Math.floor(Date.now() / 60_000)) return result;
  }
}

it('tells callers that data of a newer release cannot be read', async () => {
  const workspace = anyWorkspace();
  const { id } = objectPlace(testEnv.LIMITS, workspace, 'limits', 'key:k1');
  await runInDurableObject(testEnv.LIMITS.get(await id()), (_instance, { storage }) => {
    storage.sql.exec('CREATE TABLE schema (version INTEGER NOT NULL)');
    storage.sql.exec('INSERT INTO schema (version) VALUES (99)');
  });
  const { limiter } = isolate();
  await expect(limiter.uses(workspace, [holderOf({ dailyCost: 1 })])).rejects.toMatchObject({
    code: 'unavailable',
    detail: expect.stringContaining('newer release'),
  });
});

describe('limits of requests', () => {
  it.each([1, 20, 45])('admits exactly %i of 50 parallel requests', async (max) => {
    const holder = holderOf({ requestsPerMinute: max });
    const count = await inOneMinute(async () => {
      const [workspace, { limiter }] = [anyWorkspace(), isolate()];
      return await admitted(Array.from({ length: 50 }, () => limiter.countRequest(workspace, [holder])));
    });
    expect(count).toBe(max);
  });

  it('says in each refusal that all of it is used', async () => {
    const holder = holderOf({ requestsPerMinute: 20 });
    const refused = await inOneMinute(async () => {
      const [workspace, { limiter }] = [anyWorkspace(), isolate()];
      const tries = Array.from({ length: 50 }, () => limiter.countRequest(workspace, [holder]));
      return (await Promise.allSettled(tries)).flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
    });
    expect(refused).toEqual(refused.map(() => expect.objectContaining({ extra: expect.objectContaining({ max: 20, used: 20 }) })));
  });

  it('admits at most the limit over several isolates, and most of it', async () => {
    const holder = holderOf({ requestsPerMinute: 100 });
    const count = await inOneMinute(async () => {
      const workspace = anyWorkspace();
      const isolates = [isolate(), isolate(), isolate()];
      return await admitted(
        Array.from({ length: 150 }, (_, n) => isolates[n % 3]?.limiter.countRequest(workspace, [holder]) ?? Promise.reject()),
      );
    });
    expect(count).toBeLessThanOrEqual(100);
    expect(count).toBeGreaterThanOrEqual(80);
  });

  it('makes few calls for many requests, and none without limits', async () => {
    let calls = 0;
    const LIMITS = new Proxy(testEnv.LIMITS, {
      get: (target, name) => {
        if (name === 'get') calls += 1;
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const { limiter } = isolate({ bindings: { LIMITS } });
    const holder = holderOf({ requestsPerMinute: 100_000 });
    const workspace = anyWorkspace();
    await limiter.countRequest(workspace, []);
    expect(calls).toBe(0);
    for (let n = 0; n < 1_000; n += 1) await limiter.countRequest(workspace, [holder]);
    expect(calls).toBeLessThanOrEqual(2);
  });

  it('names the limit and when to try again', async () => {
    const [workspace, { limiter }] = [anyWorkspace(), isolate()];
    const holder = holderOf({ requestsPerMinute: 1 });
    const refused = await inOneMinute(async () => {
      await limiter.countRequest(workspace, [holder]).catch(() => undefined);
      return await limiter.countRequest(workspace, [holder]).catch((error: unknown) => error);
    });
    expect(refused).toMatchObject({ code: 'rate_limited', extra: { limit: 'requestsPerMinute', of: 'key', name: 'k1', max: 1, used: 1 } });
  });

  it('does not stay closed when the clock of the isolate jumps', async () => {
    let now = Date.now();
    const [workspace, { limiter }] = [anyWorkspace(), isolate({ now: () => now })];
    const holder = holderOf({ requestsPerMinute: 1_000 });
    for (const jump of [0, -86_400_000, 200 * 86_400_000, -400 * 86_400_000]) {
      now += jump;
      await limiter.countRequest(workspace, [holder]);
    }
    expect(await admitted([limiter.countRequest(workspace, [holder])])).toBe(1);
  });

  it('admits requests while the counter cannot be reached, and refuses calls with a budget', async () => {
    const LIMITS = {
      ...testEnv.LIMITS,
      idFromName: (name: string) => testEnv.LIMITS.idFromName(name),
      get: () => ({ run: () => Promise.reject(new Error('down')) }),
    };
    const { limiter, log } = isolate({ bindings: { LIMITS: LIMITS as unknown as Bindings['LIMITS'] } });
    await limiter.countRequest('w', [holderOf({ requestsPerMinute: 1 })]);
    await limiter.reserveCall('w', [holderOf({ tokensPerMinute: 1 }, 'k2')], { tokens: 5, cost: 1 });
    const refused = await limiter
      .reserveCall('w', [holderOf({ dailyCost: 1 }, 'k3')], { tokens: 5, cost: 1 })
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'unavailable', extra: { of: 'key', name: 'k3' } });
    expect(log.lines).toHaveLength(3);
  });
});

describe('a limiter that is loaded when it is needed', () => {
  it('is loaded once, however many ask at once, and not without limits', async () => {
    const isolates = new Set<string>();
    const counter = {
      async run(_method: 'lease', [{ holder, rows }]: [LeaseExchange]) {
        isolates.add(holder);
        const grants = rows.map(({ limit }) => ({
          ...{ limit, granted: 100, remaining: 0, used: 0, leased: 0, period: 'p', endsInMs: 60_000 },
        }));
        return { ok: true, value: { grants, admitted: rows[0]?.needs.map(() => true) ?? [] } };
      },
    };
    const LIMITS = { ...testEnv.LIMITS, idFromName: (name: string) => testEnv.LIMITS.idFromName(name), get: () => counter };
    const bindings = { LIMITS: LIMITS as unknown as Bindings['LIMITS'] };
    const limiter = createLazyLimiter({ bindings, clock: systemClock, log: keptLog(), background: () => undefined });
    const holder = holderOf({ requestsPerMinute: 100 });
    await limiter.countRequest('w', []);
    (await limiter.reserveCall('w', [], { tokens: 1, cost: 1 })).settle('unknown');
    expect([limiter.status('w', [holder]), await limiter.uses('w', [])]).toEqual([[], []]);
    expect(isolates.size).toBe(0);
    await Promise.all(Array.from({ length: 50 }, () => limiter.countRequest('w', [holder])));
    expect(isolates.size).toBe(1);
    expect(limiter.status('w', [holder])).toMatchObject([{ limit: 'requestsPerMinute', remaining: 50 }]);
  });
});

describe('limits of tokens', () => {
  it('refuses when the tokens of the minute are used, by what calls report', async () => {
    const [workspace, first, second] = [anyWorkspace(), isolate(), isolate()];
    const holder = holderOf({ tokensPerMinute: 1_000 });
    await inOneMinute(async () => {
      const call = await first.limiter.reserveCall(workspace, [holder], { tokens: 10, cost: 0 });
      call.settle({ tokens: 1_500, cost: 0 });
      call.settle({ tokens: 1_500, cost: 0 });
      await first.settled();
      await expect(second.limiter.reserveCall(workspace, [holder], { tokens: 1, cost: 0 })).rejects.toMatchObject({
        code: 'rate_limited',
        extra: { limit: 'tokensPerMinute', used: 1_500 },
      });
    });
  });

  it('reserves an estimate, so that parallel calls do not all pass at the edge', async () => {
    const [workspace, { limiter }] = [anyWorkspace(), isolate()];
    const holder = holderOf({ tokensPerMinute: 1_000 });
    const tries = Array.from({ length: 50 }, () => limiter.reserveCall(workspace, [holder], { tokens: 400, cost: 0 }));
    expect(await admitted(tries)).toBe(3);
  });
});

describe('budgets', () => {
  it('counts each report once, also when it is sent again, by another isolate', async () => {
    const [workspace, first, second] = [anyWorkspace(), isolate(), isolate()];
    const holder = holderOf({ dailyCost: 10, monthlyCost: 15 });
    const reports = [report('turn_1', 2, holder), report('turn_2', 3, holder)];
    await first.limiter.charge(workspace, reports);
    await second.limiter.charge(workspace, reports);
    await Promise.all(Array.from({ length: 20 }, () => first.limiter.charge(workspace, reports)));
    await second.limiter.charge(workspace, [report('turn_1', 1, holder, 2)]);
    const uses = await second.limiter.uses(workspace, [holder]);
    expect(uses.map(({ limit, used }) => [limit, used])).toEqual([
      ['dailyCost', 6],
      ['monthlyCost', 6],
    ]);
  });

  it('is exhausted for all isolates when the limit is used', async () => {
    const [workspace, first, second] = [anyWorkspace(), isolate(), isolate()];
    const holder = holderOf({ dailyCost: 5 });
    const call = await first.limiter.reserveCall(workspace, [holder], { tokens: 0, cost: 1 });
    call.settle({ tokens: 0, cost: 6 });
    await first.settled();
    await first.limiter.charge(workspace, [report('req_1', 6, holder)]);
    for (const { limiter } of [first, second])
      await expect(limiter.reserveCall(workspace, [holder], { tokens: 0, cost: 0.01 })).rejects.toMatchObject({
        extra: { limit: 'dailyCost' },
      });
  });

  it('counts the cost of a call that no report will have, and only for budgets', async () => {
    const [workspace, first, second] = [anyWorkspace(), isolate(), isolate()];
    const holder = holderOf({ dailyCost: 5, tokensPerMinute: 1 });
    expect(await first.limiter.reserveCost(workspace, [holderOf({ requestsPerMinute: 1 })], 1)).toBeUndefined();
    const call = await first.limiter.reserveCost(workspace, [holder], 2);
    call?.settle({ tokens: 0, cost: 5.5 }, false);
    await first.settled();
    const used = (await second.limiter.uses(workspace, [holder])).map(({ limit, used: amount }) => [limit, amount]);
    expect(used).toEqual([
      ['dailyCost', 5.5],
      ['tokensPerMinute', 0],
    ]);
    for (const { limiter } of [first, second])
      await expect(limiter.reserveCost(workspace, [holder], 0.01)).rejects.toMatchObject({ extra: { limit: 'dailyCost' } });
    // What costs nothing is not refused.
    expect(await second.limiter.reserveCost(workspace, [holder], 0)).toBeDefined();
  });

  it('keeps what a dead isolate has reserved only for a time', async () => {
    const [workspace, dead, next] = [anyWorkspace(), isolate(), isolate()];
    const holder = holderOf({ dailyCost: 1 });
    await dead.limiter.reserveCall(workspace, [holder], { tokens: 0, cost: 1 });
    await expect(next.limiter.reserveCall(workspace, [holder], { tokens: 0, cost: 1 })).rejects.toMatchObject({ code: 'rate_limited' });
    const now = Date.now();
    const clock = vi.spyOn(Date, 'now').mockReturnValue(now + 16 * 60_000);
    try {
      const late = isolate();
      expect(await admitted([late.limiter.reserveCall(workspace, [holder], { tokens: 0, cost: 1 })])).toBe(1);
    } finally {
      clock.mockRestore();
    }
  });

  it('finds the budget of the day again after the clock jumped a day ahead and back', async () => {
    const [workspace, { limiter }] = [anyWorkspace(), isolate()];
    const holder = holderOf({ dailyCost: 5 });
    await limiter.charge(workspace, [report('req_1', 5, holder)]);
    const now = Date.now();
    const clock = vi.spyOn(Date, 'now').mockReturnValue(now + 86_400_000);
    try {
      expect((await limiter.uses(workspace, [holder]))[0]?.used).toBe(0);
    } finally {
      clock.mockRestore();
    }
    expect((await limiter.uses(workspace, [holder]))[0]?.used).toBe(5);
  });
});

describe('limits of turns', () => {
  it('admits so many turns at a time, each once, and the next when one has ended', async () => {
    const [workspace, { limiter }] = [anyWorkspace(), isolate()];
    const holder = holderOf({ concurrentTurns: 2 });
    expect(await admitted(Array.from({ length: 50 }, (_, n) => limiter.startTurn(workspace, [holder], `t${n}`)))).toBe(2);
    const counter = await limitCounter(testEnv, workspace, holder);
    expect((await counter.state([])).running).toBe(2);
    await limiter.endTurn(workspace, [holder], 't0');
    await limiter.startTurn(workspace, [holder], 't1');
    expect((await counter.state([])).running).toBe(1);
    await limiter.startTurn(workspace, [holder], 't90', { resumes: true });
    await limiter.startTurn(workspace, [holder], 't91', { resumes: true });
    await expect(limiter.startTurn(workspace, [holder], 't92')).rejects.toMatchObject({ extra: { limit: 'concurrentTurns', used: 3 } });
  });

  it('does not count a turn that another holder refuses', async () => {
    const [workspace, { limiter }] = [anyWorkspace(), isolate()];
    const [key, agent] = [holderOf({ concurrentTurns: 5 }), holderOf({ concurrentTurns: 1 }, 'other')];
    await limiter.startTurn(workspace, [agent], 'first');
    await expect(limiter.startTurn(workspace, [key, agent], 'second')).rejects.toMatchObject({ extra: { name: 'other' } });
    expect((await (await limitCounter(testEnv, workspace, key)).state([])).running).toBe(0);
  });
});

describe('a key with limits', () => {
  it('is refused with 429, the limit, and the headers of the rate', async () => {
    const made = await send('POST', '/v1/keys', { name: 'limited', scopes: ['tools'], limits: { requestsPerMinute: 3 } });
    const { key, limits, id } = await made.json<{ key: string; limits: object; id: string }>();
    expect(limits).toEqual({ requestsPerMinute: 3 });
    const answers = await inOneMinute(
      async () =>
        await Promise.all(Array.from({ length: 8 }, () => send('GET', '/v1/tools?limit=1', undefined, { authorization: `Bearer ${key}` }))),
    );
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(5);
    const [first] = refused;
    expect(Number(first?.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect(first?.headers.get('ratelimit-policy')).toBe('"key-requestsPerMinute";q=3;w=60');
    expect(first?.headers.get('ratelimit')).toMatch(/^"key-requestsPerMinute";r=0;t=\d+$/);
    expect(await first?.json()).toMatchObject({ code: 'rate_limited', limit: 'requestsPerMinute', of: 'key', name: id });
    expect((await send('GET', '/v1/tools?limit=1')).headers.get('ratelimit')).toBeNull();
  });
});
