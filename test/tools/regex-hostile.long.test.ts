/**
 * Hostile patterns, row by row, in every place of the shell that takes one: each runs in linear time or is rejected, and never reaches a
 * backtracking engine.
 */
import { recordOf } from '../../src/core/json/wire-value.ts';
import { expect, it } from 'vitest';
import { checkInput } from '../../src/core/schema/input-schema.ts';
import { describeCorpus, readJsonLines } from '../fixtures.ts';
import { put, toolBench } from './run-tool.ts';
import { sample } from '../selection.ts';
import { printStatistics } from '../statistics.ts';

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

/** Each reads the pattern from a file, so that no shell quoting is involved, and prints whether the text matched. */
const places: Record<string, string> = {
  'grep -E': 'grep -qE -- "$(cat pattern)" attack && echo y',
  'grep -P': 'grep -qP -- "$(cat pattern)" attack && echo y',
  'grep -f': 'grep -qE -f pattern attack && echo y',
  rg: 'rg -q "$(cat pattern)" attack && echo y',
  'sed -E': 'sed -nE "s\x01$(cat pattern)\x01y\x01p" attack | grep -q . && echo y',
  awk: 'awk -v p="$(cat pattern)" \'$0 ~ p { print "y" }\' attack',
  '[[ =~ ]]': 'p=$(cat pattern); a=$(cat attack); [[ $a =~ $p ]] && echo y',
  'jq test': 'jq -R --rawfile p pattern \'if test($p) then "y" else empty end\' attack -r',
  'find -regex': 'find . -regex "$(cat pattern)" && false',
  case: 'p=$(cat pattern); a=$(cat attack); case $a in $p) echo glob;; esac; false',
};

type Outcome = 'match' | 'no-match' | 'refused';

/** The expected outcome of a row; a pattern of `works` is safe for the native engine, which gives it. */
function expected(row: Row, text: string): Outcome {
  if (row.expect === 'linear-or-refuse') return 'no-match';
  if (row.expect === 'works') return new RegExp(textOf(row), 'u').test(text) ? 'match' : 'no-match';
  return 'refused';
}

/** The shell's own rules, if a pattern is changed or rejected before it reaches an engine. */
const exceptions: Record<string, Outcome> = {
  // An empty file of patterns is no pattern.
  'empty in grep -f': 'no-match',
  // In awk a single character is literal.
  'invalid-1 in awk': 'no-match',
  // The backslash escapes the character after it, the end of the pattern in sed; alone it is nothing in `-v`.
  'invalid-4 in sed -E': 'no-match',
  'invalid-4 in awk': 'no-match',
  // A glob is converted to a regular expression.
  'deep-group in case': 'refused',
  'long-pattern in case': 'refused',
  'invalid-3 in case': 'refused',
};

const exceptedRows = new Set(Object.keys(exceptions).map((cell) => cell.slice(0, cell.indexOf(' in '))));

describeCorpus('security/regex-hostile.jsonl', (path) => {
  const rows = readJsonLines<Row>(path);
  const chosen = sample('hostile patterns in the shell', rows, ({ id }, index) => index % 4 === 0 || exceptedRows.has(id));

  it('works or is rejected wherever the shell takes a pattern', async () => {
    expect(rows).toHaveLength(34);
    const wrong: string[] = [];
    const slow: string[] = [];
    let [cells, excepted] = [0, 0];
    for (const row of chosen) {
      const { files, run } = toolBench();
      const text = row.attack.unit.repeat(row.attack.times) + row.attack.tail;
      put(files, '/workspace/pattern', textOf(row));
      put(files, '/workspace/attack', text);
      for (const [place, command] of Object.entries(places)) {
        const cell = `${row.id} in ${place}`;
        const began = process.threadCpuUsage();
        const { code, structuredContent } = await run('builtin.bash', { command, timeout: 30_000 });
        const { user } = process.threadCpuUsage(began);
        // A backtracking engine would need minutes of processor time. A script stopped by the shell's own limits was also in time.
        if (user > 10_000_000 || code === 'timeout') slow.push(`${cell}: ${Math.round(user / 1_000)} ms`);
        expect(recordOf((await run('builtin.bash', { command: 'echo alive' })).structuredContent).stdout).toBe('alive\n');
        cells += 1;
        const isRefused =
          code === 'limit_reached' || (recordOf(structuredContent).stderr !== '' && recordOf(structuredContent).stdout === '');
        const outcome = isRefused ? 'refused' : recordOf(structuredContent).stdout === 'y\n' ? 'match' : 'no-match';
        const usual = expected(row, text);
        // Neither globs nor file names match any of them.
        const wanted = exceptions[cell] ?? (place === 'case' || (place === 'find -regex' && usual === 'match') ? 'no-match' : usual);
        if (cell in exceptions) excepted += 1;
        if (outcome !== wanted) wrong.push(`${cell}: ${outcome}, not ${wanted}`);
      }
    }
    printStatistics(
      `regex-hostile: ${chosen.length} rows in ${Object.keys(places).length} places, ${cells - wrong.length - excepted} as expected, ${excepted} exceptions, ${wrong.length} otherwise, ${slow.length} slow`,
    );
    expect({ wrong, slow }).toEqual({ wrong: [], slow: [] });
    expect(excepted).toBe(Object.keys(exceptions).length);
  }, 300_000);

  it('is never run if a schema contains it', () => {
    for (const row of rows) {
      const schema = { type: 'object', properties: { text: { type: 'string', pattern: textOf(row) } } };
      expect(checkInput(schema, { text: row.attack.unit.repeat(row.attack.times) + row.attack.tail }), row.id).toEqual([]);
    }
  });
});
