/**
 * How fast a streamed reply becomes tool calls: our reader against the floor and against common libraries, on every wire. Same bytes, a
 * fresh process for each measurement, best of three passes after a warm-up; the arguments are compared byte for byte. With `--workerd` the
 * same in workerd, timed from outside. Exit code 1 when a goal is missed.
 *
 *   node bench/assemble.ts [--rounds 5] [--cases par8,one] [--readers floor,ours] [--scales 1,2,4,8] [--workerd]
 */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { readers } from './assembly-readers.ts';
import { argumentsJson, cases, segmentsOf, type Shape } from './assembly-streams.ts';
import { openRuntime, type AssemblyRuntime } from './assembly-runtime.ts';
import { median } from './load.ts';

const { values: options } = parseArgs({
  options: {
    child: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    /** Accepted as by the other benchmarks; `--rounds` is what makes this one short. */
    quick: { type: 'boolean', default: false },
    cases: { type: 'string', default: Object.keys(cases).join() },
    readers: { type: 'string', default: Object.keys(readers).join() },
    scales: { type: 'string', default: '1,2,4,8' },
    workerd: { type: 'boolean', default: false },
  },
});

/** A reader slower than this at half the size is not run at the full size. */
const tooSlowMs = 8_000;

type Time = (reader: string, name: string, scale: number) => Promise<number>;

/** One measurement, in its own process: milliseconds of the best pass. */
async function measureHere(readerName: string, name: string, scale: number): Promise<number> {
  const shape = cases[name]?.(scale);
  const reader = readers[readerName];
  if (shape === undefined || reader === undefined) throw new Error(`there is no ${readerName} or ${name}`);
  const segments = segmentsOf(shape);
  const warmUp = segmentsOf({ ...shape, bytes: 2000 });
  for (let pass = 0; pass < 6; pass++) await reader.read(warmUp, shape.wire);
  let best = Number.POSITIVE_INFINITY;
  for (let pass = 0; pass < 3 && (pass === 0 || best < 3_000); pass++) {
    const start = performance.now();
    const calls = await reader.read(segments, shape.wire);
    best = Math.min(best, performance.now() - start);
    check(readerName, calls, shape);
  }
  return best;
}

function check(reader: string, calls: readonly string[], shape: Shape): void {
  if (calls.length !== shape.calls) throw new Error(`${reader} found ${calls.length} calls`);
  for (const [index, text] of calls.entries())
    if (text !== argumentsJson(shape.bytes, index)) throw new Error(`${reader} got call ${index} wrong`);
}

const measureApart: Time = async (reader, name, scale) => {
  const child = spawnSync(process.execPath, [import.meta.filename, '--child', JSON.stringify([reader, name, scale])], {
    encoding: 'utf8',
    timeout: 120_000,
  });
  if (child.status !== 0) throw new Error(`${reader} ${name} ${scale}x failed: ${child.stderr}`);
  return Number(child.stdout);
};

async function main(): Promise<void> {
  if (options.child !== undefined) {
    const [reader, name, scale] = JSON.parse(options.child);
    console.log(await measureHere(reader, name, scale));
    return;
  }
  const runtime: AssemblyRuntime | null = options.workerd ? await openRuntime() : null;
  const time: Time = runtime === null ? measureApart : (reader, name, scale) => runtime.measure(reader, name, scale);
  try {
    await compare(time);
  } finally {
    await runtime?.close();
  }
}

async function compare(time: Time): Promise<void> {
  const scales = options.scales.split(',').map(Number);
  const chosen = options.readers.split(',');
  const leastOverAi = options.workerd ? 50 : 6;
  console.log(
    `Assembling tool calls ${options.workerd ? 'in workerd' : 'on Node'}, ms (goals: at most 1.5 x floor, last doubling at most 2.6, ai streamText at least ${leastOverAi} x ours, the vendor's helper at least 2 x)\n`,
  );
  console.log(`| case | reader | ${scales.map((scale) => `${scale}x`).join(' | ')} | x floor | last doubling | x ours |`);
  console.log(`|---|---|${'---|'.repeat(scales.length + 3)}`);
  for (const name of options.cases.split(',')) {
    const wire = cases[name]?.(1).wire;
    const present = chosen.filter((reader) => wire !== undefined && readers[reader]?.wires.includes(wire));
    const times = await measureCase(time, name, present, scales);
    report(name, present, scales, times, leastOverAi);
  }
}

/** Readers alternate within a round, so that a busy moment of the machine affects all; ratios are paired. Slow readers run once. */
async function measureCase(
  time: Time,
  name: string,
  present: readonly string[],
  scales: readonly number[],
): Promise<Map<string, number[]>> {
  const times = new Map<string, number[]>();
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const [index, scale] of scales.entries()) {
      for (const reader of present) {
        const key = `${reader} ${scale}`;
        const known = times.get(key) ?? [];
        const before = times.get(`${reader} ${scales[index - 1]}`) ?? [];
        const isPeer = reader !== 'floor' && reader !== 'ours';
        if (isPeer && (round > 1 || median(before) > tooSlowMs)) continue;
        times.set(key, [...known, await time(reader, name, scale)]);
      }
    }
  }
  return times;
}

function report(
  name: string,
  present: readonly string[],
  scales: readonly number[],
  times: Map<string, number[]>,
  leastOverAi: number,
): void {
  const of = (reader: string, scale: number | undefined): number[] => times.get(`${reader} ${scale}`) ?? [];
  const full = scales.at(-1);
  const growthOf = (reader: string): number => median(of(reader, full)) / median(of(reader, scales.at(-2)));
  for (const reader of present) {
    const ratio = median(of(reader, full).map((ms, round) => ms / (of('floor', full)[round] ?? Number.NaN)));
    const overOurs = median(of(reader, full)) / median(of('ours', full));
    const growth = growthOf(reader);
    const missed =
      reader === 'ours'
        ? // Garbage collection makes the floor's own doubling uneven.
          ratio > 1.5 || growth > Math.max(2.6, growthOf('floor') * 1.2)
        : (reader === 'ai streamText' && overOurs < leastOverAi) || (reader === 'vendor helper' && overOurs < 2);
    if (missed) process.exitCode = 1;
    const cells = scales.map((scale) => (of(reader, scale).length === 0 ? '-' : median(of(reader, scale)).toFixed(1)));
    const figures = [ratio, growth, overOurs].map((value) => (Number.isNaN(value) ? '-' : value.toFixed(2)));
    console.log(`| ${name} | ${reader}${missed ? ' (missed)' : ''} | ${[...cells, ...figures].join(' | ')} |`);
  }
}

await main();
