/**
 * Busy scripts yield: other work of the isolate runs meanwhile. Counted in turns of the event loop, which does not depend on the machine's
 * speed.
 */
import { describe, expect, it } from 'vitest';
import { put, toolBench } from './run-tool.ts';

const lines = (bytes: number): string => {
  let text = '';
  for (let index = 0; text.length < bytes; index += 1) text += `line ${(index * 7919) % 1009} foo${index % 97} bar\n`;
  return text;
};
const files = { f: lines(1_000_000), one: 'a'.repeat(300_000), many: lines(3_000_000) };

/** Runs a script until other work has run `enough` times, or to its end. */
async function turnsOf(command: string, enough: number, timeout = 30_000) {
  const stop = new AbortController();
  const bench = toolBench({ signal: stop.signal });
  // Other files would only take time.
  for (const [name, content] of Object.entries(files).filter(([name]) => new RegExp(`\\b${name}\\b`).test(command)))
    put(bench.files, `/workspace/${name}`, content);
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
    if (turns > enough) stop.abort(new Error('seen'));
  }, 0);
  try {
    const { code } = await bench.run('builtin.bash', { command: `echo before; ${command}`, timeout });
    return { code, turns };
  } finally {
    clearInterval(timer);
  }
}

/** Each of these once occupied the thread, most until it was stopped. */
const busy = [
  "sed -n '/a.*b.*c.*d/p;/o.*o.*o/p;/x|y/p;/[0-9]{5}/p' many",
  "sed 's/[aeiou]/X/g' f",
  "sed -E 's/(l)(i)(n)(e) ([0-9]+) (foo)([0-9]+) (bar)/\\8 \\7 \\6 \\5 \\4/' f",
  "sed -e 's/l/L/' -e 's/o/O/g' -e 's/bar/BAR/' -e 's/ /_/g' f",
  "sed ':a;s/a/b/;ta' one",
  "sed ':a;y/abc/bca/;/zz/!ba' one",
  "sed '$!N;P;D' many",
  "sed 'y/abcdefghijklmnopqrstuvwxyz/ABCDEFGHIJKLMNOPQRSTUVWXYZ/' many",
  "sed -n '{p;{=;{h;G}}}' f",
  "sed -i 's/o/0/g' f many",
  "awk 'BEGIN { for (i = 0; i < 90000; i++) for (j = 0; j < 90000; j++) k++ }'",
  "awk '{ s = s $0; t = toupper(s) }' f",
  'awk \'{ s = s $0; gsub(/zz/, "", s) }\' f',
  "awk '/a.*b.*c/ { n++ } END { print n }' many",
  "awk 'function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2) } BEGIN { print f(40) }'",
  'awk \'BEGIN { while (1) { while ((getline l < "f") > 0) n++; close("f") } }\'',
  'sort many',
  'sort -f -d -b many',
  'sort -k3,3 -k2,2n f',
  'sort -V f',
  "grep -cE 'foo[0-9]+ b|l.*9.*r' many",
  "grep -nE -C1 'foo[0-9]+ b|l.*9.*r' many",
  "rg -c 'foo[0-9]+ b|l.*9.*r' many",
  'jq -R \'test("f.*o.*9.*r")\' f',
  'seq 1 100000 > n; jq . n',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's.
  "eval 'for i in $(seq 1 3000); do a+=($i); x=${a[0]}; done'",
  "echo 'for i in $(seq 1 9000); do x=$i; done' > script; . ./script",
  "bash -c 'while :; do :; done'",
  'f() { g; }; g() { x=$((x + 1)); }; while :; do f; done',
  'until false; do ((x++)); done',
  'for ((;;)); do x=$((x + 1)); done',
  'find f one -name "*" -exec grep -cE "f.*o.*9.*r" {} +; tail -n +1 many | grep -E "f.*o.*9.*r" | wc -l',
  'grep -oE "[a-z]+" f | sort | uniq -c',
  "trap 'x=1' EXIT; while true; do case $x in a) ;; esac; done",
  'while read -r line; do n=$((n + 1)); done < f',
  'sort many | uniq -c | sort -rn | head -3',
];

describe('a busy script yields', () => {
  it.each(busy)('lets other work run meanwhile: %s', async (command) => {
    const { code, turns } = await turnsOf(command, 10);
    expect(turns).toBeGreaterThan(3);
    expect([undefined, 'timeout', 'limit_reached']).toContain(code);
  });
});

describe('a loop of sed that prints', () => {
  it.each([':a;l;ba', ':a;p;ba', ':a;w out\nba', ':a;r many\nba', ':a;s/a/a/p;ba', ':a;W out\nba'])(
    'holds no more than one output: %s',
    async (program) => {
      expect(await turnsOf(`sed -n '${program}' one one one`, Number.POSITIVE_INFINITY, 2_000)).toMatchObject({
        code: expect.stringMatching(/limit_reached|timeout/),
      });
    },
  );
});
