/** What people send to shells to break them, row by row; the shell itself is `bash.test.ts`. */
import { expect, it } from 'vitest';
import { describeCorpus, readJson, readJsonLines } from '../fixtures.ts';
import { put } from './run-tool.ts';
import { shell } from './shell.ts';

type Row = { id: string; class: string; command: string };

// Rows about deleting, overwriting, writing outside and privileges are run over the policy, in `engine/ask-first.test.ts`.
describeCorpus('security/bash-hostile.jsonl', (path) => {
  const rows = readJsonLines<Row>(path);
  const of = (kind: string): Row[] => rows.filter((row) => row.class === kind);

  it.each(of('exhaust'))('$id ends in bounds, and the next command works: $command', async ({ command }) => {
    const { sh } = shell();
    expect((await sh(command)).text.length).toBeLessThan(80_000);
    expect((await sh('echo alive')).out).toBe('alive\n');
  });

  it('discloses nothing of the host', async () => {
    process.env.MONIKER_TEST_SENTINEL = 'SENTINEL-9f2c';
    const hostValues = [process.env.MONIKER_TEST_SENTINEL, process.cwd(), process.version, process.env.PATH ?? 'unset'];
    for (const { command } of of('disclosure')) {
      const { text } = await shell().sh(command);
      for (const value of hostValues) expect(text, command).not.toContain(value);
      expect(text, command).not.toMatch(/root:|node_modules/);
    }
    delete process.env.MONIKER_TEST_SENTINEL;
  });

  it('has no network of its own', async () => {
    const original = globalThis.fetch;
    let asked = 0;
    globalThis.fetch = async () => {
      asked += 1;
      return new Response('');
    };
    try {
      for (const { command } of of('network')) expect((await shell().sh(command)).exitCode, command).not.toBe(0);
    } finally {
      globalThis.fetch = original;
    }
    expect(asked).toBe(0);
  });

  it('runs what is harmless', async () => {
    // Not in this shell, or about files that are not there: an exit code, never a refusal.
    const failing = new Map([
      ['grep -rn TODO .', 1],
      ["grep 'rm -rf' notes.txt", 2],
      ['git log --oneline', 127],
      ['ls rm', 2],
    ]);
    for (const { command } of of('harmless')) {
      const { isError, exitCode } = await shell().sh(command);
      expect([command, isError, exitCode]).toEqual([command, false, failing.get(command) ?? 0]);
    }
  });
});

describeCorpus('security/naughty-strings.json', (path) => {
  it('passes through the shell as the content of a file', async () => {
    const { files, run } = shell();
    for (const content of readJson<string[]>(path)) {
      put(files, '/workspace/in', content);
      await run('builtin.bash', { command: 'cat in > out' });
      expect(new TextDecoder('utf-8', { ignoreBOM: true, fatal: true }).decode(files.read('/workspace/out'))).toBe(content);
    }
  });
});
