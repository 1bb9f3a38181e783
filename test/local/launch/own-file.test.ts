import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readOwnFile, requireOwnFolder } from '../../../src/local/launch/own-file.ts';

let folder = '';
let file = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'moniker-test-'));
  file = join(folder, 'file');
  writeFileSync(file, 'text', { mode: 0o600 });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const isRoot = process.geteuid?.() === 0;
/** `nobody` of most systems. */
const otherUser = 65_534;

describe.skipIf(process.platform === 'win32')('a file that decides where keys go', () => {
  it('is read if only this user can change it', () => {
    for (const mode of [0o600, 0o400, 0o644, 0o755]) {
      chmodSync(file, mode);
      expect(readOwnFile(file)).toBe('text');
    }
    expect(readOwnFile(join(folder, 'none'))).toBeNull();
  });

  it.each([0o620, 0o602, 0o666, 0o664, 0o777])('is refused with the mode %o', (mode) => {
    chmodSync(file, mode);
    expect(() => readOwnFile(file)).toThrow('other users can change');
  });

  it.each([0o640, 0o604, 0o644, 0o660])('is refused with the mode %o if it has a secret', (mode) => {
    chmodSync(file, mode);
    expect(() => readOwnFile(file, { isSecret: true })).toThrow('other users can read or change');
  });

  it('is refused if it is a link, a folder, a pipe or too large', () => {
    const link = join(folder, 'link');
    symlinkSync(file, link);
    expect(() => readOwnFile(link)).toThrow('is a link');
    expect(() => readOwnFile(folder)).toThrow('not a regular file');
    const pipe = join(folder, 'pipe');
    spawnSync('mkfifo', [pipe]);
    expect(() => readOwnFile(pipe)).toThrow('not a regular file');
    writeFileSync(file, Buffer.alloc(257 * 1024));
    expect(() => readOwnFile(file)).toThrow('has more than');
  });

  it.runIf(isRoot)('is refused if it belongs to another user', () => {
    chownSync(file, otherUser, otherUser);
    expect(() => readOwnFile(file)).toThrow('belongs to another user');
    chownSync(folder, otherUser, otherUser);
    expect(() => requireOwnFolder(folder)).toThrow('belongs to another user');
  });

  it('is in a folder that others cannot change, also if a link leads there', () => {
    const open = join(folder, 'open');
    mkdirSync(open);
    chmodSync(open, 0o775);
    const link = join(folder, 'link');
    symlinkSync(open, link);
    for (const one of [open, link]) expect(() => requireOwnFolder(one)).toThrow('can change');
    chmodSync(open, 0o755);
    for (const one of [open, link]) expect(() => requireOwnFolder(one)).not.toThrow();
  });
});
