/** Turns in progress over the real objects: how many one key may have. */
import { env } from 'cloudflare:workers';
import { beforeAll, expect, it } from 'vitest';
import { poolBounds, storedBounds } from '../../../../src/core/limits/pools.ts';
import { type Principal, rootKeyId } from '../../../../src/core/people/principal.ts';
import type { Plan } from '../../../../src/core/turn/plan.ts';
import type { ShareOwner } from '../../../../src/core/limits/fair-share.ts';
import { isShortage, type Place } from '../../../../src/engine/fair-pool.ts';
import type { Bindings } from '../../../../src/storage/bindings.ts';
import { wire } from '../../../../src/wiring/wire.ts';

// The generated Env and our structural type name the same bindings.
const { sessions, catalog, planTurn, pools } = wire(env as unknown as Bindings);
const setup = { model: 'rehearsal/default', toolset: 'places' };
const ownerOf = (keyId: string): Principal => ({ workspace: 'default', keyId, scopes: ['chat', 'tools', 'approve'] });

beforeAll(async () => {
  const tools = [{ tool: 'builtin.write_file', name: 'save', approval: 'always' as const }];
  await catalog('default').put('toolset', 'places', { tools });
});

async function begin(owner: Principal, text: string, limited: Plan['limited'] = []) {
  const { id } = await sessions.create(owner, { ...setup, listed: true });
  const session = sessions.get(id);
  const submitted = await session.submit(owner, {
    plan: { ...(await planTurn(owner, setup)), limited },
    input: [{ type: 'text', text }],
  });
  return { session, turn: submitted.turn, answer: () => session.waitForAnswer(owner, submitted.turn) };
}

/** Takes all places that the pool gives to the owner. */
function fill(owner: ShareOwner): Place[] {
  const places: Place[] = [];
  for (;;) {
    const taken = pools.turns.take(owner);
    if (isShortage(taken)) return places;
    places.push(taken);
  }
}

const { perKey } = poolBounds.turns;

it('A key with too many turns in progress gets no further one, while other keys do', async () => {
  const greedy = ownerOf('greedy');
  const places = fill(greedy);
  const refused = { code: 'rate_limited', extra: { limit: 'concurrentTurns', of: 'key', name: 'greedy', max: perKey, used: perKey } };
  await expect(begin(greedy, 'hello')).rejects.toMatchObject(refused);
  for (const other of [ownerOf('modest'), ownerOf(rootKeyId)])
    expect(await (await begin(other, 'hello')).answer()).toMatchObject({ status: 'completed' });
  places.pop()?.release();
  expect(await (await begin(greedy, 'hello')).answer()).toMatchObject({ status: 'completed' });
  for (const place of places) place.release();
});

it('A key whose sessions have too many queued turns gets no further one, while other keys do', async () => {
  const asks = '/save {"path": "a.txt", "content": "one"}';
  const own = { queueing: await begin(ownerOf('queueing'), asks), other: await begin(ownerOf('other'), asks) };
  expect(await own.queueing.answer()).toMatchObject({ status: 'waiting' });
  expect(await own.other.answer()).toMatchObject({ status: 'waiting' });
  const follow = async (keyId: keyof typeof own) => {
    const caller = ownerOf(keyId);
    return await own[keyId].session.submit(caller, { plan: await planTurn(caller, setup), input: [{ type: 'text', text: 'hello' }] });
  };
  expect(await follow('queueing')).toMatchObject({ position: 1 });
  const full = await sessions.create(ownerOf('queueing'), { ...setup, listed: true });
  const { perKey: max } = storedBounds.queuedTurns;
  const summary = { revision: 1_000, status: 'waiting', title: null, activeAt: 0, usage: { inputTokens: 0, outputTokens: 0 } } as const;
  const about = { id: full.id, keyId: 'queueing', agent: null, model: null, toolset: null, createdAt: 0, waits: [] };
  await catalog('default').updateSession({ ...about, summary, open: { pendingQuestions: 0, queuedTurns: max - 1 } });
  const extra = { limit: 'queuedTurns', of: 'key', name: 'queueing', max, used: max };
  await expect(follow('queueing')).rejects.toMatchObject({ code: 'rate_limited', extra });
  expect(await follow('other')).toMatchObject({ position: 1 });
  await catalog('default').forgetSession(full.id, null);
  expect(await follow('queueing')).toMatchObject({ position: 2 });
});

it('A maximum of turns that was set for the key or its workspace replaces the default', async () => {
  const granted = (concurrentTurns: number): Plan['limited'] => [{ of: 'key', name: 'granted', limits: { concurrentTurns } }];
  const owner = ownerOf('granted');
  const places = fill(owner);
  expect(await (await begin(owner, 'hello', granted(perKey + 1))).answer()).toMatchObject({ status: 'completed' });
  const refused = { code: 'rate_limited', extra: { limit: 'concurrentTurns', max: perKey } };
  await expect(begin(owner, 'hello', granted(perKey))).rejects.toMatchObject(refused);
  for (const place of places) place.release();
});
