/** Replays under load and attack: floods, long logs, secrets, restores, and recordings, keys and workspaces that go away meanwhile. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { waitMs } from '../busy-machine.ts';
import { listenToolServer, type ToolServer } from '../fakes/tool-server.ts';
import { type FakeProviders, refOf, startFakeProviders } from './fake-providers.ts';
import { shareService, type SharedService } from './shared-service.ts';
import { parseEvents } from './service.ts';

const environment = {
  MONIKER_MASTER_KEY: 'master-key-of-the-replay-test-0123456789',
  MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*,servers:127.0.0.1:*',
};
const service = shareService(environment);
const other = shareService(environment);
const token = 'the-token-of-the-tickets';
let server: ToolServer;
let fakes: FakeProviders;

const get = async (path: string, headers = {}, from: SharedService = service) => (await from.call('GET', path, undefined, headers)).json;
const put = async (path: string, body: object): Promise<void> => {
  const { status, text } = await service.call('PUT', path, body);
  expect([200, 201], text).toContain(status);
};
const start = async (body: object, headers = {}) => {
  const { json, status, text } = await service.call('POST', '/v1/replays', body, headers);
  expect(status, text).toBe(202);
  return json;
};
async function ended(id: string, headers = {}) {
  const path = `/v1/replays/${id}`;
  await vi.waitFor(async () => expect((await get(path, headers)).status).not.toBe('running'), { timeout: waitMs, interval: 200 });
  return await get(path, headers);
}
async function sessionOf(inputs: readonly string[], headers = {}, setup: object = { model: 'rehearsal/default' }): Promise<string> {
  const { id } = (await service.call('POST', '/v1/sessions', setup, headers)).json;
  for (const input of inputs) {
    const { json, text } = await service.call('POST', `/v1/sessions/${id}/turns`, { input }, headers);
    expect(json.status, text.slice(0, 2_000)).toBe('completed');
  }
  return id;
}

/** A model that answers when `go` is called. */
function heldModel(name: string) {
  const { promise: held, resolve: go } = Promise.withResolvers<void>();
  const faults = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [index, (answer: () => Promise<Response>) => held.then(answer)]),
  );
  return { ...fakes.start(name, { say: () => ({ text: 'Late.' }), faults }), go };
}
const withHeld = { with: { model: refOf('openai') }, concurrency: 1 };
const runs = async (heard: readonly unknown[], count = 1) =>
  await vi.waitFor(() => expect(heard.length).toBe(count), { timeout: waitMs, interval: 100 });

beforeAll(async () => {
  fakes = await startFakeProviders();
  await fakes.putAll(service.call);
  server = await listenToolServer(({ arguments: args }) => ({ ticket: 'No light', got: Object.keys(args) }));
});
afterAll(() => {
  fakes.close();
  server.close();
});

describe('a flood of replays', () => {
  it('starts no more than a key may have at a time, also of requests at the same moment', async () => {
    const model = heldModel('flood');
    const { key } = (await service.call('POST', '/v1/keys', { name: 'flood', scopes: ['chat'] })).json;
    const headers = { authorization: `Bearer ${key}` };
    const body = { cases: [{ session: await sessionOf([model.mark], headers) }], ...withHeld };
    const send = async (more = {}) => await service.call('POST', '/v1/replays', body, { ...headers, ...more });
    const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => send({ 'idempotency-key': `flood-${index}` })));
    const started = answers.filter(({ status }) => status === 202);
    expect(started).toHaveLength(10);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(30);
    expect(refused[0]?.json).toMatchObject({ code: 'rate_limited', detail: expect.stringContaining('10 replays that run') });
    expect((await send()).status).toBe(429);
    expect((await get('/v1/replays?limit=50', headers)).items).toHaveLength(10);
    // A repeated request is no further replay.
    const known = answers.findIndex(({ status }) => status === 202);
    const again = await send({ 'idempotency-key': `flood-${known}` });
    expect([again.status, again.json.id]).toEqual([202, answers[known]?.json.id]);
    // Another key has its own.
    const { id } = await start({ cases: [{ session: body.cases[0]?.session ?? '' }] });
    await ended(id);
    for (const { json } of started) await service.call('POST', `/v1/replays/${json.id}/cancel`, {}, headers);
    model.go();
    await vi.waitFor(async () => expect((await send()).status).toBe(202), { timeout: waitMs, interval: 500 });
  });
});

describe('a recording with a long log', () => {
  it('is replayed with 10,000 events, whether its turns are named or not', async () => {
    await put('/v1/toolsets/work', { tools: [{ tool: 'local.calculate', name: 'reckon' }] });
    await put('/v1/agents/clerk', { model: 'rehearsal/default', toolset: 'work' });
    const calls = (turn: number, count = 16): string =>
      Array.from({ length: count }, (_, index) => `/reckon {"expression": "${turn}+${index}"}`).join('\n\n');
    const many = Array.from({ length: 80 }, (_, turn) => calls(turn));
    const session = await sessionOf(many, {}, { agent: 'clerk' });
    const { turn } = (await service.call('POST', `/v1/sessions/${session}/turns`, { input: calls(99, 2) })).json;
    const newest = await service.call('GET', `/v1/sessions/${session}/events?follow=false&limit=1`);
    expect(newest.json.lastEvent).toBeGreaterThan(10_000);
    const all = await ended((await start({ cases: [{ session, turn }, { session }], concurrency: 8, rules: [{ calls: 'same' }] })).id);
    const { items } = await get(`/v1/replays/${all.id}/cases?limit=200`);
    expect(items[0], JSON.stringify(items[0])).toMatchObject({ turn, status: 'same', calls: { same: 2 } });
    expect(all).toMatchObject({ status: 'completed', cases: { unreadable: 0, failed: 0, same: items.length, left: 1 } });
    const recorded = items.slice(1).map(({ recorded: { calls } }: { recorded: { calls: number } }) => calls);
    expect(new Set(recorded)).toEqual(new Set([16]));
  });

  it('is unreadable beyond the limit, with the reason, and the rest of the replay continues', async () => {
    // Without summaries.
    await put('/v1/agents/patient', { model: 'rehearsal/default', limits: { maxContextTokens: 10_000_000 } });
    const inputs = Array.from({ length: 14 }, (_, index) => `${index} ${'x'.repeat(950_000)}`);
    const long = await sessionOf(inputs, {}, { agent: 'patient' });
    const short = await sessionOf(['Hello.']);
    const { turn } = (await service.call('POST', `/v1/sessions/${long}/turns`, { input: 'And now?' })).json;
    const replay = await ended((await start({ cases: [{ session: long, turn }, { session: short }] })).id);
    expect(replay).toMatchObject({ status: 'completed', cases: { total: 2, unreadable: 1, same: 1 } });
    const { items } = await get(`/v1/replays/${replay.id}/cases`);
    expect(items[0]).toMatchObject({ status: 'unreadable', reason: expect.stringContaining('more than 12') });
    expect(await get(`/v1/replays/${replay.id}/cases/1`)).toMatchObject({ status: 'unreadable', recordedSide: null });
  });
});

describe('secrets of a replay', () => {
  it('are in none of its answers: presets are shown by their names', async () => {
    const properties = { id: { type: 'string' }, token: { type: 'string' } };
    const tools = [{ name: 'tickets', description: 'Reads.', inputSchema: { type: 'object', properties, required: ['id', 'token'] } }];
    await put('/v1/servers/desk', { kind: 'static', url: server.url, tools });
    await put('/v1/secrets/DESK', { value: token, hosts: [server.host] });
    const entry = { tool: 'desk.tickets', name: 'get_ticket', approval: 'never', arguments: { preset: { token: { secret: 'DESK' } } } };
    await put('/v1/toolsets/desk', { tools: [entry] });
    await put('/v1/agents/desk', { model: 'rehearsal/default', toolset: 'desk' });
    const session = await sessionOf(['/get_ticket {"id": "7"}'], {}, { agent: 'desk' });
    expect(server.calls).toMatchObject([{ arguments: { id: '7', token } }]);
    const draft = { name: 'desk', tools: [{ ...entry, name: 'ticket', aliases: ['get_ticket'] }] };
    const seen: string[] = [];
    for (const more of [{}, { with: { toolset: draft } }, { unmatched: 'run-safe' }]) {
      const replay = await ended((await start({ cases: [{ session }], rules: [{ calls: 'same' }], ...more })).id);
      expect(replay, JSON.stringify(more)).toMatchObject({ cases: { same: 1 }, rules: { passed: 1 } });
      const detail = await get(`/v1/replays/${replay.id}/cases/1`);
      expect(detail.replayedSide.calls[0].arguments).toEqual({ id: '7', token: { secret: 'DESK' } });
      expect(detail.recordedSide.calls[0].arguments).toEqual({ id: '7', token: { secret: 'DESK' } });
      for (const path of ['', '/cases', '/cases/1', '/events', '/export'])
        seen.push((await service.call('GET', `/v1/replays/${replay.id}${path}`)).text);
    }
    seen.push((await service.call('GET', '/v1/replays')).text, service.printed());
    expect(seen.filter((text) => text.includes(token))).toEqual([]);
    expect(server.calls).toHaveLength(1);
  });
});

describe('a replay that loses what it needs', () => {
  it('continues without sessions that are deleted meanwhile, and shows nothing of them', async () => {
    const model = heldModel('deleted');
    const [one, two] = [await sessionOf([model.mark]), await sessionOf([`${model.mark} again`])];
    const { id } = await start({ cases: [{ session: one }, { session: two }], ...withHeld });
    await runs(model.heard);
    for (const session of [one, two]) expect((await service.call('DELETE', `/v1/sessions/${session}`)).status).toBe(204);
    model.go();
    expect(await ended(id)).toMatchObject({ status: 'completed', cases: { total: 2, unreadable: 1 } });
    expect(await get(`/v1/replays/${id}/cases/1`)).toMatchObject({
      replayed: { steps: 1 },
      input: [],
      recordedSide: null,
      replayedSide: null,
    });
    expect((await service.call('GET', `/v1/replays/${id}/export`)).text).not.toContain('Late.');
  });

  it('ends at once when its key is revoked with `cancel`, also after a restart of the service', async () => {
    const model = heldModel('cancelled');
    const { id: keyId, key } = (await service.call('POST', '/v1/keys', { name: 'leaked', scopes: ['chat'] })).json;
    const headers = { authorization: `Bearer ${key}` };
    const session = await sessionOf([model.mark, 'Hi.'], headers);
    const { id } = await start({ cases: [{ session }], ...withHeld }, headers);
    await runs(model.heard);
    await service.restart();
    expect((await service.call('DELETE', `/v1/keys/${keyId}?cancel=true`)).status).toBe(200);
    const replay = await ended(id);
    expect(replay).toMatchObject({
      status: 'cancelled',
      reason: expect.stringContaining('key'),
      uncounted: 1,
      cases: { total: 2, skipped: 2 },
    });
    const { items } = await get(`/v1/replays/${id}/cases`);
    expect(items[0].reason).toContain('what it used is not counted');
    model.go();
  });

  it('is deleted with its workspace, and calls no model from then on', async () => {
    const inside = { 'x-moniker-workspace': 'brief' };
    await service.call('PUT', '/v1/workspaces/brief', {});
    await fakes.putAll((method, path, body) => service.call(method, path, body, inside));
    const model = heldModel('workspace');
    const session = await sessionOf([model.mark, 'Hi.', 'Ho.'], inside);
    const { id } = await start({ cases: [{ session }], ...withHeld }, inside);
    await runs(model.heard);
    expect((await service.call('DELETE', '/v1/workspaces/brief')).status).toBe(202);
    await vi.waitFor(async () => expect((await service.call('GET', `/v1/replays/${id}`, undefined, inside)).status).toBe(404), {
      timeout: waitMs,
      interval: 500,
    });
    await vi.waitFor(() => expect(model.heard[0]?.hasLeft()).toBe(true), { timeout: waitMs, interval: 500 });
    model.go();
    expect(model.heard).toHaveLength(1);
  });

  it('is cancelled when a backup of it is restored, and has the cases that had ended', async () => {
    const model = heldModel('backup');
    const quick = await sessionOf(['Hello.']);
    const slow = await sessionOf([model.mark, 'Hi.']);
    const body = { cases: [{ session: quick }, { session: slow }], ...withHeld };
    const first = fakes.start('first', { say: () => ({ text: 'Hi.' }) });
    const before = await ended((await start({ cases: [{ session: await sessionOf([first.mark]) }], with: withHeld.with })).id);
    const { id } = await start(body);
    await runs(model.heard);
    const pages: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await service.call('GET', `/v1/backup${cursor === '' ? '' : `?cursor=${encodeURIComponent(cursor)}`}`);
      expect(page.status, page.text).toBe(200);
      pages.push(page.text);
      cursor = page.headers.get('x-next-cursor');
    }
    const restored = await other.call('POST', '/v1/restore?replace=true', pages.join(''), { 'content-type': 'application/jsonl' });
    expect([200, 202], restored.text).toContain(restored.status);
    await vi.waitFor(async () => expect((await get('/v1/restore', {}, other)).state).toBe('none'), { timeout: waitMs });
    const replay = await get(`/v1/replays/${id}`, {}, other);
    expect(replay).toMatchObject({
      ...{ status: 'cancelled', reason: 'The workspace was restored from a backup.', uncounted: 1 },
      cases: { total: 3, done: 3, skipped: 2 },
    });
    const { text } = await other.call('GET', `/v1/replays/${id}/events`);
    expect(parseEvents(text).at(-1)).toMatchObject({ type: 'replay-end', data: { status: 'cancelled' } });
    expect(await get(`/v1/replays/${before.id}`, {}, other)).toEqual(before);
    await vi.waitFor(
      async () => {
        const { items } = await get('/v1/replays', {}, other);
        expect(items.find((item: { id: string }) => item.id === id)).toMatchObject({ status: 'cancelled' });
      },
      { timeout: waitMs, interval: 300 },
    );
    // The one that was backed up runs on.
    model.go();
    expect(await ended(id)).toMatchObject({ status: 'completed' });
    expect(model.heard.length).toBe(2);
  });
});
