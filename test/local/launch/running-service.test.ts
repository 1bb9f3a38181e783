import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { challengeHeader, proofHeader, proofOf } from '../../../src/core/servers/service-proof.ts';
import { lockDataDir } from '../../../src/local/launch/data-lock.ts';
import { type Launcher, writeLauncherFile } from '../../../src/local/launch/launcher-file.ts';
import { writeOwnerFile } from '../../../src/local/launch/owner-file.ts';
import { findRunningService, hasToken } from '../../../src/local/launch/running-service.ts';
import { trustDataFolder } from '../../../src/local/launch/trusted-folders.ts';

const launcher = { url: 'http://127.0.0.1:4321', token: 't'.repeat(64) };
const isRoot = process.geteuid?.() === 0;
const hasProc = existsSync('/proc/self/stat');

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'moniker-test-'));
  writeFileSync(join(folder, 'keys'), `MONIKER_ROOT_KEY=${'r'.repeat(40)}\n`, { mode: 0o600 });
  lockDataDir(folder);
  writeLauncherFile(folder, launcher);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const find = (isFound = false) => findRunningService({ path: folder, isFound }, { XDG_STATE_HOME: join(folder, 'state') });
const faultOf = () => {
  const found = find();
  return found !== null && 'fault' in found ? found.fault : found;
};

describe('the service that runs in a data folder', () => {
  it('has the address and the token of the launcher', () => {
    expect(find()).toEqual(launcher);
  });

  it('does not exist without a lock or a launcher, or after its process has ended', () => {
    rmSync(join(folder, 'launcher'));
    expect(find()).toBeNull();
    writeLauncherFile(folder, launcher);
    // Above the largest process id on Linux.
    writeFileSync(join(folder, 'lock'), '4194999 1\n');
    expect(find()).toBeNull();
    rmSync(join(folder, 'lock'));
    expect(find()).toBeNull();
  });

  it('is not used in a folder that was not named, until this user has started a service in it', () => {
    expect(find(true)).toMatchObject({ fault: expect.stringContaining('it may come from somebody else') });
    trustDataFolder(folder, { XDG_STATE_HOME: join(folder, 'state') });
    expect(find(true)).toEqual(launcher);
  });

  it.each([
    'http://elsewhere.example',
    'http://192.168.1.2:8787',
    'http://0.0.0.0:8787',
    'https://127.0.0.1:8787',
    'http://localhost:8787',
    'http://localhost.evil.example:8787',
    'http://127.0.0.1.evil.example',
    'http://127.0.0.1@evil.example',
    'http://evil.example#@127.0.0.1',
    'http://user@127.0.0.1:8787',
    'http://127.0.0.1:8787/path',
    'http://127.0.0.1:8787/?query',
    'http://[::ffff:127.0.0.1]:8787',
    'http://[::ffff:10.0.0.1]:8787',
    'http://[::]:8787',
    'http://[fe80::1]:8787',
    'ws://127.0.0.1:8787',
    'file:///etc/passwd',
    '127.0.0.1:8787',
    'http://',
  ])('is not used at %s', (url) => {
    writeLauncherFile(folder, { ...launcher, url });
    expect(faultOf()).toContain('not an address of this machine only');
  });

  it.each([
    ['http://127.0.0.1:80', 'http://127.0.0.1'],
    ['http://[::1]:8787', 'http://[::1]:8787'],
    ['http://127.8.9.1:8787', 'http://127.8.9.1:8787'],
    // Other spellings of a loopback address: the request goes to the usual one.
    ['http://2130706433:8787', 'http://127.0.0.1:8787'],
    ['http://0x7f.1:8787', 'http://127.0.0.1:8787'],
  ])('is used at %s as %s', (url, used) => {
    writeLauncherFile(folder, { ...launcher, url });
    expect(find()).toEqual({ ...launcher, url: used });
  });

  it('is not used if the file of the launcher was not written with the keys of the folder', () => {
    const written = JSON.parse(readFileSync(join(folder, 'launcher'), 'utf8')) as object;
    for (const change of [{ url: 'http://127.0.0.1:1' }, { token: 'x'.repeat(64) }, { mac: '' }, { mac: 'f'.repeat(64) }]) {
      writeFileSync(join(folder, 'launcher'), JSON.stringify({ ...written, ...change }), { mode: 0o600 });
      expect(faultOf()).toContain('was not written by a service of this folder');
    }
    writeLauncherFile(folder, launcher);
    rmSync(join(folder, 'keys'));
    expect(faultOf()).toContain('was not written by a service of this folder');
  });

  it.runIf(hasProc)('is not used if the lock names a process without its start time, or with another one', () => {
    for (const text of [`${process.pid}`, `${process.ppid}`, '1']) {
      writeFileSync(join(folder, 'lock'), text, { mode: 0o600 });
      expect(faultOf()).toContain('is not a service of this user');
    }
    writeFileSync(join(folder, 'lock'), `${process.pid} 1`, { mode: 0o600 });
    expect(find()).toBeNull();
  });

  it.runIf(hasProc && isRoot)('is not used if another user runs it', () => {
    const other = spawn('sleep', ['60'], { uid: 65_534, gid: 65_534, stdio: 'ignore' });
    try {
      writeOwnerFile(join(folder, 'lock'), other.pid ?? 0);
      expect(faultOf()).toContain('is not a service of this user');
    } finally {
      other.kill('SIGKILL');
    }
  });

  it.skipIf(process.platform === 'win32').each(['lock', 'launcher', 'keys'])(
    'is not used if %s is a link or can be changed by others',
    (name) => {
      const file = join(folder, name);
      chmodSync(file, 0o666);
      expect(faultOf()).toMatch(/can (read or )?change|was not written/);
      const moved = join(folder, 'moved');
      writeFileSync(moved, readFileSync(file), { mode: 0o600 });
      rmSync(file);
      symlinkSync(moved, file);
      expect(faultOf()).toMatch(/is a link|was not written/);
    },
  );

  it.skipIf(process.platform === 'win32')('is not used if others can change the folder', () => {
    chmodSync(folder, 0o770);
    expect(faultOf()).toContain('other users can change');
  });
});

describe('the proof of a service', () => {
  const serve = async (answer: RequestListener, check: (own: Launcher) => Promise<void>): Promise<void> => {
    const server = createServer(answer);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      await check({ ...launcher, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  };
  const signal = () => AbortSignal.timeout(10_000);
  const answerWith =
    (token: string): RequestListener =>
    async ({ headers }, response) => {
      response.setHeader(proofHeader, await proofOf(token, String(headers[challengeHeader])));
      response.end();
    };

  it('is the token applied to a new challenge, which does not contain it', async () => {
    const challenges: string[] = [];
    const answer: RequestListener = (request, response) => {
      challenges.push(String(request.headers[challengeHeader]));
      expect(JSON.stringify(request.headers)).not.toContain(launcher.token);
      expect(request.headers.authorization).toBeUndefined();
      answerWith(launcher.token)(request, response);
    };
    await serve(answer, async (own) => {
      expect([await hasToken(own, signal()), await hasToken(own, signal())]).toEqual([true, true]);
    });
    expect(new Set(challenges).size).toBe(2);
  });

  it.each<[string, RequestListener]>([
    ['has another token', answerWith('u'.repeat(64))],
    ['has an empty token', (_, response) => void response.setHeader(proofHeader, '').end()],
    ['returns the challenge', ({ headers }, response) => void response.setHeader(proofHeader, String(headers[challengeHeader])).end()],
    ['has no proof', (_, response) => void response.end('{"status":"ok","version":"0.1.0"}')],
    ['fails', (_, response) => void response.writeHead(500).end()],
    [
      'replays the proof of another challenge',
      async (_, response) => void response.setHeader(proofHeader, await proofOf(launcher.token, '0'.repeat(64))).end(),
    ],
  ])('is missing if the program %s', async (_, answer) => {
    await serve(answer, async (own) => expect(await hasToken(own, signal())).toBe(false));
  });

  it('is not accepted from an address that the program redirects to', async () => {
    await serve(answerWith(launcher.token), async (genuine) => {
      const redirect: RequestListener = (_, response) => void response.writeHead(307, { location: `${genuine.url}/healthz` }).end();
      await serve(redirect, async (own) => expect(await hasToken(own, signal())).toBe(false));
    });
  });
});
