/**
 * What a call is told to have been when its way fails, over real sockets: each kind of tool × each fault × whether it may be made again. A server that
 * refuses connections and one that breaks them look the same to a request of workerd (`src/net/unsent.ts`).
 */
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launcherHeader } from '../../src/core/servers/stdio.ts';
import { listenMcpServer, type FakeMcpServer } from '../fakes/mcp-server.ts';
import { listenToolServer, type ToolServer } from '../fakes/tool-server.ts';
import { type FaultyWay, openFaultyWay, type WayFault } from './faulty-way.ts';
import { makeDataDir, removeDataDir, root, type RunningService, startService } from './service.ts';

const dataDir = makeDataDir();
let service: RunningService;
const plain: Server[] = [];
let backup: ToolServer;
let tools: ToolServer;
let mcp: FakeMcpServer;
let ways: Record<'static' | 'openapi' | 'http_request' | 'mcp', FaultyWay>;
type Kind = keyof typeof ways;
const kinds: readonly Kind[] = ['static', 'openapi', 'http_request', 'mcp'];
let closed: string;

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const inputSchema = { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] };
const pay = { name: 'pay', description: 'Pays.', annotations: { readOnlyHint: false, destructiveHint: false }, inputSchema };
const read = { name: 'read', description: 'Reads.', annotations: { readOnlyHint: true }, inputSchema };
const operation = (operationId: string) => ({
  operationId,
  parameters: [{ name: 'q', in: 'query', required: true, schema: { type: 'string' } }],
  responses: { 200: { description: 'done' } },
});
const documentOf = (origin: string) => ({
  openapi: '3.1.0',
  info: { title: 'Payments', version: '1' },
  servers: [{ url: origin }],
  paths: { '/pay': { post: operation('pay') }, '/read': { get: operation('read') } },
});

const put = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
  const { status, json } = await service.call('PUT', path, body, headers);
  expect(status, JSON.stringify(json)).toBeLessThan(300);
};
const offer = async (...targets: string[]) => {
  const tool = targets.length === 1 ? targets[0] : targets;
  await put('/v1/toolsets/unanswered', { tools: [{ tool, name: 'say', aliases: [], approval: 'never' }] });
};
const call = async (args: Record<string, unknown> = { q: 'a' }) =>
  (await service.call('POST', '/v1/toolsets/unanswered/calls', { name: 'say', arguments: args })).json;
const textOf = ({ content }: { content: { text: string }[] }): string => content.map(({ text }) => text).join(' ');

/** Calls the tool of a kind. `isSafe`: one that may be made again. */
async function callKind(kind: Kind, isSafe: boolean) {
  if (kind !== 'http_request') {
    await offer(`${kind}.${isSafe ? 'read' : 'pay'}`);
    return await call();
  }
  await offer('builtin.http_request');
  return await call({ url: `http://127.0.0.1:${ways.http_request.port}/`, method: isSafe ? 'GET' : 'POST' });
}

/** Of an MCP server, the handshake passes. */
const within = (kind: Kind): string => (kind === 'mcp' ? '"tools/call"' : 'HTTP/1.1');
const portOf = (url: string): number => Number(new URL(url).port);

beforeAll(async () => {
  service = await startService(dataDir, { MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
  const answer = (text: string) => () => ({ content: [{ type: 'text', text }] });
  backup = await listenToolServer(answer('backup'));
  tools = await listenToolServer(answer('done'));
  const nothing = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ndone'));
  });
  const noTls = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  });
  plain.push(nothing, noTls);
  const [nothingPort = 0, noTlsPort = 0] = await Promise.all(
    plain.map(async (server) => {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return (server.address() as AddressInfo).port;
    }),
  );
  mcp = await listenMcpServer({
    eras: 'both-without-sessions',
    tools: [pay, read].map((tool) => ({ ...tool, answer: answer('done') })),
  });
  ways = {
    static: await openFaultyWay(portOf(tools.url)),
    openapi: await openFaultyWay(nothingPort),
    http_request: await openFaultyWay(nothingPort),
    mcp: await openFaultyWay(portOf(mcp.url)),
  };
  closed = `http://127.0.0.1:${await closedPort()}`;
  const urls = {
    backup: backup.url,
    static: `http://127.0.0.1:${ways.static.port}/call`,
    closed,
    nameless: 'http://no-such-host.example.com/',
    refused: 'http://no-such-host.invalid/',
    tls: `https://127.0.0.1:${noTlsPort}/`,
  };
  const more = { trusted: true, timeoutMs: 2_000 };
  for (const [name, url] of Object.entries(urls))
    await put(`/v1/servers/${name}`, { kind: 'static', url, tools: [pay, read], trusted: true });
  for (const [name, origin] of Object.entries({ openapi: `http://127.0.0.1:${ways.openapi.port}`, 'api-closed': closed }))
    await put(`/v1/servers/${name}`, { kind: 'openapi', document: documentOf(origin), ...more });
  await put('/v1/servers/mcp', { kind: 'mcp', url: `http://127.0.0.1:${ways.mcp.port}/mcp`, ...more });
  const { token } = JSON.parse(readFileSync(join(dataDir, 'launcher'), 'utf8')) as { token: string };
  // Its tools claim to be read-only, which counts if it is trusted.
  for (const trusted of [true, false]) {
    const args = [join(root, 'test/local/stdio/fake-server.mjs')];
    const program = { kind: 'mcp', command: process.execPath, args, trusted, timeoutMs: 2_000 };
    await put(`/v1/servers/program-${trusted}`, program, { [launcherHeader]: token });
  }
});

afterAll(async () => {
  await service.stop();
  removeDataDir(dataDir);
  await Promise.all([...Object.values(ways).map((way) => way.close()), mcp.close()]);
  for (const server of [backup, tools, ...plain]) server.close();
});

const faults: readonly WayFault[] = ['reset', 'close', 'cut reply', 'no HTTP', 'hang'];
/** The timeout of the others cannot be shortened. */
const isTimed = (kind: Kind): boolean => kind === 'openapi' || kind === 'mcp';
const table = kinds.flatMap((kind) => faults.flatMap((fault) => (fault !== 'hang' || isTimed(kind) ? [{ kind, fault }] : [])));

describe('a call that was sent', () => {
  it.each(table)('and must not be made again may have happened: $kind, $fault', async ({ kind, fault }) => {
    ways[kind].fail(fault, within(kind));
    const result = await callKind(kind, false);
    expect(result, JSON.stringify(result)).toMatchObject({ isError: true, code: 'outcome_unknown' });
    expect(textOf(result)).toContain('check before you repeat it');
    expect(textOf(result)).not.toMatch(/try|call it/i);
    expect(ways[kind].arrived()).toBe(1);
    ways[kind].fail(null);
  });

  it.each(table)('and only reads is made once more, but not after a timeout: $kind, $fault', async ({ kind, fault }) => {
    ways[kind].fail(fault, within(kind));
    const result = await callKind(kind, true);
    const isLate = fault === 'hang';
    expect(result, JSON.stringify(result)).toMatchObject({ isError: true, code: isLate ? 'timeout' : 'tool_error' });
    // workerd sends a request without a body again by itself if the connection that it had kept open is closed.
    expect(isLate ? [1] : fault === 'close' ? [2, 3] : [2]).toContain(ways[kind].arrived());
    if (!isLate) {
      ways[kind].fail(fault, within(kind), 1);
      expect(await callKind(kind, true)).toMatchObject({ isError: false });
    }
    ways[kind].fail(null);
  });

  it.each([
    ['reset', 'broke the connection before it responded'],
    ['no HTTP', 'responded with something that is not HTTP'],
    ['cut reply', 'broke off before its end'],
  ] as const)('says how the server failed: %s', async (fault, what) => {
    ways.static.fail(fault);
    expect(textOf(await callKind('static', true))).toContain(what);
    ways.static.fail(null);
  });

  it.each([
    [false, 'outcome_unknown'],
    [true, 'timeout'],
  ])('to a program that does not respond, trusted: %s, is %s', async (trusted, code) => {
    await offer(`program-${trusted}.hang`);
    expect(await call({})).toMatchObject({ isError: true, code });
  });

  it('to a program that ends may have happened; one that only reads says that it ended', async () => {
    await offer('program-false.crash');
    const unsafe = await call({});
    expect(unsafe).toMatchObject({ isError: true, code: 'outcome_unknown' });
    expect(textOf(unsafe)).toMatch(/exited with code 3 before it responded.*check before you repeat it/);
    await offer('program-true.crash');
    const safe = await call({});
    expect(safe).toMatchObject({ isError: true, code: 'tool_error' });
    expect(textOf(safe)).toContain('exited with code 3');
  });
});

describe('a call that was not sent', () => {
  it.each([
    ['closed.pay', 'it refuses connections'],
    ['api-closed.pay', 'it refuses connections'],
    ['nameless.pay', 'its name does not resolve'],
    ['tls.pay', 'the TLS handshake failed'],
    // The guard refuses it.
    ['refused.pay', 'is not a public name'],
  ])('to %s says why, and is made at the second target', async (target, why) => {
    await offer(target);
    const alone = await call();
    expect(alone).toMatchObject({ isError: true, code: 'tool_error' });
    expect(textOf(alone)).toContain(why);
    await offer(target, 'backup.pay');
    expect(await call()).toMatchObject({
      isError: false,
      content: [{ text: 'backup' }],
      served: { tool: 'backup.pay', tried: [{ tool: target, code: 'tool_error' }] },
    });
  });

  it.each(['closed.read', 'nameless.read', 'tls.read'])('and only reads says why: %s', async (target) => {
    await offer(target);
    const result = await call();
    expect(result).toMatchObject({ isError: true, code: 'tool_error' });
    expect(textOf(result)).toMatch(/could not be reached: (it refuses connections|its name does not resolve|the TLS handshake failed)/);
  });

  it('of the tool for requests says why', async () => {
    await offer('builtin.http_request');
    const result = await call({ url: closed, method: 'POST', body: 'x' });
    expect(result).toMatchObject({ isError: true, code: 'tool_error' });
    expect(textOf(result)).toContain('it refuses connections');
  });
});

describe('a call with two targets', () => {
  it.each(['static', 'openapi', 'mcp'] as const)('that %s got is not made again', async (kind) => {
    ways[kind].fail('reset', within(kind));
    const before = backup.calls.length;
    await offer(`${kind}.pay`, 'backup.pay');
    expect(await call()).toMatchObject({ isError: true, code: 'outcome_unknown', served: { tool: `${kind}.pay` } });
    expect([ways[kind].arrived(), backup.calls.length]).toEqual([1, before]);
    ways[kind].fail(null);
  });

  it('of which the first is an MCP server that is down is made at the second', async () => {
    await offer('mcp.pay', 'backup.pay');
    expect(await call()).toMatchObject({ content: [{ text: 'done' }] });
    await ways.mcp.close();
    expect(await call()).toMatchObject({
      content: [{ text: 'backup' }],
      served: { tool: 'backup.pay', tried: [{ tool: 'mcp.pay', code: 'tool_error' }] },
    });
  });
});
