/** Writes the rows of a backup to the tables of an object. Each row is checked against its table. */
import type { TableRows } from '../../core/backup/archive.ts';
import { isRecord } from '../../core/json/wire-value.ts';
import { invalidRequest } from '../../core/problem.ts';
import { fromBase64 } from '../../core/text/bytes.ts';
import { quotedName } from './table-reader.ts';

type Column = { name: string; type: string; notnull: number };

/** Call in a transaction. Rows replace those with the same key, so that a repeated write has no effect. Throws `invalid_request`. */
export function writeTables(sql: SqlStorage, tables: readonly TableRows[], known: ReadonlySet<string>): void {
  for (const table of tables) {
    if (!known.has(table.name)) throw invalidRow(table.name, 'this release has no such table');
    if (table.name === 'sqlite_sequence') writeSequences(sql, table);
    else writeRows(sql, table);
  }
}

function writeRows(sql: SqlStorage, { name, columns: names, rows }: TableRows): void {
  const info = sql.exec<Column>('SELECT name, type, "notnull" FROM pragma_table_info(?)', name).toArray();
  const byName = new Map(info.map((column) => [column.name, column]));
  byName.set('rowid', { name: 'rowid', type: 'INTEGER', notnull: 1 });
  const columns = names.map((column) => byName.get(column) ?? fail(name, `there is no column ${column}`));
  if (new Set(names).size < names.length) throw invalidRow(name, 'a column is named twice');
  const insert = `INSERT OR REPLACE INTO ${quotedName(name)} (${names.map(quotedName).join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
  for (const row of rows) {
    if (row.length !== columns.length) throw invalidRow(name, `a row has ${row.length} values in place of ${columns.length}`);
    sql.exec(insert, ...columns.map((column, index) => toStored(name, column, row[index])));
  }
}

function toStored(table: string, { name, type, notnull }: Column, value: unknown): SqlStorageValue {
  if (value === null && notnull === 0) return null;
  if (typeof value === 'number' && (type === 'REAL' ? Number.isFinite(value) : type === 'INTEGER' && Number.isSafeInteger(value)))
    return value;
  if (typeof value === 'string' && (type === 'TEXT' || type === 'BLOB')) return value;
  if (type === 'BLOB' && isRecord(value) && typeof value.base64 === 'string') {
    const bytes = fromBase64(value.base64);
    if (bytes !== null) return bytes.buffer;
  }
  return fail(table, `${name} has no value of its type`);
}

/** The numbers that rows of tables with `AUTOINCREMENT` had, so that they are not used again. */
function writeSequences(sql: SqlStorage, { columns, rows }: TableRows): void {
  const [name, number] = [columns.indexOf('name'), columns.indexOf('seq')];
  for (const row of rows) {
    const [table, newest] = [row[name], row[number]];
    if (typeof table !== 'string' || typeof newest !== 'number' || !Number.isSafeInteger(newest))
      throw invalidRow('sqlite_sequence', 'it is invalid');
    sql.exec('DELETE FROM sqlite_sequence WHERE name = ?', table);
    sql.exec('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)', table, newest);
  }
}

function fail(table: string, reason: string): never {
  throw invalidRow(table, reason);
}

function invalidRow(table: string, reason: string) {
  return invalidRequest([{ path: table, message: `a row cannot be restored: ${reason}` }]);
}
