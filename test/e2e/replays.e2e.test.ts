/** Replays of recorded turns: what is compared, that no tool is called, and how a replay ends early. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { waitMs } from '../busy-machine.ts';
import { apis, type FakeProviders, keyOf, refOf, startFakeProviders } from './fake-providers.ts';
import { startRecordingUpstream, type RecordingUpstream } from './recording-upstream.ts';
import { shareService } from './shared-service.ts';
import { parseEvents } from './service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
let upstream: RecordingUpstream;
let fakes: FakeProviders;

const put = async (path: string, body: object): Promise<void> => {
  const { status, text } = await service.call('PUT', path, body);
  expect([200, 201], text).toContain(status);
};
const get = async (path: string, headers = {}) => (await service.call('GET', path, undefined, headers)).json;

/** A replay that has ended. */
async function replay(body: object, headers = {}) {
  const started = await service.call('POST', '/v1/replays', body, headers);
  expect(started.status, started.text).toBe(202);
  const { id } = started.json;
  await vi.waitFor(async () => expect((await get(`/v1/replays/${id}`, headers)).status).not.toBe('running'), {
    timeout: waitMs,
    interval: 200,
  });
  return await get(`/v1/replays/${id}`, headers);
}

type Listed = { number: number; session: string; turn: string; status: string };
const casesOf = async (id: string) => (await get(`/v1/replays/${id}/cases`)).items;
const caseOf = async (id: string, number = 1) => await get(`/v1/replays/${id}/cases/${number}`);

beforeAll(async () => {
  upstream = await startRecordingUpstream();
  fakes = await startFakeProviders();
  await fakes.putAll(service.call);
  await put('/v1/toolsets/work', {
    tools: [
      { tool: 'local.calculate', name: 'reckon' },
      { tool: 'builtin.http_request', name: 'send', approval: 'never' },
      { tool: 'builtin.write_file', name: 'write' },
    ],
  });
  await put('/v1/agents/clerk', { model: 'rehearsal/default', toolset: 'work', instructions: 'Work.' });
});
afterAll(() => {
  upstream.close();
  fakes.close();
});

async function turnOf(input: string, session?: string): Promise<{ session: string; turn: string }> {
  const id = session ?? (await service.call('POST', '/v1/sessions', { agent: 'clerk' })).json.id;
  const { json, text } = await service.call('POST', `/v1/sessions/${id}/turns`, { input });
  expect(json.status, text).toBe('completed');
  return { session: id, turn: json.turn };
}

describe('a replay with nothing replaced', () => {
  it('makes the same calls and gives the same answers, and calls no tool', async () => {
    const sending = `/send {"url": "${upstream.url}/effect", "method": "POST", "body": "1"}`;
    const first = await turnOf(`/reckon {"expression": "6*7"}\n\n${sending}\n/write {"path": "a.txt", "content": "b"}`);
    const second = await turnOf('What did I say before?', first.session);
    expect(upstream.countOf('/effect')).toBe(1);
    const ended = await replay({ cases: [{ session: first.session }], rules: [{ calls: 'same' }, { maxCalls: 3 }] });
    expect(ended).toMatchObject({
      ...{ status: 'completed', reason: null, suite: null, with: {}, unmatched: 'end' },
      cases: { total: 2, left: 0, done: 2, same: 2, different: 0, ended: 0, failed: 0, unreadable: 0, skipped: 0 },
      rules: { passed: 4, failed: 0 },
      recorded: { calls: 3 },
      replayed: { calls: 3 },
    });
    expect(ended.replayed.inputTokens).toBe(ended.recorded.inputTokens);
    expect(ended.replayed.outputTokens).toBe(ended.recorded.outputTokens);
    expect(upstream.countOf('/effect')).toBe(1);
    const cases = await casesOf(ended.id);
    expect(cases.map(({ number, session, turn, status }: Listed) => ({ number, session, turn, status }))).toEqual([
      { number: 1, ...first, status: 'same' },
      { number: 2, ...second, status: 'same' },
    ]);
    const detail = await caseOf(ended.id);
    expect(detail.recordedSide.calls).toHaveLength(3);
    expect(detail.replayedSide).toEqual(detail.recordedSide);
    expect(detail.differences.map(({ kind }: { kind: string }) => kind)).toEqual(['same', 'same', 'same']);
    const events = await service.call('GET', `/v1/replays/${ended.id}/events`, undefined, { 'last-event-id': '1' });
    expect(parseEvents(events.text).map(({ type }) => type)).toEqual(['replay-case', 'replay-end']);
  });
});

describe('what a replay replaces', () => {
  it('matches all calls when tools and arguments have other names', async () => {
    const recorded = await turnOf(`/reckon {"expression": "2*21"}\n/write {"path": "c.txt", "content": "d"}`);
    const draft = {
      name: 'work',
      tools: [
        { tool: 'local.calculate', name: 'sum', aliases: ['reckon'], arguments: { rename: { term: 'expression' } } },
        { tool: 'builtin.write_file', name: 'note', aliases: ['write'] },
      ],
    };
    const renamed = await replay({ cases: [recorded], with: { toolset: draft, model: refOf('openai') }, rules: [{ calls: 'same' }] });
    // The other model calls them by their new names.
    expect(renamed).toMatchObject({ cases: { total: 1, failed: 1 } });
    const story = fakes.start('renamed', {
      say: (_request, index) =>
        index === 0
          ? {
              calls: [
                { name: 'sum', arguments: { term: '2*21' } },
                { name: 'note', arguments: { path: 'c.txt', content: 'd' } },
              ],
            }
          : { text: 'Done.' },
    });
    const marked = await turnOf(`${story.mark}\n/reckon {"expression": "2*21"}\n/write {"path": "c.txt", "content": "d"}`);
    const ended = await replay({ cases: [marked], with: { toolset: draft, model: refOf('openai') }, rules: [{ calls: 'same' }] });
    expect(ended).toMatchObject({ cases: { same: 1 }, rules: { passed: 1, failed: 0 }, replayed: { calls: 2 } });
    const { replayedSide, recordedSide } = await caseOf(ended.id);
    expect(replayedSide.calls.map(({ requested }: { requested: string }) => requested)).toEqual(['sum', 'note']);
    expect(replayedSide.calls.map((call: { arguments: object }) => call.arguments)).toEqual(
      recordedSide.calls.map((call: { arguments: object }) => call.arguments),
    );
    expect((await get('/v1/toolsets/work')).tools).toHaveLength(3);
  });

  it('ends a case at a call without a recorded answer, or runs it if it is safe and asked for', async () => {
    let steps = 0;
    const say = () => (steps++ === 0 ? { calls: [{ name: 'reckon', arguments: { expression: '1+1' } }] } : { text: 'Two.' });
    const story = fakes.start('other calls', { say });
    const recorded = await turnOf(`${story.mark}\n/reckon {"expression": "2+2"}`);
    const asked = { cases: [recorded], with: { model: refOf('openai') } };
    const ended = await replay(asked);
    expect(ended).toMatchObject({ status: 'completed', cases: { ended: 1 } });
    const [first] = await casesOf(ended.id);
    expect(first).toMatchObject({ status: 'ended', calls: { same: 0, changed: 1, added: 0, missing: 0 } });
    expect(first.reason).toContain('"reckon" (local.calculate)');
    expect((await caseOf(ended.id)).differences).toEqual([{ kind: 'changed', recorded: 0, replayed: 0, paths: ['/expression'] }]);
    const before = (await get('/v1/audit?limit=100')).items.length;
    steps = 0;
    const safe = await replay({ ...asked, unmatched: 'run-safe' });
    expect(safe).toMatchObject({ cases: { different: 1 } });
    expect((await caseOf(safe.id)).replayedSide).toMatchObject({ text: 'Two.', calls: [{ requested: 'reckon', isError: false }] });
    await vi.waitFor(async () => expect((await get('/v1/audit?limit=100')).items.length).toBe(before + 1), { timeout: waitMs });
  });

  it('asks with the instructions and tools that the chat request had', async () => {
    const tools = [
      { type: 'function', function: { name: 'ask_user', parameters: { type: 'object', properties: { q: { type: 'string' } } } } },
    ];
    const story = fakes.start('chat', { say: () => ({ text: 'Hello.' }) });
    const messages = [
      { role: 'system', content: 'Speak kindly.' },
      { role: 'user', content: `Hi ${story.mark}` },
    ];
    const { headers, status, text } = await service.call(
      'POST',
      '/v1/chat/completions',
      { model: 'agent/clerk', messages, tools, temperature: 0.5 },
      { 'x-moniker-session': 'new' },
    );
    expect(status, text).toBe(200);
    const session = headers.get('x-moniker-session') ?? '';
    const ended = await replay({ cases: [{ session }], with: { model: refOf('openai'), instructions: 'Be short.' } });
    expect(ended, JSON.stringify(await casesOf(ended.id))).toMatchObject({ cases: { total: 1 } });
    const heard = JSON.parse(story.heard.at(-1)?.text ?? '{}');
    expect(heard.messages[0].content).toMatch(/^Be short\.\n\nSpeak kindly\.\n/);
    expect(heard.tools.map((tool: { function: { name: string } }) => tool.function.name)).toContain('ask_user');
  });

  it('refuses what the key may not use, before there is a replay', async () => {
    const bound = (await service.call('POST', '/v1/keys', { name: 'bound', scopes: ['chat', 'toolsets'], agents: ['clerk'] })).json.key;
    const headers = { authorization: `Bearer ${bound}` };
    const cases = [{ session: '0'.repeat(64), turn: 'turn_1' }];
    const tries: [object, number][] = [
      [{ cases, with: { model: 'rehearsal/default' } }, 403],
      [{ cases, with: { agent: { model: 'rehearsal/default', instructions: '', toolset: 'work' } } }, 403],
      [{ cases, with: { agent: 'clerk@1' } }, 403],
      [{ cases, with: { toolset: { tools: [{ tool: 'builtin.bash' }] } } }, 403],
      [{ cases, unmatched: 'run-safe' }, 403],
      [{ suite: 'any' }, 403],
      [{ cases, with: { agent: 'nobody' } }, 403],
    ];
    for (const [body, expected] of tries)
      expect((await service.call('POST', '/v1/replays', body, headers)).status, JSON.stringify(body)).toBe(expected);
    expect((await service.call('POST', '/v1/replays', { cases, with: { model: 'no/such' } })).status).toBe(404);
    expect((await service.call('POST', '/v1/replays', { cases, with: { toolset: { tools: [{ tool: 'no.such' }] } } })).status).toBe(422);
    expect((await service.call('POST', '/v1/replays', { cases, select: {} })).status).toBe(422);
  });
});

describe('the owner of a replay', () => {
  it('reads only its own work, and is the only key that sees the replay', async () => {
    const recorded = await turnOf('/reckon {"expression": "3*3"}');
    const make = async (name: string) => ({
      authorization: `Bearer ${(await service.call('POST', '/v1/keys', { name, scopes: ['chat'] })).json.key}`,
    });
    const [one, other] = [await make('one'), await make('other')];
    const foreign = await replay({ cases: [recorded, { session: recorded.session }] }, one);
    expect(foreign).toMatchObject({ status: 'completed', cases: { total: 2, unreadable: 2 } });
    const { id } = foreign;
    for (const path of ['', '/cases', '/cases/1', '/events', '/export'])
      expect((await service.call('GET', `/v1/replays/${id}${path}`, undefined, other)).status, path).toBe(404);
    expect((await service.call('POST', `/v1/replays/${id}/cancel`, {}, other)).status).toBe(404);
    expect((await service.call('DELETE', `/v1/replays/${id}`, undefined, other)).status).toBe(404);
    expect((await get('/v1/replays', other)).items).toEqual([]);
    await vi.waitFor(async () => expect((await get('/v1/replays', one)).items).toMatchObject([{ id, cases: { unreadable: 2 } }]), {
      timeout: waitMs,
    });
    expect((await get('/v1/replays')).items.map((item: { id: string }) => item.id)).toContain(id);
    for (const path of ['', '/events', '/messages', '/approvals'])
      expect((await service.call('GET', `/v1/sessions/${id}${path}`, undefined, one)).text, path).toContain('/v1/replays');
    expect((await service.call('DELETE', `/v1/sessions/${id}`, undefined, one)).status).toBe(404);
    expect((await get('/v1/sessions', one)).items).toEqual([]);
    expect((await service.call('DELETE', `/v1/replays/${id}`, undefined, one)).status).toBe(204);
    expect((await service.call('GET', `/v1/replays/${id}`, undefined, one)).status).toBe(404);
    await vi.waitFor(async () => expect((await get('/v1/replays', one)).items).toEqual([]), { timeout: waitMs });
  });

  it('shows no contents of a recording that was deleted, and keeps the facts', async () => {
    const recorded = await turnOf('/reckon {"expression": "4*4"}');
    const { id } = await replay({ cases: [recorded, recorded] });
    expect((await caseOf(id)).replayedSide.calls).toHaveLength(1);
    await service.call('DELETE', `/v1/sessions/${recorded.session}`);
    expect(await caseOf(id)).toMatchObject({ status: 'same', recorded: { calls: 1 }, input: [], recordedSide: null, replayedSide: null });
    const lines = (await service.call('GET', `/v1/replays/${id}/export`)).text.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).replayedSide)).toEqual([null, null]);
    expect((await replay({ cases: [recorded] })).cases).toMatchObject({ unreadable: 1 });
  });

  it('cancels a replay: what runs is aborted, and the rest is skipped', async () => {
    const { promise: held, resolve: go } = Promise.withResolvers<void>();
    const story = fakes.start('slow', {
      say: () => ({ text: 'Late.' }),
      faults: Object.fromEntries(
        Array.from({ length: 8 }, (_, index) => [index, async (answer: () => Promise<Response>) => held.then(answer)]),
      ),
    });
    const session = (await turnOf(story.mark)).session;
    await turnOf(`${story.mark} again`, session);
    await turnOf(`${story.mark} and again`, session);
    const { id } = (await service.call('POST', '/v1/replays', { cases: [{ session }], with: { model: refOf('openai') }, concurrency: 1 }))
      .json;
    await vi.waitFor(() => expect(story.heard.length).toBe(1), { timeout: waitMs });
    const cancelled = (await service.call('POST', `/v1/replays/${id}/cancel`, {})).json;
    expect(cancelled).toMatchObject({ status: 'cancelled', cases: { total: 3, skipped: 3, done: 3 } });
    await vi.waitFor(() => expect(story.heard[0]?.hasLeft()).toBe(true), { timeout: waitMs });
    go();
    expect((await service.call('POST', `/v1/replays/${id}/cancel`, {})).json).toEqual(cancelled);
    const { text } = await service.call('GET', `/v1/replays/${id}/events`);
    expect(parseEvents(text).map(({ type, data }) => [type, data.status])).toEqual([
      ...Array.from({ length: 3 }, () => ['replay-case', 'skipped']),
      ['replay-end', 'cancelled'],
    ]);
  });

  it('starts no case once `maxCost` is used, and counts the usage for the key', async () => {
    await put('/v1/providers/priced', {
      kind: 'openai-compatible',
      baseUrl: fakes.urlOf('openai'),
      apiKey: keyOf('openai'),
      prices: { '*': { input: 1_000_000, output: 1_000_000 } },
    });
    const story = fakes.start('costly', { say: () => ({ text: 'Costly.' }) });
    const { session } = await turnOf(story.mark);
    await turnOf(`${story.mark} again`, session);
    const ended = await replay({ cases: [{ session }], with: { model: `priced/${apis.openai.model}` }, concurrency: 1, maxCost: 0.01 });
    expect(ended, JSON.stringify(await casesOf(ended.id))).toMatchObject({
      status: 'stopped',
      cases: { total: 2, different: 0, same: 1, skipped: 1 },
    });
    expect(ended.replayed.cost).toBeGreaterThan(0.01);
    await vi.waitFor(
      async () =>
        expect((await get(`/v1/usage?by=model&model=priced/${apis.openai.model}`)).items).toMatchObject([
          { calls: 1, cost: ended.replayed.cost },
        ]),
      { timeout: waitMs, interval: 300 },
    );
    expect((await get(`/v1/requests?model=priced/${apis.openai.model}`)).items).toEqual([]);
  });

  it('starts a request with an Idempotency-Key once', async () => {
    const recorded = await turnOf('Hello.');
    const headers = { 'idempotency-key': 'once' };
    const first = (await service.call('POST', '/v1/replays', { cases: [recorded] }, headers)).json;
    expect((await service.call('POST', '/v1/replays', { cases: [recorded] }, headers)).json.id).toBe(first.id);
    expect((await service.call('POST', '/v1/replays', { cases: [recorded], concurrency: 3 }, headers)).status).toBe(422);
  });

  it('ends with the key that started it', async () => {
    const { promise: held, resolve: go } = Promise.withResolvers<void>();
    const story = fakes.start('revoked', { say: () => ({ text: 'Late.' }), faults: { 0: async (answer) => held.then(answer) } });
    const { id: keyId, key } = (await service.call('POST', '/v1/keys', { name: 'short', scopes: ['chat'] })).json;
    const headers = { authorization: `Bearer ${key}` };
    const session = (await service.call('POST', '/v1/sessions', { model: 'rehearsal/default' }, headers)).json.id;
    for (const input of [story.mark, 'Hi.']) await service.call('POST', `/v1/sessions/${session}/turns`, { input }, headers);
    const { id } = (
      await service.call('POST', '/v1/replays', { cases: [{ session }], with: { model: refOf('openai') }, concurrency: 1 }, headers)
    ).json;
    await vi.waitFor(() => expect(story.heard.length).toBe(1), { timeout: waitMs });
    await service.call('DELETE', `/v1/keys/${keyId}`);
    await vi.waitFor(async () => expect(await get(`/v1/replays/${id}`)).toMatchObject({ status: 'cancelled', cases: { skipped: 2 } }), {
      timeout: waitMs,
      interval: 500,
    });
    go();
  });
});

describe('a recorded request', () => {
  it('is replayed with another model, and compares calls and text', async () => {
    const calls = [{ name: 'look_up', arguments: { id: 7 } }];
    const story = fakes.start('request', { say: () => ({ calls }) });
    const tools = [
      { type: 'function', function: { name: 'look_up', parameters: { type: 'object', properties: { id: { type: 'integer' } } } } },
    ];
    const ask = async (model: string, stream: boolean): Promise<string> => {
      const body = { model, stream, messages: [{ role: 'user', content: `Find 7 ${story.mark}` }], tools };
      const { status, headers, text } = await service.call('POST', '/v1/chat/completions', body);
      expect(status, text).toBe(200);
      return headers.get('x-request-id') ?? '';
    };
    const unlogged = await ask(refOf('openai'), false);
    expect((await service.call('PATCH', '/v1/workspaces/default', { settings: { requestLog: { bodies: true } } })).status).toBe(200);
    // Isolates have the settings of a few seconds ago.
    const hasBodies = async (id: string): Promise<boolean> => {
      await vi.waitFor(async () => expect((await service.call('GET', `/v1/requests/${id}`)).status).toBe(200), { timeout: waitMs });
      return (await get(`/v1/requests/${id}`)).bodies !== null;
    };
    await vi.waitUntil(async () => await hasBodies(await ask(refOf('openai'), false)), { timeout: waitMs });
    const logged = [await ask(refOf('openai'), false), await ask(refOf('openai'), true)];
    for (const id of logged) expect(await hasBodies(id)).toBe(true);
    const cases = [unlogged, ...logged].map((request) => ({ request }));
    const ended = await replay({ cases, with: { model: refOf('anthropic') }, rules: [{ calls: 'same' }] });
    const found = await casesOf(ended.id);
    expect(
      found.map(({ status }: { status: string }) => status),
      JSON.stringify(found),
    ).toEqual(['unreadable', 'same', 'same']);
    expect(found[0].reason).toContain('requestLog');
    const detail = await caseOf(ended.id, 2);
    expect(detail.recordedSide).toEqual({
      text: '',
      calls: [{ requested: 'look_up', canonical: 'client.look_up', arguments: { id: 7 }, isError: false, code: null }],
    });
    expect(detail.replayedSide.calls).toMatchObject([{ requested: 'look_up', canonical: 'client.look_up', arguments: { id: 7 } }]);
    expect(story.heard.filter(({ wire }) => wire === 'anthropic')).toHaveLength(2);
  });
});
