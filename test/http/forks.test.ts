/** `POST /v1/sessions` with `from`: who may fork what, repeats, and bad input. */
import { beforeEach, expect, it } from 'vitest';
import { bodyOf, createHarness, demo, type Harness } from './harness.ts';

let h: Harness;
let id: string;
beforeEach(async () => {
  h = createHarness();
  await h.send('PUT', '/v1/toolsets/demo', demo);
  id = (await bodyOf(await h.send('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'demo', instructions: 'Be brief.' }))).id;
  await h.send('POST', `/v1/sessions/${id}/turns`, { input: 'hello' });
});

const fork = (from: unknown, headers?: Record<string, string>, more: object = {}) =>
  h.send('POST', '/v1/sessions', { from, ...more }, headers);

it('makes a session with the setup of its source, which names where it comes from', async () => {
  const answer = await fork({ session: id, turn: 'turn1' });
  const made = await bodyOf(answer);
  expect([answer.status, answer.headers.get('location')]).toEqual([201, `/v1/sessions/${made.id}`]);
  expect(made).toMatchObject({
    model: 'rehearsal/default',
    toolset: 'demo',
    from: { session: id, turn: 'turn1' },
    turn: null,
    lastEvent: 1,
  });
  expect(made.id).not.toBe(id);
  expect(h.sessions.all.get(made.id)?.setup).toMatchObject({ instructions: 'Be brief.', listed: true });
});

it('returns the same fork for a repeated idempotency key, also after its source was deleted', async () => {
  const key = { 'idempotency-key': 'one' };
  const made = await bodyOf(await fork({ session: id, turn: 'turn1' }, key));
  expect((await bodyOf(await fork({ turn: 'turn1', session: id }, key))).id).toBe(made.id);
  await h.send('POST', `/v1/sessions/${id}/turns`, { input: 'more' });
  expect((await bodyOf(await fork({ session: id, turn: 'turn2' }, key))).code).toBe('idempotency_mismatch');
  expect((await bodyOf(await h.send('POST', '/v1/sessions', { model: 'rehearsal/default' }, key))).code).toBe('idempotency_mismatch');
  await h.send('DELETE', `/v1/sessions/${id}`);
  expect((await bodyOf(await fork({ session: id, turn: 'turn1' }, key))).id).toBe(made.id);
  expect((await fork({ session: id, turn: 'turn1' }, { 'idempotency-key': 'two' })).status).toBe(404);
});

it('refuses a key the sessions of others and agents that it is not bound to', async () => {
  const other = await h.key({ scopes: ['chat'] });
  const problem = await bodyOf(await fork({ session: id, turn: 'turn1' }, other));
  expect([problem.status, problem.code]).toEqual([404, 'not_found']);
  await h.send('PUT', '/v1/agents/helper', { model: 'rehearsal/default' });
  const bound = await h.key({ scopes: ['chat', 'admin'], agents: ['helper'] });
  expect((await fork({ session: id, turn: 'turn1' }, bound)).status).toBe(404);
  // Its own session, of an agent that is gone.
  const own = await bodyOf(await h.send('POST', '/v1/sessions', { agent: 'helper' }, bound));
  await h.send('POST', `/v1/sessions/${own.id}/turns`, { input: 'hello' }, bound);
  expect((await fork({ session: own.id, turn: 'turn1' }, bound)).status).toBe(201);
  await h.send('DELETE', '/v1/agents/helper');
  expect((await fork({ session: own.id, turn: 'turn1' }, bound)).status).toBe(404);
});

it.each([
  [{ session: 'none', turn: 'turn1' }, {}, 404, undefined],
  [{ session: '__proto__', turn: 'turn1' }, {}, 404, undefined],
  [{ session: 'ses1', turn: 'turn9' }, {}, 404, undefined],
  [{ session: 'ses1', turn: '__proto__' }, {}, 404, undefined],
  [{ session: 'ses1' }, {}, 422, 'from.turn'],
  [{ session: 'ses1', turn: '' }, {}, 422, 'from.turn'],
  [{ session: 'ses1', turn: 'x'.repeat(201) }, {}, 422, 'from.turn'],
  [{ session: 'ses1', turn: 'turn1', files: false }, {}, 422, 'from.files'],
  ['ses1', {}, 422, 'from'],
  [null, {}, 422, 'from'],
  [{ session: 'ses1', turn: 'turn1' }, { model: 'rehearsal/default' }, 422, 'model'],
  [{ session: 'ses1', turn: 'turn1' }, { agent: 'helper' }, 422, 'agent'],
  [{ session: 'ses1', turn: 'turn1' }, { tools: [] }, 422, 'tools'],
] as const)('rejects %j with %j', async (from, more, status, path) => {
  const answer = await fork(from, undefined, more);
  const body = await bodyOf(answer);
  expect([answer.status, body.issues?.[0].path]).toEqual([status, path]);
});

it('refuses a turn that has not ended', async () => {
  await h.send('POST', `/v1/sessions/${id}/turns`, { input: 'wait' }, { prefer: 'respond-async' });
  const body = await bodyOf(await fork({ session: id, turn: 'turn2' }));
  expect([body.status, body.code]).toEqual([409, 'conflict']);
});
