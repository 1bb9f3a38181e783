/** Scripts that run at the same time in one isolate: a budget or an error of one never affects another. */
import { recordOf } from '../../src/core/json/wire-value.ts';
import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sample } from '../selection.ts';
import { put, toolBench } from './run-tool.ts';

async function run(command: string, files: Record<string, string> = {}) {
  const bench = toolBench();
  for (const [name, content] of Object.entries(files)) put(bench.files, `/workspace/${name}`, content);
  const result = await bench.run('builtin.bash', { command });
  const { stdout, stderr, exitCode } = recordOf(result.structuredContent);
  return { text: result.text, code: result.code, out: String(stdout), err: String(stderr), exitCode };
}

const text = 'a'.repeat(100_000);
/** Each uses more matching than one script may. */
const exhausting = [
  '[[ $(cat text) =~ (a?){900}b ]]',
  "sed -E 's/((a?){900})b/x/' text",
  "grep -cE '((a?){300}){3}b' text",
  'jq -R \'test("((a?){300}){3}b")\' text',
  'awk \'$0 ~ "((a?){300}){3}b"\' text',
  `grep -E '${'a?'.repeat(10_000)}b' text`,
];
/** Each of these has many points at which the other script may run, and uses patterns. */
const harmless = [
  'for i in 1 2 3 4 5 6 7 8 9; do [[ a$i =~ a(.) ]] && echo $i; done | tail -1',
  "seq 1 300 | sed -E 's/[0-9]+/9/' | sort -u",
  "seq 1 300 | grep -E '^9$'",
  "seq 1 9 | awk '/[0-9]/ { n++ } END { print n }'",
  'jq -n \'9 | tostring | test("9") | if . then 9 else 0 end\'',
];

describe('two scripts at once', () => {
  // As on Cloudflare while code runs: a busy machine would use up the time limit of another script.
  beforeEach(() => void vi.spyOn(performance, 'now').mockReturnValue(0));
  afterEach(() => void vi.restoreAllMocks());

  const leads = [0, 1, 3, 8];
  const pairs = exhausting.flatMap((command, row) =>
    leads.map((lead, column) => ({ command, lead, diagonal: (row + column) % leads.length })),
  );
  it.each(sample('scripts at once', pairs, ({ diagonal }, index) => diagonal === 0 && index % 2 === 0))(
    'only the script that matched too much is stopped: $command, others begin $lead steps later',
    async ({ command, lead }) => {
      const others = harmless.map((other, index) => `${'true; '.repeat((lead * index) % 7)}${other}`);
      const before = others.map((other) => run(other));
      const exhausted = run(command, { text });
      const ended = await Promise.all([...before, ...others.map((other) => run(other))]);
      expect(ended, `beside ${command}`).toMatchObject(ended.map(() => ({ code: undefined, out: '9\n', err: '' })));
      expect(await exhausted).toMatchObject({
        code: 'limit_reached',
        text: expect.stringMatching(/too much to match|longer than \d+ characters/),
      });
    },
  );

  it('only the script with the invalid pattern has an error for it', async () => {
    const faults = [
      "sed -E 's/(?=a)/x/' text",
      "sed -E 's/(a)\\1/x/' text",
      'echo \'"a"\' | jq \'test("(?=a)")\'',
      'awk \'$0 ~ "(?=a)"\' text',
    ];
    for (const fault of faults) {
      const [wrong, right, again] = await Promise.all([
        run(fault, { text: 'aa\n' }),
        run("sed 's/a/9/g' text", { text: 'aa\n' }),
        run(fault, { text: 'aa\n' }),
      ]);
      const expected = { exitCode: 2, err: expect.stringContaining('pattern not supported by this shell') };
      expect([wrong, right, again], fault).toMatchObject([expected, { exitCode: 0, err: '', out: '99\n' }, expected]);
    }
  });

  it('only the command with the invalid pattern has an error for it', async () => {
    const { err, out } = await run("sed -E 's/(?=a)/x/' text | sed 's/a/9/g'; sed 's/a/9/g' text", { text: 'aa\n' });
    expect({ err: err.match(/^\w+: pattern not supported/gm), out }).toEqual({ err: ['sed: pattern not supported'], out: '99\n99\n' });
  });
});

it('runs if Object.prototype is not extensible', () => {
  const script = `
    Object.preventExtensions(Object.prototype);
    const { toolBench } = await import(${JSON.stringify(new URL('./run-tool.ts', import.meta.url).href)});
    const result = await toolBench().run('builtin.bash', { command: '[[ ab =~ a(.) ]] && echo \${BASH_REMATCH[1]}' });
    console.log(result.structuredContent?.stdout);`;
  const ended = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8', timeout: 90_000 });
  expect(ended.stdout, ended.stderr).toBe('b\n\n');
});
