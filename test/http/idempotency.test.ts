/** `Idempotency-Key` on every request that starts work, and interrupted streams that are resumed. */
import { beforeEach, describe, expect, it } from 'vitest';
import { describeCorpus, readJson } from '../fixtures.ts';
import { bodyOf, createHarness, demo, type Harness, problemIn } from './harness.ts';

let h: Harness;
let id: string;
beforeEach(async () => {
  h = createHarness();
  await h.send('PUT', '/v1/toolsets/demo', demo);
  await h.send('PUT', '/v1/toolsets/other', demo);
  id = (await bodyOf(await h.send('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'demo' }))).id;
});
const key = (text: string) => ({ 'idempotency-key': text });
const turn = (body: unknown, headers?: Record<string, string>) => h.send('POST', `/v1/sessions/${id}/turns`, body, headers);
const begin = (body: unknown, headers?: Record<string, string>) => h.send('POST', '/v1/sessions', body, headers);
const call = (body: unknown, headers?: Record<string, string>, toolset = 'demo') =>
  h.send('POST', `/v1/toolsets/${toolset}/calls`, body, headers);
const mismatch = async (answer: Response) => expect([answer.status, (await bodyOf(answer)).code]).toEqual([422, 'idempotency_mismatch']);

describe('a turn under a key', () => {
  it('runs once for ten concurrent requests, in any response format', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        turn({ input: 'x' }, { ...key('k1'), ...(index % 2 === 0 ? { prefer: 'respond-async' } : {}) }).then(bodyOf),
      ),
    );
    expect(new Set(answers.map((answer) => answer.turn)).size).toBe(1);
    expect((await bodyOf(await h.send('GET', `/v1/sessions/${id}/messages`))).items).toHaveLength(2);
  });

  it('streams the first turn again', async () => {
    const [first, again] = [
      await turn({ input: 'x' }, { ...key('k1'), accept: 'text/event-stream' }),
      await turn({ input: 'x' }, { ...key('k1'), accept: 'text/event-stream' }),
    ];
    expect(await again.text()).toBe(await first.text());
  });
});

describe('a session under a key', () => {
  it('is created once, and the response stays the first one', async () => {
    const first = await begin({ model: 'rehearsal/default', toolset: 'demo' }, key('k1'));
    const made = await bodyOf(first);
    await h.send('POST', `/v1/sessions/${made.id}/turns`, { input: 'x' });
    const again = await begin({ toolset: 'demo', model: 'rehearsal/default' }, key('k1'));
    expect([again.status, await bodyOf(again)]).toEqual([201, made]);
    await mismatch(await begin({ model: 'rehearsal/default' }, key('k1')));
    expect((await bodyOf(await begin({ model: 'rehearsal/default', toolset: 'demo' }, key('k2')))).id).not.toBe(made.id);
  });
});

describe('a direct call under a key', () => {
  const body = { name: 'shell', arguments: { command: 'x' } };

  it('runs once, without a session with its own files', async () => {
    const answers = [];
    for (let repeats = 0; repeats < 3; repeats += 1) answers.push(await bodyOf(await call(body, key('k1'))));
    expect(answers[1]).toEqual(answers[0]);
    expect(h.sessions.ran).toHaveLength(1);
    expect(h.sessions.ran[0]).toMatchObject({ scratch: true });
    expect([...h.sessions.all.values()].at(-1)?.setup.listed).toBe(false);
    await mismatch(await call({ ...body, arguments: { command: 'y' } }, key('k1')));
    await mismatch(await call(body, key('k1'), 'other'));
    await call(body, key('k2'));
    expect(h.sessions.ran).toHaveLength(2);
  });

  it('runs once in a session', async () => {
    await call({ ...body, session: id }, key('k1'));
    await call({ ...body, session: id }, key('k1'));
    expect(h.sessions.ran).toHaveLength(1);
    expect(h.sessions.ran[0]?.scratch).toBeUndefined();
    await mismatch(await call({ ...body, name: 'bash', session: id }, key('k1')));
  });

  it('that is rejected does not use up the key', async () => {
    const asked = await bodyOf(await call({ name: 'shell', arguments: { command: 'ask' } }, key('k1')));
    expect(asked).toMatchObject({ code: 'approval_required' });
    expect(asked).not.toHaveProperty('callId');
  });

  it('that is a dry run does not use up the key', async () => {
    const dry = await h.send('POST', '/v1/toolsets/demo/calls?dryRun=true', body, key('k1'));
    expect(await bodyOf(dry)).toMatchObject({ verdict: 'allow' });
    await call({ ...body, arguments: { command: 'y' } }, key('k1'));
    expect(h.sessions.ran).toHaveLength(1);
  });
});

describe('a repeat whose request would now fail', () => {
  const bot = { model: 'rehearsal/default', instructions: 'x', toolset: 'demo' };
  const chat = (body: object, headers?: Record<string, string>) => h.send('POST', '/v1/chat/completions', body, headers);
  const asked = { messages: [{ role: 'user', content: 'x' }] };
  const gone = async (): Promise<void> => {
    await h.send('DELETE', '/v1/agents/bot');
    await h.send('DELETE', '/v1/toolsets/demo');
  };
  beforeEach(async () => {
    expect((await h.send('PUT', '/v1/agents/bot', bot)).ok).toBe(true);
  });
  const same = async (send: () => Promise<Response>, other: () => Promise<Response>, unknown: () => Promise<Response>): Promise<void> => {
    const first = await send();
    const told = await first.text();
    expect(first.ok, told).toBe(true);
    await gone();
    const again = await send();
    expect([again.status, await again.text()]).toEqual([first.status, told]);
    expect(await problemIn(await other())).toBe('422 idempotency_mismatch');
    expect((await unknown()).status).toBe(404);
  };

  it('returns the first turn', async () => {
    await same(
      () => turn({ input: 'x' }, key('k1')),
      () => turn({ input: 'y' }, key('k1')),
      () => turn({ input: 'x' }, key('k2')),
    );
  });

  it.each([
    ['a session', () => ({ 'x-moniker-session': id })],
    ['a new session', () => ({ 'x-moniker-session': 'new' })],
    ['none', () => ({})],
  ])('returns the first completion, with %s', async (_what, headers) => {
    const body = { model: 'agent/bot', ...asked };
    await same(
      () => chat(body, { ...headers(), ...key('k1') }),
      () => chat({ ...body, n: 1 }, { ...headers(), ...key('k1') }),
      () => chat(body, { ...headers(), ...key('k2') }),
    );
  });

  it('returns the first completion, although its agent no longer has tools and the request would go to the provider', async () => {
    const tools = [{ type: 'function', function: { name: 'mine', parameters: { type: 'object' } } }];
    const body = { model: 'agent/bot', ...asked, tools };
    const first = await (await chat(body, key('k1'))).text();
    expect((await h.send('PUT', '/v1/agents/bot', { model: bot.model, instructions: 'x' })).ok).toBe(true);
    expect(await (await chat(body, key('k1'))).text()).toBe(first);
  });

  it('returns the first session', async () => {
    await same(
      () => begin({ model: 'rehearsal/default', toolset: 'demo' }, key('k1')),
      () => begin({ model: 'rehearsal/default' }, key('k1')),
      () => begin({ model: 'rehearsal/default', toolset: 'demo' }, key('k2')),
    );
  });

  it.each([
    ['in a session', () => ({ session: id })],
    ['without one', () => ({})],
  ])('returns the first direct call %s', async (_where, own) => {
    const body = { name: 'shell', arguments: { command: 'x' } };
    await same(
      () => call({ ...body, ...own() }, key('k1')),
      () => call({ ...body, ...own(), arguments: {} }, key('k1')),
      () => call({ ...body, ...own() }, key('k2')),
    );
    expect(h.sessions.ran).toHaveLength(1);
  });
});

it('an invalid key is rejected on every path', async () => {
  for (const text of ['x'.repeat(300), 'a b', 'ü']) {
    for (const send of [
      turn({ input: 'x' }, key(text)),
      begin({ model: 'rehearsal/default' }, key(text)),
      call({ name: 'shell' }, key(text)),
    ]) {
      const answer = await send;
      expect([answer.status, (await bodyOf(answer)).issues[0].path]).toEqual([422, 'idempotency-key']);
    }
  }
});

describeCorpus('security/http-probes.json', (path) => {
  const { cases } = readJson<{ cases: { id: string; request: Awaited<ReturnType<typeof bodyOf>> }[] }>(path);
  const headersOf = (row: string): Record<string, string> => {
    const { headers } = cases.find((probe) => probe.id === row)?.request ?? {};
    if (headers === undefined) throw new Error(`the corpus has no probe ${row}`);
    return { 'idempotency-key': headers['idempotency-key'].replace('<300 characters>', 'x'.repeat(300)) };
  };

  it('returns the first turn for the same body, and refuses another body or a long key', async () => {
    const first = await bodyOf(await turn({ input: 'a' }, headersOf('idempotency-same')));
    expect((await bodyOf(await turn({ input: 'a' }, headersOf('idempotency-same')))).turn).toBe(first.turn);
    await mismatch(await turn({ input: 'b' }, headersOf('idempotency-differs')));
    expect(await problemIn(await turn({ input: 'a' }, headersOf('idempotency-long')))).toBe('422 invalid_request at idempotency-key');
  });

  it('runs one turn for ten concurrent requests with one key', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => turn({ input: 'a' }, headersOf('idempotency-concurrent')).then(bodyOf)),
    );
    expect(new Set(answers.map((answer) => answer.turn)).size).toBe(1);
  });

  it('idempotency-other-tenant: the same text of another API key is a different key', async () => {
    const headers = headersOf('idempotency-other-tenant');
    const [mine, theirs] = [{}, await h.key({ scopes: ['chat', 'tools', 'admin'] })];
    const ids = new Set();
    for (const who of [mine, theirs]) ids.add((await bodyOf(await begin({ model: 'rehearsal/default' }, { ...headers, ...who }))).id);
    expect(ids.size).toBe(2);
    const turns = new Set();
    for (const who of [mine, theirs]) turns.add((await bodyOf(await turn({ input: 'a' }, { ...headers, ...who }))).turn);
    expect(turns.size).toBe(2);
    for (const who of [mine, theirs]) await call({ name: 'shell', arguments: { command: 'x' } }, { ...headers, ...who });
    expect(h.sessions.ran).toHaveLength(2);
  });
});

describe('an interrupted stream', () => {
  it('at any byte, resumed after its last complete event, is the whole one, byte for byte', async () => {
    const uncut = await (await turn({ input: 'grüße \n\r data: x' }, { accept: 'text/event-stream' })).text();
    const bytes = new TextEncoder().encode(uncut);
    const rests = new Map<string, string>();
    for (let cut = 0; cut <= bytes.byteLength; cut += 1) {
      const got = new TextDecoder().decode(bytes.subarray(0, cut));
      // As clients do: text after the last blank line is dropped.
      const kept = got.slice(0, got.lastIndexOf('\n\n') === -1 ? 0 : got.lastIndexOf('\n\n') + 2);
      const last = [...kept.matchAll(/^id: (\d+)$/gm)].at(-1)?.[1] ?? '0';
      const rest =
        rests.get(last) ?? (await (await h.send('GET', `/v1/sessions/${id}/events`, undefined, { 'last-event-id': last })).text());
      rests.set(last, rest);
      expect(kept + rest.replace(/(: heartbeat\n\n|retry: \d+\n\n)+$/, '')).toBe(uncut);
    }
    expect(rests.size).toBe(7);
  });
});
