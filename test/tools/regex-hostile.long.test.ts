/** Patterns from outside, row by row, through every place of the shell that takes one: linear or refused, never a backtracking engine. */
import { expect, it } from 'vitest';
import { checkInput } from '../../src/core/schema/input-schema.ts';
import { describeCorpus, readJsonLines } from '../fixtures.ts';
import { put, toolBench } from './run-tool.ts';

type Row = {
  id: string;
  pattern: string | { generate: [before: string, times: number, middle: string, after: string, timesAfter: number] };
  attack: { unit: string; times: number; tail: string };
  expect: 'works' | 'linear-or-refuse' | 'refuse-pattern' | 'invalid-pattern';
};

function textOf({ pattern }: Row): string {
  if (typeof pattern === 'string') return pattern;
  const [before, times, middle, after, timesAfter] = pattern.generate;
  return before.repeat(times) + middle + after.repeat(timesAfter);
}

/** Each reads the pattern from a file, so that no quoting of the shell stands between. */
const places: Record<string, string> = {
  'grep -E': 'p=$(cat pattern); grep -E -- "$p" attack',
  'grep -P': 'p=$(cat pattern); grep -P -- "$p" attack',
  'sed -E': 'p=$(cat pattern); sed -E "s\x01$p\x01-\x01" attack',
  awk: 'p=$(cat pattern); awk -v p="$p" \'$0 ~ p\' attack',
  '[[ =~ ]]': 'p=$(cat pattern); a=$(cat attack); [[ $a =~ $p ]]',
  'jq test': 'p=$(cat pattern); jq -R --arg p "$p" \'test($p)\' attack',
  'find -regex': 'p=$(cat pattern); find . -regex "$p"',
  case: 'p=$(cat pattern); a=$(cat attack); case $a in $p) echo y;; esac',
};

describeCorpus('security/regex-hostile.jsonl', (path) => {
  const rows = readJsonLines<Row>(path);

  it('is linear or refused wherever the shell takes a pattern', async () => {
    expect(rows).toHaveLength(34);
    const slow: string[] = [];
    for (const row of rows) {
      const { files, run } = toolBench();
      put(files, '/workspace/pattern', textOf(row));
      put(files, '/workspace/attack', row.attack.unit.repeat(row.attack.times) + row.attack.tail);
      for (const [place, command] of Object.entries(places)) {
        const began = performance.now();
        const { code } = await run('builtin.bash', { command, timeout: 5_000 });
        const ms = performance.now() - began;
        // A backtracking engine is at it for minutes; what is stopped by the shell's own bounds has been in time as well.
        if (ms > 4_000 || code === 'timeout') slow.push(`${row.id} in ${place}: ${Math.round(ms)} ms`);
        expect((await run('builtin.bash', { command: 'echo alive' })).structuredContent?.stdout).toBe('alive\n');
      }
    }
    console.log(`regex-hostile: ${rows.length} rows in ${Object.keys(places).length} places, slow: ${slow.length}`);
    expect(slow).toEqual([]);
  }, 300_000);

  it('is never run where it stands in a schema', () => {
    for (const row of rows) {
      const schema = { type: 'object', properties: { text: { type: 'string', pattern: textOf(row) } } };
      expect(checkInput(schema, { text: row.attack.unit.repeat(row.attack.times) + row.attack.tail }), row.id).toEqual([]);
    }
  });
});
