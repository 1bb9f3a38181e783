/** The outbound client against a real server that misbehaves: the plain-body rows of `security/upstream-responses.json`. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOutbound } from '../../src/net/outbound.ts';
import { toolBench } from '../tools/run-tool.ts';

const megabytes = (count: number): Uint8Array => new Uint8Array(count * 1024 * 1024);

const answers: Record<string, (response: ServerResponse) => void> = {
  '/gzip-bomb': (response) =>
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'text/plain' }).end(gzipSync(megabytes(200))),
  '/br-bomb': (response) =>
    response.writeHead(200, { 'content-encoding': 'br', 'content-type': 'text/plain' }).end(brotliCompressSync(megabytes(50))),
  '/endless': (response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    const pour = (): void => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
      if (!response.destroyed) response.once('drain', pour);
    };
    pour();
  },
  '/length-too-large': (response) => {
    response.writeHead(200, { 'content-length': '1000', 'content-type': 'text/plain' });
    response.write('only this');
    setImmediate(() => response.destroy());
  },
  '/wrong-encoding': (response) => response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'text/plain' }).end('not gzip'),
  '/charset-lie': (response) =>
    response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' }).end(Buffer.from([0xff, 0xfe, 0x41])),
  '/binary': (response) => response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(Buffer.from([0, 1, 2])),
  '/json-bomb': (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('['.repeat(1_000_000)),
  '/header-100k': (response) => response.writeHead(200, { 'x-long': 'a'.repeat(100_000) }).end('ok'),
  '/reset': (response) => response.destroy(),
};

describe('a hostile upstream', () => {
  let server: Server;
  let ask: (path: string) => Promise<{ isError: boolean; code?: string; text: string }>;

  beforeAll(async () => {
    server = createServer((request, response) => (answers[request.url ?? ''] ?? ((unknown) => unknown.writeHead(404).end()))(response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const outbound = createOutbound({ allowPrivateHosts: [`127.0.0.1:${port}`], publicUrl: null });
    const { run } = toolBench({ fetch: (request) => outbound(request, { purpose: 'tool' }) });
    ask = (path) => run('builtin.http_request', { url: `http://127.0.0.1:${port}${path}` });
  });

  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it.each(['/gzip-bomb', '/br-bomb', '/endless'])('cannot fill memory: %s is cut at the bound', async (path) => {
    expect(await ask(path)).toMatchObject({ isError: false, text: expect.stringContaining('Only the first 1048576 bytes') });
  });

  it.each(['/length-too-large', '/wrong-encoding'])('cannot pass off half a body as complete: %s is an error', async (path) => {
    expect(await ask(path)).toMatchObject({ isError: true, code: 'tool_error', text: expect.stringContaining('broke off') });
  });

  it.each([
    ['/header-100k', 'could not be reached, or the connection broke'],
    ['/reset', 'broke the connection before it responded'],
  ])('is reported if it breaks HTTP: %s', async (path, what) => {
    expect(await ask(path)).toMatchObject({ isError: true, code: 'tool_error', text: expect.stringContaining(what) });
  });

  it('is shown as text with replacement characters, or described', async () => {
    expect((await ask('/charset-lie')).text).toContain('\ufffd\ufffdA');
    expect((await ask('/binary')).text).toContain('[3 bytes of application/octet-stream, not shown]');
    expect((await ask('/json-bomb')).isError).toBe(false);
  });
});
