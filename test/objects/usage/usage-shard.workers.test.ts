/** The shards of a workspace's usage: each report counts once, and what is too old is deleted. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { beforeEach, describe, expect, it } from 'vitest';
import { poolBounds } from '../../../src/core/limits/pools.ts';
import { dayOf, toModelUse, type ToolUse, type UsageDimension, type UsageReport } from '../../../src/core/records/usage.ts';
import { createPools } from '../../../src/engine/fair-pool.ts';
import { createCatalogClient } from '../../../src/objects/catalog/client/catalog-client.ts';
import { createUsageReader, createUsageRecorder } from '../../../src/objects/usage/client/usage-shards.ts';
import { objectName } from '../../../src/storage/keys.ts';
import { workspaceDocument } from '../../../src/ports/catalog.ts';
import { countedIds, keptLog } from '../../fakes/runtime.ts';
import { emptyWorkspace, testEnv } from '../../storage/workspace.ts';
import { waitFor } from '../../wait-for.ts';

const now = Date.now();
const dayMs = 86_400_000;
const session = '0'.repeat(64);
const ids = countedIds();

function report(own: Partial<UsageReport> & { model?: string; input?: number; status?: 'waiting' | 'completed' } = {}): UsageReport {
  const { model = 'a/b', input = 10, status = 'completed', at = now, ...rest } = own;
  const id = rest.id ?? ids.next('turn');
  const call = { at, model, durationMs: 5, failed: false, usage: { inputTokens: input, outputTokens: 1 }, wasBilled: true };
  return {
    ...{ id, part: 1, at, keyId: 'k', agent: null, toolset: null, tools: [] },
    models: [toModelUse(call, { input: 1, output: 0 })],
    request: {
      ...{ id, kind: 'turn', at: new Date(at).toISOString(), requestId: null, keyId: 'k', agent: null, session, turn: id, dialect: null },
      ...{ toolset: null, model, status, code: null, durationMs: 5, firstTokenMs: 1, toolCalls: 2 },
    },
    ...rest,
  };
}

function toolUse(tool: string | null, requested: string, own: Partial<ToolUse> = {}): ToolUse {
  return { day: dayOf(now), tool, requested, via: tool === null ? null : 'wire', calls: 1, failures: 0, durationMs: 1, ...own };
}

describe('a shard of usage', () => {
  let made: Awaited<ReturnType<typeof emptyWorkspace>>;
  let record: (...reports: UsageReport[]) => Promise<void>;
  const reader = createUsageReader({ bindings: testEnv });
  const days = { from: dayOf(now - 300 * dayMs), to: dayOf(now + dayMs), limit: 100 };
  const sums = async (by: 'day' | 'model' = 'model') => await reader.usage(made.workspace, { ...days, by: [by], where: {} });
  const requests = async () => (await reader.requests(made.workspace, { limit: 200, where: {} })).items;
  const shard = async () => testEnv.USAGE.get(testEnv.USAGE.idFromName(await objectName(made.workspace, 'usage', '0')));

  beforeEach(async () => {
    made = await emptyWorkspace();
    const { clock, log, workspace } = made;
    const recorder = createUsageRecorder({ bindings: testEnv, clock, log, background: () => undefined, pools: createPools(clock) });
    record = (...reports) => recorder.record(workspace, session, reports);
  });

  it('counts a report once, however often it arrives, also in parallel', async () => {
    const same = report();
    await record(same, same);
    await Promise.all(Array.from({ length: 50 }, () => record(same, report())));
    const { totals } = await sums();
    expect(totals).toMatchObject({ calls: 51, inputTokens: 510, outputTokens: 51, unpricedCalls: 0 });
    expect(totals.cost).toBeCloseTo(510 / 1e6, 9);
    expect(await requests()).toHaveLength(51);
  });

  it('joins the parts of a turn in one row, each part once', async () => {
    const waiting = report({ id: 'turn_x', part: 7, status: 'waiting' });
    const rest = report({ id: 'turn_x', part: 12, model: 'a/c', input: 5 });
    for (const part of [waiting, waiting, rest, waiting, rest]) await record(part);
    expect(await requests()).toMatchObject([
      {
        ...{ id: 'turn_x', status: 'completed', modelCalls: 2, toolCalls: 4, models: ['a/b', 'a/c'], model: 'a/b' },
        usage: { inputTokens: 15, outputTokens: 2 },
      },
    ]);
    expect((await sums()).totals.calls).toBe(2);
  });

  it('adds what tools cost to groups of days, keys, agents and toolsets, and to the row of the turn, but not to models', async () => {
    const tools = [toolUse('paid.search', 'search', { cost: 0.1 }), toolUse('paid.fetch', 'fetch', { cost: 0.2 }), toolUse('free.a', 'a')];
    const of = { id: 'turn_paid', toolset: 'paid', agent: 'buyer', model: 'free/b', input: 0 };
    await record(report({ ...of, tools }), report({ ...of, part: 2, tools: [toolUse('paid.search', 'search', { cost: 0.4 })] }));
    await record(
      report({ toolset: 'paid', model: 'free/b', models: [], tools: [toolUse('paid.search', 'find', { cost: 1 })], request: null }),
    );
    const by = async (...names: UsageDimension[]) => await reader.usage(made.workspace, { ...days, by: names, where: {} });
    for (const name of ['day', 'key', 'toolset'] as const)
      expect((await by(name)).items, name).toMatchObject([{ calls: 2, cost: 1.7, toolCost: 1.7 }]);
    const agents = await by('agent');
    expect(agents.items).toMatchObject([
      { agent: null, calls: 0, cost: 1 },
      { agent: 'buyer', calls: 2, cost: 0.7 },
    ]);
    expect(agents.totals).toMatchObject({ cost: 1.7, toolCost: 1.7 });
    expect((await by('tool')).items.map(({ tool, cost }) => [tool, cost])).toEqual([
      ['free.a', 0],
      ['paid.fetch', 0.2],
      ['paid.search', 1.5],
    ]);
    expect((await by('requested', 'tool')).totals).toMatchObject({ calls: 5, cost: 1.7 });
    for (const name of ['model', 'provider'] as const) {
      const { items, totals } = await by(name, 'day');
      expect([items.length, items[0]?.cost, totals.cost, totals.toolCost]).toEqual([1, 0, 0, undefined]);
    }
    const filtered = await reader.usage(made.workspace, { ...days, by: ['day'], where: { model: 'free/b' } });
    expect(filtered.items).toMatchObject([{ calls: 2, cost: 0 }]);
    const some = await reader.usage(made.workspace, { ...days, by: ['agent'], where: { agent: 'buyer' } });
    expect(some.items).toMatchObject([{ agent: 'buyer', cost: 0.7, toolCost: 0.7 }]);
    expect(await requests()).toMatchObject([{ id: 'turn_paid', cost: 0.7, toolCost: 0.7, modelCalls: 2 }]);
  });

  it('counts a report of a clock that went back to its own day, and lists it in order of time', async () => {
    await record(report({ at: now }), report({ at: now - 3 * dayMs }), report({ at: now + 1 }));
    expect((await sums('day')).items.map(({ day }) => day)).toEqual([dayOf(now - 3 * dayMs), dayOf(now)]);
    const times = (await requests()).map(({ at }) => Date.parse(at));
    expect(times).toEqual([now + 1, now, now - 3 * dayMs]);
  });

  it('deletes rows and sums that are older than the settings, in steps', async () => {
    const catalog = createCatalogClient(testEnv, { workspace: made.workspace, keyId: 'root' });
    await catalog.put('workspace', workspaceDocument, { settings: { retention: { requestDays: 2, usageDays: 10 } } });
    await record(
      ...[0, 1, 3, 9, 11, 12].map((age) => report({ at: now - age * dayMs })),
      ...Array.from({ length: 400 }, () => report({ at: now - 20 * dayMs })),
    );
    const object = await shard();
    // Each alarm deletes one old day of sums.
    for (let alarm = 0; alarm < 6; alarm += 1) {
      await runInDurableObject(object, (_instance, { storage }) => storage.setAlarm(Date.now() + dayMs));
      await runDurableObjectAlarm(object);
    }
    expect((await requests()).map(({ at }) => Math.round((now - Date.parse(at)) / dayMs))).toEqual([0, 1]);
    expect((await sums('day')).totals.calls).toBe(4);
    // The next sweep is set, and continues after a process that died.
    expect(await runInDurableObject(object, (_instance, { storage }) => storage.getAlarm())).toBeGreaterThan(Date.now());
  });

  it('deletes the oldest rows of the request log early when the shard is full, and keeps the sums', async () => {
    await record(...Array.from({ length: 2_100 }, (_, index) => report({ at: now - 2_100 + index })));
    const object = await shard();
    const alarm = async (bytes: number) => {
      await runInDurableObject(object, async (_instance, { storage }) => {
        Object.defineProperty(storage.sql, 'databaseSize', { configurable: true, value: bytes });
        await storage.setAlarm(Date.now() + dayMs);
      });
      await runDurableObjectAlarm(object);
    };
    await alarm(8_000_000_000);
    expect(await requests()).toHaveLength(200); // the newest page of more
    await alarm(9_000_000_000);
    expect((await requests()).map(({ at }) => Date.parse(at)).at(-1)).toBe(now - 100);
    expect(await requests()).toHaveLength(100);
    expect((await sums()).totals.calls).toBe(2_100);
  });

  it('stores logged bodies with their request, and deletes them with it or when the setting is off', async () => {
    const catalog = createCatalogClient(testEnv, { workspace: made.workspace, keyId: 'root' });
    const set = async (bodies: boolean) => {
      await catalog.put('workspace', workspaceDocument, { settings: { retention: { requestDays: 2 }, requestLog: { bodies } } });
    };
    const alarm = async () => {
      await runInDurableObject(await shard(), (_instance, { storage }) => storage.setAlarm(Date.now() + dayMs));
      await runDurableObjectAlarm(await shard());
    };
    const stored = async () =>
      await runInDurableObject(
        await shard(),
        (_instance, { storage }) => storage.sql.exec<{ n: number }>('SELECT count(*) AS n FROM request_bodies').one().n,
      );
    const bodies = { request: '{"model":"a/b"}', response: null, truncated: true };
    await set(true);
    const logged = report({ id: 'req_logged', bodies });
    await record(logged, logged, report({ id: 'req_plain' }), report({ at: now - 3 * dayMs, bodies }));
    expect(await stored()).toBe(2);
    expect(await reader.request(made.workspace, 'req_logged', 'k')).toMatchObject({ id: 'req_logged', bodies });
    expect(await reader.request(made.workspace, 'req_plain', 'k')).toMatchObject({ id: 'req_plain', bodies: null });
    expect(await reader.withBodies(made.workspace, ['req_logged', 'req_plain', 'req_never'])).toEqual(['req_logged']);
    expect(JSON.stringify(await requests())).not.toContain('bodies');
    await alarm();
    expect(await stored()).toBe(1);
    await set(false);
    // Settings are published, and cached here.
    await waitFor(async () => {
      await alarm();
      expect(await stored()).toBe(0);
    });
    expect(await requests()).toHaveLength(2);
  });

  it('stores the newest bodies only', async () => {
    const bodies = { request: 'x', response: 'y', truncated: false };
    await record(report({ id: 'first', bodies }));
    await runInDurableObject(await shard(), (_instance, { storage }) =>
      storage.sql.exec("UPDATE sqlite_sequence SET seq = 8000 WHERE name = 'request_bodies'"),
    );
    await record(report({ id: 'last', bodies }));
    expect((await reader.request(made.workspace, 'first', undefined))?.bodies).toBeNull();
    expect((await reader.request(made.workspace, 'last', undefined))?.bodies).toEqual(bodies);
  });

  it('deletes nothing while the settings cannot be read', async () => {
    const catalog = createCatalogClient(testEnv, { workspace: made.workspace, keyId: 'root' });
    await catalog.put('workspace', workspaceDocument, { settings: { retention: { requestDays: 365 } } });
    const stored = testEnv.CATALOG.get(testEnv.CATALOG.idFromName(await objectName(made.workspace, 'catalog', '')));
    await runInDurableObject(stored, (_instance, { storage }) => storage.sql.exec(`UPDATE documents SET body = '{'`));
    await record(report({ at: now - 100 * dayMs }));
    const object = await shard();
    await runInDurableObject(object, (_instance, { storage }) => storage.setAlarm(Date.now() + dayMs));
    await runDurableObjectAlarm(object);
    expect(await requests()).toHaveLength(1);
  });

  it('joins models beyond the daily limit, so that invented names do not fill the table', async () => {
    const reports = Array.from({ length: 5_010 }, (_, index) => ({ ...report({ model: `a/m${index}` }), request: null }));
    for (let start = 0; start < reports.length; start += 500) await record(...reports.slice(start, start + 500));
    const { totals } = await sums();
    expect(totals.calls).toBe(5_010);
    const other = await reader.usage(made.workspace, { ...days, by: ['model'], where: { model: 'a/other' } });
    expect(other.items).toMatchObject([{ model: 'a/other', calls: 10 }]);
  });

  it('counts calls of tools by the names that were called, with the last day, and names that are no tool', async () => {
    const yesterday = dayOf(now - dayMs);
    const of = (...tools: ToolUse[]) => ({ ...report(), models: [], toolset: 'support', tools });
    await record(of(toolUse('gh.search', 'search'), toolUse('gh.search', 'Search', { via: 'folded', calls: 2 })));
    await record(of(toolUse('gh.search', 'search', { day: yesterday }), toolUse(null, 'Glob', { failures: 1, day: yesterday })));
    const named = await reader.usage(made.workspace, { ...days, by: ['requested', 'tool', 'via'], where: { toolset: 'support' } });
    expect(named.items).toMatchObject([
      { requested: 'Glob', tool: null, via: null, calls: 1, failures: 1, lastDay: yesterday },
      { requested: 'Search', tool: 'gh.search', via: 'folded', calls: 2, lastDay: dayOf(now) },
      { requested: 'search', tool: 'gh.search', via: 'wire', calls: 2, lastDay: dayOf(now) },
    ]);
    const tools = await reader.usage(made.workspace, { ...days, by: ['tool'], where: {} });
    expect(tools.items).toEqual([{ tool: 'gh.search', calls: 4, failures: 0, durationMs: 3, cost: 0 }]);
  });

  it('keeps the most frequent of many invented names, with what their counts may be too high by', async () => {
    const names = Array.from({ length: 700 }, (_, index) => toolUse(null, `invented_${index}`, { calls: index < 500 ? 1 : 2 }));
    await record({ ...report(), models: [], tools: [toolUse(null, 'Glob', { calls: 900 })] });
    await record({ ...report(), models: [], tools: names });
    const { items, totals } = await reader.usage(made.workspace, { ...days, limit: 1_000, by: ['requested'], where: {} });
    expect(items).toHaveLength(500);
    expect(totals.calls).toBe(900 + 500 + 400);
    expect(items.find(({ requested }) => requested === 'Glob')).toMatchObject({ calls: 900 });
    const replaced = items.filter(({ overcount }) => overcount !== undefined);
    expect(replaced.length).toBeGreaterThan(100);
    for (const { calls, overcount = 0 } of replaced) expect(calls - overcount).toBeGreaterThan(0);
  });

  it('counts a tool without the name that was called when a day has too many spellings', async () => {
    const names = Array.from({ length: 5_020 }, (_, index) => toolUse('gh.search', `search${'_'.repeat(index % 50)}${index}`));
    for (let start = 0; start < names.length; start += 500)
      await record({ ...report(), models: [], tools: names.slice(start, start + 500) });
    const { items } = await reader.usage(made.workspace, { ...days, limit: 10, by: ['requested', 'tool'], where: {} });
    expect(items[0]).toMatchObject({ requested: null, tool: 'gh.search', calls: 20 });
    const tools = await reader.usage(made.workspace, { ...days, by: ['tool'], where: {} });
    expect(tools.items).toMatchObject([{ tool: 'gh.search', calls: 5_020 }]);
  });

  it('finds nothing under names of members that every object has', async () => {
    await record({ ...report(), tools: [toolUse('__proto__', '__proto__', { failures: 1, durationMs: 3 })] });
    const tools = await reader.usage(made.workspace, { ...days, by: ['tool'], where: {} });
    expect(tools.items).toEqual([{ tool: '__proto__', calls: 1, failures: 1, durationMs: 3, cost: 0 }]);
    expect(await reader.request(made.workspace, 'constructor', undefined)).toBeNull();
  });

  it('gathers reports and sends them together; a shard that fails is tried again', async () => {
    const work: Promise<unknown>[] = [];
    let failures = 1;
    const flaky = {
      idFromName: (name: string) => testEnv.USAGE.idFromName(name),
      get: (id: DurableObjectId) => {
        const stub = testEnv.USAGE.get(id) as unknown as { run(method: string, args: readonly unknown[]): Promise<unknown> };
        return {
          run: async (method: string, args: readonly unknown[]) => {
            failures -= 1;
            if (failures === 0) throw new Error('the shard is unavailable');
            return await stub.run(method, args);
          },
        };
      },
    } as unknown as DurableObjectNamespace;
    const clock = { ...made.clock, sleep: async () => undefined };
    const background = (one: Promise<unknown>) => void work.push(one);
    const recorder = createUsageRecorder({ bindings: { USAGE: flaky }, clock, log: made.log, background, pools: createPools(clock) });
    for (let index = 0; index < 20; index += 1) recorder.gather(made.workspace, report());
    expect(work).toHaveLength(1);
    await Promise.all(work);
    expect((await sums()).totals.calls).toBe(20);
    recorder.gather(made.workspace, report());
    await Promise.all(work);
    expect((await sums()).totals.calls).toBe(21);
  });

  it('drops reports and bodies of a key that has too many in memory, and none of others', async () => {
    const work: Promise<unknown>[] = [];
    const { workspace } = made;
    const clock = { ...made.clock, sleep: async () => undefined };
    const log = keptLog();
    const pools = createPools(clock);
    const recorder = createUsageRecorder({ bindings: testEnv, clock, log, background: (one) => void work.push(one), pools });
    const { usageReports, loggedBodies } = poolBounds;
    const large = 'x'.repeat(1_000_000);
    const logged = (keyId: string) => report({ keyId, bodies: { request: large, response: null, truncated: false } });
    for (let count = 0; count < 10; count += 1) recorder.gather(workspace, logged('greedy'));
    for (let count = 0; count < usageReports.perKey; count += 1) recorder.gather(workspace, { ...report(), keyId: 'greedy' });
    recorder.gather(workspace, logged('modest'));
    const counts = Object.groupBy(log.lines, ({ message }) => message.split(':')[0] ?? '');
    expect(counts['usage was dropped']).toHaveLength(10);
    expect(counts['the bodies of a request were not logged']).toHaveLength(10 - Math.floor(loggedBodies.perKey / large.length));
    for (const { fields } of log.lines) expect(fields).toMatchObject({ keyId: 'greedy' });
    await Promise.all(work);
    expect(pools.usageReports.usedBy({ workspace })).toBe(0);
    expect((await sums()).totals.calls).toBe(usageReports.perKey + 1);
  });
});
