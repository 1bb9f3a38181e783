/** SQLite of Node, for the files of a data folder. Loaded when it is used. */
import type { PathLike } from 'node:fs';
import type { DatabaseSync, DatabaseSyncOptions } from 'node:sqlite';
import { StartFailure } from './launch/start-failure.ts';

/** Node's warning that its SQLite is experimental (22 and 24) says nothing to the user of a service. Throws errors of SQLite with their `errcode`. */
export function openDatabase(path: PathLike, options: DatabaseSyncOptions = {}): DatabaseSync {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    const sqlite = process.getBuiltinModule('node:sqlite');
    if (sqlite === undefined) throw new StartFailure('This build of Node has no SQLite. Install Node from https://nodejs.org.');
    return new sqlite.DatabaseSync(path, options);
  } finally {
    process.emitWarning = emitWarning;
  }
}
