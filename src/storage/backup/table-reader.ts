/**
 * Reads the tables of an object for a backup: pages of rows in the order of their primary keys, as texts of parts. What one call returns is
 * read in one step, without writes in between.
 */
import type { BackedUpObject, StoredValue } from '../../core/backup/archive.ts';
import { MB } from '../../core/limits/units.ts';
import { toBase64 } from '../../core/text/bytes.ts';
import { utf8Length } from '../../core/text/utf8.ts';

/** A part ends with the row that exceeds this. */
const partBytes = 2 * MB;
/** All parts of one call; below the 32 MB of an RPC with the longest row. */
const pageBytes = 12 * MB;

/** Where reading continues. `stamp`: identifies the state of the object; a table that is read loosely has null. */
export type ReadPosition = { table: string; after: StoredValue[]; stamp: string | null };
export type ReadPage = { parts: Uint8Array[]; next: ReadPosition | null };

/**
 * `strict` tables must not change from the first to the last page; `loose` ones may, since their rows are only appended or deleted. Strict
 * ones are read first. Both are lists of names.
 */
export type TableOrder = { strict: readonly string[]; loose: readonly string[] };

type Source = { sql: SqlStorage; object: BackedUpObject; schema: number; order: TableOrder; stamp: string };

/** Returns `changed` if a strict table may have changed since the first page: then the object has to be read again from the start. */
export function readTables({ sql, object, schema, order, stamp }: Source, at: ReadPosition | null): ReadPage | 'changed' {
  if (at?.stamp && at.stamp !== stamp) return 'changed';
  const tables = [...order.strict, ...order.loose];
  const parts: Uint8Array[] = [];
  let gathered: string[] = [];
  let [gatheredBytes, totalBytes] = [0, 0];
  const flush = (last: boolean): void => {
    const about = JSON.stringify({ kind: 'object', object, schema, first: at === null && parts.length === 0, last });
    parts.push(new TextEncoder().encode(`${about.slice(0, -1)},"tables":[${gathered.join(',')}]}`));
    [gathered, gatheredBytes] = [[], 0];
  };
  const start = at === null ? 0 : Math.max(0, tables.indexOf(at.table));
  for (const [index, table] of tables.entries()) {
    if (index < start) continue;
    const columns = readColumns(sql, table);
    const heading = `{"name":${JSON.stringify(table)},"columns":${JSON.stringify(columns.all)},"rows":[`;
    let rows: string[] = [];
    const endTable = (): void => {
      if (rows.length > 0) gathered.push(`${heading}${rows.join(',')}]}`);
      rows = [];
    };
    for (const row of rowsAfter(sql, table, columns, index === start ? (at?.after ?? null) : null)) {
      const values = row.map((value) => (value instanceof ArrayBuffer ? { base64: toBase64(new Uint8Array(value)) } : value));
      const text = JSON.stringify(values);
      rows.push(text);
      const bytes = utf8Length(text);
      gatheredBytes += bytes;
      totalBytes += bytes;
      if (gatheredBytes < partBytes) continue;
      endTable();
      flush(false);
      if (totalBytes < pageBytes) continue;
      const after = columns.key.map((name) => values[columns.all.indexOf(name)] ?? null);
      return { parts, next: { table, after, stamp: order.loose.includes(table) ? null : stamp } };
    }
    endTable();
  }
  flush(true);
  return { parts, next: null };
}

type Columns = { all: string[]; key: string[] };

/** The columns of the primary key in its order; the row number for a table without one. */
function readColumns(sql: SqlStorage, table: string): Columns {
  const info = sql.exec<{ name: string; pk: number }>('SELECT name, pk FROM pragma_table_info(?) ORDER BY cid', table).toArray();
  const key = info.filter(({ pk }) => pk > 0).toSorted((one, other) => one.pk - other.pk);
  const all = info.map(({ name }) => name);
  return key.length > 0 ? { all, key: key.map(({ name }) => name) } : { all: ['rowid', ...all], key: ['rowid'] };
}

/** Rows of one statement: each may have 2 MB. A statement that is not read to its end would lock its table. */
const rowsAtATime = 12;

/** Names come from the schema. */
function* rowsAfter(sql: SqlStorage, table: string, { all, key }: Columns, start: StoredValue[] | null): Generator<SqlStorageValue[]> {
  const keys = key.map(quotedName).join(', ');
  const select = `SELECT ${all.map(quotedName).join(', ')} FROM ${quotedName(table)}`;
  const rest = `ORDER BY ${keys} LIMIT ${rowsAtATime}`;
  const query = `${select} WHERE (${keys}) > (${key.map(() => '?').join(', ')}) ${rest}`;
  const first = `${select} ${rest}`;
  let after = start as SqlStorageValue[] | null; // Keys are texts and numbers.
  for (;;) {
    const rows = [...(after === null ? sql.exec(first) : sql.exec(query, ...after)).raw()];
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < rowsAtATime) return;
    after = key.map((name) => last[all.indexOf(name)] ?? null);
  }
}

/** Some columns have names that are words of SQL. */
export function quotedName(identifier: string): string {
  return `"${identifier}"`;
}
