/**
 * The schema of a Durable Object's database, as steps of SQL. A released step never changes: a later release appends one. Every object uses
 * this, and no other code changes tables.
 */
import { failpoint } from '../../core/failpoint.ts';
import { Problem } from '../../core/problem.ts';

/** Statements end with `;` at the end of a line. `!` stands for NOT NULL, because every start loads these texts. */
export function schemaSteps(...steps: readonly string[]): readonly string[] {
  return steps.map((step) => step.replaceAll('!', ' NOT NULL').replaceAll(/^ +| +$/gm, ''));
}

/**
 * Brings an object's database to the newest schema, each step in its own transaction: after a crash the database has the old schema or the
 * new one, and the next start continues from there. Runs before any request. `lazy`: tables that are only changed here (`lazy-tables.ts`).
 * Throws for a database of a newer release, and of a build before the first release.
 */
export function migrate(storage: DurableObjectStorage, steps: readonly string[], lazy: Readonly<Record<string, unknown>> = {}): void {
  const { sql } = storage;
  const version = readVersion(sql, steps);
  if (version > steps.length) throw new Problem('unavailable', newerData);
  for (const [index, step] of steps.entries()) {
    if (index < version) continue;
    const isAbsent = (table: string): boolean => table in lazy && (version === 0 || !hasTable(sql, table));
    storage.transactionSync(() => {
      const statements = statementsOf(step).filter((statement) => !isAbsent(tableOf(statement)));
      if (statements.length > 0) sql.exec(statements.join(';\n'));
      // A transaction cannot wait, so a crash test stops the process here synchronously.
      void failpoint('schema-migration-mid');
      sql.exec('CREATE TABLE IF NOT EXISTS schema (version INTEGER NOT NULL)');
      sql.exec('DELETE FROM schema');
      sql.exec('INSERT INTO schema (version) VALUES (?)', index + 1);
    });
  }
}

/** Looked up in the schema that SQLite has in memory: `sqlite_master` has no index, so a query of it reads a row for each table. */
export function hasTable(sql: SqlStorage, name: string): boolean {
  return sql.exec('SELECT 1 FROM pragma_table_info(?) LIMIT 1', name).toArray().length > 0;
}

const newerData = 'This data was written by a newer release of Moniker. Run that release or a newer one, or restore a backup.';
const unreleasedData =
  'This data was written by a build of Moniker before 0.1.0, the first release. No release reads it: start with an empty data folder (docs/upgrading.md).';

/** The number of applied steps; 0 in an empty database. Builds before the first release counted theirs in another table. */
function readVersion(sql: SqlStorage, steps: readonly string[]): number {
  if (hasTable(sql, 'schema')) return sql.exec<{ version: number }>('SELECT version FROM schema').one().version;
  if (hasTable(sql, tableOf(steps[0] ?? ''))) throw new Problem('unavailable', unreleasedData);
  return 0;
}

export function statementsOf(step: string): string[] {
  return step.split(/;\n/).filter((statement) => statement.trim() !== '');
}

/** The table that a statement creates, changes or has an index on. */
export function tableOf(statement: string): string {
  return (
    /^\s*(?:CREATE TABLE (?:IF NOT EXISTS )?|CREATE (?:UNIQUE )?INDEX .*? ON |ALTER TABLE |INSERT INTO |UPDATE |DROP TABLE )(\w+)/.exec(
      statement,
    )?.[1] ?? ''
  );
}
