import { sessionFilesOwn, sessionFilesSchema } from '../storage/session-files.ts';

/**
 * The tables of one MCP session, as migrations to which new ones are only appended.
 *
 * - `meta`: one row: the owner, the `initialize` request unchanged, whether `notifications/initialized` came, and the log level.
 * - `events`: messages of its streams in order, for clients that reconnect; a long one has several rows of one `number`.
 * - `subscriptions`: resources that the client subscribed to, with the server and the URI there.
 * - `under_way`: requests without a response, with the stream of the response and, once its tool was called, the id of the call.
 * - `held`: in an object that holds one open call, the call and whether it has ended.
 * - `taint`: marks of the taint rule (`storage/taint-store.ts`).
 * - `links`: resources that results linked to (`link-table.ts`), numbered in this order.
 * - `files`, `file_chunks`: the files of its calls (`storage/session-files.ts`). An object can also have only these: the files of a key with
 *   one toolset, or of a name, and its links; then `file_space` has one row with the time of the last use.
 */
export const mcpSessionMigrations: readonly string[] = [
  `
  CREATE TABLE meta (
    id INTEGER PRIMARY KEY CHECK (id = 1), workspace TEXT NOT NULL, key_id TEXT NOT NULL, target TEXT, session TEXT NOT NULL,
    initialize TEXT NOT NULL, initialized INTEGER NOT NULL DEFAULT 0, log_level TEXT, seen_at INTEGER NOT NULL, used INTEGER NOT NULL DEFAULT 0
  );
  CREATE TABLE events (
    number INTEGER NOT NULL, part INTEGER NOT NULL, stream TEXT NOT NULL, message TEXT NOT NULL,
    PRIMARY KEY (number, part)
  ) WITHOUT ROWID;
  CREATE TABLE subscriptions (uri TEXT PRIMARY KEY) WITHOUT ROWID;
  `,
  `
  CREATE TABLE under_way (id TEXT PRIMARY KEY, stream TEXT NOT NULL, message TEXT NOT NULL, call_id TEXT) WITHOUT ROWID;
  CREATE TABLE held (id INTEGER PRIMARY KEY CHECK (id = 1), call TEXT NOT NULL, is_over INTEGER NOT NULL DEFAULT 0);
  `,
  'CREATE TABLE taint (label TEXT PRIMARY KEY, by TEXT NOT NULL, origin TEXT, at INTEGER NOT NULL) WITHOUT ROWID',
  [
    ...sessionFilesSchema,
    ...sessionFilesOwn,
    'CREATE TABLE file_space (id INTEGER PRIMARY KEY CHECK (id = 1), seen_at INTEGER NOT NULL)',
  ].join(';\n'),
  `
  DROP TABLE subscriptions;
  CREATE TABLE subscriptions (uri TEXT PRIMARY KEY, server TEXT NOT NULL, own TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE links (number INTEGER PRIMARY KEY AUTOINCREMENT, uri TEXT NOT NULL, server TEXT NOT NULL, UNIQUE (uri, server));
  `,
];
