/**
 * How fast a streamed reply becomes tool calls: our reader and the floor, which only parses each event, on every wire; with `--peers` also
 * common libraries. Same bytes, a fresh process for each measurement, best of three passes after a warm-up; the arguments are compared byte
 * for byte. With `--workerd` the same in workerd, timed from outside. Exit code 1 when a goal is missed.
 *
 *   node bench/assemble.ts [--rounds 5] [--cases par8,one] [--readers floor,Moniker] [--scales 1,2,4,8] [--peers] [--workerd]
 */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { fetchOf, readers as ownReaders, type Reader } from './assembly-readers.ts';
import { argumentsJson, cases, segmentsOf, type Shape, type Wire } from './assembly-streams.ts';
import { openRuntime, type AssemblyRuntime } from './assembly-runtime.ts';
import { median } from './load.ts';
import { peersFolder, versionOf } from './peer-packages.ts';

const { values: options } = parseArgs({
  options: {
    child: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    /** Accepted as by the other benchmarks; `--rounds` is what makes this one short. */
    quick: { type: 'boolean', default: false },
    cases: { type: 'string', default: Object.keys(cases).join() },
    readers: { type: 'string' },
    scales: { type: 'string', default: '1,2,4,8' },
    workerd: { type: 'boolean', default: false },
    peers: { type: 'boolean', default: false },
  },
});

/** A reader slower than this at half the size is not run at the full size. */
const tooSlowMs = 4_000;

/** Loading them takes a second, which a process that measures another reader does not need. */
const needsPeers = options.peers && (options.child === undefined || !((JSON.parse(options.child) as string[])[0]! in ownReaders));
const readers: Readonly<Record<string, Reader>> = needsPeers ? { ...ownReaders, ...(await loadPeers()) } : ownReaders;

/** Of those that only `npm run bench:peers` installs. */
async function loadPeers(): Promise<Record<string, Reader>> {
  // Not a literal, because the compiler would resolve packages that are not installed.
  const path = `${peersFolder}/assembly-readers.mjs`;
  const { peerReaders } = (await import(path)) as { peerReaders(fetchOf: unknown): Record<string, Reader> }; // the file beside it
  return peerReaders(fetchOf);
}

/** The call that is measured, for each reader. */
function nameOf(reader: string, wire: Wire | undefined): string {
  if (reader === 'ai') return `${versionOf('ai')}, streamText`;
  if (reader === '@langchain/openai') return `${versionOf(reader)}, stream and concat`;
  if (reader === '@tanstack/ai') return `${versionOf(reader)}, chat`;
  if (reader !== 'vendor SDK') return reader;
  if (wire === 'anthropic') return `${versionOf('@anthropic-ai/sdk')}, messages.stream`;
  return `${versionOf('openai')}, ${wire === 'openai' ? 'chat.completions.stream' : 'responses.stream'}`;
}

/** What a case is, for the table. */
function describe(name: string): string {
  const shape = cases[name]?.(8);
  if (shape === undefined) return name;
  const size = shape.bytes >= 1_000_000 ? `${shape.bytes / 1_000_000} MB` : `${shape.bytes / 1_000} kB`;
  return `${shape.wire}: ${shape.calls === 1 ? `one call of ${size}` : `${shape.calls} calls of ${size}`}`;
}

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
  for (let pass = 0; pass < 3 && (pass === 0 || best < 1_000); pass++) {
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
  const child = spawnSync(
    process.execPath,
    [import.meta.filename, ...(options.peers ? ['--peers'] : []), '--child', JSON.stringify([reader, name, scale])],
    {
      encoding: 'utf8',
      timeout: 120_000,
    },
  );
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
  const chosen = options.readers?.split(',') ?? (options.peers ? Object.keys(readers) : ['floor', 'Moniker']);
  const leastOverAi = options.workerd ? 50 : 6;
  console.log(
    `Milliseconds ${options.workerd ? 'in workerd' : 'on Node'}, from 1/8 (1x) to the full size (8x); 2.0 is the doubling of linear growth.\n`,
  );
  console.log(`| stream | reader | ${scales.map((scale) => `${scale}x`).join(' | ')} | x floor | last doubling | x Moniker |`);
  console.log(`|---|---|${'---|'.repeat(scales.length + 3)}`);
  const goals: Goal[] = [];
  for (const name of options.cases.split(',')) {
    const wire = cases[name]?.(1).wire;
    const present = chosen.filter((reader) => wire !== undefined && readers[reader]?.wires.includes(wire));
    const times = await measureCase(time, name, present, scales);
    goals.push(...report(name, present, scales, times, leastOverAi));
  }
  console.log('');
  for (const { text, holds } of goals) console.log(`${holds ? 'pass' : 'FAIL'}: ${text}`);
  if (goals.some(({ holds }) => !holds)) process.exitCode = 1;
}

type Goal = { text: string; holds: boolean };

/** Readers alternate within a round, so that a busy moment of the machine affects all; ratios are paired. Libraries run in one round. */
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
        const isPeer = reader !== 'floor' && reader !== 'Moniker';
        if (isPeer && (round > 0 || median(before) > tooSlowMs)) continue;
        times.set(key, [...known, await time(reader, name, scale)]);
      }
    }
  }
  return times;
}

/** Prints the rows of a case; returns its goals. */
function report(
  name: string,
  present: readonly string[],
  scales: readonly number[],
  times: Map<string, number[]>,
  leastOverAi: number,
): Goal[] {
  const of = (reader: string, scale: number | undefined): number[] => times.get(`${reader} ${scale}`) ?? [];
  const full = scales.at(-1);
  const wire = cases[name]?.(1).wire;
  const growthOf = (reader: string): number => median(of(reader, full)) / median(of(reader, scales.at(-2)));
  const goals: Goal[] = [];
  for (const reader of present) {
    const ratio = median(of(reader, full).map((ms, round) => ms / (of('floor', full)[round] ?? Number.NaN)));
    const overOurs = median(of(reader, full)) / median(of('Moniker', full));
    const growth = growthOf(reader);
    const isFaster = reader !== 'floor' && reader !== 'Moniker' && overOurs < 1;
    const cells = scales.map((scale) => (of(reader, scale).length === 0 ? '-' : median(of(reader, scale)).toFixed(1)));
    const figures = [ratio, growth, overOurs].map((value) => (Number.isNaN(value) ? '-' : value.toFixed(2)));
    console.log(
      `| ${describe(name)} | ${nameOf(reader, wire)}${isFaster ? ' (faster than Moniker)' : ''} | ${[...cells, ...figures].join(' | ')} |`,
    );
    // Garbage collection makes the floor's own doubling uneven.
    const mostGrowth = Math.max(2.6, growthOf('floor') * 1.2);
    if (reader === 'Moniker')
      goals.push({
        text: `${describe(name)}: Moniker ${ratio.toFixed(2)} x the floor (at most 1.5), last doubling ${growth.toFixed(2)} (at most ${mostGrowth.toFixed(2)})`,
        holds: ratio <= 1.5 && growth <= mostGrowth,
      });
    const least = reader === 'ai' ? leastOverAi : reader === 'vendor SDK' ? 2 : undefined;
    if (least !== undefined)
      goals.push({
        text: `${describe(name)}: ${nameOf(reader, wire)} takes ${overOurs.toFixed(2)} x the time of Moniker (at least ${least})`,
        holds: overOurs >= least,
      });
  }
  return goals;
}

await main();
