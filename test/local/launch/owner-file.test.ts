import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isInUse, lockDataDir } from '../../../src/local/launch/data-lock.ts';
import { isRunning, readOwnerFile, writeOwnerFile } from '../../../src/local/launch/owner-file.ts';
import { killOrphanedRuntime } from '../../../src/local/workerd/process.ts';

let base = '';
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'moniker-test-'));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

describe('a file that names a process', () => {
  it('counts in its folder, also after the folder was moved, and not in a copy of it', () => {
    const [folder, copy, moved] = [join(base, 'folder'), join(base, 'copy'), join(base, 'moved')];
    mkdirSync(folder);
    writeOwnerFile(join(folder, 'lock'), process.pid);
    cpSync(folder, copy, { recursive: true });
    expect(readFileSync(join(copy, 'lock'), 'utf8')).toBe(readFileSync(join(folder, 'lock'), 'utf8'));
    expect(readOwnerFile(join(copy, 'lock'))).toBeNull();
    renameSync(folder, moved);
    expect(readOwnerFile(join(moved, 'lock'))?.pid).toBe(process.pid);
  });

  it('does not lock a copy, and a lock without its file still holds', () => {
    const [folder, copy] = [join(base, 'folder'), join(base, 'copy')];
    mkdirSync(folder);
    const release = lockDataDir(folder);
    cpSync(folder, copy, { recursive: true });
    expect([isInUse(folder), isInUse(copy)]).toEqual([true, false]);
    lockDataDir(copy)();
    rmSync(join(folder, 'lock'));
    expect(isInUse(folder)).toBe(true);
    expect(() => lockDataDir(folder)).toThrow('is using');
    release();
    expect(isInUse(folder)).toBe(false);
    lockDataDir(folder)();
  });

  it.each<[string, (file: string) => unknown]>([
    ['has content', (file) => writeFileSync(file, 'x'.repeat(5_000))],
    ['is a link', (file) => symlinkSync('/etc/hostname', file)],
    ['is a pipe', (file) => spawnSync('mkfifo', [file])],
  ])('refuses a lock that %s, without reading it', (_, make) => {
    make(join(base, 'lock.db'));
    expect(isInUse(base)).toBe(false);
    expect(() => lockDataDir(base)).toThrow('lock.db is not the lock of a data folder');
  });

  it('writes nothing to the lock', () => {
    const release = lockDataDir(base);
    expect(statSync(join(base, 'lock.db')).size).toBe(0);
    release();
    expect(readdirSync(base)).toEqual(['lock.db']);
  });
});

describe.runIf(existsSync('/proc/self/stat'))('the runtime of a killed launcher', () => {
  /** A program that is named like workerd, or not. */
  const program = async (name: string): Promise<{ pid: number; end: () => void }> => {
    const child = spawn('sleep', ['60'], { argv0: name, stdio: 'ignore' });
    await once(child, 'spawn');
    return { pid: child.pid ?? 0, end: () => child.kill('SIGKILL') };
  };
  const isAlive = (pid: number) => isRunning({ pid, began: '', folder: '' });

  it.each([
    ['workerd', true],
    ['postgres', false],
  ])('is ended if the process is %s: %s', async (name, isEnded) => {
    const { pid, end } = await program(name);
    try {
      writeOwnerFile(join(base, 'workerd.pid'), pid);
      await killOrphanedRuntime(join(base, 'workerd.pid'));
      expect(isAlive(pid)).toBe(!isEnded);
      expect(existsSync(join(base, 'workerd.pid'))).toBe(false);
    } finally {
      end();
    }
  });

  it('of another folder is left alone, also by the file of an earlier release', async () => {
    const { pid, end } = await program('workerd');
    try {
      const [folder, copy] = [join(base, 'folder'), join(base, 'copy')];
      mkdirSync(folder);
      writeOwnerFile(join(folder, 'workerd.pid'), pid);
      cpSync(folder, copy, { recursive: true });
      await killOrphanedRuntime(join(copy, 'workerd.pid'));
      const [id, began] = readFileSync(join(folder, 'workerd.pid'), 'utf8').split(' ');
      writeFileSync(join(copy, 'workerd.pid'), `${id} ${began}\n`);
      await killOrphanedRuntime(join(copy, 'workerd.pid'));
      expect(isAlive(pid)).toBe(true);
    } finally {
      end();
    }
  });
});
