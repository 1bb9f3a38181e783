/** Storage and sending of callbacks in the Catalog: once for each target, retried until delivered, with limits. */
import { maxBacklogShare } from '../../../../../src/objects/catalog/triggers/fair-backlog.ts';
import { describe, expect, it } from 'vitest';
import type { HeldOffer, HeldTool } from '../../../../../src/core/triggers/callbacks/held-notice.ts';
import {
  enqueueHeld,
  listCallbacks,
  readCallback,
  retryCallback,
} from '../../../../../src/objects/catalog/triggers/callbacks/callbacks.ts';
import { subscriptionWriter } from '../../../../../src/objects/catalog/triggers/callbacks/subscription-writer.ts';
import { limits } from '../../../../../src/core/limits/limits.ts';
import { notice, openCallbacks, refused, secret, taken } from './callbacks-of.ts';
import {
  maxConcurrentCallbacks,
  maxConcurrentCallbacksPerTarget,
} from '../../../../../src/objects/catalog/triggers/callbacks/callback-sender.ts';
import {
  maxPendingCallbackBytes,
  maxPendingCallbacks,
  maxStoredCallbacks,
} from '../../../../../src/objects/catalog/triggers/callbacks/callback-rows.ts';

type Room = ReturnType<typeof openCallbacks>;

const list = ({ context }: Room, query: object = {}) => listCallbacks(context, { limit: 200, ...query }).items;
const trigger = { kind: 'webhook', name: 'hook', delivery: 'd-1', run: 1 } as const;
const hook = { agent: 'doer', scheme: 'github', secret: ['first', 'second'], input: 'x', callbackUrl: 'https://own.example.net/' };

/** Holds attempts to a URL, and releases them. */
function hold(room: Room, url: string): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  room.held.set(url, promise);
  return () => {
    room.held.delete(url);
    resolve();
  };
}

describe('the receivers', () => {
  it('are the trigger of the turn and its subscriptions', async () => {
    const room = openCallbacks();
    await room.put('webhook', 'hook', hook);
    await room.subscribe('all');
    await room.subscribe('failures', { events: ['turn.failed'] });
    await room.subscribe('others', { agents: ['other'] });
    await room.subscribe('paused', { paused: true });
    room.tell({ trigger });
    await room.quiet();
    expect(list(room).map(({ target }) => `${target.kind} ${target.name}`)).toEqual(['subscription all', 'webhook hook']);
    room.tell({ type: 'turn.failed', status: 'failed', agent: 'other' });
    await room.quiet();
    // They are sent in parallel.
    expect(
      room.sent
        .slice(2)
        .map(({ url }) => new URL(url).hostname)
        .sort(),
    ).toEqual(['all.example.net', 'failures.example.net', 'others.example.net']);
  });

  it('get one callback, however often the session reports it', async () => {
    const room = openCallbacks();
    await room.subscribe('all');
    const same = notice({ trigger });
    for (let times = 0; times < 3; times += 1) room.tell(same);
    await room.quiet();
    room.tell(same);
    await room.quiet();
    expect([room.sent.length, list(room).length, room.counts()]).toEqual([1, 1, { messages: 0, bytes: 0 }]);
  });

  it('get a callback for each turn of a session that was recreated under its name', async () => {
    const room = openCallbacks();
    await room.subscribe('all');
    room.tell({ sequence: 1, turn: 'before' });
    room.tell({ sequence: 1, turn: 'after' });
    room.tell({ sequence: 0, turn: 'after', trigger: { ...trigger, run: 2 } });
    await room.quiet();
    expect(room.sent.length).toBe(3);
  });

  it('get a body with all known fields, and no unknown ones', async () => {
    const room = openCallbacks();
    await room.subscribe('all');
    room.tell({ trigger, turn: 't', text: 'Zoë 👋' });
    await room.quiet();
    const [kept] = list(room);
    expect(readCallback(room.context, kept?.id ?? '').body).toEqual({
      type: 'turn.completed',
      timestamp: '2026-01-01T00:00:00.000Z',
      data: {
        ...{ trigger, agent: 'doer', session: 's', turn: 't', status: 'completed', reason: 'stop', text: 'Zoë 👋' },
        usage: { inputTokens: 1, outputTokens: 1 },
      },
    });
    expect(room.sent[0]).toMatchObject({ id: kept?.id, secret });
  });
});

describe('the secret', () => {
  it('of a webhook is its callbackSecret, otherwise its first secret', async () => {
    const room = openCallbacks();
    await room.put('webhook', 'hook', hook);
    room.tell({ trigger });
    await room.quiet();
    await room.put('webhook', 'hook', { ...hook, callbackSecret: secret });
    room.tell({ trigger });
    await room.quiet();
    expect(room.sent.map((message) => message.secret)).toEqual(['first', secret]);
  });

  it('of a schedule is its callbackSecret; without one nothing is sent, with the reason', async () => {
    const room = openCallbacks();
    const schedule = { agent: 'doer', interval: '1h', input: 'x', callbackUrl: 'https://own.example.net/' };
    await room.put('schedule', 'hourly', { ...schedule, callbackSecret: secret });
    room.tell({ trigger: { ...trigger, kind: 'schedule', name: 'hourly' } });
    await room.quiet();
    expect(room.sent.map((message) => message.secret)).toEqual([secret]);
    room.dropSeal('schedule', 'hourly');
    room.tell({ trigger: { ...trigger, kind: 'schedule', name: 'hourly' } });
    await room.quiet();
    expect(list(room)[0]).toMatchObject({
      status: 'dead',
      attempts: [{ status: null, error: expect.stringContaining('Set one with PUT') }],
    });
  });

  it('of a subscription is not used for a URL that the guard rejects, with a warning on write and read', async () => {
    const room = openCallbacks();
    const warnings = [{ path: 'url', message: expect.stringContaining('MONIKER_ALLOW_PRIVATE_HOSTS=') }];
    const { document, ...answer } = await room.subscribe('all', { url: 'http://10.0.0.1/' });
    expect(answer.warnings).toEqual(warnings);
    expect(subscriptionWriter.review?.(room.context, document.body)).toEqual(warnings);
    expect((await room.subscribe('all')).warnings).toEqual([]);
  });

  it('of a subscription is required at first, and kept when it is omitted', async () => {
    const room = openCallbacks();
    const url = 'https://all.example.net/';
    await expect(room.put('subscription', 'all', { url })).rejects.toMatchObject({ code: 'invalid_request' });
    await room.put('subscription', 'all', { url, secret });
    expect(await room.put('subscription', 'all', { url, secret })).toMatchObject({ changed: false });
    await room.put('subscription', 'all', { url, description: 'mine' });
    room.tell();
    await room.quiet();
    expect(room.sent.map((message) => message.secret)).toEqual([secret]);
    const { document } = await room.put('subscription', 'all', { url, secret: 'another' });
    expect(JSON.stringify(document)).not.toMatch(/another|whsec/);
  });
});

describe('a failed callback', () => {
  it('is sent by the alarm after a storage error, which the caller does not receive', async () => {
    const room = openCallbacks();
    await room.subscribe('all');
    room.context.sql.exec("CREATE TRIGGER broken BEFORE UPDATE ON callbacks BEGIN SELECT RAISE(ABORT, 'disk I/O error'); END");
    room.tell();
    expect(room.sent).toEqual([]);
    room.context.sql.exec('DROP TRIGGER broken');
    await room.skip();
    expect(list(room)).toMatchObject([{ status: 'delivered' }]);
  });

  it('is retried with growing delays, under one id, until it is stored as dead', async () => {
    const room = openCallbacks();
    await room.subscribe('all');
    room.outcomes = Array.from({ length: 20 }, () => refused);
    room.tell();
    await room.quiet();
    const pauses: number[] = [];
    while (list(room)[0]?.status === 'pending') pauses.push(await room.skip());
    expect(pauses.length).toBe(limits.callbackRetriesMs.length);
    for (const [index, step] of limits.callbackRetriesMs.entries()) {
      expect(pauses[index]).toBeGreaterThanOrEqual(step);
      expect(pauses[index]).toBeLessThanOrEqual(step * 1.1);
    }
    const [dead] = list(room);
    expect(dead).toMatchObject({ status: 'dead', nextAttemptAt: null });
    expect(dead?.attempts.length).toBe(limits.callbackRetriesMs.length + 1);
    expect(new Set(room.sent.map(({ id }) => id))).toEqual(new Set([dead?.id]));
    expect(room.counts()).toEqual({ messages: 0, bytes: 0 });
  });

  it('is delivered on the fourth attempt if the first three fail', async () => {
    const room = openCallbacks();
    await room.subscribe('all');
    room.outcomes = [refused, { error: 'nobody there' }, refused];
    room.tell();
    await room.quiet();
    for (let times = 0; times < 3; times += 1) await room.skip();
    expect(list(room)).toMatchObject([
      {
        status: 'delivered',
        attempts: [{ status: 500 }, { status: null, error: 'nobody there' }, { status: 500 }, { status: 204, error: null }],
      },
    ]);
  });

  it('is dead at once if the receiver returns 410, and pending again after a manual retry', async () => {
    const room = openCallbacks();
    await room.subscribe('all');
    room.outcomes = [{ isFinal: true, status: 410 }, refused, taken];
    room.tell();
    await room.quiet();
    const id = list(room)[0]?.id ?? '';
    expect(list(room)).toMatchObject([{ status: 'dead' }]);
    expect(retryCallback(room.context, id)).toMatchObject({ status: 'pending' });
    expect(room.counts().messages).toBe(1);
    room.sender.kick();
    await room.quiet();
    expect(list(room)).toMatchObject([{ status: 'pending', attempts: [{ status: 410 }, { status: 500 }] }]);
    retryCallback(room.context, id);
    room.sender.kick();
    await room.quiet();
    expect(list(room)).toMatchObject([{ status: 'delivered' }]);
    expect(room.counts()).toEqual({ messages: 0, bytes: 0 });
    expect(() => retryCallback(room.context, id)).toThrow(/was already delivered/);
  });

  it('respects Retry-After, up to the next delay', async () => {
    const room = openCallbacks();
    await room.subscribe('all');
    room.outcomes = [
      { ...refused, retryAfterMs: 2_500 },
      { ...refused, retryAfterMs: 86_400_000 },
      { ...refused, retryAfterMs: 0 },
    ];
    room.tell();
    await room.quiet();
    const pauses = [await room.skip(), await room.skip(), await room.skip()];
    const least = [2_500, 10_000, 10_000];
    for (const [index, pause] of pauses.entries()) {
      expect(pause).toBeGreaterThanOrEqual(least[index] ?? 0);
      expect(pause).toBeLessThanOrEqual((least[index] ?? 0) * 1.1);
    }
  });

  it('is sent to a corrected URL, and nowhere after its target is removed', async () => {
    const room = openCallbacks();
    await room.put('webhook', 'hook', hook);
    await room.subscribe('all');
    room.outcomes = [refused, refused, refused];
    room.tell({ trigger });
    await room.quiet();
    await room.put('webhook', 'hook', { ...hook, callbackUrl: 'https://right.example.net/' });
    await room.remove('subscription', 'all');
    // One after the other, or at once if their random delays are equal.
    while (room.sent.length < 3) await room.skip();
    expect(room.sent.map(({ url }) => url).slice(2)).toEqual(['https://right.example.net/']);
    // The subscription's pending callbacks were removed with it.
    expect(list(room, { kind: 'subscription' })).toEqual([]);
    const { callbackUrl: _url, ...without } = hook;
    await room.put('webhook', 'hook', without);
    while (list(room, { kind: 'webhook' })[0]?.status === 'pending') await room.skip();
    expect(list(room, { kind: 'webhook' })[0]?.attempts.at(-1)?.error).toContain('no longer has a callbackUrl');
  });

  it('is retried after the process died during it, with growing delays for repeated crashes', async () => {
    const room = openCallbacks();
    await room.subscribe('all');
    hold(room, 'https://all.example.net/');
    room.tell();
    const pauses: number[] = [];
    for (let deaths = 0; deaths < limits.callbackRetriesMs.length + 3; deaths += 1) {
      await room.untilSent(deaths + 1);
      room.die();
      const due = room.sender.nextDue() ?? 0;
      pauses.push(due - room.now());
      await room.advance(due - room.now());
    }
    await room.untilSent(pauses.length + 1);
    for (const [index, pause] of pauses.entries()) {
      expect(pause).toBeGreaterThanOrEqual(limits.callbackClaimMs);
      expect(pause).toBeGreaterThanOrEqual(pauses[index - 1] ?? 0);
    }
    room.held.clear();
    room.die();
    await room.skip();
    const [kept] = list(room);
    expect(kept?.status).toBe('delivered');
    expect(kept?.attempts[0]).toMatchObject({ status: null, error: 'Sent; the outcome is not known.' });
    expect(room.counts()).toEqual({ messages: 0, bytes: 0 });
  });

  it('fails while its secret cannot be opened, and is sent afterwards', async () => {
    const room = openCallbacks();
    await room.subscribe('all');
    const { master } = room.context;
    Object.assign(room.context, { master: { ...master, id: async () => 'another' } });
    room.tell();
    await room.quiet();
    expect(list(room)).toMatchObject([{ status: 'pending', attempts: [{ error: expect.stringContaining('MONIKER_MASTER_KEY') }] }]);
    Object.assign(room.context, { master });
    await room.skip();
    expect([list(room)[0]?.status, room.sent.length]).toEqual(['delivered', 1]);
  });
});

describe('many callbacks', () => {
  it('are limited in total and per target, and a slow target delays no other', async () => {
    const room = openCallbacks();
    for (const name of ['slow', 'quick']) await room.subscribe(name);
    const letGo = hold(room, 'https://slow.example.net/');
    for (let count = 0; count < 50; count += 1) room.tell();
    await room.untilSent(50 + maxConcurrentCallbacksPerTarget);
    const to = (host: string): number => room.sent.filter(({ url }) => url === `https://${host}.example.net/`).length;
    expect([to('slow'), to('quick')]).toEqual([maxConcurrentCallbacksPerTarget, 50]);
    letGo();
    await room.quiet();
    expect([to('slow'), list(room, { status: 'delivered' }).length, list(room, { status: 'pending' }).length]).toEqual([50, 100, 0]);
    expect(room.mostAtOnce).toBeLessThanOrEqual(maxConcurrentCallbacks);
  });

  it('wake the object in time when the limit is reached', async () => {
    const room = openCallbacks();
    await room.subscribe('slow');
    hold(room, 'https://slow.example.net/');
    for (let count = 0; count < 10; count += 1) room.tell();
    expect(room.sender.nextDue()).toBe(room.now() + limits.callbackClaimMs);
  });

  it('are dropped visibly if too many are pending', async () => {
    const room = openCallbacks();
    await room.subscribe('all');
    const most = maxPendingCallbacks * maxBacklogShare;
    room.load('subscription', 'all', { pending: most });
    room.tell({ trigger });
    await room.quiet();
    const [dead] = list(room, { status: 'dead' });
    expect(dead).toMatchObject({ attempts: [{ status: null, error: expect.stringContaining('too many callbacks') }], nextAttemptAt: null });
    expect(readCallback(room.context, dead?.id ?? '').body).toBeNull();
    expect(() => retryCallback(room.context, dead?.id ?? '')).toThrow(/was not stored/);
    expect([room.sent.length, room.counts().messages]).toEqual([0, most]);
  });

  it('are dropped if their bodies are too large together', async () => {
    const room = openCallbacks();
    await room.subscribe('all');
    room.load('subscription', 'all', { pending: 1, bytes: maxPendingCallbackBytes * maxBacklogShare - 100 });
    room.tell();
    await room.quiet();
    expect(list(room).map(({ status }) => status)).toEqual(['dead']);
  });

  it('of receivers that do not respond leave some of the queue for the next receiver', async () => {
    const room = openCallbacks();
    for (const name of ['one', 'two', 'three']) await room.subscribe(name);
    hold(room, 'https://three.example.net/');
    const half = maxPendingCallbacks * maxBacklogShare;
    room.load('subscription', 'one', { pending: half });
    room.load('subscription', 'two', { pending: half - 1_250 });
    room.tell();
    const statusOf = (name: string) => list(room, { kind: 'subscription', name }).map(({ status }) => status);
    expect([statusOf('one'), statusOf('two'), statusOf('three')]).toEqual([['dead'], ['dead'], ['pending']]);
  });

  it('of megabytes are stored in chunks, and sent complete', async () => {
    const room = openCallbacks();
    await room.subscribe('all');
    const text = '👋'.repeat(400_000);
    room.tell({ text });
    await room.quiet();
    expect(JSON.parse(room.sent[0]?.body ?? '').data.text).toBe(text);
    expect(room.counts()).toEqual({ messages: 0, bytes: 0 });
  });
});

describe('stored callbacks', () => {
  it('are listed newest first, in pages, by status, target and delivery', async () => {
    const room = openCallbacks();
    await room.put('webhook', 'hook', hook);
    await room.subscribe('all');
    for (const delivery of ['a', 'b', 'c']) {
      room.rejecting = new Set(delivery === 'b' ? [hook.callbackUrl] : []);
      room.tell({ trigger: { ...trigger, delivery } });
      await room.quiet();
    }
    const ids = list(room).map(({ id }) => id);
    expect(ids.length).toBe(6);
    const paged: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = listCallbacks(room.context, { limit: 2, ...(cursor !== undefined && { cursor }) });
      paged.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    }
    expect(paged).toEqual(ids);
    const shown = (query: object) => list(room, query).map(({ delivery, target }) => `${delivery} ${target.kind}`);
    expect(shown({ delivery: 'b' })).toEqual(['b subscription', 'b webhook']);
    expect(shown({ delivery: 'b', status: 'dead' })).toEqual(['b webhook']);
    expect(shown({ status: 'dead' })).toEqual(['b webhook']);
    expect(shown({ status: 'dead', kind: 'subscription' })).toEqual([]);
    expect(shown({ kind: 'webhook', name: 'hook' })).toEqual(['c webhook', 'b webhook', 'a webhook']);
    expect(shown({ kind: 'webhook', name: 'hook', status: 'delivered' })).toEqual(['c webhook', 'a webhook']);
    expect(shown({ kind: 'subscription' })).toEqual(['c subscription', 'b subscription', 'a subscription']);
  });

  it('are deleted after a time, dead ones later than delivered ones', async () => {
    const room = openCallbacks();
    await room.subscribe('all');
    room.outcomes = [taken, { isFinal: true }];
    room.tell();
    await room.quiet();
    room.tell();
    await room.quiet();
    expect(room.sender.nextDue()).toBe(room.now() + limits.callbackTtlMs);
    await room.advance(limits.callbackTtlMs - 1);
    expect(list(room).length).toBe(2);
    await room.advance(1);
    expect(list(room).map(({ status }) => status)).toEqual(['dead']);
    await room.advance(limits.deadCallbackTtlMs);
    expect([list(room), room.sender.nextDue()]).toEqual([[], null]);
    const left = room.context.sql.exec('SELECT callback FROM callback_bodies UNION ALL SELECT callback FROM callback_attempts').toArray();
    expect(left).toEqual([]);
  });

  it('are also limited in number, without deleting pending ones', async () => {
    const room = openCallbacks();
    await room.subscribe('all');
    room.outcomes = [refused];
    room.tell();
    await room.quiet();
    room.tell();
    await room.quiet();
    room.load('subscription', 'all', { ended: maxStoredCallbacks - 1 });
    room.outcomes = [taken, refused];
    room.tell();
    await room.quiet();
    expect(room.sender.nextDue()).toBe(0);
    room.outcomes = [refused];
    await room.advance(0);
    expect(list(room).map(({ status }) => status)).toEqual(['delivered', 'pending']);
  });

  it('are deleted first of the receiver that has the most, not of others', async () => {
    const room = openCallbacks();
    for (const name of ['few', 'many']) await room.subscribe(name);
    for (let count = 0; count < 3; count += 1) room.tell();
    await room.quiet();
    room.load('subscription', 'many', { ended: maxStoredCallbacks - 4 });
    const countOf = (name: string) => list(room, { kind: 'subscription', name }).length;
    await room.advance(0);
    expect([countOf('few'), countOf('many')]).toEqual([3, 1]);
  });

  it('do not exist without subscriptions and callback URLs', async () => {
    const room = openCallbacks();
    room.tell({ trigger });
    await room.quiet();
    expect([list(room), room.sender.nextDue()]).toEqual([[], null]);
    expect(() => readCallback(room.context, 'msg_none')).toThrow(/does not exist/);
  });
});

describe('a message that definitions are held', () => {
  const heldTool = (name: string, refId = 'b'): HeldTool => ({ name, canonical: `shelf.${name}`, reason: 'changed', refId, findings: [] });
  const announce = (room: Room, tools: readonly HeldTool[], server = 'shelf', offers: readonly HeldOffer[] = []): void => {
    room.context.record(() => enqueueHeld(room.context, server, tools, offers));
    room.sender.kick();
  };
  const impact = { days: 30, judged: 4, refusedCalls: 1, mends: [], unjudged: 0, turns: { left: 0, more: false } };
  const bodies = (room: Room) => room.sent.map(({ body }) => JSON.parse(body));

  it('goes to subscriptions that want it, with the impact computed once, and the same body in each attempt', async () => {
    const room = openCallbacks();
    await room.subscribe('all');
    await room.subscribe('held', { events: ['definition.held'] });
    await room.subscribe('ends', { events: ['turn.completed'] });
    await room.subscribe('one-agent', { agents: ['doer'] });
    const asked: string[] = [];
    room.impactOfHeld = async (server, { name }) => {
      asked.push(`${server}.${name}`);
      return impact;
    };
    room.outcomes.push(refused);
    announce(room, [heldTool('find')]);
    await room.quiet();
    await room.skip();
    expect(asked).toEqual(['shelf.find']);
    expect(room.sent).toHaveLength(3);
    expect(new Set(room.sent.map(({ body }) => body)).size).toBe(1);
    expect(bodies(room)[0]).toMatchObject({
      type: 'definition.held',
      data: { server: 'shelf', more: 0, tools: [{ canonical: 'shelf.find', reason: 'changed', refId: 'b', impact }] },
    });
    expect(list(room).map(({ session, turn, delivery }) => [session, turn, delivery])).toEqual([
      [null, null, null],
      [null, null, null],
    ]);
    expect(room.counts()).toEqual({ messages: 0, bytes: 0 });
  });

  it('names a bounded number of tools, computes few, and says what was not computed', async () => {
    const room = openCallbacks();
    await room.subscribe('all');
    let computed = 0;
    room.impactOfHeld = async () => {
      computed += 1;
      return impact;
    };
    announce(
      room,
      Array.from({ length: 500 }, (_, index) => heldTool(`find_${index}`)),
    );
    await room.quiet();
    const { tools, more } = bodies(room)[0].data;
    expect([tools.length, more, computed]).toEqual([20, 480, 5]);
    expect(tools.map((tool: { impact: unknown }) => tool.impact !== null).filter(Boolean)).toHaveLength(5);
  });

  it('names held prompts and resources, for which nothing is computed', async () => {
    const room = openCallbacks();
    await room.subscribe('all');
    const asked: string[] = [];
    room.impactOfHeld = async (_server, { name }) => {
      asked.push(name);
      return impact;
    };
    const offer = (name: string): HeldOffer => ({ kind: 'prompt', name, reason: 'changed', refId: name, findings: [], impact: null });
    announce(room, [], 'shelf', [offer('review')]);
    announce(
      room,
      [heldTool('find')],
      'shelf',
      Array.from({ length: 25 }, (_, index) => offer(`p${index}`)),
    );
    await room.quiet();
    expect(asked).toEqual(['find']);
    const [alone, mixed] = bodies(room).map(({ data }) => data);
    expect(alone).toEqual({ server: 'shelf', tools: [], offers: [offer('review')], more: 0 });
    expect([mixed.tools.length, mixed.offers.length, mixed.more]).toEqual([1, 20, 5]);
  });

  it('of a server that changes all the time cause no more work, and say that nothing was computed', async () => {
    const room = openCallbacks();
    await room.subscribe('all');
    let computed = 0;
    room.impactOfHeld = async () => {
      computed += 1;
      return impact;
    };
    for (let times = 0; times < 10; times += 1) {
      announce(room, [heldTool('find', `pin ${times}`)]);
      await room.quiet();
      await room.advance(10_000);
    }
    announce(room, [heldTool('find')], 'another');
    await room.quiet();
    expect([room.sent.length, computed]).toEqual([11, 2]);
    expect(bodies(room)[1].data.tools[0].impact).toBeNull();
  });

  it('is sent without the impact if the process died while it was computed', async () => {
    const room = openCallbacks();
    await room.subscribe('all');
    room.impactOfHeld = () => new Promise(() => undefined);
    announce(room, [heldTool('find')]);
    room.die();
    await room.skip();
    expect(bodies(room)).toMatchObject([{ data: { tools: [{ impact: null }] } }]);
  });
});
