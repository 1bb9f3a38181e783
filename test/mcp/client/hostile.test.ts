/**
 * The scripts of `fixtures/security/mcp-hostile-servers.json` that concern the wire, each by its id. The handling of definitions and of
 * text in results is tested elsewhere.
 */
import { createServer, type Server } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { createGzip } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isDeeperThan } from '../../../src/core/json/wire-value.ts';
import { limits } from '../../../src/core/limits/limits.ts';
import type { InputRequest } from '../../../src/core/tools/mcp-input.ts';
import type { ServerAccess } from '../../../src/core/servers/server.ts';
import type { ToolResult } from '../../../src/core/tools/tool.ts';
import { createMcpUpstream } from '../../../src/mcp/client/upstream.ts';
import type { UpstreamAnswer, UpstreamContext, UpstreamHooks } from '../../../src/ports/upstream.ts';
import { askingScript, event, events, type Message, result, type Script, type Scripted, scriptMcp } from '../../fakes/mcp-script.ts';
import { accessTo, callOf, contextWith } from './context.ts';
import { maxListingPages } from '../../../src/mcp/client/discover.ts';
import { maxServerMessages } from '../../../src/mcp/client/connection.ts';
import { maxStreamResumptions } from '../../../src/mcp/client/transport.ts';
import { otherTasks } from '../../wait-for.ts';

const access = (more: Partial<ServerAccess> = {}): ServerAccess =>
  accessTo('https://mcp.example.com/mcp', { mcp: { era: 'legacy' }, ...more });
const towards = (scripted: Scripted, more: Partial<UpstreamContext> = {}): UpstreamContext =>
  contextWith({ fetch: (request) => scripted.handle(request), ...more });

/** Responds to `tools/call` as given, and to everything else as a plain server does. */
const calls = (answer: (message: Message) => Response | Promise<Response>, more: Parameters<typeof scriptMcp>[1] = {}): Scripted =>
  scriptMcp(({ message }) => (message?.method === 'tools/call' ? answer(message) : undefined), more);

const call = (scripted: Scripted, hooks: UpstreamHooks = {}, more: Partial<ServerAccess> = {}): Promise<UpstreamAnswer<ToolResult>> =>
  createMcpUpstream().callTool(access(more), callOf('echo', { a: 1 }), hooks, towards(scripted));
const discover = (script: Script): Promise<unknown> => createMcpUpstream().discover(access(), towards(scriptMcp(script)));
const answered = (scripted: Scripted, method: string): number => scripted.heard.filter(({ message }) => message?.method === method).length;
const textOf = (answer: UpstreamAnswer<ToolResult>): string => JSON.stringify(answer.kind === 'result' ? answer.result.content : answer);
const failed = (words: string): unknown =>
  expect.objectContaining({ code: 'upstream_error', detail: expect.stringMatching(new RegExp(`^The server files .*${words}`)) });
const late = (seconds: number): unknown =>
  expect.objectContaining({ code: 'upstream_timeout', detail: expect.stringContaining(`within ${seconds} s`) });

/** Waits as long as necessary, on a fake clock. */
async function after<T>(ms: number, work: Promise<T>): Promise<PromiseSettledResult<T>> {
  const settled = Promise.allSettled([work]);
  await vi.advanceTimersByTimeAsync(ms);
  const [outcome] = await settled;
  return outcome;
}

describe('a list that', () => {
  it('list-endless-pages: never ends is given up, and the server reported as broken', async () => {
    let page = 0;
    const listing = discover(({ message }) => {
      if (message?.method !== 'tools/list') return undefined;
      page += 1;
      return result(message, { tools: [{ name: `t${page}`, inputSchema: {} }], nextCursor: `page ${page}` });
    });
    await expect(listing).rejects.toEqual(failed('more than 64 pages'));
    expect(page).toBe(maxListingPages);
  });

  it('cursor-repeats: repeats a cursor is read up to there', async () => {
    const listing = discover(({ message }) =>
      message?.method === 'tools/list' ? result(message, { tools: [{ name: 'again', inputSchema: {} }], nextCursor: 'same' }) : undefined,
    );
    await expect(listing).resolves.toMatchObject({
      tools: [{ name: 'again' }, { name: 'again' }],
      warnings: [{ path: 'tools', message: expect.stringContaining('repeats a page cursor') }],
    });
  });

  it('five-thousand-tools: has too many tools is passed on complete; storing it truncates it with a warning', async () => {
    const tools = Array.from({ length: 5_000 }, (_, index) => ({ name: `t${index}`, inputSchema: { type: 'object' } }));
    const listing = await discover(({ message }) => (message?.method === 'tools/list' ? result(message, { tools }) : undefined));
    expect(listing).toMatchObject({ tools: { length: 5_000 } });
  });

  it('has definitions that no SDK accepts is passed on unchanged', async () => {
    const tools = [{ name: 'bad', inputSchema: 'none' }, { name: 7 }, { name: 'good', inputSchema: { type: 'object' }, extra: true }];
    const modern = scriptMcp(({ message }) => {
      if (message?.method === 'server/discover') {
        return result(message, {
          resultType: 'complete',
          supportedVersions: ['2026-07-28'],
          capabilities: { tools: {} },
          ttlMs: 0,
          cacheScope: 'private',
        });
      }
      return message?.method === 'tools/list' ? result(message, { resultType: 'complete', tools, ttlMs: 60_000 }) : undefined;
    });
    const listing = await createMcpUpstream().discover(access({ mcp: {} }), towards(modern));
    expect(listing).toMatchObject({ tools, ttlMs: 60_000, connection: { era: 'modern', protocolVersion: '2026-07-28' } });
  });

  it('has a definition, an offer and a capability that nest endlessly is still read, and these are detected as too deep', async () => {
    const pit = '['.repeat(100_000) + ']'.repeat(100_000);
    const answer = (message: Message, text: string): Response =>
      new Response(`{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":${text}}`, {
        headers: { 'content-type': 'application/json' },
      });
    const capabilities = `{"tools":{},"prompts":{},"experimental":{"a":{"b":${pit}}}}`;
    const listing = await discover(({ message }) => {
      if (message?.method === 'initialize')
        return answer(message, `{"protocolVersion":"2025-11-25","capabilities":${capabilities},"serverInfo":{"name":"x","version":"1"}}`);
      if (message?.method === 'prompts/list') return answer(message, `{"prompts":[{"name":"p","_meta":{"pit":${pit}}}]}`);
      if (message?.method !== 'tools/list') return undefined;
      return answer(
        message,
        `{"tools":[{"name":"pit","inputSchema":{"type":"object","default":${pit}}},{"name":"good","inputSchema":{}}]}`,
      );
    });
    expect(listing).toMatchObject({ tools: [{ name: 'pit' }, { name: 'good' }], offers: { prompts: [{ name: 'p' }] } });
    expect(isDeeperThan(listing, limits.maxJsonDepth + 20)).toBe(false);
    const { tools } = listing as { tools: Record<string, unknown>[] };
    expect(tools.map(({ inputSchema }) => isDeeperThan(inputSchema, limits.maxJsonDepth))).toEqual([true, false]);
  });

  it('gzip-bomb: is small on the wire and huge when decompressed is cut', async () => {
    const server = createServer((incoming, outgoing) => {
      let body = '';
      incoming.on('data', (part) => (body += String(part)));
      incoming.on('end', () => {
        const { id, method } = JSON.parse(body === '' ? '{}' : body);
        const head = (type: string): unknown =>
          outgoing.writeHead(id === undefined ? 202 : 200, {
            'content-type': 'application/json',
            ...(type && { 'content-encoding': type }),
          });
        if (method !== 'tools/list') {
          head('');
          outgoing.end(
            method === 'initialize'
              ? JSON.stringify({
                  jsonrpc: '2.0',
                  id,
                  result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } },
                })
              : '',
          );
          return;
        }
        head('gzip');
        const packed = createGzip();
        packed.pipe(outgoing);
        const megabyte = Buffer.alloc(1024 * 1024, ' ');
        outgoing.once('close', () => packed.destroy());
        const write = (): void => {
          if (!packed.destroyed) packed.write(megabyte, write);
        };
        write();
      });
    });
    const url = await listening(server);
    await expect(createMcpUpstream().discover(accessTo(url, { mcp: { era: 'legacy' } }), contextWith())).rejects.toMatchObject({
      code: 'upstream_error',
      detail: expect.stringContaining('exceeds the size limit'),
    });
  });
});

describe('a response that', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
  afterEach(() => void vi.useRealTimers());

  it.each([
    ['JSON', (id: unknown) => result({ id }, { content: [] })],
    ['an event', (id: unknown) => events([{ jsonrpc: '2.0', id, result: { content: [] } }], { open: true })],
  ])("result-wrong-id: has another request's id is ignored, as %s: the call times out", async (_how, answer) => {
    const scripted = calls(({ id }) => answer(Number(id) + 1));
    expect(await after(60_000, call(scripted))).toEqual({ status: 'rejected', reason: late(60) });
  });

  it('result-twice: counts once when it arrives twice', async () => {
    const answer = (id: unknown, text: string): unknown => ({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } });
    const scripted = calls(({ id }) => events([answer(id, 'first'), answer(id, 'second')]));
    expect(textOf(await call(scripted))).toContain('first');
  });

  it('never-answers: does not arrive is a timeout after 30 s, or the time in the document, and the call is cancelled', async () => {
    const scripted = calls(() => new Promise<Response>(() => {}));
    expect(await after(60_000, call(scripted))).toEqual({ status: 'rejected', reason: late(60) });
    const asked = scripted.heard.find(({ message }) => message?.method === 'tools/call');
    const told = scripted.heard.find(({ message }) => message?.method === 'notifications/cancelled');
    expect(told?.message?.params.requestId).toBe(asked?.message?.id);
    expect(await after(2_000, call(scripted, {}, { timeoutMs: 2_000 }))).toEqual({ status: 'rejected', reason: late(2) });
  });

  it('result-after-timeout: arrives after 61 s has failed at 60 s', async () => {
    let answer = (): void => {};
    const scripted = calls((message) => new Promise((resolve) => (answer = () => resolve(result(message, { content: [] })))));
    const outcome = await after(60_000, call(scripted));
    answer();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(outcome).toEqual({ status: 'rejected', reason: late(60) });
  });

  it('result-after-cancel: arrives after the cancellation is ignored', async () => {
    const controller = new AbortController();
    let answer = (): void => {};
    const scripted = calls((message) => {
      queueMicrotask(() => controller.abort(new Error('stopped')));
      return new Promise((resolve) => (answer = () => resolve(result(message, { content: [] }))));
    });
    const running = createMcpUpstream().callTool(access(), callOf('echo'), {}, towards(scripted, { signal: controller.signal }));
    await expect(running).rejects.toThrow('stopped');
    answer();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(answered(scripted, 'notifications/cancelled')).toBe(1);
  });

  /** Sends a message of the kind every 50 s until `times` are sent, then the result. */
  function slowly(kind: 'progress' | 'message', times: number) {
    let sent = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const encoder = new TextEncoder();
    const scripted = calls(({ id, params }) => {
      const token = (params._meta as { progressToken: number }).progressToken;
      const sign = (): Record<string, unknown> =>
        kind === 'progress' ? { progressToken: token, progress: sent } : { level: 'debug', data: `step ${sent}` };
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          const tell = (): void => {
            sent += 1;
            const isLast = sent > times;
            const response = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'done' }] } };
            const notification = { jsonrpc: '2.0', method: `notifications/${kind}`, params: sign() };
            controller.enqueue(encoder.encode(event(isLast ? response : notification)));
            if (!isLast) timer = setTimeout(tell, 50_000);
          };
          tell();
        },
        cancel: () => clearTimeout(timer),
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    });
    return { scripted, sent: () => sent };
  }

  it.each(['progress', 'message'] as const)('slow-result: arrives after hours while the server sends %s is the result', async (kind) => {
    const outcome = await after(2 * 60 * 60_000, call(slowly(kind, 140).scripted));
    expect(outcome).toMatchObject({ status: 'fulfilled', value: { result: { content: [{ text: 'done' }] } } });
  });

  it('progress-forever: never arrives despite progress ends at the total limit', async () => {
    const { scripted, sent } = slowly('progress', Number.POSITIVE_INFINITY);
    expect(await after(limits.maxServerCallMs, call(scripted))).toEqual({ status: 'rejected', reason: late(24 * 60 * 60) });
    expect(sent()).toBeGreaterThan(1_700);
  });

  it('sse-never-ends: is a stream of comments times out', async () => {
    const scripted = calls(() => events([': still here\n\n', ': still here\n\n'], { open: true }));
    expect(await after(60_000, call(scripted))).toEqual({ status: 'rejected', reason: late(60) });
  });

  it('sse-reconnect-storm: breaks off each time is retried three times with growing delays', async () => {
    const times: number[] = [];
    let now = 0;
    const scripted = scriptMcp(({ request, message }) => {
      if (request.method === 'GET') {
        times.push(now);
        return events(['id: 2\nretry: 0\ndata:\n\n']);
      }
      return message?.method === 'tools/call' ? events(['id: 1\nretry: 0\ndata:\n\n']) : undefined;
    });
    const settled = Promise.allSettled([call(scripted)]);
    for (; now < 20_000; now += 250) await vi.advanceTimersByTimeAsync(250);
    const [outcome] = await settled;
    expect(outcome).toEqual({ status: 'rejected', reason: failed('ended its event stream without a response') });
    const waits = times.map((time, index) => time - (times[index - 1] ?? 0));
    expect(waits).toHaveLength(maxStreamResumptions);
    expect(waits.map((ms) => Math.round(ms / 1_000))).toEqual([0, 1, 4]);
  });

  it('ends its stream without anything fails at once', async () => {
    await expect(call(calls(() => events([])))).rejects.toEqual(failed('ended its event stream without a response'));
  });

  it('is resumed where its stream broke off, if the server supports it', async () => {
    let id: unknown;
    const scripted = scriptMcp(({ request, message }) => {
      if (request.method === 'GET') {
        return events([
          { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: `after ${request.headers.get('last-event-id')}` }] } },
        ]);
      }
      if (message?.method !== 'tools/call') return undefined;
      ({ id } = message);
      return events(['id: event-1\nretry: 10\ndata:\n\n']);
    });
    const outcome = await after(1_000, call(scripted));
    expect(outcome).toMatchObject({ status: 'fulfilled', value: { result: { content: [{ text: 'after event-1' }] } } });
  });

  it('is resumed after a broken connection, too, and the call is not made again', async () => {
    let id: unknown;
    const scripted = scriptMcp(({ request, message }) => {
      if (request.method === 'GET') return events([{ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'resumed' }] } }]);
      if (message?.method !== 'tools/call') return undefined;
      ({ id } = message);
      const event = new TextEncoder().encode('id: event-1\ndata:\n\n');
      const parts = [(controller: ReadableStreamDefaultController) => controller.enqueue(event)];
      const body = new ReadableStream({ pull: (controller) => (parts.pop() ?? (() => controller.error(new Error('reset'))))(controller) });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    });
    const outcome = await after(1_000, call(scripted));
    expect(outcome).toMatchObject({ status: 'fulfilled', value: { result: { content: [{ text: 'resumed' }] } } });
    expect(answered(scripted, 'tools/call')).toBe(1);
  });

  it('breaks off without an event id fails, and says so', async () => {
    const body = new ReadableStream({ pull: (controller) => controller.error(new Error('reset')) });
    const scripted = calls(() => new Response(body, { headers: { 'content-type': 'text/event-stream' } }));
    await expect(call(scripted)).rejects.toEqual(failed('broke off its response'));
  });

  it('has only events that are not MCP messages fails, and says how many', async () => {
    await expect(call(calls(() => events(['data: ping\n\n', 'data: {}\n\n'])))).rejects.toEqual(
      failed('without a response. It sent 2 events that are not MCP messages'),
    );
  });

  it('sends endless notifications stops the call', async () => {
    const notice = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } };
    const scripted = calls(() =>
      events(
        Array.from({ length: maxServerMessages + 1 }, () => notice),
        { open: true },
      ),
    );
    await expect(call(scripted)).rejects.toEqual(failed('messages in 0 s without a response'));
  });
});

describe('a response that', () => {
  it('huge-result: has 50 MB of text is not read to its end, and the model sees why', async () => {
    const scripted = calls((message) => result(message, { content: [{ type: 'text', text: 'x'.repeat(50 * 1024 * 1024) }] }));
    const answer = await call(scripted);
    expect(answer).toMatchObject({ kind: 'result', result: { isError: true, code: 'tool_error' } });
    expect(textOf(answer)).toContain('echo returned more than 16777216 bytes');
  });

  it('binary-result: has an image of 30 MB is rejected, also in a stream', async () => {
    const image = { type: 'image', mimeType: 'image/png', data: 'A'.repeat(30 * 1024 * 1024) };
    const answer = await call(calls(({ id }) => events([{ jsonrpc: '2.0', id, result: { content: [image] } }])));
    expect(answer).toMatchObject({ kind: 'result', result: { isError: true, code: 'tool_error' } });
    expect(textOf(answer).length).toBeLessThan(500);
  });

  it('bad-json: is half a document is an error, and the next call succeeds', async () => {
    let bad = true;
    const scripted = calls((message) =>
      bad ? new Response('{"jsonrpc":"2.0","id":', { headers: { 'content-type': 'application/json' } }) : result(message, { content: [] }),
    );
    const upstream = createMcpUpstream();
    await expect(upstream.callTool(access(), callOf('echo'), {}, towards(scripted))).rejects.toEqual(failed('returned invalid JSON'));
    bad = false;
    await expect(upstream.callTool(access(), callOf('echo'), {}, towards(scripted))).resolves.toMatchObject({ result: { isError: false } });
  });

  it.each([404, 405])('is always %i, as from an HTTP+SSE server, is reported as a missing endpoint', async (status) => {
    const listing = discover(() => new Response('Cannot POST /sse', { status }));
    await expect(listing).rejects.toEqual(failed(`responded ${status}. It has no MCP endpoint .*HTTP\\+SSE`));
  });

  it('is 202 without content is an error', async () => {
    await expect(discover(() => new Response(null, { status: 202 }))).rejects.toEqual(failed('responded 202 without content'));
  });

  it('html-instead: is a login page is reported by its type, without its text', async () => {
    const page = (): Response => new Response('<h1>Log in to win</h1>', { headers: { 'content-type': 'text/html; charset=utf-8' } });
    for (const scripted of [calls(page), scriptMcp(page)]) {
      const error = await call(scripted).catch((reason: unknown) => reason);
      expect(error).toEqual(failed('responded with \\"text/html; charset=utf-8\\" instead of JSON or an event stream'));
      expect(String(error)).not.toContain('win');
    }
    const auto = createMcpUpstream().callTool(access({ mcp: {} }), callOf('echo'), {}, towards(scriptMcp(page)));
    await expect(auto).rejects.toEqual(failed('responded with \\"text/html; charset=utf-8\\" instead'));
  });

  it('structured-mismatch: breaks its output schema, or omits its data, is an error of the tool', async () => {
    const outputSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    const ask = async (answer: unknown): Promise<unknown> =>
      createMcpUpstream().callTool(
        access(),
        callOf('echo', {}, { outputSchema }),
        {},
        towards(calls((message) => result(message, answer))),
      );
    for (const structuredContent of [{ n: 'many' }, {}, undefined]) {
      expect(await ask({ content: [{ type: 'text', text: 'fine' }], structuredContent })).toMatchObject({
        result: { isError: true, code: 'tool_error', content: [{ text: expect.stringContaining('does not match its output schema') }] },
      });
    }
    expect(await ask({ content: [], structuredContent: { n: 2 } })).toMatchObject({
      result: { isError: false, structuredContent: { n: 2 } },
    });
  });

  it('has content blocks of an unknown type passes them unchanged', async () => {
    const content = [
      { type: 'hologram', data: '…' },
      { type: 'text', text: 'and words' },
    ];
    expect(await call(calls((message) => result(message, { content })))).toMatchObject({
      result: {
        isError: false,
        content: [
          { type: 'other', block: { type: 'hologram', data: '…' } },
          { type: 'text', text: 'and words' },
        ],
      },
    });
  });

  it('redirect-internal: is a redirect to another origin is not followed', async () => {
    const asked: string[] = [];
    const scripted = calls(() => new Response(null, { status: 307, headers: { location: 'http://127.0.0.1/' } }));
    const context = towards(scripted, {
      fetch: (request) => {
        asked.push(new URL(request.url).origin);
        return scripted.handle(request);
      },
    });
    const running = createMcpUpstream().callTool(access(), callOf('echo'), {}, context);
    await expect(running).rejects.toEqual(failed('a redirect'));
    expect(new Set(asked)).toEqual(new Set(['https://mcp.example.com']));
  });

  it('protocol-downgrade: names an unknown version is a clear error', async () => {
    await expect(call(scriptMcp(() => undefined, { version: '1999-01-01' }))).rejects.toEqual(
      failed('an unsupported version of MCP \\("1999-01-01"\\)'),
    );
  });
});

describe('a session id that', () => {
  it('session-id-reuse: is given to two conversations never mixes their responses', async () => {
    const scripted = calls(
      async (message) => {
        await otherTasks();
        return result(message, { content: [{ type: 'text', text: JSON.stringify(message.params.arguments) }] });
      },
      { sessionId: 'shared' },
    );
    const upstream = createMcpUpstream();
    const answers = await Promise.all(
      ['one', 'two'].map((conversation) =>
        upstream.callTool(access(), callOf('echo', { conversation }), {}, towards(scripted, { conversation })),
      ),
    );
    expect(answers.map(textOf)).toEqual([expect.stringContaining('one'), expect.stringContaining('two')]);
    expect(answered(scripted, 'initialize')).toBe(2);
  });

  it('id-collision: serves two concurrent calls never receives a JSON-RPC id or progress token twice', async () => {
    const scripted = scriptMcp(() => undefined, { sessionId: 'shared' });
    const upstream = createMcpUpstream();
    const once = (): Promise<unknown> => upstream.callTool(access(), callOf('echo'), {}, towards(scripted));
    await once();
    await Promise.all([once(), once(), once()]);
    const messages = scripted.heard.flatMap(({ message }) => (message?.id === undefined ? [] : [message]));
    const tokens = messages
      .map(({ params }) => (params._meta as { progressToken?: number } | undefined)?.progressToken)
      .filter((token) => token !== undefined);
    expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length);
    expect(tokens).toHaveLength(4);
    expect(new Set(tokens).size).toBe(4);
    expect(answered(scripted, 'initialize')).toBe(1);
  });

  it('session-id-huge: is of 100 kB is rejected', async () => {
    await expect(call(scriptMcp(() => undefined, { sessionId: 'x'.repeat(100_000) }))).rejects.toEqual(
      failed('returned an invalid session id'),
    );
  });

  it('session-id-crlf: contains a line feed, or anything but visible ASCII, is rejected', async () => {
    await expect(call(scriptMcp(() => undefined, { sessionId: 'a b' }))).rejects.toEqual(failed('returned an invalid session id'));
    await expect(call(scriptMcp(() => undefined, { sessionId: 'caf\u00e9' }))).rejects.toEqual(failed('returned an invalid session id'));
    const raw = createTcpServer((socket) => {
      socket.once('data', () => {
        const body = '{"jsonrpc":"2.0","id":0,"result":{}}';
        socket.end(
          `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nmcp-session-id: a\nb\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
        );
      });
    });
    const url = await listening(raw);
    await expect(createMcpUpstream().callTool(accessTo(url), callOf('echo'), {}, contextWith())).rejects.toMatchObject({
      code: 'upstream_error',
    });
  });
});

describe('a server that requests input', () => {
  function asking(requests: readonly { method: string; params?: unknown }[]): { scripted: Scripted; said: Message[] } {
    const { script, said } = askingScript(requests);
    return { scripted: scriptMcp(script), said };
  }
  const anything: UpstreamHooks['askable'] = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
  const sampling = { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1, includeContext: 'allServers' } };
  function hooksThat(answer: Record<string, unknown>): { hooks: UpstreamHooks; asked: InputRequest[] } {
    const asked: InputRequest[] = [];
    const ask = async (request: InputRequest): Promise<Record<string, unknown>> => {
      asked.push(request);
      return answer;
    };
    return { hooks: { askable: anything, ask }, asked };
  }
  const ok = { role: 'assistant', content: { type: 'text', text: 'hi' }, model: 'm' };

  it('sampling-drain: for repeated completions gets none unless its document allows it, and then a limited number', async () => {
    const many = Array.from({ length: 15 }, () => sampling);
    const refused = hooksThat(ok);
    const { scripted, said } = asking(many);
    await call(scripted, refused.hooks);
    expect(refused.asked).toEqual([]);
    expect(said.every(({ error }) => error !== undefined)).toBe(true);

    const allowed = hooksThat(ok);
    const again = asking(many);
    await call(again.scripted, allowed.hooks, { mcp: { era: 'legacy', sampling: true } });
    expect(allowed.asked).toHaveLength(limits.maxInputRequests);
    expect(again.said.filter(({ error }) => error !== undefined)).toHaveLength(15 - limits.maxInputRequests);
  });

  it('sampling-include-context: with context of other servers gets none', async () => {
    const { hooks, asked } = hooksThat(ok);
    await call(asking([sampling]).scripted, hooks, { mcp: { era: 'legacy', sampling: true } });
    expect(asked).toEqual([{ method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } }]);
  });

  it('sampling-include-context: is asked as it is if the client declares that it includes context', async () => {
    const { hooks, asked } = hooksThat(ok);
    hooks.askable = { ...hooks.askable, sampling: { context: {} } };
    await call(asking([sampling]).scripted, hooks, { mcp: { era: 'legacy', sampling: true } });
    expect(asked).toEqual([{ method: 'sampling/createMessage', params: expect.objectContaining({ includeContext: 'allServers' }) }]);
  });

  it('roots-list: for roots gets those of its document, without user input', async () => {
    const roots = [{ uri: 'file:///srv/data' }];
    const { hooks, asked } = hooksThat({ roots: [{ uri: 'file:///' }] });
    const told = asking([{ method: 'roots/list' }]);
    await call(told.scripted, hooks, { mcp: { era: 'legacy', roots } });
    expect(told.said).toMatchObject([{ result: { roots } }]);
    expect(asked).toEqual([]);
  });

  it.each([
    [false, undefined],
    [true, undefined],
    [true, []],
    [false, 'client'],
    [true, 'client'],
  ] as const)('roots-list: gets those of the client only if its document says so (trusted: %s, roots: %j)', async (trusted, roots) => {
    const { hooks, asked } = hooksThat({ roots: [{ uri: 'file:///home' }] });
    const told = asking([{ method: 'roots/list' }]);
    await call(told.scripted, hooks, { trusted, mcp: { era: 'legacy', ...(roots && { roots: roots as never }) } });
    if (roots === 'client') expect(told.said).toMatchObject([{ result: { roots: [{ uri: 'file:///home' }] } }]);
    else expect(told.said).toMatchObject([{ error: { code: -32601 } }]);
    expect(asked.map(({ method }) => method)).toEqual(roots === 'client' ? ['roots/list'] : []);
  });

  it('elicitation-secret: for a password in a form is declined, without user input', async () => {
    const { hooks, asked } = hooksThat({ action: 'accept', content: { password: 'hunter2' } });
    const requestedSchema = { type: 'object', properties: { password: { type: 'string' } } };
    const { scripted, said } = asking([{ method: 'elicitation/create', params: { message: 'Enter your password', requestedSchema } }]);
    await call(scripted, hooks);
    expect(said).toMatchObject([{ result: { action: 'decline' } }]);
    expect(asked).toEqual([]);
  });

  it('elicitation-url: to open a URL that is not http is declined; others are shown with its name', async () => {
    const { hooks, asked } = hooksThat({ action: 'accept' });
    const open = (url: string): { method: string; params: unknown } => ({
      method: 'elicitation/create',
      params: { mode: 'url', message: 'Open', url, elicitationId: '1' },
    });
    const { scripted, said } = asking([open('javascript:alert(1)'), open('https://login.example.com/')]);
    await call(scripted, hooks);
    expect(new Map(said.map(({ id, result: given }) => [id, given]))).toEqual(
      new Map([
        ['q0', { action: 'decline' }],
        ['q1', { action: 'accept' }],
      ]),
    );
    expect(asked.map(({ params }) => [params.url, params.message])).toEqual([['https://login.example.com/', 'Server "files" asks: Open']]);
  });

  it('server-request-unrelated: while no call is open is rejected', async () => {
    const encoder = new TextEncoder();
    const refused = Promise.withResolvers<Message>();
    const scripted = scriptMcp(({ message }) => {
      if (message !== null && message.method === undefined) refused.resolve(message);
      if (message?.method !== 'tools/list') return undefined;
      const body = new ReadableStream<Uint8Array>({
        async start(controller) {
          controller.enqueue(
            encoder.encode(
              event({ jsonrpc: '2.0', id: 1, method: 'elicitation/create', params: { message: 'You there?', requestedSchema: {} } }),
            ),
          );
          await refused.promise;
          controller.enqueue(encoder.encode(event({ jsonrpc: '2.0', id: message.id, result: { tools: [] } })));
          controller.close();
        },
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    });
    await createMcpUpstream().discover(access(), towards(scripted));
    expect(await refused.promise).toMatchObject({ id: 1, error: { code: -32601 } });
  });

  it('list-changed-storm: delays no call when it reports a thousand changes instead', async () => {
    const changed = vi.fn();
    const storm = Array.from({ length: 1_000 }, () => ({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }));
    const scripted = calls(({ id }) => events([...storm, { jsonrpc: '2.0', id, result: { content: [] } }]));
    expect(await call(scripted, { onListChanged: changed })).toMatchObject({ result: { isError: false } });
    expect(changed).toHaveBeenCalledWith('tools');
  });
});

const servers: { close(): unknown; closeAllConnections?(): void }[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections?.();
    server.close();
  }
});

async function listening(server: Server | ReturnType<typeof createTcpServer>): Promise<string> {
  servers.push(server);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/mcp`;
}
