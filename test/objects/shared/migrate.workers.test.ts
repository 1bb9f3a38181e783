/** The schema steps of Durable Objects, in a real one: a later release appends a step, and data is never lost or half changed. */
import { env } from 'cloudflare:workers';
import { runInDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import type { TableRows } from '../../../src/core/backup/archive.ts';
import { lazyTables, withLazyTables } from '../../../src/objects/shared/lazy-tables.ts';
import { hasTable, migrate, schemaSteps } from '../../../src/objects/shared/migrate.ts';
import { type BackupPlan, ObjectBackup } from '../../../src/storage/backup/object-backup.ts';

const first = `
  CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT!);
  CREATE TABLE notes (book INTEGER!, text TEXT!);
  CREATE INDEX notes_by_book ON notes (book);
`;
const second = `
  ALTER TABLE books ADD COLUMN pages INTEGER! DEFAULT 0;
  UPDATE books SET pages = length(title);
  ALTER TABLE notes ADD COLUMN at INTEGER! DEFAULT 0;
  CREATE TABLE authors (name TEXT PRIMARY KEY) WITHOUT ROWID;
`;
const release1 = schemaSteps(first);
const release2 = schemaSteps(first, second);
const lazyOf = (steps: readonly string[]) => lazyTables(steps, ['books']);

function inObject<T>(work: (storage: DurableObjectStorage) => T | Promise<T>): Promise<T> {
  const stub = env.SESSION.get(env.SESSION.newUniqueId());
  return runInDurableObject(stub, async (_instance, { storage }) => await work(storage));
}

const books = ({ sql }: DurableObjectStorage) => sql.exec('SELECT * FROM books').toArray();
const write = ({ sql }: DurableObjectStorage): unknown => sql.exec("INSERT INTO books (id, title) VALUES (1, 'Emma')");

describe('a release with a second step', () => {
  it('keeps the data, and changes nothing twice', async () => {
    await inObject((storage) => {
      migrate(storage, release1);
      write(storage);
      for (let start = 0; start < 3; start += 1) migrate(storage, release2);
      expect(books(storage)).toEqual([{ id: 1, title: 'Emma', pages: 4 }]);
      storage.sql.exec('UPDATE books SET pages = 500');
      migrate(storage, release2);
      expect(books(storage)).toEqual([{ id: 1, title: 'Emma', pages: 500 }]);
    });
  });

  it('leaves the old schema when a step fails, and continues at the next start', async () => {
    await inObject((storage) => {
      migrate(storage, release1);
      write(storage);
      expect(() => migrate(storage, schemaSteps(first, `${second}INSERT INTO nowhere VALUES (1);\n`))).toThrow('nowhere');
      expect(books(storage)).toEqual([{ id: 1, title: 'Emma' }]);
      migrate(storage, release2);
      expect(books(storage)).toEqual([{ id: 1, title: 'Emma', pages: 4 }]);
    });
  });

  it('changes a table that exists, and creates one that does not exist in its newest form with its first row', async () => {
    for (const isUsed of [true, false]) {
      await inObject((storage) => {
        migrate(storage, release1, lazyOf(release1));
        if (isUsed) withLazyTables(storage.sql, lazyOf(release1)).exec("INSERT INTO notes (book, text) VALUES (1, 'read')");
        migrate(storage, release2, lazyOf(release2));
        expect([hasTable(storage.sql, 'notes'), hasTable(storage.sql, 'authors')]).toEqual([isUsed, false]);
        const sql = withLazyTables(storage.sql, lazyOf(release2));
        sql.exec("INSERT INTO notes (book, text, at) VALUES (2, 'lent', 7)");
        expect(
          sql
            .exec('SELECT text, at FROM notes ORDER BY book')
            .toArray()
            .slice(isUsed ? 0 : -2),
        ).toEqual([...(isUsed ? [{ text: 'read', at: 0 }] : []), { text: 'lent', at: 7 }]);
      });
    }
  });

  it('restores an archive of the first one', async () => {
    const planOf = (migrations: readonly string[]): BackupPlan => ({ migrations, loose: [], skipped: [] });
    const object = { kind: 'usage', id: '0' } as const;
    const page = await inObject((storage) => {
      migrate(storage, release1);
      write(storage);
      return new ObjectBackup(storage, planOf(release1)).read(object, null);
    });
    const text = page === 'changed' ? '' : new TextDecoder().decode(page.parts[0]);
    // Written by `table-reader.ts`.
    const { schema, tables } = JSON.parse(text) as { schema: number; tables: TableRows[] };
    await inObject((storage) => {
      const backup = new ObjectBackup(storage, planOf(release2));
      backup.mark();
      backup.begin(schema);
      backup.write(tables);
      backup.migrate();
      backup.end();
      expect(books(storage)).toEqual([{ id: 1, title: 'Emma', pages: 4 }]);
    });
    await inObject((storage) => {
      const backup = new ObjectBackup(storage, planOf(release1));
      backup.mark();
      expect(() => backup.begin(2)).toThrow('written by a newer release');
    });
  });
});

describe('a database that this release cannot read is refused, and stays as it is', () => {
  it('refuses the database of a newer release', async () => {
    await inObject((storage) => {
      migrate(storage, release2);
      write(storage);
      expect(() => migrate(storage, release1)).toThrow(
        expect.objectContaining({ code: 'unavailable', detail: expect.stringContaining('a newer release') }),
      );
      expect(books(storage)).toHaveLength(1);
    });
  });

  it.each(['CREATE TABLE schema_version (version INTEGER)', 'CREATE TABLE other (id INTEGER)'])(
    'of a build before the first release: %s',
    async (own) => {
      await inObject((storage) => {
        storage.sql.exec(own);
        storage.sql.exec('CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT NOT NULL)');
        write(storage);
        expect(() => migrate(storage, release1)).toThrow(
          expect.objectContaining({ code: 'unavailable', detail: expect.stringContaining('before 0.1.0') }),
        );
        expect(books(storage)).toEqual([{ id: 1, title: 'Emma' }]);
      });
    },
  );
});
