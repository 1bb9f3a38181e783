import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockDataDir } from '../../src/local/launch/data-lock.ts';
import { readKeys } from '../../src/local/launch/keys.ts';
import { waitFor } from '../wait-for.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'moniker-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the keys of this machine', () => {
  it('are created once, long, different, and readable only by their owner', () => {
    const made = readKeys(folder, {});
    expect(made).toMatchObject({ isNew: true, rootKeyFile: join(folder, 'keys') });
    expect(readKeys(folder, {})).toEqual({ ...made, isNew: false });
    expect(made.rootKey).not.toBe(made.masterKey);
    expect(Math.min(made.rootKey.length, made.masterKey.length)).toBeGreaterThanOrEqual(32);
    chmodSync(join(folder, 'keys'), 0o644);
    readKeys(folder, {});
    expect(statSync(join(folder, 'keys')).mode & 0o777).toBe(0o600);
  });

  it('come from the environment first, and are then not stored', () => {
    const given = 'g'.repeat(32);
    expect(readKeys(folder, { MONIKER_ROOT_KEY: given })).toMatchObject({ rootKey: given, isNew: false, rootKeyFile: null });
    expect(readKeys(folder, {}).rootKey).not.toBe(given);
  });
});

describe('the lock of a data folder', () => {
  it('keeps a second service out, until it is released', () => {
    const release = lockDataDir(folder);
    expect(() => lockDataDir(folder)).toThrow(`process ${process.pid}`);
    release();
    lockDataDir(folder)();
  });

  it('is ignored if its process has ended or it is empty', () => {
    // Above the largest process id on Linux.
    writeFileSync(join(folder, 'lock'), '4194999\n');
    lockDataDir(folder)();
    writeFileSync(join(folder, 'lock'), '');
    lockDataDir(folder)();
  });

  it.runIf(existsSync('/proc/self/stat'))('is ignored if its process id was reused, or the process is a zombie', async () => {
    writeFileSync(join(folder, 'lock'), `${process.pid} 1\n`);
    lockDataDir(folder)();
    const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
    try {
      const [child] = await once(parent.stdout, 'data');
      const pid = Number(String(child));
      // From here on it is a `sleep`, which does not wait for its children; the shell might have reaped the dead one.
      await waitFor(() => expect(readFileSync(`/proc/${parent.pid}/comm`, 'utf8')).toBe('sleep\n'));
      process.kill(pid, 'SIGKILL');
      await waitFor(() => expect(readFileSync(`/proc/${pid}/stat`, 'utf8')).toMatch(/\) Z /));
      writeFileSync(join(folder, 'lock'), `${pid}\n`);
      lockDataDir(folder)();
    } finally {
      parent.kill('SIGKILL');
    }
  });
});
