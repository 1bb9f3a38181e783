/** Commands that are sent to shells to break them, row by row. The shell itself is tested in `bash.test.ts`. */
import { recordOf } from '../../src/core/json/wire-value.ts';
import { expect, it } from 'vitest';
import { describeCorpus, readJson, readJsonLines } from '../fixtures.ts';
import { Problem } from '../../src/core/problem.ts';
import { put, toolBench } from './run-tool.ts';
import { shell } from './shell.ts';
import { sample } from '../selection.ts';
import { printStatistics } from '../statistics.ts';

type Row = { id: string; class: string; command: string };

// Rows about deleting, overwriting, writing outside and privileges run with the policy, in `engine/call/ask-first.test.ts`.
describeCorpus('security/bash-hostile.jsonl', (path) => {
  const rows = readJsonLines<Row>(path);
  const of = (kind: string): Row[] => rows.filter((row) => row.class === kind);

  it('stops what would exhaust it, lets others run meanwhile, and keeps working', async () => {
    // A row that exhausts nothing here is no error: nothing to read from, a missing command or option, or one that just fails.
    const harmless = new Set(['limit_reached', 'timeout', undefined]);
    const stalls: number[] = [];
    let refused = 0;
    const chosen = sample('commands that exhaust', of('exhaust'), (row, index) => index % 3 === 0 || row.command.includes('&'));
    for (const { id, command } of chosen) {
      const { sh } = shell();
      const watch = watchStalls();
      const { text, code, isError } = await sh(command);
      stalls.push(watch.stop());
      expect(text.length, id).toBeLessThan(80_000);
      if (code === 'tool_error') refused += Number(text.startsWith('Not run: '));
      else expect([id, harmless.has(code), isError]).toEqual([id, true, code !== undefined]);
      expect((await sh('echo alive')).out, id).toBe('alive\n');
    }
    printStatistics(
      `bash-hostile exhaust: ${stalls.length} rows, ${stalls.length} as expected (${refused} refused as background jobs), longest stall ${Math.round(Math.max(...stalls))} ms`,
    );
    expect(of('exhaust')).toHaveLength(48);
    expect(refused).toBe(1);
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
    printStatistics(`bash-hostile disclosure: ${of('disclosure').length} rows, all as expected`);
  });

  it('has no network except the outbound client', async () => {
    const original = globalThis.fetch;
    let asked = 0;
    globalThis.fetch = async () => {
      asked += 1;
      return new Response('');
    };
    const guarded: string[] = [];
    const bench = toolBench({
      async fetch(request) {
        guarded.push(request.url);
        throw new Problem('forbidden', 'the guard says no');
      },
    });
    put(bench.files, '/workspace/a.txt', 'hello');
    try {
      for (const { id, command } of of('network')) {
        const { structuredContent } = await bench.run('builtin.bash', { command });
        expect([id, recordOf(structuredContent).exitCode === 0]).toEqual([id, false]);
      }
    } finally {
      globalThis.fetch = original;
    }
    expect(asked).toBe(0);
    // Each as a call of http_request; `--resolve`, `-x`, `Host` and file: never get that far.
    expect(guarded).toEqual([
      'http://169.254.169.254/',
      'http://localhost:8787/admin',
      'http://10.0.0.1/',
      'http://example.com/redirect-to-metadata',
      'http://attacker.example/',
      'http://attacker.example/?d=aGVsbG8=',
    ]);
    printStatistics(
      `bash-hostile network: ${of('network').length} rows, all as expected (${guarded.length} judged by the guard, the rest refused here)`,
    );
  });

  it('runs safe commands', async () => {
    // Unavailable in this shell, or about missing files: an exit code, never a rejection.
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
  it('passes through the shell unchanged as the content of a file', async () => {
    const { files, run } = shell();
    for (const content of sample('naughty strings as files', readJson<string[]>(path), (_, index) => index % 5 === 1)) {
      put(files, '/workspace/in', content);
      await run('builtin.bash', { command: 'cat in > out' });
      expect(new TextDecoder('utf-8', { ignoreBOM: true, fatal: true }).decode(files.read('/workspace/out'))).toBe(content);
    }
  });
});

/** Returns the longest time in which nothing else could run, in milliseconds. */
function watchStalls(): { stop(): number } {
  let last = performance.now();
  let longest = 0;
  const note = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(note, 1);
  return {
    stop() {
      note();
      clearInterval(timer);
      return longest;
    },
  };
}
