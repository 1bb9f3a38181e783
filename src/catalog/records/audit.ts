/**
 * The audit in the Catalog: the log of configuration changes, the newest heads of the shards, and the rows of calls that releases before the
 * shards stored here (table `audit`), which are only read and deleted.
 */
import type { AuditChange } from '../../core/audit.ts';
import type { LogEntry, LogHead, LogPage, LogRequest } from '../../ports/audit-log.ts';
import { appendEntry, type AuditLog, filterCondition, filterValues, maxScannedRows } from '../../storage/audit-log.ts';
import { createAuditKey, type SignedLog } from '../../storage/audit-chain.ts';
import { exportLines, exportName, type RetentionNeeds } from '../../storage/audit-retention.ts';
import type { CatalogContext } from '../context.ts';

const dayMs = 24 * 60 * 60_000;

/** The log of changes. */
export function changeLog({ sql, workspace, now }: Pick<CatalogContext, 'sql' | 'workspace' | 'now'>): AuditLog {
  return { sql, workspace, name: 'changes', now };
}

/** The same, for signing and checking it. */
export function signedChangeLog(context: CatalogContext): SignedLog {
  return { ...changeLog(context), master: createAuditKey(context.settings) };
}

/**
 * Records a change and the id of the key that made it (`by`), in the transaction of the change, so that neither is stored without the
 * other.
 */
export function recordChange(
  context: Pick<CatalogContext, 'sql' | 'workspace' | 'now'>,
  { by, action, resource, name, version }: Pick<AuditChange, 'action' | 'resource' | 'name'> & { by: string; version?: number },
): void {
  const row: AuditChange = {
    kind: 'change',
    at: new Date(context.now()).toISOString(),
    keyId: by,
    action,
    resource,
    name,
    version: version ?? null,
  };
  requestSweep(context);
  appendEntry(changeLog(context), null, JSON.stringify(row));
}

/** What a change replaced is deleted some day (`catalog-sweep.ts`). Writes once a day at most. */
function requestSweep({ sql, now }: Pick<CatalogContext, 'sql' | 'now'>): void {
  sql.exec("INSERT OR IGNORE INTO meta (key, value) VALUES ('sweep', ?)", String(now() + dayMs));
}

/** Stores the newest signed head of a shard. A head that is older than the stored one is ignored. */
export function storeShardHead({ sql }: Pick<CatalogContext, 'sql'>, shard: number, { number, at, hash }: LogHead): void {
  const put = `INSERT INTO audit_shards (shard, number, at, hash) VALUES (?, ?, ?, ?) ON CONFLICT (shard) DO UPDATE
    SET number = excluded.number, at = excluded.at, hash = excluded.hash WHERE excluded.number > audit_shards.number`;
  sql.exec(put, shard, number, at, hash);
}

/** Returns the heads by shard, of every shard that ever had rows. */
export function shardHeads({ sql }: Pick<CatalogContext, 'sql'>): [shard: number, head: LogHead][] {
  const rows = sql.exec<LogHead & { shard: number }>('SELECT shard, number, at, hash FROM audit_shards ORDER BY shard').toArray();
  return rows.map(({ shard, ...head }) => [shard, head]);
}

/** Returns the rows of earlier releases, newest first. */
export function readEarlierRows({ sql }: Pick<CatalogContext, 'sql'>, request: LogRequest): LogPage {
  const end = request.before ?? (sql.exec<{ number: number | null }>('SELECT max(sequence) AS number FROM audit').one().number ?? 0) + 1;
  const floor = Math.max(0, end - maxScannedRows);
  const found = sql.exec<{ number: number; entry: string }>(readEarlier, floor, end, ...filterValues(request), request.limit).toArray();
  const entries = found.map(({ number, entry }): LogEntry => ({ number, at: timeOf(entry), text: entry }));
  const last = entries.length === request.limit ? entries.at(-1) : undefined;
  const next = last?.number ?? floor;
  const isEnd = sql.exec('SELECT 1 FROM audit WHERE sequence < ? LIMIT 1', next).toArray().length === 0;
  return isEnd ? { entries, next: 0, nextAt: 0 } : { entries, next, nextAt: last?.at ?? Number.MAX_SAFE_INTEGER };
}

/** The retention of the log of changes and of earlier rows. `bucket`: as in `RetentionNeeds`. */
export function auditRetention(context: CatalogContext, bucket: RetentionNeeds['bucket'], days: () => number): RetentionNeeds {
  const { sql, log } = context;
  return {
    days: async () => days(),
    transact: context.record,
    bucket,
    // Changes are few, and the Catalog has other data.
    isFull: () => false,
    logFault: (cause) => log.error('the audit does not follow its retention', { log: 'changes', cause }),
    earlier: {
      hasRows: () => sql.exec('SELECT 1 FROM audit LIMIT 1').toArray().length > 0,
      expire: (before, count) => expireEarlierRows(context, bucket, before, count),
    },
  };
}

async function expireEarlierRows(
  { sql, workspace, record }: CatalogContext,
  bucket: RetentionNeeds['bucket'],
  before: number,
  count: number,
) {
  const oldest = sql.exec<{ number: number; entry: string }>(
    'SELECT sequence AS number, row AS entry FROM audit ORDER BY sequence LIMIT ?',
    count,
  );
  const rows = oldest.toArray();
  const end = rows.findIndex(({ entry }) => timeOf(entry) >= before);
  const expired = end === -1 ? rows : rows.slice(0, end);
  const [first, last] = [expired[0], expired.at(-1)];
  if (first === undefined || last === undefined) return 0;
  if (bucket !== null) {
    const lines = expired.map(({ number, entry }) => `{"log":"earlier","number":${number},"entry":${entry}}`);
    await exportLines(bucket, exportName(workspace, 'earlier', { number: first.number, at: timeOf(first.entry) }), lines);
  }
  record(() => void sql.exec('DELETE FROM audit WHERE sequence <= ?', last.number));
  return expired.length;
}

/** Rows were written by `recordChange` and by the audit of calls, with the time as ISO 8601. */
function timeOf(entry: string): number {
  return Date.parse((JSON.parse(entry) as { at: string }).at);
}

const readEarlier = `SELECT number, entry FROM (SELECT sequence AS number, row AS entry FROM audit)
  WHERE number >= ? AND number < ? AND ${filterCondition} ORDER BY number DESC LIMIT ?`;
