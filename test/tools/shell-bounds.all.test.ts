/**
 * What a script may do before it is stopped, since nothing else runs in the isolate meanwhile: limits that hold for every kind of work and
 * do not affect honest scripts. Counted, not timed.
 */
import { recordOf } from '../../src/core/json/wire-value.ts';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { put, toolBench } from './run-tool.ts';
import { maxShellPatternLength } from '../../src/tools/shell/pattern-budget.ts';

/** Stops the clock of the tests that follow, as on Cloudflare while code runs: only counted limits apply, however busy the machine is. */
function stopClock(): void {
  beforeEach(() => void vi.spyOn(performance, 'now').mockReturnValue(0));
  afterEach(() => void vi.restoreAllMocks());
}

async function run(command: string, files: Record<string, string> = {}) {
  const bench = toolBench();
  for (const [name, content] of Object.entries(files)) put(bench.files, `/workspace/${name}`, content);
  const result = await bench.run('builtin.bash', { command });
  const { stdout, stderr, exitCode } = recordOf(result.structuredContent);
  return { ...result, out: String(stdout), err: String(stderr), exitCode };
}

describe('a pattern that is too expensive for any engine', () => {
  const long = `${'a?'.repeat(maxShellPatternLength)}b`;
  const files = {
    pattern: long,
    glob: `${'*a'.repeat(maxShellPatternLength)}b`,
    sed: `s/${long}/x/`,
    awk: `/${long}/ { print }`,
    jq: `test("${long}")`,
    text: 'a'.repeat(20_000),
  };
  // From every source: a file of patterns, a program, a variable, or built by the command itself.
  const places = [
    'grep -E -f pattern text',
    'grep -E -f - text < pattern',
    'rg -f pattern text',
    'sed -E -f sed text',
    'awk "$(cat awk)" text',
    'awk \'BEGIN { getline p < "pattern" } $0 ~ p\' text',
    'awk \'BEGIN { p = "a?"; for (i = 0; i < 15; i++) p = p p; print "aaa" ~ (p "b") }\'',
    'jq -R "$(cat jq)" text',
    "jq -R --rawfile p pattern 'test($p)' text",
    'jq -n \'("a?" * 50000) as $p | "aaa" | test($p)\'',
    'find . -regex "$(cat pattern)"',
    '[[ $(cat text) =~ $(cat pattern) ]]',
    '[[ $(cat text) == $(cat glob) ]]',
    'p=$(cat glob); case $(cat text) in $p) ;; esac',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's.
    'a=$(cat text); p=$(cat glob); echo ${a##$p}',
    'eval "grep -E \\"\\$(cat pattern)\\" text"',
    'echo "[[ a =~ \\$(cat pattern) ]]" > script; source ./script',
  ];

  it.each(places)('ends the script: %s', async (place) => {
    expect(await run(`echo before; ${place}`, files)).toMatchObject({
      isError: true,
      code: 'limit_reached',
      out: expect.stringMatching(/^before\n/),
      text: expect.stringMatching(/Stopped: a pattern is longer than \d+ characters/),
    });
  });

  it('has groups nested too deeply, or a text too long for it', async () => {
    const deep = `${'('.repeat(200)}a${')'.repeat(200)}`;
    expect((await run(`grep -E '${deep}' text`, files)).text).toContain('groups nested deeper than');
    const commands = ["grep -cE '((a?){300}){3}b' text", "sed -E 's/((a?){900})b/x/' text", '[[ $(cat text) =~ (a?){900}b ]]'];
    for (const command of commands) {
      expect(await run(`echo before; ${command}`, { text: 'a'.repeat(200_000) }), command).toMatchObject({
        code: 'limit_reached',
        out: 'before\n',
        text: expect.stringContaining('too much to match at once'),
      });
    }
  });

  it('does not affect the next script', async () => {
    const bench = toolBench();
    put(bench.files, '/workspace/pattern', long);
    expect((await bench.run('builtin.bash', { command: '[[ a =~ $(cat pattern) ]]' })).code).toBe('limit_reached');
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's.
    expect((await bench.run('builtin.bash', { command: '[[ ab =~ a(.) ]] && echo ${BASH_REMATCH[1]}' })).text).toContain('b\n');
  });

  it('is not a glob for ls, which uses file names literally', async () => {
    const names = { [`${'a'.repeat(100)}c`]: '', '[slug].tsx': '', 'a b': '' };
    const { out, err, exitCode } = await run(`ls '${'*a'.repeat(20)}b' 'a b'; ls [slug].tsx; ls a* | grep -c a`, names);
    expect({ out, err, exitCode }).toEqual({
      out: 'a b\n[slug].tsx\n2\n',
      err: `ls: ${'*a'.repeat(20)}b: No such file or directory\n`,
      exitCode: 0,
    });
  });
});

describe('a program', () => {
  stopClock();

  it('may be longer than a pattern', async () => {
    const rows = Array.from({ length: 1_500 }, (_, index) => index);
    const files = {
      awk: `${rows.map((row) => `$1 == ${row} { s += ${row} }`).join('\n')}\nEND { print s }`,
      sed: rows.map((row) => `s/^row ${row}$/${row}!/`).join('\n'),
      jq: `{${rows.map((row) => `"k${row}": "r${row}"`).join(', ')}}.k5`,
      in: '7\n8\n',
    };
    const { out, err } = await run(
      'awk "$(cat awk)" in; echo row 9 | sed -f sed; echo \'[5]\' | jq "$(cat jq)"; grep -c "$(cat words)" in',
      {
        ...files,
        words: rows.map(String).join('\n'),
      },
    );
    expect({ out, err }).toEqual({ out: `15\n9!\n"r5"\n2\n`, err: '' });
  });
});

describe('honest work over a lot of data', () => {
  stopClock();

  const lines = (bytes: number): string => {
    let text = '';
    for (let index = 0; text.length < bytes; index += 1) text += `line ${(index * 7919) % 1009} foo${index % 97} bar\n`;
    return text;
  };

  it('succeeds: sort and count over 2 MB', async () => {
    const f = lines(2_000_000);
    const all = f.trimEnd().split('\n');
    const some = all.filter((line) => line.includes('foo9'));
    const { out, err } = await run(
      "sort f | uniq -c | sort -rn | wc -l; grep -c foo9 f; grep -cE 'foo[0-9]+ b' f; cut -d' ' -f1 f | sort -u",
      { f },
    );
    expect({ out: out.replace(/ /g, ''), err }).toEqual({ out: `${new Set(all).size}\n${some.length}\n${all.length}\nline\n`, err: '' });
  });

  it('succeeds: sums over 100,000 lines', async () => {
    const { out, err } = await run("seq 1 100000 > n; awk '{ s += $1 } END { print s }' n; sed -n '$p' n; tail -1 n");
    expect({ out, err }).toEqual({ out: '5000050000\n100000\n100000\n', err: '' });
  });

  it('succeeds: JSON of 2 MB', async () => {
    const rows = Array.from({ length: 25_000 }, (_, id) => ({
      id,
      name: `user ${id}`,
      tags: ['a', 'b'],
      score: id % 100,
      note: 'lorem',
    }));
    const { out, err } = await run(
      "jq length f; jq '[.[] | select(.score > 50) | .id] | add' f; jq -c 'group_by(.score) | length' f; jq -c '.[]' f | wc -l",
      { f: JSON.stringify(rows) },
    );
    const sum = rows.reduce((total, { id, score }) => total + (score > 50 ? id : 0), 0);
    expect({ out, err }).toEqual({ out: `${rows.length}\n${sum}\n100\n${rows.length}\n`, err: '' });
  });
});

describe('work that cannot wait', () => {
  const commands = [
    "jq -n '[range(99999) | [range(99999)]] | length'",
    "jq -n 'reduce range(90000) as $i ([]; . + [$i]) | length'",
    `[[ $(cat f) =~ ((a?){300}){3}b ]]`,
  ];

  it.each(commands)('is stopped, and earlier output is kept: %s', async (command) => {
    const f = 'a'.repeat(200_000);
    expect(await run(`echo before; ${command}; echo after`, { f })).toMatchObject({
      isError: true,
      code: 'limit_reached',
      out: 'before\n',
    });
  });

  it('is rejected if its input is too large', async () => {
    const { text } = await run(
      'sort f; wc < f; sort -k2 g; html-to-markdown h; html-to-markdown i; gzip -9 -c k; seq 1 5000 > a; sort -r a > b; diff a b; seq 2 5000 > c; diff a c | tail -1',
      { f: 'x'.repeat(7_000_000), g: 'a b\n'.repeat(600_000), h: '<div>'.repeat(300), i: 'x'.repeat(300_000), k: 'x'.repeat(3_200_000) },
    );
    expect(text.match(/^.*(input too large|deeper than|differ in).*$/gm)).toEqual([
      expect.stringContaining('sort: input too large for this shell (7000000 bytes'),
      expect.stringContaining('wc: input too large'),
      expect.stringContaining('sort: input too large for this shell (2400000 bytes'),
      expect.stringContaining('html-to-markdown: elements nested deeper'),
      expect.stringContaining('html-to-markdown: input too large'),
      expect.stringContaining('gzip: input too large for this shell (3200000 bytes'),
      expect.stringContaining('the files differ in 10000 lines'),
    ]);
  });
});
