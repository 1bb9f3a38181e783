/** Starts the measured servers, each in its own process, on its own core if there are two, and stops all of them. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { familyOf } from './process-usage.ts';

export type Server = { url: string; pid: number };
export type Servers = {
  upstream: Server;
  floor: Server;
  ours: Server;
  /** An ordinary API key with every scope, as clients have: the root key skips checks. */
  key: string;
  restartOurs(): Promise<void>;
  /** An MCP server in both revisions (`mcp-upstream.ts`), beside the other upstream. */
  startMcpUpstream(): Promise<Server>;
  /** A worker that only verifies webhooks (`bare-hook.ts`), on the product's core. */
  startBareHook(): Promise<Server>;
  /** Another gateway, on the product's core: arguments of Node, in which `{port}` is replaced, and the path that responds when it is ready. */
  startPeer(args: readonly string[], readyPath: string): Promise<Server>;
  stop(): Promise<void>;
};

const root = resolve(import.meta.dirname, '..');
/** Servers on one core, the upstream and the load client on the other, so that they do not compete for CPU time. */
const pinned = availableParallelism() >= 2 && hasTaskset();
const readyTimeoutMs = 90_000;

export async function startServers(): Promise<Servers> {
  const children: ChildProcess[] = [];
  const dataDir = mkdtempSync(join(tmpdir(), 'moniker-bench-'));
  const rootKey = 'bench-root-key-0123456789abcdef0123456789';
  const start = async (
    args: readonly string[],
    core: string,
    environment: Record<string, string> = {},
    readyPath = '/healthz',
  ): Promise<Server> => {
    const port = await freePort();
    const fill = (text: string): string => text.replaceAll('{port}', String(port));
    const command = [process.execPath, ...args.map(fill)];
    const full = pinned ? ['taskset', '-c', core, ...command] : command;
    const env = { ...process.env, ...Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, fill(value)])) };
    const log = openSync(join(dataDir, 'server.log'), 'a');
    // In its own process group, so that the runtime below it ends with it.
    const child = spawn(full[0] ?? '', full.slice(1), { cwd: root, env, stdio: ['ignore', log, log], detached: true });
    children.push(child);
    const url = `http://127.0.0.1:${port}`;
    await untilReady(url + readyPath, child, join(dataDir, 'server.log'));
    return { url, pid: child.pid ?? 0 };
  };
  const stop = async (): Promise<void> => {
    for (const child of children) await end(child);
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    if (pinned) execFileSync('taskset', ['-cp', '1', String(process.pid)], { stdio: 'ignore' });
    const upstream = await start(['bench/upstream.ts', '{port}'], '1');
    const floor = await start(['bench/floor.ts', '{port}', upstream.url], '0');
    const startOurs = (): Promise<Server> =>
      start(['src/cli/main.ts', 'start'], '0', {
        PORT: '{port}',
        MONIKER_DATA_DIR: dataDir,
        MONIKER_ROOT_KEY: rootKey,
        MONIKER_LOG: 'error',
        MONIKER_ALLOW_PRIVATE_HOSTS: 'providers:127.0.0.1:*,servers:127.0.0.1:*',
      });
    const ours = await startOurs();
    const servers: Servers = {
      upstream,
      floor,
      ours,
      key: await createKey(ours.url, rootKey),
      startMcpUpstream: () => start(['bench/mcp-upstream.ts', '{port}'], '1'),
      startBareHook: () => start(['bench/bare-hook.ts', '{port}'], '0'),
      startPeer: (args, readyPath) => start(args, '0', {}, readyPath),
      stop,
      /** Restarts on the same data, with empty memory and a new address. */
      async restartOurs() {
        const child = children.find(({ pid }) => pid === servers.ours.pid);
        if (child !== undefined) await end(child);
        servers.ours = await startOurs();
      },
    };
    return servers;
  } catch (error) {
    await stop();
    throw error;
  }
}

async function createKey(url: string, rootKey: string): Promise<string> {
  const response = await fetch(`${url}/v1/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${rootKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'bench', scopes: ['chat', 'tools', 'toolsets', 'approve', 'admin'] }),
  });
  const { key } = (await response.json()) as { key: string }; // our own API's response
  return key;
}

async function untilReady(url: string, child: ChildProcess, log: string): Promise<void> {
  const deadline = Date.now() + readyTimeoutMs;
  while (Date.now() < deadline && child.exitCode === null) {
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(1_000) });
      await response.arrayBuffer();
      if (response.ok) {
        // If the process has ended, its port was taken, and another process has responded.
        await sleep(50);
        if (child.exitCode === null) return;
      }
    } catch {
      // Not listening yet.
    }
    await sleep(100);
  }
  throw new Error(`${child.spawnargs.join(' ')} did not start; see ${log}`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null) return;
  const family = familyOf(child.pid);
  const ended = new Promise((resolveEnd) => child.once('exit', resolveEnd));
  child.kill('SIGTERM');
  await Promise.race([ended, sleep(5_000)]);
  for (const pid of family) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has already ended.
    }
  }
}

function hasTaskset(): boolean {
  try {
    execFileSync('taskset', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    // Without it the kernel places the processes: the figures are noisier, not wrong.
    return false;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolvePort, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolvePort(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
