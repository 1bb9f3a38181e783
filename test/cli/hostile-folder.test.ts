/** Every command in a data folder whose files lead to another program: no key leaves this machine, or reaches a program that is not ours. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { challengeHeader, proofHeader, proofOf } from '../../src/core/servers/service-proof.ts';
import { lockDataDir } from '../../src/local/launch/data-lock.ts';
import { writeLauncherFile } from '../../src/local/launch/launcher-file.ts';
import { runCommand } from './run-command.ts';

const token = 'token-of-the-launcher'.padEnd(64, 't');
const storedKey = 'moniker_'.padEnd(40, 's');
/** Each is the only credential of a run. `stored`: the root key and the token of the folder. */
const credentials: Readonly<Record<string, { options?: string[]; environment?: Record<string, string> }>> = {
  MONIKER_KEY: { environment: { MONIKER_KEY: 'key-of-the-environment' } },
  '--key': { options: ['--key', 'key-of-the-command-line'] },
  MONIKER_ROOT_KEY: { environment: { MONIKER_ROOT_KEY: 'root-key-of-the-environment'.padEnd(40, 'e') } },
  stored: {},
};
const secrets = ['key-of-the-environment', 'key-of-the-command-line', 'root-key-of-the-environment', storedKey, token];

let folder = '';
const inFolder = (name: string) => join(folder, name);

/** Arguments of each command, or why it sends nothing. A command without a row fails. */
const commands: Readonly<Record<string, (() => string[]) | 'sends nothing'>> = {
  start: 'sends nothing',
  dev: 'sends nothing',
  apply: () => [inFolder('moniker.yaml')],
  import: () => [inFolder('mcp.json')],
  export: () => [inFolder('export.yaml')],
  accept: () => ['docs'],
  refresh: () => ['docs'],
  install: () => ['vscode', 'demo', '--file', inFolder('client.json'), '--yes'],
  'add server': () => ['docs', 'https://mcp.example.com/mcp', '--header', 'Authorization: Bearer x'],
  'add toolset': () => ['work', 'builtin.bash'],
  'add agent': () => ['helper', '--model', 'rehearsal/default'],
  'add key': () => ['ci'],
  call: () => ['shell', '{}', '--toolset', 'demo'],
  resolve: () => ['shell', '--toolset', 'demo'],
  mcp: () => ['demo'],
  chat: () => ['--agent', 'demo', '--session', 'one'],
  'replay run': () => ['--suite', 'support'],
  'replay list': () => [],
  'replay show': () => ['one'],
  'replay cancel': () => ['one'],
  'replay export': () => ['one'],
  logs: 'sends nothing',
  doctor: () => [],
  'models list': () => [],
  'models test': () => ['rehearsal/default'],
  'keys list': () => [],
  'keys rotate': () => ['one'],
  'keys revoke': () => ['one'],
  'keys rotate-master': 'sends nothing',
  backup: () => [inFolder('backup.jsonl')],
  restore: () => ['--abandon'],
  deploy: 'sends nothing',
  completion: () => ['models'],
};
const senders = Object.entries(commands).flatMap(([path, args]) => (args === 'sends nothing' ? [] : [{ path, args }]));

type Seen = { url: string; headers: IncomingHttpHeaders };
let seen: Seen[] = [];
let server: Server;
let url = '';
/** How the program answers that listens at `url`. */
let answer: RequestListener = () => undefined;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'moniker-test-'));
  writeFileSync(inFolder('keys'), `MONIKER_ROOT_KEY=${storedKey}\n`, { mode: 0o600 });
  writeFileSync(inFolder('moniker.yaml'), 'agents: {}\n');
  writeFileSync(inFolder('mcp.json'), '{"mcpServers": {"docs": {"url": "https://mcp.example.com/mcp"}}}');
  seen = [];
  server = createServer((request, response) => {
    seen.push({ url: `${request.headers.host}${request.url}`, headers: request.headers });
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  answer = (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"items": [], "version": "0.1.0"}');
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Returns the error. */
async function run(path: string, parameters: string[], environment: Record<string, string> = {}): Promise<unknown> {
  const stdin = '{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n';
  return (await runCommand([...path.split(' '), ...parameters], { environment: { ...environment, MONIKER_DATA_DIR: folder }, stdin }))
    .error;
}

const leaked = () => secrets.filter((secret) => JSON.stringify(seen).includes(secret));

const leaves = (command: Command, path = ''): string[] =>
  command.commands.length === 0 ? [path] : command.commands.flatMap((one) => leaves(one, `${path} ${one.name()}`.trim()));

it('covers every command', () => {
  expect(Object.keys(commands).toSorted()).toEqual(leaves(createProgram()).toSorted());
});

/** What a stranger can put into a folder: also keys of their own, with which the file is signed. */
const folders: Readonly<Record<string, () => void>> = {
  'a launcher that names another machine': () => {
    lockDataDir(folder);
    writeLauncherFile(folder, { url: 'http://elsewhere.example', token });
  },
  'a launcher that names a host like a loopback address': () => {
    lockDataDir(folder);
    writeLauncherFile(folder, { url: url.replace('127.0.0.1', 'localhost'), token });
  },
  'a lock that names process 1': () => {
    writeFileSync(inFolder('lock'), '1\n');
    writeLauncherFile(folder, { url, token });
  },
  'a lock that names a process of this user without its start time': () => {
    writeFileSync(inFolder('lock'), `${process.ppid}\n`);
    writeLauncherFile(folder, { url, token });
  },
  'a launcher that its keys did not sign': () => {
    lockDataDir(folder);
    writeFileSync(inFolder('launcher'), JSON.stringify({ url, token }), { mode: 0o600 });
  },
  'a launcher that others can read': () => {
    lockDataDir(folder);
    writeLauncherFile(folder, { url, token });
    rmSync(inFolder('launcher'));
    writeFileSync(inFolder('launcher'), JSON.stringify({ url, token }), { mode: 0o644 });
  },
  'the address of a program without the token': () => {
    lockDataDir(folder);
    writeLauncherFile(folder, { url, token });
  },
};

describe.skipIf(!existsSync('/proc/self/stat')).each(Object.entries(folders))('in a folder with %s', (_, prepare) => {
  it.each(senders)('moniker $path sends no key', async ({ path, args }) => {
    prepare();
    for (const [name, { options = [], environment }] of Object.entries(credentials)) {
      const error = await run(path, [...args(), ...options], environment);
      if (!['doctor', 'mcp'].includes(path))
        expect(error, name).toMatchObject({ message: expect.stringMatching(/is not used|is not the service/) });
      expect([name, leaked()]).toEqual([name, []]);
    }
    // At most the question for the proof.
    expect(seen.filter((request) => !/\/(healthz|readyz)$/.test(request.url))).toEqual([]);
  });
});

describe('without a service in the data folder', () => {
  it('no key is sent to the usual address', async () => {
    const { port } = new URL(url);
    for (const { options = [], environment } of Object.values(credentials))
      expect(await run('resolve', ['shell', '--toolset', 'demo', ...options], { ...environment, PORT: port })).toMatchObject({
        message: `No service is running in ${folder}.`,
      });
    expect(seen).toEqual([]);
  });
});

describe('the service of the data folder', () => {
  const prove: RequestListener = async ({ headers }, response) => {
    response.setHeader(proofHeader, await proofOf(token, String(headers[challengeHeader])));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"canonical": "a.b", "aliases": [], "version": "0.1.0"}');
  };

  it.each(senders)('gets the key of moniker $path, after a proof for each request', async ({ path, args }) => {
    lockDataDir(folder);
    writeLauncherFile(folder, { url, token });
    answer = prove;
    await run(path, args(), { MONIKER_KEY: 'key-of-the-environment' });
    const withKey = seen.filter(({ headers }) => headers.authorization === 'Bearer key-of-the-environment');
    expect(withKey.length).toBeGreaterThan(0);
    expect(seen.filter(({ headers }) => challengeHeader in headers).length).toBeGreaterThanOrEqual(withKey.length);
  });

  it('gets the key and the token of the launcher after it has proved each time that it is the one', async () => {
    lockDataDir(folder);
    writeLauncherFile(folder, { url, token });
    answer = prove;
    await run('resolve', ['shell', '--toolset', 'demo'], { MONIKER_KEY: 'key-of-the-environment' });
    const [asked, sent] = seen;
    expect(asked?.url).toMatch(/\/healthz$/);
    expect(asked?.headers.authorization).toBeUndefined();
    expect(sent?.headers).toMatchObject({ authorization: 'Bearer key-of-the-environment', 'x-moniker-launcher': token });

    // Another program takes the port.
    answer = (_, response) => void response.end('{}');
    seen = [];
    expect(await run('resolve', ['shell', '--toolset', 'demo'])).toMatchObject({ message: expect.stringContaining('is not the service') });
    expect(leaked()).toEqual([]);
  });
});

describe('an address that was named', () => {
  it.each([
    ['--url', (given: string) => ({ options: ['--url', given], environment: {} as Record<string, string> })],
    ['MONIKER_URL', (given: string) => ({ options: [], environment: { MONIKER_URL: given } as Record<string, string> })],
  ])('by %s gets MONIKER_KEY, and neither the token nor the root key of the folder', async (_, name) => {
    lockDataDir(folder);
    writeLauncherFile(folder, { url: 'http://127.0.0.1:1', token });
    const { options, environment } = name(url);
    await run('resolve', ['shell', '--toolset', 'demo', ...options], { ...environment, MONIKER_KEY: 'key-of-the-environment' });
    expect(seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer key-of-the-environment']);
    expect(leaked()).toEqual(['key-of-the-environment']);
    seen = [];
    expect(await run('resolve', ['shell', '--toolset', 'demo', ...options], environment)).toMatchObject({
      message: expect.stringContaining('No key for'),
    });
    expect(seen).toEqual([]);
  });

  it.each([301, 302, 303, 307, 308])('does not pass a key on with the redirect %i', async (status) => {
    const other: Seen[] = [];
    const target = createServer(({ headers }, response) => {
      other.push({ url: '', headers });
      response.end('{}');
    });
    await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
    const location = `http://127.0.0.1:${(target.address() as AddressInfo).port}/v1/toolsets`;
    answer = (_, response) => void response.writeHead(status, { location }).end();
    try {
      for (const path of ['resolve', 'call', 'keys list', 'export', 'chat']) {
        const args = commands[path];
        const error = await run(path, [...(typeof args === 'function' ? args() : []), '--url', url, '--key', 'key-of-the-command-line']);
        expect(error).toMatchObject({ message: `${url} redirects to ${location}.` });
      }
      expect(other).toEqual([]);
    } finally {
      target.closeAllConnections();
      target.close();
    }
  });
});
