/** Servers of the HTTP+SSE transport (2024-11-05): one stream for all responses, and POSTs to the endpoint that its first event names. */
import { describe, expect, it } from 'vitest';
import { createMcpUpstream } from '../../../src/mcp/client/upstream.ts';
import type { ServerAccess } from '../../../src/core/servers/server.ts';
import { recordOf } from '../../../src/core/json/wire-value.ts';
import { accessTo, callOf, contextWith } from './context.ts';

type Message = Record<string, unknown>;
type Sse = { requests: string[]; fetch(request: Request): Promise<Response> };

const url = 'https://old.example.com/sse';

/** `endpoint`: the data of the first event. `reply`: to messages besides the handshake; null: the stream ends. */
function sseServer(reply: (message: Message, send: (message: Message) => void) => Message | null, endpoint = '/messages?session=1'): Sse {
  const requests: string[] = [];
  const encoder = new TextEncoder();
  let stream: ReadableStreamDefaultController<Uint8Array> | null = null;
  const write = (event: string, data: string): void => stream?.enqueue(encoder.encode(`event: ${event}\ndata: ${data}\n\n`));
  const send = (message: Message): void => write('message', JSON.stringify({ jsonrpc: '2.0', ...message }));
  return {
    requests,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const message = request.method === 'POST' ? recordOf(JSON.parse(await request.text())) : {};
      requests.push(`${request.method} ${pathname}${typeof message.method === 'string' ? ` ${message.method}` : ''}`);
      if (pathname === '/sse' && request.method === 'POST') return new Response('Cannot POST /sse', { status: 404 });
      if (pathname === '/sse') {
        const body = new ReadableStream<Uint8Array>({
          start(controller) {
            stream = controller;
          },
          cancel() {
            stream = null;
          },
        });
        write('endpoint', endpoint);
        return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
      }
      if (message.method === 'initialize')
        send({
          id: message.id,
          result: { protocolVersion: '2024-11-05', capabilities: { tools: {} }, serverInfo: { name: 'old', version: '1' } },
        });
      else if (message.id !== undefined && message.method !== undefined) {
        const answer = reply(message, send);
        if (answer === null) stream?.close();
        else send({ id: message.id, ...answer });
      }
      return new Response('Accepted', { status: 202 });
    },
  };
}

const tools = [{ name: 'echo', inputSchema: { type: 'object' } }];
const work = (message: Message): Message =>
  message.method === 'tools/list' ? { result: { tools } } : { result: { content: [{ type: 'text', text: 'done' }] } };

const towards = (server: Sse) => contextWith({ fetch: (request) => server.fetch(request) });
const access = (more: Partial<ServerAccess> = {}): ServerAccess => accessTo(url, more);
const failed = (text: string) => expect.objectContaining({ detail: expect.stringContaining(text) });

describe('an SSE server', () => {
  it('is detected when it has no endpoint of Streamable HTTP, and listed and called', async () => {
    const server = sseServer(work);
    const upstream = createMcpUpstream();
    const { tools: listed, connection } = await upstream.discover(access(), towards(server));
    expect(listed).toEqual(tools);
    expect(connection).toMatchObject({ transport: 'sse', protocolVersion: '2024-11-05', server: { name: 'old' } });
    server.requests.length = 0;
    const answer = await upstream.callTool(access({ connection }), callOf('echo'), {}, towards(server));
    expect(answer).toMatchObject({ kind: 'result', result: { content: [{ type: 'text', text: 'done' }] } });
    expect(server.requests).toEqual([
      'GET /sse',
      'POST /messages initialize',
      'POST /messages notifications/initialized',
      'POST /messages tools/call',
    ]);
  });

  it('is used without another request if the document says so, with its headers', async () => {
    const server = sseServer(work);
    const seen: (string | null)[] = [];
    const context = contextWith({
      fetch: (request) => {
        seen.push(request.headers.get('x-token'));
        return server.fetch(request);
      },
    });
    await createMcpUpstream().discover(access({ mcp: { transport: 'sse' }, headers: { 'x-token': { secret: 'T' } } }), context);
    expect(server.requests[0]).toBe('GET /sse');
    expect(new Set(seen)).toEqual(new Set(['value of T']));
  });

  it('reports progress, and can ask the caller', async () => {
    const server = sseServer((message, send) => {
      const { progressToken } = recordOf(recordOf(message.params)._meta);
      send({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
      send({
        id: 'question',
        method: 'elicitation/create',
        params: { message: 'Name?', requestedSchema: { type: 'object', properties: {} } },
      });
      return work(message);
    });
    const progress: number[] = [];
    const asked: unknown[] = [];
    const hooks = {
      askable: { elicitation: { form: {} } },
      progress: (update: { progress: number }) => void progress.push(update.progress),
      ask: async (request: unknown) => {
        asked.push(request);
        return { action: 'decline' as const };
      },
    };
    await createMcpUpstream().callTool(access({ mcp: { transport: 'sse' } }), callOf('echo'), hooks, towards(server));
    expect(progress).toEqual([1]);
    await expect.poll(() => asked.length).toBe(1);
  });

  it('fails the call if its stream ends before the response', async () => {
    const call = createMcpUpstream().callTool(access({ mcp: { transport: 'sse' } }), callOf('echo'), {}, towards(sseServer(() => null)));
    await expect(call).rejects.toEqual(failed('ended its event stream without a response'));
  });

  it('may not name an endpoint of another origin', async () => {
    const server = sseServer(work, 'https://evil.example.com/messages');
    await expect(createMcpUpstream().discover(access({ mcp: { transport: 'sse' } }), towards(server))).rejects.toEqual(
      failed('named an endpoint of another origin'),
    );
    expect(server.requests).toEqual(['GET /sse']);
  });
});

describe('a server of neither transport', () => {
  it('is reported with the response to Streamable HTTP', async () => {
    const fetch = async (request: Request): Promise<Response> => new Response('no', { status: request.method === 'POST' ? 405 : 404 });
    await expect(createMcpUpstream().discover(access(), contextWith({ fetch }))).rejects.toEqual(
      failed('responded 405. It has no MCP endpoint'),
    );
    await expect(createMcpUpstream().discover(access({ mcp: { transport: 'sse' } }), contextWith({ fetch }))).rejects.toEqual(
      failed('responded 404 instead of an event stream'),
    );
  });
});

describe('a server with a query', () => {
  it('gets it with each request, on both endpoints, and no other part of the connection knows it', async () => {
    const { fetch: send } = sseServer(() => ({ result: { content: [{ type: 'text', text: 'done' }] } }));
    const urls: string[] = [];
    const context = contextWith({
      fetch: (request) => {
        urls.push(request.url);
        return send(request);
      },
    });
    const server: ServerAccess = accessTo(url, { query: { key: { secret: 'KEY' } }, mcp: { transport: 'sse' } });
    const answer = await createMcpUpstream().callTool(server, callOf('add'), {}, context);
    expect(answer).toMatchObject({ kind: 'result', result: { isError: false } });
    expect(new Set(urls.map((one) => new URL(one).searchParams.get('key')))).toEqual(new Set(['value of KEY']));
    expect(urls.some((one) => one.startsWith('https://old.example.com/messages?session=1&'))).toBe(true);
  });
});
