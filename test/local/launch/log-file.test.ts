import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newLauncherToken, readLauncherFile, writeLauncherFile } from '../../../src/local/launch/launcher-file.ts';
import { openLogFile } from '../../../src/local/launch/log-file.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'moniker-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the log file', () => {
  it('holds the newest lines in two files of a bounded size', () => {
    const write = openLogFile(folder, 100);
    for (let line = 1; line <= 50; line += 1) write(`line ${line}`);
    expect(readFileSync(join(folder, 'log'), 'utf8')).toMatch(/line 50\n$/);
    expect(readFileSync(join(folder, 'log.1'), 'utf8').length).toBeLessThanOrEqual(100);
    expect(statSync(join(folder, 'log')).size).toBeLessThanOrEqual(100);
    expect(statSync(join(folder, 'log')).mode & 0o777).toBe(0o600);
  });

  it('continues an existing file, and cuts a long line', () => {
    openLogFile(folder)('first');
    openLogFile(folder)('x'.repeat(100_000));
    const [first, second = ''] = readFileSync(join(folder, 'log'), 'utf8').split('\n');
    expect(first).toBe('first');
    expect(second.length).toBe(16 * 1024);
  });

  it('does not fail if the file cannot be written', () => {
    const write = openLogFile(join(folder, 'missing'));
    expect(() => write('line')).not.toThrow();
  });
});

describe('the launcher file', () => {
  it('is readable by its owner only, and removed at the end', () => {
    const launcher = { url: 'http://127.0.0.1:8787', token: newLauncherToken() };
    const remove = writeLauncherFile(folder, launcher);
    expect(statSync(join(folder, 'launcher')).mode & 0o777).toBe(0o600);
    expect(readLauncherFile(folder)).toEqual(launcher);
    remove();
    expect(readLauncherFile(folder)).toBeNull();
  });

  it.each(['', '{', '[]', '{"url": 1, "token": {}}', '{"url": "http://127.0.0.1:1"}'])('is ignored if it is damaged: %s', (text) => {
    writeFileSync(join(folder, 'launcher'), text, { mode: 0o600 });
    expect(readLauncherFile(folder)).toBeNull();
  });
});
