import { schemaSteps } from '../shared/migrate.ts';
import { sessionFilesSchema } from '../../storage/files/session-files.ts';

/**
 * The tables of one MCP session (`objects/shared/migrate.ts`).
 *
 * - `meta`: one row: the owner, the `initialize` request unchanged, and the log level.
 * - `events`: messages of its streams in order, for clients that reconnect; a long one has several rows of one `number`.
 * - `subscriptions`: resources that the client subscribed to, with the server and the URI there.
 * - `under_way`: requests without a response, with the stream of the response and, once its tool was called, the id of the call.
 * - `held`: in an object that holds one open call, the call and whether it has ended.
 * - `taint`: marks of the taint rule (`objects/shared/taint-store.ts`).
 * - `remembered`: rules that approvals were remembered as (`objects/shared/remembered-rules.ts`); created when the first is.
 * - `links`: resources that results linked to (`link-table.ts`), numbered in this order.
 * - `files`, `file_chunks`: the files of its calls (`storage/files/session-files.ts`). An object can also have only these: the files of a key with
 *   one toolset, or of a name, and its links; then `file_space` has one row with the time of the last use.
 */
export const mcpSessionMigrations = schemaSteps(
  `
  CREATE TABLE meta (id INTEGER PRIMARY KEY CHECK (id = 1), workspace TEXT!, key_id TEXT!, target TEXT, session TEXT!, initialize TEXT!,
    log_level TEXT, seen_at INTEGER!, used INTEGER! DEFAULT 0);
  CREATE TABLE events (number INTEGER!, part INTEGER!, stream TEXT!, message TEXT!, PRIMARY KEY (number, part)) WITHOUT ROWID;
  CREATE TABLE subscriptions (uri TEXT PRIMARY KEY, server TEXT!, own TEXT!) WITHOUT ROWID;
  CREATE TABLE under_way (id TEXT PRIMARY KEY, stream TEXT!, message TEXT!, call_id TEXT) WITHOUT ROWID;
  CREATE TABLE held (id INTEGER PRIMARY KEY CHECK (id = 1), call TEXT!, is_over INTEGER! DEFAULT 0);
  CREATE TABLE taint (label TEXT PRIMARY KEY, by TEXT!, origin TEXT, at INTEGER!) WITHOUT ROWID;
  CREATE TABLE file_space (id INTEGER PRIMARY KEY CHECK (id = 1), seen_at INTEGER!);
  CREATE TABLE links (number INTEGER PRIMARY KEY AUTOINCREMENT, uri TEXT!, server TEXT!, UNIQUE (uri, server));
  ${sessionFilesSchema}`,
);
