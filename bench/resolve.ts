/**
 * The cost of names: five names resolved with a cached table, and a cold start compared with `JSON.parse` of the same bytes.
 * Pure computation, timed with Node's clock. `node bench/resolve.ts [--rounds 7]`
 */
import { buildAliasMap, resolveName } from '../src/core/toolset/alias-map.ts';
import type { Edition } from '../src/core/toolset/edition-tool.ts';
import { compileEdition, editionBytes } from '../src/core/toolset/edition.ts';
import type { CanonicalName } from '../src/core/names/names.ts';
import type { ToolDefinition } from '../src/core/tools/tool.ts';
import type { Toolset } from '../src/core/toolset/toolset.ts';

const rounds = Number(process.argv[process.argv.indexOf('--rounds') + 1]) || 7;
const sizes = [10, 100, 1_000, 10_000];
const goals = { resolveUs: 2, flat: 2, cold: 1.3 };

/** Prevents the measured code from being optimized away. */
let sink = 0;

type Subject = { size: number; kilobytes: number; resolve: Work; folded: Work; parse: Work; cold: Work };
type Work = (index: number) => void;
type Sample = { resolve: number; folded: number; parse: number; cold: number };

async function prepare(size: number): Promise<Subject> {
  const edition = await compile(size);
  const text = editionBytes(edition);
  const map = buildAliasMap(edition, { aliases: true });
  // A wire name, a canonical name and three aliases from all over the toolset; then the same as a model may misspell them.
  const pick = (index: number): number => (index * 7919) % size;
  const exact = Array.from({ length: 64 }, (_, index) => [
    `thing_${pick(index)}`,
    `server-${pick(index + 1) % 13}.do_thing_number_${pick(index + 1)}`,
    `t${pick(index + 2)}`,
    `thing-number-${pick(index + 3)}`,
    `t${pick(index + 4)}`,
  ]);
  const folded = exact.map((names) => names.map((name) => name.toUpperCase()));
  const resolveAll = (names: readonly string[] | undefined, kept = map): void => {
    for (const name of names ?? []) {
      const resolution = resolveName(kept, name);
      if (!resolution.ok) throw new Error(`${name} must resolve`);
      sink += resolution.canonical.length;
    }
  };
  return {
    size,
    kilobytes: Math.round(text.length / 1000),
    resolve: (index) => resolveAll(exact[index % 64]),
    folded: (index) => resolveAll(folded[index % 64]),
    parse: () => {
      sink += (JSON.parse(text) as Edition).tools.length;
    },
    cold: (index) => resolveAll(exact[index % 64], buildAliasMap(JSON.parse(text) as Edition, { aliases: true })),
  };
}

function sample({ resolve, folded, parse, cold }: Subject): Sample {
  return { resolve: time(resolve), folded: time(folded), parse: time(parse), cold: time(cold) };
}

/** Tools with a typical schema, each with a name and two aliases. */
async function compile(size: number): Promise<Edition> {
  const tools = new Map<string, ToolDefinition>();
  const toolset: Toolset = { announce: 'prompt', tools: [] };
  for (let index = 0; index < size; index++) {
    const server = `server-${index % 13}`;
    const name = `do_thing_number_${index}`;
    const canonical = `${server}.${name}` as CanonicalName;
    tools.set(canonical, {
      canonical,
      server,
      name,
      kind: 'mcp',
      description: 'Reads rows of a table and returns them as objects. '.repeat(4),
      inputSchema,
      aliases: [],
    });
    toolset.tools.push({ tool: canonical, name: `thing_${index}`, aliases: [`t${index}`, `thing-number-${index}`] });
  }
  const known = { get: (canonical: string) => tools.get(canonical), all: () => tools.values(), hasServer: () => true };
  return (await compileEdition({ workspace: 'bench', name: 'bench', toolset, known })).edition;
}

const inputSchema = {
  type: 'object',
  properties: {
    path: { type: 'string', description: 'Where to read from' },
    limit: { type: 'integer', minimum: 1, maximum: 100 },
    filter: { type: 'object', properties: { field: { type: 'string' }, op: { enum: ['eq', 'lt', 'gt'] } }, required: ['field'] },
  },
  required: ['path'],
};

/** Microseconds per call, over at least `leastMs` after a short warm-up. */
function time(work: (index: number) => void, leastMs = 40): number {
  run(work, leastMs / 4);
  return run(work, leastMs);
}

function run(work: (index: number) => void, leastMs: number): number {
  let count = 0;
  const start = performance.now();
  do work(count++);
  while (performance.now() - start < leastMs);
  return ((performance.now() - start) * 1000) / count;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

/** Judges the median of ratios within a round: a busy machine affects both sides of a ratio. */
function report(subjects: readonly Subject[], samples: readonly Sample[][]): void {
  const figure = (value: number): string => (value < 10 ? value.toFixed(2) : value.toFixed(0));
  console.log(`Names: µs an operation, median of ${rounds} rounds`);
  console.log('| tools | edition kB | resolve 5 exact | resolve 5 misspelt | JSON.parse | parse + build + resolve 5 | cold ratio |');
  console.log('|---|---|---|---|---|---|---|');
  const cold: number[] = [];
  for (const [index, subject] of subjects.entries()) {
    const rows = samples.flatMap((round) => round[index] ?? []);
    const ratio = median(rows.map((row) => row.cold / row.parse));
    cold.push(ratio);
    const cells = (['resolve', 'folded', 'parse', 'cold'] as const).map((key) => figure(median(rows.map((row) => row[key])))).join(' | ');
    console.log(`| ${subject.size} | ${subject.kilobytes} | ${cells} | ${ratio.toFixed(2)} |`);
  }
  const resolve = samples.map((round) => round.map((row) => row.resolve));
  const checks: [string, number, number][] = [
    ['five names, slowest size, µs', median(resolve.map((round) => Math.max(...round))), goals.resolveUs],
    ['slowest size over fastest', median(resolve.map((round) => Math.max(...round) / Math.min(...round))), goals.flat],
    ['cold start over JSON.parse', Math.max(...cold), goals.cold],
  ];
  for (const [name, value, goal] of checks)
    console.log(`${value <= goal ? 'pass' : 'FAIL'}: ${name}: ${value.toFixed(2)} (goal ≤ ${goal})`);
  if (checks.some(([, value, goal]) => !(value <= goal))) process.exitCode = 1;
}

const subjects = await Promise.all(sizes.map(prepare));
const samples: Sample[][] = [];
for (let round = 0; round < rounds; round++) samples.push(subjects.map(sample));
report(subjects, samples);
if (sink < 0) console.log(sink);
