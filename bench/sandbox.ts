/**
 * The cost of sandboxed code: a made tool with two calls compared with the same two calls made directly, in one run in workerd; a hundred
 * at once; the memory of a machine, and the cost of keeping one (snapshot, gzip, restore) compared with rerunning from the journal; and
 * how long an endless loop blocks others. `node bench/sandbox.ts [--quick]`
 */
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Plugin } from 'esbuild';
import { QuickJS } from 'quickjs-wasi';
import { buildEngine, enginePath } from '../src/local/build/build-engine.ts';
import { openBundledWorker } from './bundled-worker.ts';

const quick = process.argv.includes('--quick');
const rounds = quick ? 3 : 7;
const passes = 20;
const goals = { addedMs: 10, stallMs: 2_500 };
buildEngine();
const wasmBeside: Plugin = {
  name: 'wasm beside the bundle',
  setup: ({ onResolve }) => onResolve({ filter: /\.wasm$/ }, () => ({ path: './quickjs.wasm', external: true })),
};

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

const verdicts = [...(await inWorkerd()), ...(await ofMachines())];
for (const { text, holds } of verdicts) console.log(`${holds ? 'pass' : 'FAIL'}: ${text}`);
if (verdicts.some(({ holds }) => !holds)) process.exitCode = 1;

type Verdict = { text: string; holds: boolean };

async function inWorkerd(): Promise<Verdict[]> {
  const runtime = await openBundledWorker('sandbox', 'sandbox-worker.ts', {
    options: { plugins: [wasmBeside] },
    wasm: { 'quickjs.wasm': enginePath },
  });
  try {
    const ask = async (path: string): Promise<{ ms: number; body: { gap: number; total: number } }> => {
      const start = performance.now();
      const response = await fetch(new URL(path, runtime.url));
      if (!response.ok) throw new Error(await response.text());
      const body = (await response.json()) as { gap: number; total: number };
      return { ms: performance.now() - start, body };
    };
    for (const path of ['/made/20', '/direct/20', '/together/100']) await ask(path);
    const made: number[] = [];
    const direct: number[] = [];
    for (let round = 0; round < rounds; round++) {
      made.push((await ask(`/made/${passes}`)).ms / passes);
      direct.push((await ask(`/direct/${passes}`)).ms / passes);
    }
    const together = (await ask('/together/100')).ms;
    const { gap, total } = (await ask('/stall/1')).body;
    const added = median(made) - median(direct);
    console.log(`made tool with two calls: ${median(made).toFixed(2)} ms, the two calls directly: ${median(direct).toFixed(2)} ms`);
    console.log(`a hundred at once: ${together.toFixed(0)} ms, ${(together / 100).toFixed(2)} ms each`);
    return [
      { text: `a made tool adds ${added.toFixed(2)} ms to its two calls (goal < ${goals.addedMs})`, holds: added < goals.addedMs },
      {
        text: `while (true) {} ended after ${total} ms and kept others waiting for ${gap} ms (goal < ${goals.stallMs})`,
        holds: gap < goals.stallMs,
      },
    ];
  } finally {
    await runtime.close();
  }
}

/** The engine alone, in this process: what `src/sandbox/engine.ts` builds on. */
async function ofMachines(): Promise<Verdict[]> {
  // The bindings' types are those of Workers, where nothing is compiled at run time; this is Node.
  const { compile } = WebAssembly as unknown as { compile(bytes: Uint8Array): Promise<WebAssembly.Module> };
  const wasm = await compile(new Uint8Array(readFileSync(enginePath)));
  const options = { wasm, memoryLimit: 16 << 20 };
  const waiting = `(async () => { const seen = []; for (let n = 0; n < 2000; n++) seen.push({ n }); await new Promise(() => {}); return seen })()`;
  const machine = await QuickJS.create(options);
  machine.evalCode(waiting);
  const [take, pack, back, create] = [[], [], [], []] as number[][] as [number[], number[], number[], number[]];
  const timed = async <Value>(into: number[], work: () => Value | Promise<Value>): Promise<Value> => {
    const start = performance.now();
    const value = await work();
    into.push(performance.now() - start);
    return value;
  };
  let raw = 0;
  let packedBytes = 0;
  for (let round = 0; round < rounds; round++) {
    const bytes = await timed(take, () => QuickJS.serializeSnapshot(machine.snapshot()));
    const packed = await timed(pack, async () => await promisify(gzip)(bytes));
    await timed(back, async () => (await QuickJS.restore(QuickJS.deserializeSnapshot(await promisify(gunzip)(packed)), options)).dispose());
    await timed(create, async () => {
      const fresh = await QuickJS.create(options);
      fresh.evalCode(waiting);
      fresh.dispose();
    });
    [raw, packedBytes] = [bytes.length, packed.length];
  }
  const snapshot = machine.snapshot();
  const before = process.memoryUsage().rss;
  const held = await Promise.all(Array.from({ length: 100 }, async () => await QuickJS.restore(snapshot, options)));
  const each = (process.memoryUsage().rss - before) / held.length / 1e6;
  for (const one of held) one.dispose();
  console.log(
    `snapshot: ${(raw / 1e6).toFixed(2)} MB in ${median(take).toFixed(1)} ms, gzip ${(packedBytes / 1e3).toFixed(0)} kB in ${median(pack).toFixed(1)} ms, back in ${median(back).toFixed(1)} ms; run again from the beginning: ${median(create).toFixed(1)} ms`,
  );
  console.log(`a hundred machines at once: ${each.toFixed(2)} MB each`);
  const kept = median(take) + median(pack) + median(back);
  return [
    {
      text: `replay costs ${(median(create) / kept).toFixed(2)} of a snapshot that is kept and restored (goal ≤ 1)`,
      holds: median(create) <= kept,
    },
  ];
}
