/** Streams end when their key is revoked, expires or cannot be checked, with an error in the format of their clients. A key has a bounded number of them. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { toCompletionId } from '../../src/core/text/reference.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { poolBounds } from '../../src/core/limits/pools.ts';
import { createPools } from '../../src/engine/fair-pool.ts';
import type { SessionPort } from '../../src/ports/session.ts';
import { createChatHarness, type Harness, rootKey } from './harness.ts';

let h: Harness;
let headers: Record<string, string>;
let keyId: string;
/** Writes to every stream that is open. */
let emit: (text: string) => void;
let cancelled: number;
let submitted: number;
let proxied: number;

/** Checks of keys, which take real time: the clock of the test waits for them. */
let checks: Promise<unknown>[];

const sessionId = 'ab'.repeat(32);
const unused = (): never => {
  throw new Error('not in these tests');
};

beforeEach(async () => {
  h = await createChatHarness();
  const created = await h.catalog.createKey({ name: 'leaked', scopes: ['chat', 'tools'] });
  headers = { authorization: `Bearer ${created.key}` };
  keyId = created.record.id;
  const { principal } = h.services.directory;
  h.services.directory.principal = (...asked) => {
    const check = principal(...asked);
    checks.push(check);
    return check;
  };
  checks = [];
  cancelled = 0;
  const open = new Set<ReadableStreamDefaultController<Uint8Array>>();
  emit = (text) => {
    for (const controller of open) controller.enqueue(new TextEncoder().encode(text));
  };
  const endless = (): ReadableStream<Uint8Array> => {
    let own: ReadableStreamDefaultController<Uint8Array> | null = null;
    return new ReadableStream({
      start(controller) {
        own = controller;
        open.add(controller);
        controller.enqueue(new TextEncoder().encode('data: {"before":1}\n\n'));
      },
      cancel() {
        if (own !== null) open.delete(own);
        cancelled += 1;
      },
    });
  };
  const sse = (): Response => new Response(endless(), { headers: { 'content-type': 'text/event-stream; charset=utf-8' } });
  submitted = 0;
  proxied = 0;
  const turn = { turn: 'turn_1', position: 0, session: sessionId, edition: null, completion: 'cmpl_1' };
  const session = {
    setup: async () => ({ model: 'rehearsal/default', listed: true }),
    submit: async () => {
      submitted += 1;
      return turn;
    },
    stream: async () => endless(),
    completion: async () => endless(),
    completionTurn: async () => ({ turn: 'turn_1', edition: null }),
    eventsAfter: async (_caller: unknown, after: number, waitMs: number) => {
      if (after > 0) await h.clock.sleep(waitMs);
      return after === 0 ? [{ type: 'turn-start', id: 1, at: 0, turn: 'turn_1', input: [] }] : [];
    },
  } as unknown as SessionPort;
  const { sessions } = h.services;
  Object.assign(h.services, {
    sessions: { ...sessions, get: () => session, create: async () => ({ id: sessionId }) },
    proxyChat: async () => {
      proxied += 1;
      return sse();
    },
    mcp: async () => ({ response: sse(), view: { pointer: null, names: null, mode: null } }),
    refuseLoop: async () => undefined,
  });
});

const stream = { accept: 'text/event-stream' };
const chatBody = { model: 'agent/helper', stream: true };
const stored = (dialect: Parameters<typeof toCompletionId>[0]) => toCompletionId(dialect, 'cmpl_1', sessionId);
type Row = [what: string, method: string, path: string, body: unknown, headers: Record<string, string>, expected: RegExp];
const native = /event: error\ndata: \{"type":"error","problem":\{.*"code":"unauthenticated".*\}\}\n\n$/;
const openAi = /data: \{"error":\{.*\}\}\n\ndata: \[DONE\]\n\n$/;
const responses = /event: error\ndata: \{"type":"error","sequence_number":\d+.*\}\n\n$/;
const anthropic = /event: error\ndata: \{"type":"error","error":\{"type":"authentication_error".*\}\n\n$/;
const google = /data: \{"error":\{"code":401,.*"status":"UNAUTHENTICATED".*\}\}\n\n$/;
const googleArray = /,\n\{"error":\{"code":401,.*\}\}\]$/;
const plainEnd = /"before":1\}\n\n$/;
const geminiInput = [{ role: 'user', parts: [{ text: 'x' }] }];
const input = [{ role: 'user', content: 'x' }];
const rows: Row[] = [
  ['events of a session', 'GET', `/v1/sessions/${sessionId}/events?after=0`, undefined, {}, native],
  ['a turn', 'POST', `/v1/sessions/${sessionId}/turns`, { input: 'x' }, stream, native],
  ['a chat completion of a session', 'POST', '/v1/chat/completions', { ...chatBody, messages: input }, {}, openAi],
  [
    'a chat completion of a provider',
    'POST',
    '/v1/chat/completions',
    { model: 'rehearsal/default', messages: input, stream: true },
    {},
    openAi,
  ],
  ['a stored chat completion', 'GET', `/v1/chat/completions/${stored('openai-chat')}`, undefined, stream, openAi],
  ['a response of a session', 'POST', '/v1/responses', { ...chatBody, input: 'x' }, {}, responses],
  ['a response of a provider', 'POST', '/v1/responses', { model: 'rehearsal/default', input: 'x', stream: true }, {}, responses],
  ['a stored response', 'GET', `/v1/responses/${stored('openai-responses')}?stream=true`, undefined, {}, responses],
  ['a message of a session', 'POST', '/v1/messages', { ...chatBody, max_tokens: 9, messages: input }, {}, anthropic],
  [
    'a message of a provider',
    'POST',
    '/v1/messages',
    { model: 'rehearsal/default', max_tokens: 9, messages: input, stream: true },
    {},
    anthropic,
  ],
  ['a stored message', 'GET', `/v1/messages/${stored('anthropic-messages')}`, undefined, stream, anthropic],
  ['content of a session', 'POST', '/v1beta/models/agent/helper:streamGenerateContent?alt=sse', { contents: geminiInput }, {}, google],
  [
    'content of a provider',
    'POST',
    '/v1beta/models/rehearsal/default:streamGenerateContent?alt=sse',
    { contents: geminiInput },
    {},
    google,
  ],
  ['content as an array', 'POST', '/v1beta/models/agent/helper:streamGenerateContent', { contents: geminiInput }, {}, googleArray],
  ['a call over MCP', 'POST', '/mcp/demo', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'shell' } }, {}, plainEnd],
  ['what an MCP session says', 'GET', '/mcp/demo', undefined, stream, plainEnd],
];

const open = async (method: string, path: string, body?: unknown, more: Record<string, string> = {}) => {
  const answer = await h.send(method, path, body, { ...headers, ...more });
  expect(answer.status, await (answer.ok ? '' : answer.text())).toBe(200);
  return read(answer);
};
/** Reads in the background, as a client does. */
function read(answer: Response) {
  const state = { text: '', ended: false };
  const reader = (answer.body ?? unused()).pipeThrough(new TextDecoderStream()).getReader();
  const done = (async () => {
    for (let next = await reader.read(); !next.done; next = await reader.read()) state.text += next.value;
    state.ended = true;
  })();
  return { state, reader, done };
}
const pass = async (ms: number): Promise<void> => {
  for (let left = ms; left > 0; left -= 1_000) {
    await h.clock.advance(Math.min(1_000, left));
    await Promise.allSettled(checks.splice(0));
    await new Promise((resolve) => setImmediate(resolve));
  }
};

/** What the key of the tests, and all keys, hold. */
const held = () => {
  const { streams, requests } = h.services.pools;
  const of = { workspace: 'default', keyId };
  return { streams: streams.usedBy(of), requests: requests.usedBy(of), all: streams.usedBy({ workspace: 'default' }) };
};
const fillStreams = () =>
  Array.from({ length: poolBounds.streams.perKey }, () => h.services.pools.streams.takeBeyondLimit({ workspace: 'default', keyId }));

describe('the place of a stream', () => {
  it.each(rows)('of %s is held while it is open, and released when its client disconnects', async (_what, method, path, body, more) => {
    const { reader } = await open(method, path, body, more);
    expect(held()).toMatchObject({ streams: 1, requests: 0 });
    // A log without events is closed after a minute.
    await pass(path.includes('/events') ? 50_000 : 5 * 60_000);
    expect(held().streams).toBe(1);
    await reader.cancel();
    await pass(1_000);
    expect(held()).toEqual({ streams: 0, requests: 0, all: 0 });
  });

  it.each(rows)(
    'of %s is required before anything has happened, and its lack harms no other key',
    async (what, method, path, body, more) => {
      const places = fillStreams();
      const refused = await h.send(method, path, body, { ...headers, ...more });
      if (what === 'a call over MCP') {
        // It becomes a stream only if it takes long, and then counts as a request.
        expect([refused.status, held()]).toMatchObject([200, { streams: poolBounds.streams.perKey, requests: 1 }]);
      } else {
        expect([refused.status, submitted, proxied]).toEqual([429, 0, 0]);
        expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
        const text = await refused.text();
        expect(text).toContain('has too many open streams: 500 of at most 500');
        if (path.startsWith('/v1/sessions'))
          expect(JSON.parse(text)).toMatchObject({
            code: 'rate_limited',
            limit: 'openStreams',
            of: 'key',
            name: keyId,
            max: 500,
            used: 500,
          });
      }
      const other = await h.key({ scopes: ['chat', 'tools'] });
      expect((await h.send(method, path, body, { ...other, ...more })).status).toBe(200);
      for (const place of places) place.release();
      await open(method, path, body, more);
    },
  );

  it('of speech, which is no stream of events, is held until it was sent', async () => {
    const speech = ['POST', '/v1/audio/speech', { model: 'rehearsal/default', input: 'x', voice: 'v' }] as const;
    Object.assign(h.services, { passRequest: async () => new Response('a sound', { headers: { 'content-type': 'audio/mpeg' } }) });
    const answer = await h.app.request(speech[1], {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(speech[2]),
    });
    expect(held()).toMatchObject({ streams: 1, requests: 0 });
    expect(await answer.text()).toBe('a sound');
    await vi.waitFor(() => expect(held().streams).toBe(0));
    const left = await h.app.request(speech[1], {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(speech[2]),
    });
    await left.body?.cancel();
    await vi.waitFor(() => expect(held().streams).toBe(0));
    fillStreams();
    expect((await h.send(...speech, headers)).status).toBe(429);
  });

  it('is not taken by the root key, nor by a request that fails', async () => {
    fillStreams();
    const root = { authorization: `Bearer ${rootKey}` };
    expect((await h.send('GET', `/v1/sessions/${sessionId}/events`, undefined, root)).status).toBe(200);
    expect(held().all).toBe(poolBounds.streams.perKey);
    h.services.pools = createPools(h.clock);
    for (const [method, path, body] of [
      ['GET', '/v1/sessions/unknown/events?after=x', undefined],
      ['POST', '/v1/chat/completions', { model: 7, stream: true }],
      ['GET', '/v1/responses/unknown?stream=true', undefined],
      ['POST', '/v1/sessions/x/turns', 'not json'],
    ] as const)
      expect((await h.send(method, path, body, { ...headers, ...stream })).status).toBeGreaterThanOrEqual(400);
    expect(held()).toEqual({ streams: 0, requests: 0, all: 0 });
  });
});

describe('the place of a request', () => {
  it('is held until its response begins, and its lack is refused with the members of a limit', async () => {
    let answer: () => void = unused;
    const { requests } = h.services.pools;
    Object.assign(h.services, { proxyChat: () => new Promise((resolve) => (answer = () => resolve(Response.json({})))) });
    const chat = () => h.send('POST', '/v1/chat/completions', { model: 'rehearsal/default', messages: input }, headers);
    const first = chat();
    await vi.waitFor(() => expect(answer).not.toBe(unused));
    expect(held().requests).toBe(1);
    const places = Array.from({ length: poolBounds.requests.perKey - 1 }, () => requests.takeBeyondLimit({ workspace: 'default', keyId }));
    const refused = await h.send('GET', '/v1/me', undefined, headers);
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({
      code: 'rate_limited',
      limit: 'concurrentRequests',
      of: 'key',
      name: keyId,
      max: 500,
      used: 500,
    });
    const other = await h.key({ scopes: ['chat'] });
    expect((await h.send('GET', '/v1/me', undefined, other)).status).toBe(200);
    expect((await h.send('GET', '/v1/me')).status).toBe(200);
    answer();
    expect((await first).status).toBe(200);
    expect((await h.send('GET', '/v1/me', undefined, headers)).status).toBe(200);
    for (const place of places) place.release();
    expect(held().requests).toBe(0);
  });

  it('counts within limits of the key and the workspace, which replace the defaults', async () => {
    const { principal } = h.services.directory;
    h.services.directory.principal = async (...asked) => ({
      ...(await principal(...asked)),
      limits: { key: { concurrentRequests: 1, openStreams: 2 } },
    });
    const events = () => h.send('GET', `/v1/sessions/${sessionId}/events`, undefined, headers);
    const opened = [await events(), await events()];
    const refused = await events();
    expect(await refused.json()).toMatchObject({ limit: 'openStreams', of: 'key', name: keyId, max: 2, used: 2 });
    await opened[0]?.body?.cancel();
    await pass(1_000);
    expect((await events()).status).toBe(200);
    h.services.pools.requests.takeBeyondLimit({ workspace: 'default', keyId });
    expect(await (await events()).json()).toMatchObject({ limit: 'concurrentRequests', max: 1, used: 1 });
  });
});

describe('a stream', () => {
  it.each(rows)('of %s ends within 30 s of the end of its key', async (_what, method, path, body, more, expected) => {
    const { state } = await open(method, path, body, more);
    await pass(40_000);
    expect(state.ended).toBe(false);
    await h.catalog.revokeKey(keyId);
    await pass(limits.principalTtlMs);
    emit('data: {"after":1}\n\n');
    await pass(0);
    await new Promise((resolve) => setImmediate(resolve));
    expect(state.ended).toBe(true);
    expect(state.text).toContain(path.includes('/events') ? 'turn-start' : '"before":1');
    expect(state.text).not.toContain('"after":1');
    expect(state.text).toMatch(expected);
  });

  it.each(rows)('of %s ends between two frames when the service ends, and says why', async (_what, method, path, body, more) => {
    const { state } = await open(method, path, body, more);
    await pass(1_000);
    h.services.host.report({ disk: { freeBytes: null, totalBytes: null, fault: null }, files: null, stopping: 'draining' });
    await pass(1_000);
    expect(state.ended).toBe(false);
    h.services.host.report({ disk: { freeBytes: null, totalBytes: null, fault: null }, files: null, stopping: 'ending' });
    await pass(0);
    await new Promise((resolve) => setImmediate(resolve));
    expect(state.ended).toBe(true);
    expect(state.text).toMatch(/(?:\n\n|\}\])$/);
    if (!path.startsWith('/mcp') && !path.startsWith('/sse')) expect(state.text).toContain('The service stops before this has ended');
  });

  it('of the root key is passed on unchanged', async () => {
    headers = { authorization: `Bearer ${rootKey}` };
    const { state } = await open('GET', '/mcp/demo', undefined, stream);
    await pass(60_000);
    expect(state.ended).toBe(false);
  });

  it('ends when its key expires', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const { key, record } = await h.catalog.createKey({ name: 'short', scopes: ['tools'], expiresAt });
    headers = { authorization: `Bearer ${key}` };
    const { state } = await open('GET', '/mcp/demo', undefined, stream);
    record.expiresAt = new Date(Date.now() - 1).toISOString();
    await h.catalog.revokeKey(record.id);
    await pass(limits.principalTtlMs);
    expect(state.ended).toBe(true);
  });

  it('that ends in the middle of a frame gets no error frame', async () => {
    const { state } = await open('POST', '/v1/chat/completions', { model: 'rehearsal/default', messages: input, stream: true });
    await pass(1_000);
    emit('data: {"half');
    await pass(1_000);
    await h.catalog.revokeKey(keyId);
    await pass(limits.principalTtlMs);
    expect(state).toMatchObject({ ended: true, text: 'data: {"before":1}\n\ndata: {"half' });
  });

  it('ends when its key cannot be checked, and survives one failed check', async () => {
    const { principal } = h.services.directory;
    const { state } = await open('GET', '/mcp/demo', undefined, stream);
    let failures = 1;
    h.services.directory.principal = async (key, maxAgeMs) => {
      failures -= 1;
      if (failures >= 0) throw new Error('the Catalog is away');
      return await principal(key, maxAgeMs);
    };
    await pass(40_000);
    expect(state.ended).toBe(false);
    failures = 10;
    await pass(limits.principalTtlMs);
    expect(state.ended).toBe(true);
  });

  it('whose client has disconnected is no longer checked, and its source is cancelled', async () => {
    const { principal } = h.services.directory;
    const answer = await h.send('GET', '/mcp/demo', undefined, { ...headers, ...stream });
    let checks = 0;
    h.services.directory.principal = async (key, maxAgeMs) => {
      checks += 1;
      return await principal(key, maxAgeMs);
    };
    const reader = answer.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await pass(60_000);
    expect([cancelled, checks]).toEqual([1, 0]);
  });
});

describe('a slow response', () => {
  it('is not sent to a key that was revoked meanwhile', async () => {
    h.services.sessions = {
      ...h.services.sessions,
      get: () =>
        ({
          view: async () => {
            await h.catalog.revokeKey(keyId);
            await h.clock.advance(20_000);
            return { id: sessionId, toolset: null, createdAt: new Date(0).toISOString(), turn: null, queued: 0 };
          },
        }) as unknown as SessionPort,
    };
    const answer = await h.send('GET', `/v1/sessions/${sessionId}`, undefined, headers);
    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({ code: 'unauthenticated', reason: 'revoked' });
  });
});
