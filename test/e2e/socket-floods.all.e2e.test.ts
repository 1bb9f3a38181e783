/** Attacks on the WebSockets of `/v1/responses`: each ends with its own connection, and the service answers others meanwhile. */
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { limits } from '../../src/core/limits/limits.ts';
import { refOf, startFakeProviders, type FakeProviders } from './fake-providers.ts';
import { openSocket, type OpenSocket } from './responses-sockets.ts';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'providers:127.0.0.1:*' });
let providers: FakeProviders;
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const newKey = async (fields: object = {}): Promise<string> =>
  (await service.call('POST', '/v1/keys', { name: 'flooding', scopes: ['chat'], ...fields })).json.key;

beforeAll(async () => {
  providers = await startFakeProviders();
  await providers.putAll(service.call);
});
afterAll(() => providers.close());

const open = (headers: Record<string, string>) => openSocket(`${service.url}/v1/responses`, headers);

async function expectService(): Promise<void> {
  const story = providers.start('after a flood', { say: () => ({ text: 'Still here.' }) });
  const socket = await open(bearer(service.key));
  const reply = await socket.ask({ type: 'response.create', model: refOf('openai'), input: story.mark });
  expect(reply.text).toBe('Still here.');
  socket.close();
}

it.each([
  ['tiny messages', 'x'],
  ['JSON that is no request', '{}'],
  ['binary messages', new Uint8Array([0])],
  ['requests that are prepared', JSON.stringify({ type: 'response.create', model: 'a/b', generate: false, input: 'x' })],
])('a flood of 10,000 %s ends its connection', async (_what, message) => {
  const socket = await open(bearer(await newKey()));
  for (let sent = 0; sent < 10_000; sent += 1) socket.sendText(message);
  const { code } = await socket.closed;
  expect([1000, 1003, 1008]).toContain(code);
  // A prepared request has three events.
  expect(socket.events().length).toBeLessThanOrEqual(3 * limits.maxSocketMessages + 1);
  await expectService();
});

it('has no more WebSockets of a key than streams, and its places are free when they are closed', async () => {
  const headers = bearer(await newKey({ limits: { openStreams: 100 } }));
  const opened = await Promise.allSettled(Array.from({ length: 500 }, () => open(headers)));
  const sockets = opened.flatMap((result): OpenSocket[] => (result.status === 'fulfilled' ? [result.value] : []));
  expect(sockets).toHaveLength(100);
  await expectService();
  for (const socket of sockets) socket.close();
  await expect.poll(async () => await open(headers).then((socket) => socket.close(), String)).toBe(undefined);
});

it('refuses a message that is longer than a body may be', async () => {
  const socket = await open(bearer(await newKey()));
  const input = 'x'.repeat(limits.maxLargeBodyBytes + 1);
  socket.send({ type: 'response.create', model: refOf('openai'), input });
  expect([1009, 1006]).toContain((await socket.closed).code);
  await expectService();
});

it('survives connections that stop in the middle of a message', async () => {
  const { hostname, port } = new URL(service.url);
  const upgrade = `GET /v1/responses HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${service.key}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n`;
  const half = async (): Promise<Socket> => {
    const socket = connect(Number(port), hostname);
    socket.write(upgrade);
    await new Promise((resolve) => socket.once('data', resolve));
    // A masked text message of 65,535 bytes, of which only the header is sent.
    socket.write(Buffer.from([0x81, 0xfe, 0xff, 0xff, 1, 2, 3, 4, 5]));
    return socket;
  };
  const sockets = await Promise.all(Array.from({ length: 50 }, half));
  await expectService();
  for (const socket of sockets) socket.destroy();
});
