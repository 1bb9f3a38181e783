/** `@modelcontextprotocol/server-everything`, the reference server of the 2025 eras, on a free port of loopback. */
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { root } from './service.ts';

const script = join(root, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const startTimeoutMs = 90_000;

export type EverythingServer = { url: string; stop(): Promise<void> };

export async function startEverything(): Promise<EverythingServer> {
  const port = await freePort();
  const child = spawn(process.execPath, [script, 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`server-everything did not start:\n${printed}`)), startTimeoutMs);
    const read = (chunk: Buffer): void => {
      printed += chunk.toString('utf8');
      if (!printed.includes('listening on port')) return;
      clearTimeout(timer);
      resolve();
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
  });
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** The server needs a fixed port, so a free one is found first. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
