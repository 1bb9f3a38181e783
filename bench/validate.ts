/**
 * The cost of validating a call's arguments, compared with zod compiled from the same schema as Workers would run it. Pure
 * computation, timed with Node's clock. `node bench/validate.ts [--rounds 7]`
 */
import * as z from 'zod';
import { checkInput } from '../src/core/schema/input-schema.ts';
import type { JsonSchema } from '../src/core/tools/tool.ts';

const rounds = Number(process.argv[process.argv.indexOf('--rounds') + 1]) || 7;
/**
 * The goal is 8 µs per call, 600 µs for the rows and 60 µs to compile on a machine where zod takes 4.2, 8, 460 and 259. As ratios to zod
 * in the same round they apply to any machine, busy or not.
 */
const goals = { valid: 8 / 4.2, invalid: 8 / 8, array: 600 / 460, compile: 60 / 259 };

// Workers have no eval, so the comparison has none either.
z.config({ jitless: true });

/** Twelve properties, nested and in arrays: a large MCP tool. */
const toolSchema: JsonSchema = {
  type: 'object',
  properties: {
    owner: { type: 'string', minLength: 1, description: 'Repository owner' },
    repo: { type: 'string', minLength: 1 },
    title: { type: 'string', maxLength: 200 },
    body: { type: 'string' },
    state: { type: 'string', enum: ['open', 'closed', 'all'] },
    page: { type: 'integer', minimum: 1 },
    perPage: { type: 'integer', minimum: 1, maximum: 100 },
    draft: { type: 'boolean' },
    labels: { type: 'array', items: { type: 'string' }, maxItems: 20 },
    assignee: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    milestone: { type: 'object', properties: { id: { type: 'integer' }, due: { type: 'string' } }, required: ['id'] },
    files: {
      type: 'array',
      items: {
        type: 'object',
        properties: { path: { type: 'string' }, content: { type: 'string' }, mode: { enum: ['100644', '100755'] } },
        required: ['path', 'content'],
        additionalProperties: false,
      },
    },
  },
  required: ['owner', 'repo', 'title'],
  additionalProperties: false,
};

const valid = {
  owner: 'octo',
  repo: 'moniker',
  title: 'Add a tool',
  body: 'A longer text. '.repeat(20),
  state: 'open',
  page: 1,
  perPage: 30,
  draft: false,
  labels: ['bug', 'help wanted', 'tools'],
  assignee: null,
  milestone: { id: 3, due: '2027-01-01' },
  files: [
    { path: 'a.ts', content: 'export {}', mode: '100644' },
    { path: 'b.ts', content: 'export {}' },
  ],
};
const invalid = { ...valid, title: 5, perPage: 1000, files: [{ path: 'a.ts', text: '' }] };

const rowSchema: JsonSchema = {
  type: 'object',
  properties: {
    rows: {
      type: 'array',
      items: {
        type: 'object',
        properties: { id: { type: 'integer' }, name: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } } },
        required: ['id', 'name'],
      },
    },
  },
};
const rows = { rows: Array.from({ length: 1000 }, (_, id) => ({ id, name: `row number ${id} of many`, tags: ['a', 'bb', 'ccc'] })) };

type Contender = { name: string; compile(schema: JsonSchema): (value: unknown) => boolean };

const contenders: Contender[] = [
  {
    name: 'checkInput',
    compile(schema) {
      checkInput(schema, {});
      return (value) => checkInput(schema, value).length === 0;
    },
  },
  {
    name: 'zod, jitless',
    compile(schema) {
      const compiled = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
      return (value) => compiled.safeParse(value).success;
    },
  },
];

type Sample = { valid: number; invalid: number; array: number; compile: number };

function sample({ compile }: Contender): Sample {
  const tool = compile(toolSchema);
  const array = compile(rowSchema);
  if (!tool(valid) || tool(invalid) || !array(rows)) throw new Error('a check gives the wrong answer');
  return {
    valid: time(() => tool(valid)),
    invalid: time(() => tool(invalid)),
    array: time(() => array(rows)),
    // A new object each time: schemas are compiled once per object.
    compile: time(() => compile({ ...toolSchema })),
  };
}

/** Microseconds per call, over at least `leastMs` after a short warm-up. */
function time(work: () => unknown, leastMs = 40): number {
  run(work, leastMs / 4);
  return run(work, leastMs);
}

function run(work: () => unknown, leastMs: number): number {
  let count = 0;
  const start = performance.now();
  do {
    work();
    count += 1;
  } while (performance.now() - start < leastMs);
  return ((performance.now() - start) * 1000) / count;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

const samples = contenders.map((): Sample[] => []);
for (let round = 0; round < rounds; round += 1) {
  for (const [index, contender] of contenders.entries()) samples[index]?.push(sample(contender));
}
const columns = ['valid', 'invalid', 'array', 'compile'] as const;
console.log(`Arguments: µs an operation, median of ${rounds} rounds`);
console.log('| | 12 properties, valid | invalid | 1,000 rows | compile |');
console.log('|---|---|---|---|---|');
const medians = samples.map((taken) => columns.map((column) => median(taken.map((row) => row[column]))));
for (const [index, values] of medians.entries()) {
  console.log(`| ${contenders[index]?.name} | ${values.map((value) => value.toFixed(value < 100 ? 2 : 0)).join(' | ')} |`);
}
for (const column of columns) {
  const ratio = median((samples[0] ?? []).map((row, round) => row[column] / (samples[1]?.[round]?.[column] ?? Number.NaN)));
  const holds = ratio <= goals[column];
  console.log(`${holds ? 'pass' : 'FAIL'}: ${column}: ${ratio.toFixed(2)} of zod's time (goal ≤ ${goals[column].toFixed(2)})`);
  if (!holds) process.exitCode = 1;
}
