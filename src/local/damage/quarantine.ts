/** Moves a damaged database out of the way, and makes again what can be made from the others. Nothing is deleted. The caller holds the lock of the folder. */
import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { openDatabase } from '../sqlite.ts';
import { type ObjectDatabase, readDatabase } from './check-database.ts';
import { metadataFile } from './databases.ts';

/** The database, its write-ahead log and its index. */
const suffixes = ['-wal', '-shm', ''];

/** Returns the folder that the files were moved to. `at`: names the folder, as one repair has one. */
export function quarantine({ file, className, id }: ObjectDatabase, dataDir: string, at: Date): string {
  const time = at.toISOString().replace(/\.\d+/, '').replaceAll(':', '-');
  const folder = join(dataDir, 'quarantine', time, basename(dirname(file)));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const suffix of suffixes) if (existsSync(file + suffix)) renameSync(file + suffix, join(folder, basename(file) + suffix));
  if (id === '') remakeAlarms(file);
  // A start refuses data without a Catalog; this one was given up on purpose.
  else if (className === 'Catalog') createEmpty(file);
  return folder;
}

function createEmpty(file: string): void {
  const database = openDatabase(file);
  try {
    database.exec('CREATE TABLE made (id INTEGER); DROP TABLE made;');
  } finally {
    database.close();
  }
}

/**
 * Each object stores its alarm itself, as nanoseconds, in the row 1 of `_cf_METADATA` (workerd, `src/workerd/util/sqlite-metadata.c++`), and
 * `metadata.sqlite` has the alarms of a class for the scheduler (`src/workerd/server/alarm-scheduler.c++`). An alarm of an object that cannot be
 * read is left out: it could not run either.
 */
function remakeAlarms(file: string): void {
  const folder = dirname(file);
  const database = openDatabase(file);
  try {
    database.exec(`CREATE TABLE _cf_ALARM (actor_id TEXT PRIMARY KEY, scheduled_time INTEGER, actor_name TEXT) WITHOUT ROWID; BEGIN`);
    const insert = database.prepare('INSERT INTO _cf_ALARM (actor_id, scheduled_time) VALUES (?, CAST(? AS INTEGER))');
    for (const name of readdirSync(folder)) {
      if (!name.endsWith('.sqlite') || name === metadataFile) continue;
      // As text: the number is larger than JavaScript's.
      const query = 'SELECT CAST(value AS TEXT) AS due FROM _cf_METADATA WHERE key = 1 AND value IS NOT NULL';
      const due = readDatabase<{ due: string }>(join(folder, name), query)?.[0]?.due;
      if (due !== undefined) insert.run(name.slice(0, -'.sqlite'.length), due);
    }
    database.exec('COMMIT');
  } finally {
    database.close();
  }
}
