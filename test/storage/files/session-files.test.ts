/** Over Node's SQLite, which is fast; `session-files.workers.test.ts` runs the same over a Durable Object's. */
import { DatabaseSync } from 'node:sqlite';
import { schemaSteps } from '../../../src/objects/shared/migrate.ts';
import { createSessionFiles, sessionFilesSchema } from '../../../src/storage/files/session-files.ts';
import { fileSystemContract } from '../../contracts/file-system.ts';

fileSystemContract('SQLite', (now) => {
  const database = new DatabaseSync(':memory:');
  for (const statement of schemaSteps(sessionFilesSchema)) database.exec(statement);
  return createSessionFiles(asSqlStorage(database), now);
});

/** The three methods of a Durable Object's `sql` that are used. Blobs are ArrayBuffers there. */
function asSqlStorage(database: DatabaseSync): SqlStorage {
  const exec = (query: string, ...values: (string | number | Uint8Array)[]) => {
    const rows = database
      .prepare(query)
      .all(...values)
      .map((row) =>
        Object.fromEntries(Object.entries(row).map(([key, value]) => [key, value instanceof Uint8Array ? value.slice().buffer : value])),
      );
    return { toArray: () => rows, one: () => rows[0] };
  };
  // A fake with only what `session-files.ts` uses.
  return { exec } as unknown as SqlStorage;
}
