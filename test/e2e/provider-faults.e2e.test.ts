/** What a client is told of a provider whose connection fails in each way, over real sockets, and which replies count all the same. */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
const servers: Server[] = [];
const open = new Set<Socket>();
/** When each request has arrived, without those that look for the reason of a failure. */
let arrived: number[] = [];
let respond: (socket: Socket) => void = () => undefined;

async function listen(take: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => undefined); // the test breaks connections
    socket.on('close', () => open.delete(socket));
    take(socket);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port; // It listens on TCP.
}

beforeAll(async () => {
  const port = await listen((socket) => {
    let text = '';
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
      const isProbe = text.startsWith('OPTIONS *');
      // A whole request: its body is one line of JSON.
      if (!isProbe && !text.endsWith('}')) return;
      text = '';
      if (!isProbe) arrived.push(Date.now());
      respond(socket);
    });
  });
  const noTls = await listen((socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')));
  const closed = await listen(() => undefined);
  await new Promise((resolve) => servers.pop()?.close(resolve));
  const urls = {
    faulty: `http://127.0.0.1:${port}/v1`,
    closed: `http://127.0.0.1:${closed}/v1`,
    nameless: 'http://no-such-host.example.com/v1',
    tls: `https://127.0.0.1:${noTls}/v1`,
  };
  for (const [name, baseUrl] of Object.entries(urls)) {
    const { status, text } = await service.call('PUT', `/v1/providers/${name}`, { kind: 'openai-compatible', baseUrl });
    expect(status, text).toBeLessThan(300);
  }
});

afterAll(() => {
  for (const socket of open) socket.destroy();
  for (const server of servers) server.close();
});

const ask = async (name: string) => {
  arrived = [];
  return await service.call('POST', '/v1/chat/completions', { model: `${name}/m`, messages: [{ role: 'user', content: 'Hello' }] });
};
const askTurn = async (name: string) => {
  arrived = [];
  const session = (await service.call('POST', '/v1/sessions', { model: `${name}/m` })).json.id;
  return await service.call('POST', `/v1/sessions/${session}/turns`, { input: 'Hello' });
};

const event = (body: unknown): string => `data: ${JSON.stringify(body)}\n\n`;
const chunk = (choice: object, more: object = {}): string =>
  event({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, ...choice }], ...more });
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const reply =
  chunk({ delta: { role: 'assistant', content: 'Well.' }, finish_reason: null }) +
  chunk({ delta: {}, finish_reason: 'stop' }) +
  event({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage });
const streamHead = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n';

describe('a reply with its finish reason and usage', () => {
  it.each([
    ['stays open', (socket: Socket) => void socket.write(streamHead + reply)],
    ['is broken off', (socket: Socket) => void socket.write(streamHead + reply, () => setImmediate(() => socket.resetAndDestroy()))],
  ])('is accepted once if its stream %s', async (_how, answer) => {
    respond = answer;
    const { json, text } = await askTurn('faulty');
    expect(json, text).toMatchObject({ status: 'completed', text: 'Well.', usage: { inputTokens: 3, outputTokens: 2 } });
    expect(arrived).toHaveLength(1);
  });
});

describe('a provider that fails', () => {
  it.each([
    ['closed', 'it refuses connections'],
    ['nameless', 'its name does not resolve'],
    ['tls', 'the TLS handshake failed'],
  ])('before the request is named with the reason: %s', async (name, why) => {
    const { status, json } = await ask(name);
    expect([status, JSON.stringify(json)]).toEqual([502, expect.stringContaining(why)]);
  });

  it.each([
    ['resets the connection', (socket: Socket) => void socket.resetAndDestroy(), 'broke the connection before it responded'],
    ['sends no HTTP', (socket: Socket) => void socket.end('SSH-2.0-OpenSSH_9.6\r\n'), 'responded with something that is not HTTP'],
    [
      'sends less than its content-length',
      (socket: Socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 999\r\n\r\n{"choices": ['),
      'broke off its reply',
    ],
  ])('after the request is named with what it did: it %s', async (_what, answer, what) => {
    respond = answer;
    const { status, json } = await ask('faulty');
    expect([status, JSON.stringify(json)]).toEqual([502, expect.stringContaining(what)]);
  });

  it('is named as what a turn waited for when its time is over', async () => {
    respond = () => undefined;
    await service.call('PUT', '/v1/agents/hasty', { model: 'faulty/m', limits: { turnTimeoutMs: 2_000 } });
    const session = (await service.call('POST', '/v1/sessions', { agent: 'hasty' })).json.id;
    const { text } = await service.call('POST', `/v1/sessions/${session}/turns`, { input: 'Hello' });
    expect(text).toContain('It waited for the model faulty/m, which had not finished its reply');
    expect(text).not.toContain('smaller piece');
  });

  it.each(['0', 'Wed, 21 Oct 2015 07:28:00 GMT'])(
    'is asked again with growing delays whatever it asks for: Retry-After: %s',
    async (value) => {
      respond = (socket) => void socket.write(`HTTP/1.1 429 Too Many Requests\r\nretry-after: ${value}\r\ncontent-length: 0\r\n\r\n`);
      expect((await ask('faulty')).status).toBe(429);
      const [first = 0, second = 0, third = 0] = arrived;
      expect(arrived).toHaveLength(3);
      expect([second - first >= 450, third - second >= 900]).toEqual([true, true]);
    },
  );
});
