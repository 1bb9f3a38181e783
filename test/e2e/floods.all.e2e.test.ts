/**
 * A flood of one key for each bound that keys and workspaces share: what exceeds the bound is refused with its figures, and another key and
 * another workspace do the same meanwhile.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { limits } from '../../src/core/limits/limits.ts';
import { poolBounds, storedBounds } from '../../src/core/limits/pools.ts';
import { listenUpstream, type ListeningUpstream } from '../fakes/upstreams/upstream.ts';
import { shareService } from './shared-service.ts';
import { sendSlowly } from './slow-body.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });

type Caller = { workspace: string; headers: Record<string, string>; id: string };
/** `refusal`: the problem or the result that says why. */
type Answer = { done: true } | { done: false; refusal: Record<string, unknown> };
type Row = {
  title: string;
  limit: string;
  max: number;
  /** Returns a function that does one more, which lasts until `free` at least. */
  prepare(caller: Caller, free: Promise<void>): Promise<() => Promise<Answer>>;
  count: number;
  /** How many are refused at least. */
  refused: number;
};

let slow: ListeningUpstream;
let waiting = new Set<() => void>();

beforeAll(async () => {
  slow = await listenUpstream({
    async handle(request) {
      const { pathname } = new URL(request.url);
      if (!pathname.endsWith('/quick')) await new Promise<void>((resolve) => waiting.add(resolve));
      return Response.json({ choices: [{ message: { role: 'assistant', content: 'done' }, finish_reason: 'stop' }] });
    },
  });
  await service.call('PUT', '/v1/workspaces/other', {});
  for (const workspace of ['default', 'other']) {
    const put = (path: string, body: unknown) => service.call('PUT', `/v1/${path}`, body, { 'x-moniker-workspace': workspace });
    const tool = { name: 'wait', description: 'Waits.', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } };
    const statuses = [
      await put('servers/slow', { kind: 'static', url: `${slow.url}/call`, tools: [tool], trusted: true }),
      await put('toolsets/waits', {
        tools: [
          { tool: 'slow.wait', name: 'wait', approval: 'never' },
          { tool: 'builtin.write_file', name: 'save', approval: 'always' },
        ],
      }),
      await put('providers/hanging', { kind: 'openai', baseUrl: `${slow.url}/v1`, apiKey: 'key-of-hanging-0123456789', models: ['m'] }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([201, 201, 201]);
  }
});
afterAll(() => {
  letGo();
  slow.close();
});

function letGo(): void {
  for (const resolve of waiting) resolve();
  waiting = new Set();
}

async function keyIn(workspace: string): Promise<Caller> {
  const request = { name: 'a key', scopes: ['chat', 'tools', 'approve'] };
  const { json } = await service.call('POST', '/v1/keys', request, { 'x-moniker-workspace': workspace });
  return { workspace, id: json.id, headers: { authorization: `Bearer ${json.key}` } };
}

async function sessionOf({ headers }: Caller, more: object = {}): Promise<string> {
  return (await service.call('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'waits', ...more }, headers)).json.id;
}

/** Of the problem of a response, or the text of a tool result. */
function toAnswer({ status, json }: { status: number; json: Record<string, unknown> }): Answer {
  if (status >= 400) return { done: false, refusal: json };
  const content = (json.content ?? (json.result as Record<string, unknown> | undefined)?.content) as { text: string }[] | undefined;
  const text = content?.[0]?.text ?? '';
  return text.includes('too many') ? { done: false, refusal: { text } } : { done: true };
}

/** In batches, since a client has a bounded number of sockets. */
async function inBatches<T>(count: number, one: (index: number) => Promise<T>, size = 50): Promise<T[]> {
  const all: T[] = [];
  for (let start = 0; start < count; start += size)
    all.push(...(await Promise.all(Array.from({ length: Math.min(size, count - start) }, (_, index) => one(start + index)))));
  return all;
}

const asking = (path: string) => ({ name: 'save', arguments: { path, content: 'one' } });

const rows: Row[] = [
  {
    title: 'calls over REST',
    limit: 'concurrentCalls',
    max: poolBounds.calls.perKey,
    count: 260,
    refused: 60,
    prepare:
      async ({ headers }) =>
      async () =>
        toAnswer(await service.call('POST', '/v1/toolsets/waits/calls', { name: 'wait', arguments: {} }, headers)),
  },
  {
    title: 'calls over MCP',
    limit: 'concurrentCalls',
    max: poolBounds.calls.perKey,
    count: 260,
    refused: 60,
    prepare:
      async ({ headers }) =>
      async () => {
        const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'wait', arguments: {} } };
        const accept = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' };
        const response = await fetch(`${service.url}/mcp/waits`, {
          method: 'POST',
          headers: { ...headers, ...accept, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        const text = await response.text();
        const line = text.startsWith('{') ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? '{}');
        return toAnswer({ status: response.status, json: JSON.parse(line) });
      },
  },
  {
    title: 'turns',
    limit: 'concurrentTurns',
    max: poolBounds.turns.perKey,
    count: 540,
    refused: 40,
    prepare: async (caller) => async () => {
      const session = await sessionOf(caller, { model: 'hanging/m' });
      const headers = { ...caller.headers, prefer: 'respond-async' };
      return toAnswer(await service.call('POST', `/v1/sessions/${session}/turns`, { input: 'hi' }, headers));
    },
  },
  {
    title: 'streams of MCP clients',
    limit: 'openStreams',
    max: poolBounds.streams.perKey,
    count: 540,
    refused: 40,
    prepare:
      async ({ headers }, free) =>
      async () => {
        const abort = new AbortController();
        const accept = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
        const response = await fetch(`${service.url}/mcp/waits`, {
          method: 'POST',
          signal: abort.signal,
          headers: { ...headers, ...accept, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' },
          body: JSON.stringify(listen),
        });
        // A response that nothing refers to would be collected and closed.
        void free.then(() => [response.status, abort.abort()]);
        if (response.ok && response.headers.get('content-type')?.startsWith('text/event-stream') === true) return { done: true };
        const { error } = (await response.json()) as { error: { data: Record<string, unknown> } };
        return { done: false, refusal: error.data };
      },
  },
  {
    title: 'pending approvals',
    limit: 'pendingQuestions',
    max: storedBounds.pendingQuestions.perKey,
    count: 2_040,
    refused: 40,
    prepare: async (caller) => {
      let count = 0;
      let session = '';
      return async () => {
        // A session has at most 100.
        if (count % 100 === 0) session = await sessionOf(caller);
        count += 1;
        const call = { ...asking(`${count}.txt`), session };
        return toAnswer(await service.call('POST', '/v1/toolsets/waits/calls', call, caller.headers));
      };
    },
  },
  {
    title: 'queued turns',
    limit: 'queuedTurns',
    max: storedBounds.queuedTurns.perKey,
    count: 2_040,
    refused: 40,
    prepare: async (caller) => {
      let count = 0;
      let session = '';
      const headers = { ...caller.headers, prefer: 'respond-async' };
      const say = (input: string) => service.call('POST', `/v1/sessions/${session}/turns`, { input }, headers);
      return async () => {
        if (count % 100 === 0) {
          session = await sessionOf(caller);
          await service.call('POST', `/v1/sessions/${session}/turns`, { input: '/save {"path": "a", "content": "b"}' }, caller.headers);
        }
        count += 1;
        return toAnswer(await say('hi'));
      };
    },
  },
];

const about = { protocolVersion: '2026-07-28', clientInfo: { name: 'test', version: '1' }, clientCapabilities: {} };
const meta = Object.fromEntries(Object.entries(about).map(([name, value]) => [`io.modelcontextprotocol/${name}`, value]));
const listen = {
  ...{ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen' },
  params: { _meta: meta, notifications: { toolsListChanged: true } },
};

for (const { title, limit, max, prepare, count, refused } of rows)
  it(`A flood of ${title} is refused at its bound, and another key and another workspace go on`, async () => {
    const { promise: free, resolve: freeAll } = Promise.withResolvers<void>();
    const [greedy, neighbour, stranger] = [await keyIn('default'), await keyIn('default'), await keyIn('other')];
    const [one, ofNeighbour, ofStranger] = [await prepare(greedy, free), await prepare(neighbour, free), await prepare(stranger, free)];
    const isHeld = limit === 'concurrentCalls';
    const stored = limit === 'pendingQuestions' || limit === 'queuedTurns';
    // Calls respond when they have ended, the others when they were accepted. Stored ones are added one after another to their sessions.
    let responses = 0;
    const counted = () => one().finally(() => (responses += 1));
    const flood = isHeld ? Promise.all(Array.from({ length: count }, counted)) : inBatches(count, counted, stored ? 1 : 50);
    if (isHeld) await expect.poll(() => waiting.size, { timeout: 60_000 }).toBeGreaterThanOrEqual(max);
    else await flood;
    const others = [ofNeighbour(), ofStranger()];
    if (isHeld) {
      await expect.poll(() => waiting.size, { timeout: 60_000 }).toBeGreaterThanOrEqual(max + 2);
      // Those that wait for a place get their refusal, while those that have one are held.
      await expect.poll(() => responses, { timeout: poolBounds.calls.waitMs + 60_000 }).toBe(refused);
      letGo();
    }
    expect(await Promise.all(others)).toEqual([{ done: true }, { done: true }]);
    const answers = await flood;
    freeAll();
    letGo();
    const refusals = answers.flatMap((answer) => (answer.done ? [] : [answer.refusal]));
    expect(refusals.length).toBe(refused);
    for (const refusal of refusals) {
      if ('text' in refusal)
        expect(refusal.text).toMatch(new RegExp(`This key \\(${greedy.id}\\) has too many .*: ${max} of at most ${max}\\.`));
      else expect(refusal).toMatchObject({ code: 'rate_limited', limit, of: 'key', name: greedy.id, max, used: max });
    }
    if (limit !== 'pendingQuestions') return;
    // The inbox has all of them.
    const seen = new Set<string>();
    for (let cursor = ''; ; ) {
      const { json } = await service.call('GET', `/v1/approvals?limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`);
      for (const { session, callId } of json.items) seen.add(`${session} ${callId}`);
      if (json.nextCursor === null) break;
      cursor = encodeURIComponent(json.nextCursor);
    }
    expect(seen.size).toBeGreaterThanOrEqual(max + 1);
  }, 300_000);

it('No request without a key can hold its connection with a body that does not arrive', async () => {
  const { json } = await service.call('GET', '/openapi.json');
  const paths = Object.entries(json.paths as Record<string, { post?: { security?: unknown[] } }>)
    .filter(([, { post }]) => post?.security?.length === 0)
    .map(([path]) => path.replaceAll(/\{\w+\}/g, 'unknown'));
  expect(paths.length).toBeGreaterThan(5);
  const began = Date.now();
  const statuses = await Promise.all(
    paths.map(async (path) => {
      const type =
        path.startsWith('/oauth/register') || path.startsWith('/hooks') ? 'application/json' : 'application/x-www-form-urlencoded';
      const { socket, answer } = sendSlowly(service, path, { size: 200, sent: 20, headers: { 'content-type': type } });
      const status = await answer;
      socket.destroy();
      return [path, status >= 400 && status < 500];
    }),
  );
  expect(statuses).toEqual(paths.map((path) => [path, true]));
  expect(Date.now() - began).toBeLessThan(limits.strangersBodyTimeoutMs + 15_000);
}, 60_000);
