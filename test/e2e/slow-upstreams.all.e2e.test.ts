/** Slow upstreams, and callers that disconnect, cancel or lose their key meanwhile: what the upstream sees of it. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDataDir, parseEvents, removeDataDir, startService, type RunningService } from './service.ts';
import { waitUntil } from '../wait-for.ts';
import { endedTurn } from './eventually.ts';

const pieces = 60;

/** `/stall` never responds, `/drip` never ends, `/v1/chat/completions` sends its chunks 20 ms apart. */
async function startSlowUpstream() {
  const closed = new Map<string, PromiseWithResolvers<'whole' | 'cut'>>();
  const hearing = (path: string) => {
    const one = closed.get(path) ?? Promise.withResolvers<'whole' | 'cut'>();
    closed.set(path, one);
    return one;
  };
  const arrived = new Set<string>();
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? '';
    response.once('close', () => hearing(path).resolve(response.writableFinished ? 'whole' : 'cut'));
    arrived.add(path);
    request.resume();
    if (path.startsWith('/stall')) return;
    let said = 0;
    const timer = setInterval(() => {
      if (path.startsWith('/drip')) return void response.write('x');
      said += 1;
      if (said <= pieces) return void response.write(frame({ content: `${said} ` }, null));
      clearInterval(timer);
      response.end(`${frame({}, 'stop')}data: [DONE]\n\n`);
    }, 20);
    response.once('close', () => clearInterval(timer));
    response.writeHead(200, { 'content-type': path.startsWith('/drip') ? 'text/plain' : 'text/event-stream' });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrived,
    /** How the connection of the first request to this path ended. */
    closed: (path: string) => hearing(path).promise,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const frame = (delta: object, reason: string | null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;

describe('a slow upstream', () => {
  const dataDir = makeDataDir();
  let service: RunningService;
  let upstream: Awaited<ReturnType<typeof startSlowUpstream>>;

  beforeAll(async () => {
    upstream = await startSlowUpstream();
    service = await startService(dataDir, { MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
    const made = [
      await service.call('PUT', '/v1/toolsets/slow', {
        tools: [
          { tool: 'builtin.http_request', name: 'get_it', approval: 'never' },
          { tool: 'builtin.bash', name: 'asks', approval: 'always' },
        ],
      }),
      await service.call('PUT', '/v1/agents/hasty', { model: 'rehearsal/default', toolset: 'slow', limits: { toolTimeoutMs: 800 } }),
      await service.call('PUT', '/v1/providers/slow', { kind: 'openai-compatible', baseUrl: `${upstream.url}/v1`, apiKey: 'sk-x' }),
    ];
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201]);
  });

  afterAll(async () => {
    await service?.stop();
    upstream?.close();
    removeDataDir(dataDir);
  });

  const begin = async (body: object, headers: Record<string, string> = {}): Promise<string> => {
    const made = await service.call('POST', '/v1/sessions', body, headers);
    expect(made.status, made.text).toBe(201);
    return made.json.id;
  };
  const messages = async (session: string) => (await service.call('GET', `/v1/sessions/${session}/messages`)).json.items;

  it('is disconnected at the tool’s timeout, whether silent or dripping; the model receives the tool’s name, and nothing is sent later', async () => {
    const session = await begin({ agent: 'hasty' });
    const input = ['/stall/1', '/drip/1'].map((path) => `/get_it ${JSON.stringify({ url: upstream.url + path })}`).join('\n');
    const { json } = await service.call('POST', `/v1/sessions/${session}/turns`, { input });
    expect(json.status).toBe('completed');
    expect(json.toolCalls.map(({ code }: { code: string }) => code)).toEqual(['timeout', 'timeout']);
    for (const { content } of json.toolCalls) expect(content[0].text).toContain('builtin.http_request did not finish within 0.8 s');
    expect(await Promise.all(['/stall/1', '/drip/1'].map(upstream.closed))).toEqual(['cut', 'cut']);
    const before = await messages(session);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await messages(session)).toEqual(before);
  });

  it('is disconnected by a cancel in the middle of a call', async () => {
    const session = await begin({ model: 'rehearsal/default', toolset: 'slow' });
    const input = `/get_it ${JSON.stringify({ url: `${upstream.url}/drip/2` })}`;
    const answer = service.call('POST', `/v1/sessions/${session}/turns`, { input });
    await waitUntil(() => upstream.arrived.has('/drip/2'));
    expect((await service.call('POST', `/v1/sessions/${session}/cancel`)).json.cancelled).toBe(true);
    expect(await upstream.closed('/drip/2')).toBe('cut');
    expect((await answer).json).toMatchObject({ status: 'cancelled', toolCalls: [{ code: 'aborted' }] });
  });

  it('completes its response although the reader disconnected after two events, and all of it is stored', async () => {
    const session = await begin({ model: 'slow/paced' });
    const caller = new AbortController();
    const answer = await fetch(`${service.url}/v1/sessions/${session}/turns`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json', accept: 'text/event-stream' },
      body: '{"input": "hi"}',
      signal: caller.signal,
    });
    let heard = '';
    for await (const chunk of answer.body ?? []) {
      heard += new TextDecoder().decode(chunk);
      if (heard.split('\n\n').length > 2) break;
    }
    caller.abort();
    expect(heard).not.toContain('turn-end');
    expect(await upstream.closed('/v1/chat/completions')).toBe('whole');
    const text = Array.from({ length: pieces }, (_, piece) => `${piece + 1} `).join('');
    let events = parseEvents(heard).slice(0, 0);
    while (!events.some(({ type }) => type === 'turn-end')) {
      const stream = await fetch(`${service.url}/v1/sessions/${session}/events`, { headers: { authorization: `Bearer ${service.key}` } });
      let read = '';
      for await (const chunk of stream.body ?? []) {
        read += new TextDecoder().decode(chunk);
        if (read.includes('event: turn-end') && read.endsWith('\n\n')) break;
      }
      events = parseEvents(read);
    }
    expect(events.flatMap(({ type, data }) => (type === 'text-delta' ? [data.text] : [])).join('')).toBe(text);
  });

  it('cannot be used by a revoked key: an administrator continues the turn, with the permissions from its start', async () => {
    const made = await service.call('POST', '/v1/keys', { name: 'leaves', scopes: ['chat', 'approve'] });
    const headers = { authorization: `Bearer ${made.json.key}` };
    const session = await begin({ model: 'rehearsal/default', toolset: 'slow' }, headers);
    const say = { input: '/asks echo it ran' };
    const { json } = await service.call('POST', `/v1/sessions/${session}/turns`, say, headers);
    expect(json.status).toBe('waiting');
    const word = `/v1/sessions/${session}/approvals/${json.pending[0].callId}`;
    expect((await service.call('DELETE', `/v1/keys/${made.json.id}`)).status).toBe(204);
    for (const [method, path, body] of [
      ['GET', `/v1/sessions/${session}`, undefined],
      ['POST', word, { decision: 'approve' }],
      ['POST', `/v1/sessions/${session}/turns`, say],
      ['POST', `/v1/sessions/${session}/cancel`, {}],
    ] as const)
      expect([path, (await service.call(method, path, body, headers)).status]).toEqual([path, 401]);
    expect((await service.call('GET', `/v1/sessions/${session}`)).json.turn.status).toBe('waiting');
    expect((await service.call('POST', word, { decision: 'approve' })).status).toBe(200);
    await endedTurn(service, session);
    expect(JSON.stringify(await messages(session))).toContain('it ran');
  });
});
