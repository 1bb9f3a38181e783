/** Asking a guard over HTTP: whose fault it is when there is no answer, and how many questions are open at a time. */
import { describe, expect, it } from 'vitest';
import { GuardEndpoint, type GuardQuestion } from '../../../src/core/policy/guard.ts';
import { poolBounds } from '../../../src/core/limits/pools.ts';
import { Problem } from '../../../src/core/problem.ts';
import { createFairPool } from '../../../src/engine/fair-pool.ts';
import { createAskGuard } from '../../../src/engine/guard/ask-guard.ts';
import type { OutboundHttp } from '../../../src/ports/outbound.ts';
import { fakeClock } from '../../fakes/runtime.ts';

const guard = GuardEndpoint.parse({ url: 'https://guard.example/ask', secret: 'GUARD', onFailure: 'allow' });
const signal = new AbortController().signal;

/** Without a secret, so that a question is sent without waiting for a signature. */
const unsigned = GuardEndpoint.parse({ url: 'https://guard.example/ask', onFailure: 'allow' });

function asking(outbound: OutboundHttp, secret: () => Promise<string> = async () => 'whsec_c2VjcmV0IG9mIHRoZSBndWFyZCwgMzIgYnl0ZXM=') {
  const clock = fakeClock();
  const ask = createAskGuard({
    ...{ outbound, secret, now: clock.now, questions: createFairPool(poolBounds.guardQuestions, clock) },
    read: async (response) => ({ bytes: new Uint8Array(await response.arrayBuffer()), truncated: false }),
  });
  const question = (callId: string, keyId = 'k', workspace = 'default'): Extract<GuardQuestion, { event: 'before' }> => ({
    ...{ event: 'before', workspace, key: keyId, callId, canonical: 'local.pay', requested: 'pay', arguments: {} },
  });
  return {
    clock,
    ask: (callId: string) => ask(guard, question(callId), signal),
    askUnsigned: (callId: string, keyId?: string, workspace?: string) => ask(unsigned, question(callId, keyId, workspace), signal),
  };
}

const timedOut = (): never => {
  throw new Problem('upstream_timeout', 'guard.example did not respond within 3 s.');
};

describe('without an answer', () => {
  it.each<[string, OutboundHttp, (() => Promise<string>) | undefined]>([
    ['does not respond in time', async () => timedOut(), undefined],
    ['cannot be reached', () => Promise.reject(new Problem('upstream_error', 'refused')), undefined],
    ['responds with an error', async () => new Response('', { status: 503 }), undefined],
    [
      'has no secret',
      async () => Response.json({ decision: 'allow' }),
      () => Promise.reject(new Problem('not_found', 'There is no secret.')),
    ],
  ])('it is a failure of the guard if it %s', async (_how, outbound, secret) => {
    const reply = await asking(outbound, secret).ask('call_1');
    expect(reply).toMatchObject({ ok: false });
    expect(reply).not.toHaveProperty('isOurs');
  });

  it.each<[string, (clock: ReturnType<typeof fakeClock>) => Promise<never>, (() => Promise<string>) | undefined]>([
    ['was busy past the end of the timeout', (clock) => clock.advance(guard.timeoutMs + 1_500).then(timedOut), undefined],
    [
      'could not read the secret in time',
      timedOut as never,
      () => Promise.reject(new Problem('unavailable', 'The Catalog did not respond.')),
    ],
    ['failed to read the secret', timedOut as never, () => Promise.reject(new Error('storage'))],
  ])('it is not one if the service %s', async (_how, send, secret) => {
    const { ask, clock } = asking(async () => await send(clock), secret);
    expect(await ask('call_1')).toMatchObject({ ok: false, isOurs: true });
  });
});

describe('many questions at once', () => {
  it('wait for their turn, a bounded number per key and workspace, and are refused in words after a while', async () => {
    const open: ((response: Response) => void)[] = [];
    const { askUnsigned: ask, clock } = asking(() => new Promise((resolve) => void open.push(resolve)));
    const flood = Array.from({ length: 700 }, (_, index) => ask(`call_${index}`));
    await clock.advance(0);
    const { perKey, maxWaiting } = poolBounds.guardQuestions;
    expect(open).toHaveLength(perKey);
    const others = [ask('call_b', 'another'), ask('call_c', 'k', 'elsewhere')];
    await clock.advance(0);
    expect(open).toHaveLength(perKey + 2);
    for (const answer of open.splice(0)) answer(Response.json({ decision: 'deny' }));
    expect(await Promise.all(others)).toEqual(others.map(() => ({ ok: true, answer: { decision: 'deny' } })));
    await clock.advance(0);
    // The next ones of the flood. Nobody answers them, so all others give up.
    expect(open).toHaveLength(perKey);
    await clock.advance(5_000);
    for (const answer of open.splice(0)) answer(Response.json({ decision: 'deny' }));
    const replies = await Promise.all(flood);
    const why = 'This key (k) has too many questions to the guard: 50 of at most 50. Wait until some have ended.';
    const refused = replies.filter((reply) => !reply.ok);
    expect(refused).toEqual(refused.map(() => ({ ok: false, why, isOurs: true })));
    expect(refused).toHaveLength(700 - 2 * perKey);
    expect(refused.length).toBeGreaterThan(maxWaiting - perKey);
  });

  it('that were cancelled while they waited are not asked', async () => {
    const gone = new AbortController();
    let asked = 0;
    const clock = fakeClock();
    const pool = createFairPool(poolBounds.guardQuestions, clock);
    const held = Array.from({ length: poolBounds.guardQuestions.perKey }, () => pool.takeBeyondLimit({ workspace: 'default', keyId: 'k' }));
    const ask = createAskGuard({
      outbound: async () => {
        asked += 1;
        return Response.json({ decision: 'allow' });
      },
      ...{ secret: async () => '', now: clock.now, questions: pool, read: () => Promise.reject(new Error('unused')) },
    });
    const waits = ask(
      guard,
      { event: 'before', workspace: 'default', key: 'k', callId: 'call_1', canonical: 'a.b', requested: 'b', arguments: {} },
      gone.signal,
    );
    gone.abort(new Error('gone'));
    expect(await waits).toEqual({ ok: false, why: 'the call was cancelled' });
    for (const place of held) place.release();
    expect([asked, pool.usedBy({ workspace: 'default', keyId: 'k' })]).toEqual([0, 0]);
  });
});
