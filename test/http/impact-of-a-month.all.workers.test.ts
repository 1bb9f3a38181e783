/** The impact of edits and of rules after a month of a million calls, of a toolset of a thousand entries. Prints the times. */
import { runInDurableObject } from 'cloudflare:test';
import { beforeAll, expect, it } from 'vitest';
import { dayOf } from '../../src/core/records/usage.ts';
import { usageShard, usageShardCount } from '../../src/objects/usage/client/usage-shard-client.ts';
import { objectName } from '../../src/storage/keys.ts';
import { send } from '../objects/catalog/real-service.ts';
import { testEnv } from '../storage/workspace.ts';
import { bodyOf } from './harness.ts';

const entries = 1_000;
const dayMs = 86_400_000;
const days = 30;
const agents = 20;
const keys = 40;
const allCalls = 1_000_000;
/** As `maxRowsPerDay` of a shard. */
const maxNamed = 5_000;
const maxUnknown = 500;

const toolName = (index: number) => `tool_${String(index).padStart(4, '0')}`;
const callName = (index: number) => `call_${index}`;
const tools = Array.from({ length: entries }, (_, index) => ({
  name: toolName(index),
  description: `Does number ${index}.`,
  inputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
}));

let state = 42;
/** Small numbers are frequent, as few tools are called most. */
const skewed = (most: number): number => {
  state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
  return Math.floor(most * (state / 2_147_483_648) ** 3);
};

async function fillShard(shard: number): Promise<number> {
  const stub = testEnv.USAGE.get(testEnv.USAGE.idFromName(await objectName('default', 'usage', String(shard))));
  // Creates its tables.
  await usageShard(testEnv, 'default', shard).sums({ from: '2026-01-01', to: '2026-01-01', by: ['day'], where: {}, limit: 1 }, null);
  return await runInDurableObject(stub, (_object, { storage: { sql } }) => {
    let stored = 0;
    for (let back = 0; back < days; back += 1) {
      const day = dayOf(Date.now() - back * dayMs);
      const rows = new Map<string, number>();
      let [named, unknown] = [0, 0];
      for (let call = 0; call < allCalls / days / usageShardCount; call += 1) {
        const isUnknown = call % 20 === 0;
        const index = skewed(entries);
        const requested = isUnknown ? `invented_${skewed(10_000)}` : callName(index);
        const key = JSON.stringify([
          `key_${skewed(keys)}`,
          `agent-${skewed(agents)}`,
          isUnknown ? '' : `shop.${toolName(index)}`,
          requested,
        ]);
        const isNew = !rows.has(key);
        if (isNew && (isUnknown ? unknown >= maxUnknown : named >= maxNamed)) continue;
        if (isNew && isUnknown) unknown += 1;
        else if (isNew) named += 1;
        rows.set(key, (rows.get(key) ?? 0) + 1);
      }
      const given = JSON.stringify([...rows].map(([key, calls]) => [...(JSON.parse(key) as string[]), calls]));
      sql.exec(
        `INSERT INTO tool_usage (day, key, agent, toolset, tool, requested, via, calls, failures, duration_ms)
         SELECT ?, value ->> 0, value ->> 1, 'big', value ->> 2, value ->> 3, CASE value ->> 2 WHEN '' THEN '' ELSE 'wire' END, value ->> 4, 0, 1 FROM json_each(?)`,
        day,
        given,
      );
      stored += rows.size;
    }
    return stored;
  });
}

const stored = { tools: tools.map(({ name }, index) => ({ tool: `shop.${name}`, name: callName(index) })) };
/** Every second entry has another name. */
const draft = { tools: stored.tools.map((entry, index) => (index % 2 === 0 ? { ...entry, name: `new_${index}` } : entry)) };

let rows = 0;
beforeAll(async () => {
  await send('PUT', '/v1/servers/shop', { kind: 'static', url: 'https://tools.example.com/call', tools });
  await send('PUT', '/v1/toolsets/big', stored);
  for (let shard = 0; shard < usageShardCount; shard += 1) rows += await fillShard(shard);
}, 300_000);

async function timed(what: string, method: string, path: string, body?: unknown): Promise<{ [member: string]: never } & { ms: number }> {
  const start = Date.now();
  const answer = await send(method, path, body);
  const read = await bodyOf(answer);
  const ms = Date.now() - start;
  console.info(`${what}: ${ms} ms (${rows} rows of counts)`);
  expect(answer.status, JSON.stringify(read).slice(0, 500)).toBe(200);
  return { ...read, ms };
}

it('compares a draft of a thousand entries, whole, with aliases that keep every name', async () => {
  const impact = await timed('impact of a toolset', 'POST', '/v1/toolsets/big/impact', draft);
  const { changed, same, mends, nextCursor } = impact as unknown as {
    changed: { requested: string; change: string; agents: string[]; keys: string[] }[];
    same: { names: number; calls: number };
    mends: unknown[];
    nextCursor: string | null;
  };
  expect(nextCursor).toBeNull();
  expect(changed.length).toBeGreaterThan(400);
  expect(changed.every(({ change, agents: who, keys: which }) => change === 'gone' && who.length > 0 && which.length > 0)).toBe(true);
  expect(mends).toHaveLength(changed.length);
  expect(same.calls).toBeGreaterThan(allCalls / 5);
}, 120_000);

it('compares the stored toolset, rules and suggestions', async () => {
  const same = await timed('impact of the stored toolset', 'POST', '/v1/toolsets/big/impact', stored);
  expect(same).toMatchObject({ changed: [], nextCursor: null });
  const rules = await timed('impact of rules', 'POST', '/v1/policy/impact', { rules: [{ decision: 'deny', tool: 'shop.tool_0000' }] });
  expect(rules).toMatchObject({ changed: [{ tool: 'shop.tool_0000', now: { verdict: 'deny', rule: 0 } }] });
  const { unknown } = (await timed('suggestions', 'GET', '/v1/toolsets/big/suggestions')) as unknown as { unknown: unknown[] };
  expect(unknown).toHaveLength(100);
}, 120_000);
