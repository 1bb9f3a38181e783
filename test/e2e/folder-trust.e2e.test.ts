/** A folder of a stranger: neither its project file nor its data folder runs anything before the user has accepted it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildCli } from '../../src/local/build/build-cli.ts';
import { lockDataDir } from '../../src/local/launch/data-lock.ts';
import { writeLauncherFile } from '../../src/local/launch/launcher-file.ts';
import { challengeHeader, proofHeader, proofOf } from '../../src/core/servers/service-proof.ts';
import { eventually } from './eventually.ts';
import { makeDataDir, removeDataDir, root } from './service.ts';

const folder = mkdtempSync(join(tmpdir(), 'moniker-trust-'));
const repository = join(folder, 'repository');
const canary = join(folder, 'canary');
/** The command of the npm package, whose data folder is that of the current folder. */
const packaged = join(folder, 'package/dist/cli/main.mjs');
const checkout = join(root, 'src/cli/main.ts');
let dataDir = '';

beforeAll(async () => {
  dataDir = makeDataDir();
  mkdirSync(repository);
  writeFileSync(
    join(repository, 'moniker.yaml'),
    `servers: { x: { kind: mcp, command: sh, args: ['-c', 'touch ${canary}; sleep 1'] } }\nagents: { helper: { model: rehearsal/default } }\n`,
  );
  for (const name of ['.env', '.dev.vars', '.env.local'])
    writeFileSync(join(repository, name), 'MONIKER_ALLOW_STDIO=api\nMONIKER_PROJECT=moniker.yaml\n');
  await buildCli(join(folder, 'package/dist/cli'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'package/node_modules'));
});
afterAll(() => {
  removeDataDir(dataDir);
  rmSync(folder, { recursive: true, force: true });
});

type Running = { child: ChildProcess; ended: Promise<number | null>; printed(): string };

/** In the folder of the stranger, without a terminal. */
function moniker(main: string, parameters: string[], environment: Record<string, string> = {}): Running {
  const child = spawn(process.execPath, [main, ...parameters], {
    cwd: repository,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      XDG_STATE_HOME: join(folder, 'state'),
      OLLAMA_HOST: '127.0.0.1:9',
      PORT: '0',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 120_000,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
    });
  return { child, ended: new Promise((resolve) => child.once('close', resolve)), printed: () => output };
}

const start = (...options: string[]) => moniker(checkout, ['start', '--data', dataDir, ...options]);
const stop = async ({ child, ended }: Running): Promise<void> => {
  child.kill('SIGTERM');
  await ended;
};

it.each(['start', 'start --production', 'dev', 'apply'])('moniker %s refuses the project file, and touches nothing', async (command) => {
  const unused = join(folder, 'unused');
  const { ended, printed } = moniker(checkout, [...command.split(' '), '--data', unused]);
  expect(await ended).toBe(1);
  expect(printed()).toContain(`servers.x runs the command: sh -c "touch ${canary}; sleep 1"`);
  expect(printed()).toContain('--trust');
  expect([existsSync(unused), existsSync(canary)]).toEqual([false, false]);
});

it('moniker start --no-project starts without it, and reads no settings from files of the folder', async () => {
  const service = start('--no-project');
  await eventually('it is ready', () => service.printed().includes('Ctrl-C stops it.') || undefined);
  const url = /Moniker is ready at (\S+)/.exec(service.printed())?.[1] ?? '';
  const key = /^MONIKER_ROOT_KEY=(.*)$/m.exec(readFileSync(join(dataDir, 'keys'), 'utf8'))?.[1] ?? '';
  const put = await fetch(`${url}/v1/servers/y`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ kind: 'mcp', command: 'touch', args: [canary] }),
  });
  await stop(service);
  expect([put.status, existsSync(canary)]).toEqual([403, false]);
  expect(service.printed()).not.toContain('moniker.yaml');
});

it('moniker start --trust applies it, and the next start does without a question', async () => {
  const first = start('--trust');
  await eventually('it is applied', () => first.printed().includes('moniker.yaml is applied: 2 created') || undefined);
  await stop(first);
  expect(existsSync(canary)).toBe(true);
  const second = start();
  await eventually('it is applied again', () => second.printed().includes('moniker.yaml is applied: 2 unchanged') || undefined);
  await stop(second);
  expect(second.printed()).not.toContain('--trust');
});

it('does not believe a data folder of the stranger, even with a program that answers for it', async () => {
  const token = 't'.repeat(64);
  const seen: string[] = [];
  const server = createServer(async ({ headers, url }, response) => {
    seen.push(`${url} ${headers.authorization}`);
    response.setHeader(proofHeader, await proofOf(token, String(headers[challengeHeader])));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"items": []}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const data = join(repository, '.moniker');
  try {
    mkdirSync(data, { mode: 0o700 });
    writeFileSync(join(data, 'keys'), `MONIKER_ROOT_KEY=${'s'.repeat(40)}\nMONIKER_MASTER_KEY=${'m'.repeat(40)}\n`, { mode: 0o600 });
    // The process is one of this user.
    const unlock = lockDataDir(data);
    writeLauncherFile(data, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token });
    for (const parameters of [['resolve', 'x'], ['keys', 'list'], ['export'], ['doctor'], ['apply', '--trust'], ['mcp', 'demo']]) {
      const { ended, printed } = moniker(packaged, parameters, { MONIKER_KEY: 'key-of-the-environment' });
      expect([await ended, printed()]).toEqual([1, expect.stringContaining('it may come from somebody else')]);
    }
    expect(seen).toEqual([]);
    unlock();
    for (const parameters of [
      ['start', '--no-project'],
      ['import', 'moniker.yaml'],
    ]) {
      const { ended, printed } = moniker(packaged, parameters);
      expect([await ended, printed()]).toEqual([1, expect.stringContaining(`${data} has data that you did not start a service with`)]);
    }
    // Named, it is the user's decision.
    lockDataDir(data);
    await moniker(packaged, ['resolve', 'x', '--toolset', 'y', '--data', data], { MONIKER_KEY: 'key-of-the-environment' }).ended;
    expect(seen).toContain('/v1/toolsets/y/resolve?name=x Bearer key-of-the-environment');
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
