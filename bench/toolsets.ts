/**
 * The cost of large toolsets: compiling editions of 100, 1,000 and all recorded tools, searching for one, and above all a second request
 * to the same edition, whose cost must not depend on its size. Ratios are taken in one run, beside the floor: a Map lookup and the array.
 * Pure computation, timed with Node's clock. `node bench/toolsets.ts [--rounds 7]`
 */
import { defaultWorkspaceSettings } from '../src/core/people/workspace.ts';
import { buildAliasMap, resolveName, type AliasMap } from '../src/core/toolset/alias-map.ts';
import type { Edition } from '../src/core/toolset/edition-tool.ts';
import { compileEdition } from '../src/core/toolset/edition.ts';
import { offeredTools, sentTools } from '../src/core/turn/offered-tools.ts';
import type { ClientTool, Plan } from '../src/core/turn/plan.ts';
import { systemPrompt } from '../src/core/turn/system-prompt.ts';
import { searchTools } from '../src/core/toolset/tool-index.ts';
import { turnNames, withFetchResult } from '../src/engine/plan/plan-names.ts';
import { planTurn } from '../src/engine/plan/plan-turn.ts';
import type { Directory } from '../src/ports/directory.ts';
import { profileFor } from '../src/providers/profiles.ts';
import { exampleAccess } from '../src/providers/wire-tool-names.ts';
import { defineTools } from '../src/providers/tool-definitions.ts';
import { documentOf, sampleTools, someOf } from './toolset-samples.ts';

const rounds = Number(process.argv[process.argv.indexOf('--rounds') + 1]) || 7;
const { source, tools: all } = sampleTools();
const known = new Map(all.map((tool) => [tool.canonical as string, tool]));
const sizes = [100, 1_000, all.length];
const goals = { perTool: 1.5, requestUs: 50, flat: 2 };

/** Prevents the measured code from being optimized away. */
let sink = 0;
const keep = (value: number): void => {
  sink += value;
};

type Work = (index: number) => unknown;

const access = exampleAccess('openai');
const profile = profileFor(access, 'any');
const queries = [
  'create an issue on GitHub',
  'current weather in a city',
  'read a file',
  'send an email to somebody',
  'stock price of a company',
];
const clientTools: ClientTool[] = ['lookAround', 'openPanel', 'showMap'].map((name) => ({
  name,
  description: 'Of the caller.',
  inputSchema: { type: 'object' },
}));

async function compile(size: number, onDemandAbove?: number): Promise<Edition> {
  const tools = someOf(all, size);
  const toolset = documentOf(tools, onDemandAbove === undefined ? {} : { onDemandAbove });
  const knownTools = { get: (name: string) => known.get(name), all: () => known.values(), hasServer: () => true };
  return (await compileEdition({ workspace: 'bench', name: 'bench', toolset, known: knownTools })).edition;
}

/** A second request in an isolate: planned, then a step with one call, as far as names and filtering are concerned. */
type Request = { plan(index: number): Promise<void>; step: Work };

function createRequest(edition: Edition, agentTools: string[] | undefined, own: ClientTool[]): Request {
  const names = buildAliasMap(edition, { aliases: true });
  const pointer = { toolset: 'bench', version: 1, revision: 1, hash: 'h' };
  const agent = { name: 'a', model: 'openai/any', instructions: 'Be brief.', toolset: 'bench', ...(agentTools && { tools: agentTools }) };
  // Only what planning uses, as warm as in an isolate that has read everything.
  const directory = {
    agent: async () => agent,
    provider: async () => access,
    toolset: async () => ({ pointer, names }),
    workspaceSettings: async () => defaultWorkspaceSettings,
  } as unknown as Directory;
  const principal = { workspace: 'bench', keyId: 'k', scopes: ['chat'] } as unknown as Parameters<typeof planTurn>[1];
  const asked = { agent: 'a', ...(own.length > 0 && { tools: own }) };
  const plan = (): Promise<Plan> => planTurn({ directory, aliases: true }, principal, asked);
  let planned: Plan | null = null;
  return {
    async plan() {
      planned = await plan();
      keep(planned.model.length);
    },
    step(index) {
      if (planned === null) return;
      keep(stepWith(names, planned, edition.tools[(index * 7919) % edition.tools.length]?.wireName ?? ''));
    },
  };
}

/** The session's part: the plan's table, the system prompt, the list in the provider's form, and a called name. */
function stepWith(names: AliasMap, plan: Plan, called: string): number {
  const offered = withFetchResult(turnNames(names, plan), { hasAny: () => false });
  if (offered === null) return 0;
  const sent = defineTools(sentTools(offered), profile);
  return systemPrompt(plan, offered).length + sent.tools.length + (resolveName(offered, called).ok ? 1 : 0);
}

async function time(work: Work, leastMs = 30): Promise<number> {
  await run(work, leastMs / 4);
  return await run(work, leastMs);
}

/** Microseconds per call. */
async function run(work: Work, leastMs: number): Promise<number> {
  let count = 0;
  const start = performance.now();
  do {
    const done = work(count++);
    if (done instanceof Promise) await done;
  } while (performance.now() - start < leastMs);
  return ((performance.now() - start) * 1000) / count;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

async function rounded(works: Readonly<Record<string, Work>>): Promise<Map<string, number[]>> {
  const samples = new Map<string, number[]>(Object.keys(works).map((name) => [name, []]));
  // Alternating in each round, so that a busy machine affects all of them.
  for (let round = 0; round < rounds; round++) for (const [name, work] of Object.entries(works)) samples.get(name)?.push(await time(work));
  return samples;
}

const figure = (value: number): string => (value < 10 ? value.toFixed(2) : value.toFixed(0));

/** Medians of the ratio within a round. */
function ratioOf(samples: Map<string, number[]>, of: string, over: string): number {
  return median((samples.get(of) ?? []).map((value, round) => value / (samples.get(over)?.[round] ?? Number.NaN)));
}

async function measureBuilding(): Promise<[string, number, number][]> {
  console.log(`Large toolsets: ${source} tools, medians of ${rounds} rounds\n`);
  console.log(
    '| tools | edition kB | compile µs a tool | table µs | first list µs a tool | second list µs | index µs a tool | query µs | resolve µs |',
  );
  console.log(`|${'---|'.repeat(9)}`);
  const samples = new Map<string, number[]>();
  for (const size of sizes) {
    const edition = await compile(size);
    const kept = buildAliasMap(edition, { aliases: true });
    const wire = edition.tools.map(({ wireName }) => wireName);
    offeredTools(kept);
    const fresh = (): AliasMap => buildAliasMap(edition, { aliases: true });
    const found = await rounded({
      compile: async () => keep((await compile(size)).tools.length),
      table: () => keep(resolveName(fresh(), wire[0] ?? '').ok ? 1 : 0),
      first: () => keep(offeredTools(fresh()).length),
      second: () => keep(offeredTools(kept).length),
      index: () => keep(searchTools(fresh(), 'issue', 5).length),
      query: (index) => keep(searchTools(kept, queries[index % queries.length] ?? '', 5).length),
      resolve: (index) => keep(resolveName(kept, wire[(index * 7919) % size] ?? '').ok ? 1 : 0),
    });
    for (const [name, values] of found)
      samples.set(
        `${name} ${size}`,
        name === 'compile' || name === 'first' || name === 'index' ? values.map((value) => value / size) : values,
      );
    const cells = ['compile', 'table', 'first', 'second', 'index', 'query', 'resolve'].map((name) =>
      figure(median(samples.get(`${name} ${size}`) ?? [])),
    );
    console.log(`| ${size} | ${Math.round(JSON.stringify(edition).length / 1000)} | ${cells.join(' | ')} |`);
  }
  const largest = sizes.at(-1) ?? 0;
  return ['compile', 'first', 'index'].map((name) => [
    `${name}: µs a tool, ${largest} tools over 100`,
    ratioOf(samples, `${name} ${largest}`, `${name} 100`),
    goals.perTool,
  ]);
}

async function measureRequests(): Promise<[string, number, number][]> {
  console.log('\nA second request to the same edition, µs: planning it, and the names and filtering of its first step');
  console.log('| tools | request | plan | step | plan + step | floor |');
  console.log(`|${'---|'.repeat(6)}`);
  const totals = new Map<string, number[]>();
  // A warm-up, since the first measurement would include the engine's own.
  const warm = createRequest(await compile(100), undefined, clientTools);
  for (let index = 0; index < 2_000; index++) await warm.plan(index).then(() => warm.step(index));
  const cases: [name: string, withList: boolean, own: ClientTool[], onDemandAbove: number | undefined][] = [
    ['toolset', false, [], undefined],
    ['agent that lists every tool', true, [], undefined],
    ['with 3 tools of the caller', false, clientTools, undefined],
    ['all of it sent', false, [], 1_472],
    ['all of it sent, with 3 of the caller', false, clientTools, 1_472],
  ];
  for (const size of [100, 1_000]) {
    for (const [name, withList, own, onDemandAbove] of cases) {
      const edition = await compile(size, onDemandAbove);
      const { plan, step } = createRequest(edition, withList ? edition.tools.map(({ canonical }) => canonical) : undefined, own);
      await plan(0);
      const table = new Map(edition.tools.map((tool) => [tool.wireName as string, tool]));
      const names = [...table.keys()];
      const floor: Work = (index) => (sink += (table.get(names[(index * 7919) % size] ?? '')?.aliases.length ?? 0) + edition.tools.length);
      const found = await rounded({ plan, step, floor });
      const sums = (found.get('plan') ?? []).map((value, round) => value + (found.get('step')?.[round] ?? 0));
      totals.set(`${name} ${size}`, sums);
      const cells = [median(found.get('plan') ?? []), median(found.get('step') ?? []), median(sums), median(found.get('floor') ?? [])].map(
        figure,
      );
      console.log(`| ${size} | ${name} | ${cells.join(' | ')} |`);
    }
  }
  const checks = cases
    .slice(0, 3)
    .flatMap(([name]): [string, number, number][] => [
      ...[100, 1_000].map((size): [string, number, number] => [
        `${name}, ${size} tools: µs`,
        median(totals.get(`${name} ${size}`) ?? []),
        goals.requestUs,
      ]),
      [`${name}: 1000 tools over 100`, ratioOf(totals, `${name} 1000`, `${name} 100`), goals.flat],
    ]);
  return checks;
}

const checks = [...(await measureBuilding()), ...(await measureRequests())];
console.log('');
for (const [name, value, goal] of checks) console.log(`${value <= goal ? 'pass' : 'FAIL'}: ${name}: ${value.toFixed(2)} (goal ≤ ${goal})`);
if (checks.some(([, value, goal]) => !(value <= goal))) process.exitCode = 1;
if (sink < 0) console.log(sink);
