/**
 * The point inside a migration. A session of this release is reverted to the previous schema, in its file, and the runtime dies while
 * it is migrated again. That code cannot wait: the crash build blocks in it.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'vitest';
import { sessionMigrations } from '../../src/session/object/schema.ts';
import { openCell, poll, terminalMs } from './cell.ts';
import { checkInvariants } from './invariants.ts';
import type { Lane } from './lane.ts';

const point = 'schema-migration-mid';

export async function crashInMigration(lane: Lane): Promise<void> {
  const cell = await openCell(lane, point);
  await cell.say('hello', [{ calls: [cell.get('a')] }, { text: 'Done.' }]);
  await cell.ended({ alone: false });
  const before = await cell.events();

  await lane.stop('SIGTERM');
  takeBack(databaseOf(lane.stateDir, cell.session));
  await lane.start({ CRASH_STOP_AT: point, CRASH_STOP_BY: lane.kill });
  // This request gets no response: the object dies while it opens. A graceful eviction waits until it is open.
  const opened = cell.call('GET', '').catch(() => null);
  await poll(async () => lane.printed().includes(`crash point ${point}`), Date.now() + terminalMs);
  if (lane.kill === 'evict') {
    await opened;
    await lane.evict(cell.session);
  } else if (lane.kill === 'abort') {
    // The migration was interrupted under this request, or under an alarm that came first.
    await opened;
  } else {
    await lane.stop(lane.kill === 'sigterm' ? 'SIGTERM' : 'SIGKILL');
    await opened;
    if (lane.kill === 'deploy') lane.changeBuild();
    await lane.start();
  }

  await poll(async () => (await cell.call('GET', '')).status === 200, Date.now() + terminalMs);
  expect(await cell.events(), 'nothing of the log has changed').toEqual(before);
  await cell.say('next', [{ calls: [cell.post('b')] }, { text: 'Done again.' }]);
  await cell.ended({ alone: false });
  expect([cell.effects('a'), cell.effects('b')]).toEqual([1, 1]);
  await checkInvariants(cell);
  // The runtime as the other cells expect it.
  if (lane.kill === 'evict' || lane.kill === 'abort') {
    await lane.stop('SIGTERM');
    await lane.start();
  }
}

/** Removes what the newest migration added, and creates what it dropped, empty. */
function takeBack(file: string): void {
  const old = new DatabaseSync(':memory:');
  for (const migration of sessionMigrations.slice(0, -1)) old.exec(migration);
  const database = new DatabaseSync(file);
  try {
    splitRows(database);
    const reserved = database.prepare('SELECT audit_reserved AS rows FROM meta').get()?.rows ?? null;
    const kept = new Set(namesOf(old));
    // Indexes first: a column with one cannot be dropped.
    for (const { type, name } of schemaOf(database).reverse()) {
      if (!kept.has(name)) database.exec(`DROP ${type.toUpperCase()} IF EXISTS "${name}"`);
      else if (type === 'table') {
        const columns = new Set(columnsOf(old, name));
        for (const column of columnsOf(database, name))
          if (!columns.has(column)) database.exec(`ALTER TABLE "${name}" DROP COLUMN "${column}"`);
      }
    }
    // What the newest migration dropped, and what this session has not used.
    const present = new Set(namesOf(database));
    for (const { name, sql } of schemaOf(old)) if (!present.has(name)) database.exec(sql);
    // The previous schema counts audit rows here.
    database.prepare(`INSERT INTO sqlite_sequence (name, seq) VALUES ('audit', ?)`).run(reserved);
    database.exec(`UPDATE schema_version SET version = ${sessionMigrations.length - 1}`);
  } finally {
    database.close();
    old.close();
  }
}

/** The previous schema has one event in a row of the log. */
function splitRows(database: DatabaseSync): void {
  const rows = database.prepare('SELECT id, at, body FROM events WHERE count > 1').all();
  for (const { id, at, body } of rows) {
    database.prepare('DELETE FROM events WHERE id = ?').run(id ?? null);
    const insert = database.prepare('INSERT INTO events (id, at, body) VALUES (?, ?, ?)');
    // Written by `src/session/log/event-log.ts`.
    const events = JSON.parse(String(body)) as unknown[];
    for (const [index, event] of events.entries()) insert.run(Number(id) + index, at ?? null, JSON.stringify(event));
  }
}

function namesOf(database: DatabaseSync): string[] {
  return schemaOf(database).map(({ name }) => name);
}

/** The session's tables and indexes, without those of SQLite and the runtime. */
function schemaOf(database: DatabaseSync): { type: string; name: string; sql: string }[] {
  const rows = database
    .prepare(
      `SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite%' AND name NOT LIKE '\\_cf%' ESCAPE '\\' AND name <> 'schema_version' ORDER BY type DESC`,
    )
    .all();
  return rows.map(({ type, name, sql }) => ({ type: String(type), name: String(name), sql: String(sql) }));
}

function columnsOf(database: DatabaseSync, table: string): string[] {
  return database
    .prepare(`SELECT name FROM pragma_table_info(?)`)
    .all(table)
    .map(({ name }) => String(name));
}

function databaseOf(stateDir: string, session: string): string {
  const found = readdirSync(stateDir, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith(`${session}.sqlite`));
  expect(found, 'the file of the session').toHaveLength(1);
  return join(stateDir, found[0] ?? '');
}
