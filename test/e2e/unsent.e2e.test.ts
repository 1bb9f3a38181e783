/**
 * A call that was certainly not sent, against one that may have arrived, over real sockets: with one target and with two, for each kind of server.
 * A server that refuses connections and one that breaks them look the same to a request (`src/net/unsent.ts`).
 */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listenMcpServer, type FakeMcpServer } from '../fakes/mcp-server.ts';
import { listenToolServer, type ToolServer } from '../fakes/tool-server.ts';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'servers:127.0.0.1:*' });
const sockets: Server[] = [];
let backup: ToolServer;
let mcp: FakeMcpServer;
/** How many requests have arrived at the servers that break connections. */
let arrived = 0;
/** The way to the MCP server, which can break. */
let between: number;
let isBroken = false;
const open = new Set<Socket>();

async function listen(take: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined); // the test breaks connections
    take(socket);
  });
  sockets.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function closedPort(): Promise<number> {
  const port = await listen(() => undefined);
  await new Promise((resolve) => sockets.pop()?.close(resolve));
  return port;
}

const inputSchema = { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] };
const post = { name: 'post', description: 'Posts.', annotations: { readOnlyHint: false, destructiveHint: false }, inputSchema };
const document = (origin: string) => ({
  openapi: '3.1.0',
  info: { title: 'Posts', version: '1' },
  servers: [{ url: origin }],
  paths: {
    '/post': {
      post: {
        operationId: 'post',
        requestBody: { required: true, content: { 'application/json': { schema: inputSchema } } },
        responses: { 200: { description: 'posted' } },
      },
    },
  },
});

const put = async (path: string, body: unknown) => {
  const { status, json } = await service.call('PUT', path, body);
  expect(status, JSON.stringify(json)).toBeLessThan(300);
};
const call = async (...targets: string[]) => {
  await put('/v1/toolsets/unsent', {
    tools: [{ tool: targets.length === 1 ? targets[0] : targets, name: 'say', aliases: [], approval: 'never' }],
  });
  return (await service.call('POST', '/v1/toolsets/unsent/calls', { name: 'say', arguments: { q: 'a' } })).json;
};

beforeAll(async () => {
  backup = await listenToolServer(() => ({ content: [{ type: 'text', text: 'backup' }] }));
  const closed = `http://127.0.0.1:${await closedPort()}`;
  const breaking = `http://127.0.0.1:${await listen((socket) =>
    socket.once('data', () => {
      arrived += 1;
      socket.destroy();
    }),
  )}`;
  const plain = await listen((socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')));
  mcp = await listenMcpServer({
    eras: 'both-without-sessions',
    tools: [{ ...post, answer: () => ({ content: [{ type: 'text', text: 'mcp' }] }) }],
  });
  between = await listen((socket) => {
    const behind = connect(Number(new URL(mcp.url).port), '127.0.0.1');
    behind.on('error', () => socket.destroy());
    behind.on('data', (bytes) => socket.write(bytes));
    socket.on('close', () => behind.destroy());
    socket.on('data', (bytes) => {
      open.add(socket);
      if (!isBroken) return behind.write(bytes);
      arrived += 1;
      return socket.destroy();
    });
  });
  const urls = {
    backup: backup.url,
    closed,
    breaking,
    nameless: 'http://no-such-host.example.com/',
    refused: 'http://no-such-host.invalid/',
    tls: `https://127.0.0.1:${plain}/`,
  };
  for (const [name, url] of Object.entries(urls)) await put(`/v1/servers/${name}`, { kind: 'static', url, trusted: true, tools: [post] });
  for (const [name, url] of Object.entries({ 'api-closed': closed, 'api-breaking': breaking }))
    await put(`/v1/servers/${name}`, { kind: 'openapi', document: document(url), trusted: true });
  await put('/v1/servers/remote', { kind: 'mcp', url: `http://127.0.0.1:${between}/mcp`, trusted: true });
});

afterAll(async () => {
  backup.close();
  await mcp.close();
  for (const server of sockets) server.close();
});

describe('a call with an effect', () => {
  it.each([
    ['closed.post', 'it refuses connections'],
    ['api-closed.post', 'it refuses connections'],
    ['nameless.post', 'its name does not resolve'],
    ['tls.post', 'the TLS handshake failed'],
    // The guard refuses it.
    ['refused.post', 'is not a public name'],
  ])('is made at the second target if %s cannot be connected to, and the first one says why', async (target, why) => {
    expect(await call(target, 'backup.post')).toMatchObject({
      isError: false,
      content: [{ text: 'backup' }],
      served: { tool: 'backup.post', tried: [{ tool: target, code: 'tool_error' }] },
    });
    const both = await call(target, 'closed.post' === target ? 'tls.post' : 'closed.post');
    expect(both).toMatchObject({ isError: true, code: 'tool_error' });
    expect(JSON.stringify(both.content)).toContain(why);
  });

  it.each(['breaking.post', 'api-breaking.post'])('that %s got is not made again, and its outcome is unknown', async (target) => {
    const before = [arrived, backup.calls.length];
    const result = await call(target, 'backup.post');
    expect(result).toMatchObject({ isError: true, code: 'outcome_unknown', served: { tool: target } });
    expect(JSON.stringify(result.content)).toContain('check before you repeat it');
    expect([arrived, backup.calls.length]).toEqual([(before[0] ?? 0) + 1, before[1]]);
  });

  it('of one target has an unknown outcome in both cases, since the runtime does not tell them apart', async () => {
    const [refused, lost] = [await call('closed.post'), await call('breaking.post')];
    for (const result of [refused, lost]) expect(result).toMatchObject({ isError: true, code: 'outcome_unknown' });
    const reason = ({ content }: { content: [{ text: string }] }) => content[0].text.replace(/^.* failed: \S+/, '');
    expect(reason(refused)).toBe(reason(lost));
  });

  it('of an MCP server follows the same rule', async () => {
    expect(await call('remote.post', 'backup.post')).toMatchObject({ content: [{ text: 'mcp' }] });
    isBroken = true;
    const before = [arrived, backup.calls.length];
    const broken = await call('remote.post', 'backup.post');
    isBroken = false;
    expect([arrived, backup.calls.length]).toEqual([(before[0] ?? 0) + 1, before[1]]);
    expect(broken).toMatchObject({ isError: true, code: 'outcome_unknown', served: { tool: 'remote.post' } });
    const way = sockets.find((server) => (server.address() as AddressInfo | null)?.port === between);
    const isClosed = new Promise((resolve) => way?.close(resolve));
    for (const socket of open) socket.destroy();
    await isClosed;
    expect(await call('remote.post', 'backup.post')).toMatchObject({
      isError: false,
      content: [{ text: 'backup' }],
      served: { tool: 'backup.post', tried: [{ tool: 'remote.post', code: 'tool_error' }] },
    });
  });
});
