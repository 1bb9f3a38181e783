/** The audit in the Catalog: the log of configuration changes, and the newest heads of the shards. */
import type { AuditChange } from '../../../core/records/audit.ts';
import type { LogHead } from '../../../ports/audit-log.ts';
import { appendEntry, type AuditLog } from '../../shared/audit-log.ts';
import { createAuditKey, type SignedLog } from '../../shared/audit-chain.ts';
import type { RetentionNeeds } from '../../shared/audit-retention.ts';
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
  {
    by,
    action,
    resource,
    name,
    version,
    dropped,
  }: Pick<AuditChange, 'action' | 'resource' | 'name' | 'dropped'> & { by: string; version?: number },
): void {
  const row: AuditChange = {
    kind: 'change',
    at: new Date(context.now()).toISOString(),
    keyId: by,
    action,
    resource,
    name,
    version: version ?? null,
    ...(dropped && { dropped }),
  };
  requestSweep(context);
  appendEntry(changeLog(context), null, JSON.stringify(row));
}

/** Replaced values are deleted by `catalog-sweep.ts`. Writes once a day at most. */
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

/** The retention of the log of changes. `bucket`: as in `RetentionNeeds`. */
export function auditRetention(context: CatalogContext, bucket: RetentionNeeds['bucket'], days: () => number): RetentionNeeds {
  const { log } = context;
  return {
    days: async () => days(),
    transact: context.record,
    bucket,
    // Changes are few, and the Catalog has other data.
    isFull: () => false,
    logFault: (cause) => log.error('the audit does not follow its retention', { log: 'changes', cause }),
  };
}
