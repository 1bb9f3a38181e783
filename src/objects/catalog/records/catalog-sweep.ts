/**
 * Deletes what nothing uses any more, daily: grants of earlier root keys, known hosts, old versions of documents, old counts of refused deliveries, compiled editions with their copies in KV, rows of deleted documents and
 * of revoked or expired keys, and sessions that were not used for as long as the workspace keeps them. A bounded number at a time; a run
 * that dies is repeated. A run follows the clock by `maxClockStepMs` at most.
 */
import { limits } from '../../../core/limits/limits.ts';
import { rootUser } from '../../../core/people/person.ts';
import { kvKeys } from '../../../storage/keys.ts';
import { isClockSettled } from '../../../platform/settled-clock.ts';
import { forgetSession } from './session-index.ts';
import { dropConnectionsOf, sweepConnections } from '../servers/connections.ts';
import { forgetEdition } from '../toolsets/editions.ts';
import { forgetOldHosts } from '../documents/known-hosts.ts';
import { dropDocumentVersions } from '../documents/document-versions.ts';
import { forgetVersions } from '../toolsets/toolset-versions.ts';
import { readWorkspaceSettings } from '../documents/workspace-settings.ts';
import { dropExpiredRecords, hasGrants } from '../grants/oauth-records.ts';
import { removePrivateTools } from '../tools/private-tools.ts';
import { dropRefusals } from '../triggers/deliveries/refusals.ts';
import type { CatalogContext } from '../context.ts';
import { type DueJob, dueJob } from '../../shared/due-job.ts';

const dayMs = 24 * 60 * 60_000;
const hourMs = 60 * 60_000;
/** A clock that is far ahead for a short time deletes little. */
const maxClockStepMs = 2 * dayMs;
/** Rows of one kind that one run deletes. The functions below return true if more may be left. */
const rowsPerRun = 1_000;
/** Each is a request to KV. */
const editionsPerRun = 200;
/** After a run that left something. */
const continueAfterMs = 5_000;

type SweepNeeds = {
  kv(): Pick<KVNamespace, 'delete'>;
  /** Deletes a session unless it was used since. Returns whether it still exists. */
  removeSession(id: string, keyId: string, unusedSince: number): Promise<boolean>;
};

export function createCatalogSweep(context: CatalogContext, needs: SweepNeeds): DueJob {
  const { sql, now } = context;
  const nextDue = (): number | null => {
    const due = readNumber(sql, 'sweep');
    // A time that is further ahead than any run sets it comes from a wrong clock.
    return due !== null && due > now() + dayMs ? now() : due;
  };
  const run = async (): Promise<void> => {
    const due = nextDue();
    if (due === null || due > now()) return;
    if (!(await isClockSettled())) return store(sql, 'sweep', now() + hourMs);
    const earlier = readNumber(sql, 'sweep-time');
    const time = earlier === null ? now() : Math.min(now(), earlier + maxClockStepMs);
    // Stored first, so that a run that fails or dies is repeated later.
    store(sql, 'sweep', now() + dayMs);
    store(sql, 'sweep-time', time);
    const settings = readWorkspaceSettings(sql).retention;
    // As long as audit rows name them.
    const namedMs = Math.max(settings.auditDays * dayMs, limits.tombstoneTtlMs);
    const at = { ...context, now: () => time };
    dropRefusals(at);
    sweepConnections(at);
    context.transact(() => forgetOldHosts(at));
    if (hasGrants(at, rootUser.id)) await (await import('../grants/grants.ts')).endGrantsOfEarlierRoot(at);
    const left = [
      dropVersions(at, settings.versions),
      dropTombstones(at, namedMs),
      dropKeys(at, namedMs),
      dropExpiredRecords(at, rowsPerRun) === rowsPerRun,
      dropExpiredItems(at, rowsPerRun) === rowsPerRun,
      settings.sessionDays !== null && (await dropSessions(at, needs, settings.sessionDays * dayMs)),
      // Last, so that a failing KV delays nothing else.
      await dropEditions(at, needs),
    ];
    if (left.includes(true)) {
      store(sql, 'sweep', now() + continueAfterMs);
      if (earlier !== null) store(sql, 'sweep-time', earlier);
    } else if (time < now()) store(sql, 'sweep', now() + hourMs);
  };
  return dueJob({ nextDue, run });
}

type Stored = 'sweep' | 'sweep-time' | 'sweep-session';

function readNumber(sql: SqlStorage, key: Stored): number | null {
  const row = sql.exec<{ value: string }>('SELECT value FROM meta WHERE key = ?', key).toArray()[0];
  return row === undefined ? null : Number(row.value);
}

function store(sql: SqlStorage, key: Stored, value: number): void {
  sql.exec('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)', key, String(value));
}

/** Deletes versions of documents but the newest `kept`, and those of toolsets that an agent, a session or an equipment names. */
function dropVersions({ sql, record }: CatalogContext, kept: number): boolean {
  const rows = sql.exec<{ name: string; version: number }>(surplusVersions, kept, rowsPerRun).toArray();
  record(() => {
    for (const { name, version } of rows) sql.exec('DELETE FROM toolset_versions WHERE name = ? AND version = ?', name, version);
  });
  const others = record(() => dropDocumentVersions(sql, kept, rowsPerRun));
  return rows.length === rowsPerRun || others === rowsPerRun;
}

const namedVersions = `SELECT coalesce(body ->> '$.toolset', '') FROM documents WHERE kind = 'agent' AND deleted = 0
  UNION SELECT toolset FROM sessions WHERE toolset IS NOT NULL UNION SELECT toolset FROM equipment WHERE toolset IS NOT NULL
  UNION SELECT bound.value FROM keys, json_each(keys.toolsets) AS bound WHERE keys.revoked_at IS NULL
  UNION SELECT bound.value FROM documents, json_each(documents.body, '$.toolsets') AS bound WHERE kind = 'member' AND deleted = 0`;
const surplusVersions = `SELECT name, version FROM (SELECT name, version, row_number() OVER (PARTITION BY name ORDER BY version DESC) AS place FROM toolset_versions)
    WHERE place > ? AND name || '@' || version NOT IN (${namedVersions}) LIMIT ?`;

/**
 * Deletes the rows of documents that were deleted long ago, with all versions unless something names one. A new document of the name begins
 * with version 1 again.
 */
function dropTombstones({ sql, record, now }: CatalogContext, keptMs: number): boolean {
  const query = `SELECT kind, name FROM documents WHERE deleted = 1 AND updated_at <= ?
    AND NOT (kind = 'toolset' AND EXISTS (SELECT 1 FROM toolset_versions AS kept WHERE kept.name = documents.name
      AND kept.name || '@' || kept.version IN (${namedVersions}))) LIMIT ?`;
  const rows = sql.exec<{ kind: string; name: string }>(query, now() - keptMs, rowsPerRun).toArray();
  record(() => {
    for (const { kind, name } of rows) {
      sql.exec('DELETE FROM documents WHERE kind = ? AND name = ?', kind, name);
      sql.exec('DELETE FROM imported WHERE kind = ? AND name = ?', kind, name);
      if (kind === 'toolset') forgetVersions(sql, name);
      if (kind === 'server') sql.exec('DELETE FROM server_grants WHERE server = ? AND sealed IS NULL', name);
    }
  });
  return rows.length === rowsPerRun;
}

/** Deletes keys that ended before their last audit rows were deleted. */
function dropKeys(context: CatalogContext, keptMs: number): boolean {
  const { sql, now } = context;
  const query = `SELECT id FROM keys WHERE coalesce(revoked_at, expires_at) <= ? AND id NOT IN (SELECT key_id FROM key_cancellations) LIMIT ?`;
  const rows = sql.exec<{ id: string }>(query, now() - keptMs, rowsPerRun).toArray();
  if (rows.length === 0) return false;
  context.transact(() => {
    for (const { id } of rows) {
      removePrivateTools(context, id);
      sql.exec('DELETE FROM equipment WHERE key_id = ?', id);
      dropConnectionsOf(sql, id);
      sql.exec('DELETE FROM provider_items WHERE key_id = ?', id);
      sql.exec('DELETE FROM keys WHERE id = ?', id);
    }
  });
  return rows.length === rowsPerRun;
}

/**
 * Deletes editions that no version has had for `limits.unusedEditionTtlMs`, first in KV: sessions that wait may still run with one.
 */
async function dropEditions(context: CatalogContext, { kv }: SweepNeeds): Promise<boolean> {
  const { sql, record, now, workspace } = context;
  const at = now();
  record(() => {
    sql.exec(markUsed);
    sql.exec(markUnused, at);
  });
  const query = 'SELECT hash FROM editions WHERE unused_since <= ? LIMIT ?';
  const rows = sql.exec<{ hash: string }>(query, at - limits.unusedEditionTtlMs, editionsPerRun).toArray();
  for (const { hash } of rows) {
    // A version that has this edition from now on publishes it again.
    sql.exec('UPDATE editions SET published_at = NULL WHERE hash = ?', hash);
    await kv().delete(kvKeys.edition(workspace, hash));
    record(() => {
      const isUsed = sql.exec('SELECT 1 FROM toolset_versions WHERE hash = ? LIMIT 1', hash).toArray().length > 0;
      if (!isUsed) forgetEdition(sql, hash);
    });
  }
  return rows.length === editionsPerRun;
}

const usedHashes = 'SELECT hash FROM toolset_versions WHERE hash IS NOT NULL';
const markUsed = `UPDATE editions SET unused_since = NULL WHERE unused_since IS NOT NULL AND hash IN (${usedHashes})`;
// A later time than now comes from a clock that was ahead.
const markUnused = `UPDATE editions SET unused_since = ?1 WHERE (unused_since IS NULL OR unused_since > ?1) AND hash NOT IN (${usedHashes})`;

/** Asks old sessions, some at a time, to delete themselves if they were not used. Returns true if more are left to ask. */
async function dropSessions(context: CatalogContext, { removeSession }: SweepNeeds, keptMs: number): Promise<boolean> {
  const { sql, now, log } = context;
  const unusedSince = now() - keptMs;
  const after = readNumber(sql, 'sweep-session') ?? 0;
  const query = 'SELECT number, id, key_id FROM sessions WHERE number > ? AND active_at <= ? ORDER BY number LIMIT ?';
  const rows = sql.exec<{ number: number; id: string; key_id: string }>(query, after, unusedSince, limits.sweptSessionsPerRun).toArray();
  await Promise.all(
    rows.map(async ({ id, key_id: keyId }) => {
      try {
        // An index row without a session can remain when a deletion was interrupted.
        if (!(await removeSession(id, keyId, unusedSince))) forgetSession(context, id, null);
      } catch (error) {
        log.error('an unused session could not be deleted; it will be retried', { session: id, cause: String(error) });
      }
    }),
  );
  const last = rows.length === limits.sweptSessionsPerRun ? rows.at(-1)?.number : undefined;
  store(sql, 'sweep-session', last ?? 0);
  return last !== undefined;
}

/** Deletes what keys made at providers, when it is no longer there or listed. Returns how many rows. */
function dropExpiredItems({ sql, record, now }: CatalogContext, limit: number): number {
  const expired =
    'DELETE FROM provider_items WHERE number IN (SELECT number FROM provider_items WHERE expires_at <= ? LIMIT ?) RETURNING number';
  return record(() => sql.exec(expired, now(), limit).toArray().length);
}
