/**
 * Seals the values of one workspace again after a change of the master key, and signs the heads of its audit again. In small steps that may
 * be repeated: what the current key has sealed is skipped, and a value that was written meanwhile stays. `reseal-job.ts` runs the steps.
 */
import type { RenewedSignatures } from '../../../ports/audit-log.ts';
import type { DocumentKind } from '../../../ports/catalog.ts';
import type { ResealPosition, ResealStep, UnreadableValue } from '../../../ports/master-key.ts';
import { renewHeadSignatures } from '../../shared/audit-chain.ts';
import { isSealedBy, openValue, type SealedFor, sealValue } from '../../../storage/keys/secret-box.ts';
import type { CatalogContext } from '../context.ts';
import { shardHeads, signedChangeLog } from '../records/audit.ts';
import { overwrite, requestClose } from '../records/close-database.ts';
import { enqueueDocument } from '../records/publications.ts';

const rowsPerStep = 50;

/** `at`: its position in the table. */
type SealedRow = { at: string; kind: SealedFor['kind']; name: string; sealed: string };

/** A table with sealed values. */
type SealedTable = {
  read(sql: SqlStorage, after: string, count: number): SealedRow[];
  /** The newest value; null if it was removed. */
  current(sql: SqlStorage, row: SealedRow): string | null;
  write(context: CatalogContext, row: SealedRow, sealed: string): void;
  /** Counts the values that do not begin with this text. */
  countOthers(sql: SqlStorage, beginning: string): number;
};

/** The number of the step is stored, so a new table is added at the end. */
const tables: readonly SealedTable[] = [
  {
    read: (sql, after, count) =>
      sql
        .exec<SealedRow>(
          `SELECT CAST(rowid AS TEXT) AS at, kind, name, sealed FROM documents
            WHERE rowid > CAST(? AS INTEGER) AND sealed IS NOT NULL ORDER BY rowid LIMIT ?`,
          after,
          count,
        )
        .toArray(),
    current: (sql, { kind, name }) =>
      sql.exec<{ sealed: string | null }>('SELECT sealed FROM documents WHERE kind = ? AND name = ?', kind, name).toArray()[0]?.sealed ??
      null,
    write: (context, { kind, name }, sealed) => {
      if (overwrite(context.sql, 'documents', 'sealed', 'kind = ? AND name = ?', kind, name)) requestClose(context.sql);
      context.sql.exec('UPDATE documents SET sealed = ? WHERE kind = ? AND name = ?', sealed, kind, name);
      // The kinds of sealed documents are kinds of documents.
      enqueueDocument(context, kind as DocumentKind, name);
    },
    countOthers: (sql, beginning) =>
      sql
        .exec<{ count: number }>(
          'SELECT count(*) AS count FROM documents WHERE sealed IS NOT NULL AND substr(sealed, 1, length(?)) <> ?',
          beginning,
          beginning,
        )
        .one().count,
  },
  {
    read: (sql, after, count) =>
      sql
        .exec<SealedRow>(
          `SELECT server AS at, 'grant' AS kind, server AS name, sealed FROM server_grants
            WHERE server > ? AND sealed IS NOT NULL ORDER BY server LIMIT ?`,
          after,
          count,
        )
        .toArray(),
    current: (sql, { name }) =>
      sql.exec<{ sealed: string | null }>('SELECT sealed FROM server_grants WHERE server = ?', name).toArray()[0]?.sealed ?? null,
    write: ({ sql }, { name }, sealed) => {
      if (overwrite(sql, 'server_grants', 'sealed', 'server = ?', name)) requestClose(sql);
      sql.exec('UPDATE server_grants SET sealed = ? WHERE server = ?', sealed, name);
    },
    countOthers: (sql, beginning) =>
      sql
        .exec<{ count: number }>(
          'SELECT count(*) AS count FROM server_grants WHERE sealed IS NOT NULL AND substr(sealed, 1, length(?)) <> ?',
          beginning,
          beginning,
        )
        .one().count,
  },
  {
    read: (sql, after, count) => {
      const query = `SELECT server || ' ' || key_id AS at, 'connection' AS kind, server || ' ' || key_id AS name, sealed FROM connections
        WHERE (server, key_id) > (?, ?) ORDER BY server, key_id LIMIT ?`;
      return sql.exec<SealedRow>(query, ...connectionOf(after), count).toArray();
    },
    current: (sql, { name }) => {
      const query = 'SELECT sealed FROM connections WHERE server = ? AND key_id = ?';
      return sql.exec<{ sealed: string }>(query, ...connectionOf(name)).toArray()[0]?.sealed ?? null;
    },
    write: ({ sql }, { name }, sealed) => {
      if (overwrite(sql, 'connections', 'sealed', 'server = ? AND key_id = ?', ...connectionOf(name))) requestClose(sql);
      sql.exec('UPDATE connections SET sealed = ? WHERE server = ? AND key_id = ?', sealed, ...connectionOf(name));
    },
    countOthers: (sql, beginning) => {
      const query = 'SELECT count(*) AS count FROM connections WHERE substr(sealed, 1, length(?)) <> ?';
      return sql.exec<{ count: number }>(query, beginning, beginning).one().count;
    },
  },
];

/** Server and key of the name that a connection is sealed for. */
function connectionOf(name: string): [server: string, keyId: string] {
  const [server = '', keyId = ''] = name.split(' ');
  return [server, keyId];
}

/** `signShard`: signs heads of an audit shard again, as `renewHeadSignatures`. */
export type ResealNeeds = { signShard(shard: number, after: number): Promise<RenewedSignatures> };

export async function resealSome(
  context: CatalogContext,
  { signShard }: ResealNeeds,
  { step, after }: ResealPosition,
): Promise<ResealStep> {
  const { done, last, unreadable } = await runStep(context, signShard, step, after);
  const steps = headsStep + 1 + shardCount(context);
  const next = last !== null ? { step, after: last } : step + 1 < steps ? { step: step + 1, after: '' } : null;
  const beginning = `1.${await context.master.id()}.`;
  const left = tables.reduce((sum, table) => sum + table.countOthers(context.sql, beginning), 0);
  const publishing = context.sql.exec<{ count: number }>('SELECT count(*) AS count FROM publications').one().count;
  return { next, done, left, publishing, unreadable };
}

/** The step after the tables is the log of changes, then comes each audit shard. */
const headsStep = tables.length;

/** Of the shards that have signed something. */
function shardCount(context: CatalogContext): number {
  return Math.max(0, ...shardHeads(context).map(([shard]) => shard + 1));
}

type Done = { done: number; last: string | null; unreadable: UnreadableValue[] };

async function runStep(context: CatalogContext, signShard: ResealNeeds['signShard'], step: number, after: string): Promise<Done> {
  const table = tables[step];
  if (table !== undefined) return await resealRows(context, table, after);
  const from = Number(after);
  const { next, signed } = await (step === headsStep
    ? renewHeadSignatures(signedChangeLog(context), from)
    : signShard(step - headsStep - 1, from));
  return { done: signed, last: next === null ? null : String(next), unreadable: [] };
}

async function resealRows(context: CatalogContext, table: SealedTable, after: string): Promise<Done> {
  const { master, workspace, sql } = context;
  const rows = table.read(sql, after, rowsPerStep);
  const resealed: { row: SealedRow; sealed: string }[] = [];
  const unreadable: UnreadableValue[] = [];
  for (const row of rows) {
    if (await isSealedBy(master, row.sealed)) continue;
    const { kind, name } = row;
    const value = await openValue(master, { workspace, kind, name }, row.sealed).catch(() => null);
    if (value === null) unreadable.push({ kind, name });
    else resealed.push({ row, sealed: await sealValue(master, { workspace, kind, name }, value) });
  }
  const done = context.transact(() => {
    const unchanged = resealed.filter(({ row }) => table.current(sql, row) === row.sealed);
    for (const { row, sealed } of unchanged) table.write(context, row, sealed);
    return unchanged.length;
  });
  return { done, last: rows.length < rowsPerStep ? null : (rows.at(-1)?.at ?? null), unreadable };
}
