/**
 * Writes the usage of a workspace to one of its shards, and reads from all of them (`usage-shard-client.ts`). A session
 * always writes to the same shard, so that the parts of a turn meet in one row; an isolate writes what it has gathered to one of its own.
 */
import { backoffMs } from '../../../core/limits/backoff.ts';
import {
  costsOf,
  isOfTools,
  toToolReports,
  type RequestEntry,
  type UsageDimension,
  roundCost,
  type UsageReport,
  type UsageRow,
  type UsageTotals,
} from '../../../core/records/usage.ts';
import { createDelayedFlush } from '../../../engine/delayed-flush.ts';
import { isShortage, type Place, type Pools } from '../../../engine/fair-pool.ts';
import { retry } from '../../../engine/retry.ts';
import type { AuditPort } from '../../../ports/audit.ts';
import type { WaitUntil } from '../../../platform/background.ts';
import type { Limiter } from '../../../ports/limiter.ts';
import type { Clock, Logger } from '../../../ports/runtime.ts';
import type { UsageQuery, UsageReader, UsageRecorder } from '../../../ports/usage.ts';
import type { Bindings } from '../../../storage/bindings.ts';
import { decodeCursor, encodeCursor } from '../../../core/json/cursor.ts';
import {
  countNames,
  type Position,
  type SumRow,
  type Sums,
  usageShard,
  usageShardCount,
  type UsageShardPort,
} from './usage-shard-client.ts';

/** Reports that arrive within this time are sent together. */
const gatherMs = 500;
/** A gathering whose request ended before it was sent is taken over by the next report after this time. */
const takeOverMs = 5_000;
/** Each takes the shard some 20 µs, during which the requests of its thread wait. */
const maxReportsPerSend = 64;
/** Besides those of the client: a shard may be restored or restarted. */
const sendRetries = 2;
const sendBackoff = { firstMs: 2 * gatherMs };

type Deps = {
  bindings: Pick<Bindings, 'USAGE'>;
  clock: Clock;
  log: Logger;
  background: WaitUntil;
  /** Of reports in memory, also while the shards cannot be reached; what has no place is dropped and logged. */
  pools: Pick<Pools, 'usageReports' | 'loggedBodies'>;
  /** Counts their cost for limits. Absent: there are none. */
  charge?: Limiter['charge'];
};

export function createUsageRecorder(deps: Deps): UsageRecorder {
  const { bindings, clock, log, background, pools } = deps;
  const own = Math.floor(Math.random() * usageShardCount);
  let gathered: { workspace: string; report: UsageReport; places: readonly Place[] }[] = [];

  /** Both count a report once, so all is sent again if one of them fails. */
  const send = async (workspace: string, shard: number, reports: readonly UsageReport[]): Promise<void> => {
    await usageShard(bindings, workspace, shard).record(workspace, reports);
    if (reports.some(({ budgets }) => budgets !== undefined)) await deps.charge?.(workspace, reports);
  };

  const flush = async (): Promise<void> => {
    const taken = gathered;
    gathered = [];
    for (const [workspace, rows] of Map.groupBy(taken, (row) => row.workspace)) {
      for (let start = 0; start < rows.length; start += maxReportsPerSend) {
        const part = rows.slice(start, start + maxReportsPerSend);
        const reports = part.map(({ report }) => report);
        const policy = { maxRetries: sendRetries, delayMs: (_error: unknown, failures: number) => backoffMs(sendBackoff, failures) };
        await retry({ clock }, policy, () => send(workspace, own, reports)).catch((error: unknown) =>
          log.error('usage could not be stored', { reports: reports.length, cause: String(error) }),
        );
        for (const place of part.flatMap(({ places }) => places)) place.release();
      }
    }
  };

  const failed = (error: unknown): void => log.error('usage could not be stored', { cause: String(error) });
  const wake = createDelayedFlush({ clock, background, delayMs: gatherMs, takeOverMs, next: 'taken', flush, failed });

  return {
    async record(workspace, session, reports) {
      // Ids of sessions are hexadecimal and evenly distributed.
      await send(workspace, Number.parseInt(session.slice(-4), 16) % usageShardCount, reports);
    },
    gather(workspace, report) {
      const { bodies, ...rest } = report;
      const owner = { workspace, keyId: report.keyId };
      const place = pools.usageReports.take(owner);
      if (isShortage(place)) {
        log.error('usage was dropped: too many reports are waiting', { id: report.id, ...owner });
        return;
      }
      const characters = (bodies?.request?.length ?? 0) + (bodies?.response?.length ?? 0);
      const texts = pools.loggedBodies.take(owner, { amount: characters });
      if (isShortage(texts)) {
        log.error('the bodies of a request were not logged: too many are waiting', { id: report.id, ...owner });
        gathered.push({ workspace, report: rest, places: [place] });
      } else gathered.push({ workspace, report, places: [place, texts] });
      wake();
    },
  };
}

/** Counts the calls of tools outside of turns, whose rows pass here. */
export function withToolUsage(
  audit: (workspace: string) => AuditPort,
  recorder: Pick<UsageRecorder, 'gather'>,
): (workspace: string) => AuditPort {
  return (workspace) => {
    const port = audit(workspace);
    return {
      ...port,
      append(rows) {
        for (const report of toToolReports(rows)) recorder.gather(workspace, report);
        return port.append(rows);
      },
    };
  };
}

const usageList = 'usage';
const requestList = 'requests';

export function createUsageReader({ bindings }: Pick<Deps, 'bindings'>): UsageReader {
  const all = async <T>(workspace: string, read: (shard: UsageShardPort) => Promise<T>): Promise<T[]> =>
    await Promise.all(Array.from({ length: usageShardCount }, (_, shard) => read(usageShard(bindings, workspace, shard))));
  return {
    async usage(workspace, { cursor, ...query }) {
      const after = readGroup(cursor, query);
      const answers = await all(workspace, (shard) => shard.sums({ ...query, limit: query.limit + 1 }, after));
      const groups = new Map<string, SumRow>();
      for (const row of answers.flatMap(({ rows }) => rows)) {
        const key = JSON.stringify(row.group);
        const known = groups.get(key);
        groups.set(key, known === undefined ? row : joined(known, row));
      }
      // Each shard returned its first groups, so the first ones of all are complete.
      const sorted = [...groups.values()].sort((a, b) => compareGroups(a.group, b.group));
      const shown = sorted.slice(0, query.limit);
      const last = sorted.length > query.limit ? shown.at(-1) : undefined;
      const ofTools = isOfTools(query.by);
      return {
        items: shown.map((row) => ({ ...toGroup(query.by, row.group), ...toCounts(row.sums, ofTools), ...ofNames(row.sums), ...row.who })),
        nextCursor: last === undefined ? null : encodeCursor(usageList, [query.by.join(), ...last.group]),
        totals: toCounts(answers.flatMap(({ totals }) => totals ?? []).reduce(addSums, noSums), ofTools),
      };
    },
    async requests(workspace, { cursor, ...query }) {
      const before = decodeCursor(requestList, cursor, isPosition) ?? null;
      const answers = await all(workspace, (shard) => shard.requests(query, before));
      // Below the highest position at which a shard stopped reading, rows may be missing.
      const bound = answers.flatMap(({ readTo }) => (readTo === null ? [] : [readTo])).sort(newestFirst)[0] ?? null;
      const known = answers
        .flatMap(({ items }) => items)
        .filter((item) => bound === null || newestFirst(positionOf(item), bound) <= 0)
        .sort((a, b) => newestFirst(positionOf(a), positionOf(b)));
      const items = known.slice(0, query.limit);
      const last = items.at(-1);
      const next = known.length > items.length && last !== undefined ? positionOf(last) : bound;
      return { items, nextCursor: next === null ? null : encodeCursor(requestList, next) };
    },
    withBodies: async (workspace, ids) => (await all(workspace, (shard) => shard.withBodies(ids))).flat(),
    async request(workspace, id, key) {
      const found = (await all(workspace, (shard) => shard.request(id))).flat();
      const visible = found.filter((item) => key === undefined || item.keyId === key);
      return visible.find((item) => item.id === id) ?? visible.sort((a, b) => newestFirst(positionOf(a), positionOf(b)))[0] ?? null;
    },
  };
}

function positionOf({ at, id }: RequestEntry): Position {
  return [Date.parse(at), id];
}

function newestFirst([atA, idA]: Position, [atB, idB]: Position): number {
  return atB - atA || compareText(idB, idA);
}

/** The cursor also has the dimensions: the position in groups by other dimensions would mean nothing. */
function readGroup(cursor: string | undefined, { by }: Pick<UsageQuery, 'by'>): string[] | null {
  const isGroup = (value: unknown): value is string[] =>
    Array.isArray(value) && value[0] === by.join() && value.length === by.length + 1 && value.every((part) => typeof part === 'string');
  return decodeCursor(usageList, cursor, isGroup)?.slice(1) ?? null;
}

function isPosition(value: unknown): value is Position {
  return Array.isArray(value) && value.length === 2 && Number.isSafeInteger(value[0]) && typeof value[1] === 'string';
}

export function addSums(a: Sums, b: Sums): Sums {
  const sum = { ...a };
  for (const name of countNames) sum[name] += b[name];
  const overcount = (a.overcount ?? 0) + (b.overcount ?? 0);
  const last = [a.last, b.last]
    .filter((day) => day !== undefined)
    .toSorted()
    .at(-1);
  const toolCost = (a.toolCost ?? 0) + (b.toolCost ?? 0);
  return { ...sum, ...(toolCost > 0 && { toolCost }), ...(overcount > 0 && { overcount }), ...(last !== undefined && { last }) };
}

const noSums = Object.fromEntries(countNames.map((name) => [name, 0])) as Record<(typeof countNames)[number], number>;

function joined({ group, sums, who: first }: SumRow, { sums: more, who }: SumRow): SumRow {
  const union = (a: readonly string[] = [], b: readonly string[] = []): string[] => [...new Set([...a, ...b])];
  return {
    ...{ group, sums: addSums(sums, more) },
    ...(who !== undefined && { who: { agents: union(first?.agents, who.agents), keys: union(first?.keys, who.keys) } }),
  };
}

function toGroup(by: readonly UsageDimension[], group: readonly string[]): Partial<UsageRow> {
  // Rows store an empty text where there is no agent or toolset.
  return Object.fromEntries(by.map((name, index) => [name, group[index] === '' ? null : group[index]]));
}

function ofNames({ last, overcount }: Sums): Pick<UsageRow, 'lastDay' | 'overcount'> {
  return { ...(last !== undefined && { lastDay: last }), ...(overcount !== undefined && { overcount }) };
}

function toCounts(sums: Sums, ofTools: boolean): UsageTotals {
  const calls = { calls: sums.calls, failures: sums.failures, durationMs: sums.duration_ms };
  if (ofTools) return { ...calls, cost: roundCost(sums.cost) };
  return {
    ...calls,
    inputTokens: sums.input,
    cachedInputTokens: sums.cached,
    cacheWriteInputTokens: sums.cache_write,
    outputTokens: sums.output,
    reasoningTokens: sums.reasoning,
    ...costsOf(sums, sums.toolCost ?? 0),
    unpricedCalls: sums.unpriced,
    unreportedCalls: sums.unreported,
    ...(sums.cached_calls > 0 && {
      ...{ cachedCalls: sums.cached_calls, savedCost: roundCost(sums.saved_cost), savedTokens: sums.saved_tokens },
    }),
  };
}

function compareGroups(a: readonly string[], b: readonly string[]): number {
  for (const [index, value] of a.entries()) {
    const order = compareText(value, b[index] ?? '');
    if (order !== 0) return order;
  }
  return 0;
}

/** As SQLite orders text: by UTF-8 bytes, which is the order of code points, not of UTF-16 units. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  let index = 0;
  while (a[index] === b[index]) index += 1;
  // Between the halves of a surrogate pair the code point begins one unit earlier.
  if (index > 0 && /[\uDC00-\uDFFF]/.test(`${a[index] ?? ''}${b[index] ?? ''}`)) index -= 1;
  return (a.codePointAt(index) ?? -1) - (b.codePointAt(index) ?? -1);
}
