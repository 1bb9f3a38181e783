/**
 * The example for other edge runtimes, as a reader runs it, in Node, in Deno, and in Bun if it is installed (`npm install --no-save bun`,
 * about 100 MB; or in the PATH).
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildEdge } from '../../src/local/build/build-edge.ts';
import { root } from '../e2e/service.ts';
import { isSkipped } from '../selection.ts';
import { waitFor } from '../wait-for.ts';

const rootKey = 'root-key-of-at-least-thirty-two-characters';
const startTimeoutMs = 60_000;

const runtimes = [
  { name: 'Node', command: [process.execPath], program: 'node.mjs' },
  { name: 'Deno', command: [find('deno'), 'run', '--allow-net', '--allow-env', '--allow-read'], program: 'main.mjs' },
  { name: 'Bun', command: [find('bun'), 'run'], program: 'bun.mjs' },
];

/** Returns the program's path, or its name if the PATH has it; null if it is not installed. */
function find(name: string): string | null {
  const installed = join(root, 'node_modules/.bin', name);
  if (existsSync(installed)) return installed;
  return spawnSync(name, ['--version']).status === 0 ? name : null;
}

/** The layout of the repository, with a built handler. */
const folder = mkdtempSync(join(tmpdir(), 'moniker-edge-'));
let upstreamUrl = '';
/** Calls about Atlantis get no answer: how many came, and how many were given up. */
const lost = { asked: 0, left: 0 };
const upstream = createServer((request, response) => {
  let text = '';
  request.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8');
  });
  request.on('end', () => {
    if (text.includes('Atlantis')) {
      lost.asked += 1;
      response.once('close', () => {
        lost.left += 1;
      });
      return;
    }
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ asked: request.url, sent: JSON.parse(text) }));
  });
});

beforeAll(async () => {
  cpSync(join(root, 'examples/deno-deploy'), join(folder, 'examples/deno-deploy'), { recursive: true });
  await buildEdge(join(folder, 'dist/edge'));
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  upstreamUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
});
afterAll(() => {
  upstream.close();
  rmSync(folder, { recursive: true, force: true });
});

for (const { name, command, program } of runtimes) {
  const [binary = null, ...parameters] = command;
  describe.skipIf(isSkipped(binary === null, `the edge handler in ${name}`, `${name} is not installed`))(
    `the edge handler in ${name}`,
    () => {
      let url = '';
      let child: ChildProcess;
      const send = async (method: string, path: string, body?: unknown): Promise<Response> =>
        await fetch(`${url}${path}`, {
          method,
          headers: { authorization: `Bearer ${rootKey}`, 'content-type': 'application/json' },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });

      beforeAll(async () => {
        const env = {
          PATH: process.env.PATH,
          HOME: folder,
          NO_COLOR: '1',
          PORT: '0',
          MONIKER_ROOT_KEY: rootKey,
          MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*',
          WEATHER_URL: `${upstreamUrl}/call`,
        };
        child = spawn(
          binary ?? '',
          [...parameters.flatMap((parameter) => parameter ?? []), join(folder, 'examples/deno-deploy', program)],
          {
            env,
            stdio: ['ignore', 'pipe', 'pipe'],
            detached: true,
          },
        );
        url = await addressOf(child);
      });
      afterAll(() => {
        // With its group: the command of a package starts the runtime as a process of its own.
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      });

      it('answers health checks and chats, also as a stream', async () => {
        expect(await (await send('GET', '/healthz')).json()).toMatchObject({ status: 'ok' });
        const messages = [{ role: 'user', content: 'Hello' }];
        expect(await (await send('POST', '/v1/chat/completions', { model: 'fast', messages })).text()).toContain('rehearsal');
        const streamed = await (await send('POST', '/v1/messages', { model: 'fast', max_tokens: 99, stream: true, messages })).text();
        expect(streamed).toContain('event: message_stop');
      });

      it('calls tools in code and over HTTP by their aliases', async () => {
        const sum = await send('POST', '/v1/toolsets/daily/calls', { name: 'sum', arguments: { expression: '6 * 7' } });
        expect(await sum.json()).toMatchObject({ canonical: 'local.calculate', structuredContent: { value: 42 } });
        const weather = await send('POST', '/v1/toolsets/daily/calls', { name: 'weather', arguments: { city: 'Bern' } });
        expect(await weather.json()).toMatchObject({ canonical: 'weather.get_forecast', structuredContent: { asked: '/call' } });
      });

      it('runs the tools of a chat in every API, streamed and plain, with the toolset and with the agent', async () => {
        const content = '/sum 6 * 7\n/weather Bern';
        const asked = {
          '/v1/chat/completions': { messages: [{ role: 'user', content }] },
          '/v1/responses': { input: content },
          '/v1/messages': { max_tokens: 500, messages: [{ role: 'user', content }] },
        };
        for (const [path, body] of Object.entries(asked))
          for (const stream of [false, true])
            for (const named of [{ model: 'fast', toolset: 'daily' }, { model: 'agent/helper' }]) {
              const response = await send('POST', path, { ...named, ...body, stream });
              const text = await response.text();
              expect([response.status, text], path).toEqual([200, expect.stringContaining('42')]);
              expect(text).toContain('Bern');
              expect(response.headers.get('x-moniker-edition')).toMatch(/^daily@1/);
            }
      });

      it('gives a call up when the client of its chat disconnects, streamed and plain', async () => {
        for (const stream of [true, false]) {
          Object.assign(lost, { asked: 0, left: 0 });
          const gone = new AbortController();
          const body = { model: 'agent/helper', stream, messages: [{ role: 'user', content: '/weather Atlantis' }] };
          const asking = fetch(`${url}/v1/chat/completions`, {
            ...{ method: 'POST', body: JSON.stringify(body), signal: gone.signal },
            headers: { authorization: `Bearer ${rootKey}`, 'content-type': 'application/json' },
          }).then((response) => response.text());
          await Promise.all([expect(asking).rejects.toThrow(), waitFor(() => expect(lost.asked).toBe(1)).then(() => gone.abort())]);
          await waitFor(() => expect(lost.left).toBe(1));
        }
      });

      it('serves the toolset to a stock MCP client', async () => {
        const requestInit = { headers: { authorization: `Bearer ${rootKey}` } };
        const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp/daily`), { requestInit });
        const client = new Client({ name: 'test', version: '1' });
        await client.connect(transport);
        expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(['forecast', 'sum']);
        expect(await client.callTool({ name: 'sum', arguments: { expression: '1 + 1' } })).toMatchObject({
          structuredContent: { value: 2 },
        });
        await client.close();
      });

      it('refuses sessions, wrong keys and bodies that are too large', async () => {
        expect((await send('POST', '/v1/sessions', { model: 'fast' })).status).toBe(503);
        expect((await fetch(`${url}/v1/models`, { headers: { authorization: 'Bearer none' } })).status).toBe(401);
        expect(
          (await send('POST', '/v1/toolsets/daily/calls', { name: 'sum', arguments: { expression: 'x'.repeat(2_000_000) } })).status,
        ).toBe(413);
        expect((await send('GET', '/healthz')).status).toBe(200);
      });
    },
  );
}

/** Waits for the line in which the runtime prints its address. */
async function addressOf(child: ChildProcess): Promise<string> {
  let printed = '';
  return await new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`did not start:\n${printed}`)), startTimeoutMs);
    const read = (chunk: Buffer): void => {
      printed += chunk.toString('utf8');
      const [, address] = /(http:\/\/127\.0\.0\.1:\d+)\//.exec(printed) ?? [];
      if (address === undefined) return;
      clearTimeout(late);
      resolve(address);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('exit', (code) => reject(new Error(`ended with ${code}:\n${printed}`)));
  });
}
