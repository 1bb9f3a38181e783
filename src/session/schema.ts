/**
 * The tables of one session, as migrations that are only ever added to. What each holds:
 * meta: what the session is, one row · events: the log, `body` without id and time · event_chunks: bodies over 1 MB, cut ·
 * turns: accepted turns in order · idempotency: key → turn, kept 24 h (session: of a fork; edition: its pointer) · timers: what the one alarm is for ·
 * audit: rows not yet handed to the Catalog. Files have their own tables (`storage/session-files.ts`).
 */
import { sessionFilesSchema } from '../storage/session-files.ts';

const first = [
  `CREATE TABLE meta (id INTEGER PRIMARY KEY CHECK (id = 1), workspace TEXT NOT NULL, key_id TEXT NOT NULL, setup TEXT NOT NULL, created_at INTEGER NOT NULL)`,
  `CREATE TABLE events (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, body TEXT NOT NULL)`,
  `CREATE TABLE event_chunks (id INTEGER NOT NULL, seq INTEGER NOT NULL, part TEXT NOT NULL, PRIMARY KEY (id, seq)) WITHOUT ROWID`,
  `CREATE TABLE turns (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, state TEXT NOT NULL, status TEXT, reason TEXT, plan TEXT NOT NULL, input_event INTEGER, last_event INTEGER, accepted_at INTEGER NOT NULL)`,
  `CREATE TABLE turn_inputs (turn TEXT NOT NULL, seq INTEGER NOT NULL, part TEXT NOT NULL, PRIMARY KEY (turn, seq)) WITHOUT ROWID`,
  `CREATE TABLE idempotency (key TEXT PRIMARY KEY, body_hash TEXT NOT NULL, turn TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID`,
  `CREATE TABLE timers (kind TEXT PRIMARY KEY, due INTEGER NOT NULL) WITHOUT ROWID`,
  `CREATE TABLE audit (sequence INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT NOT NULL)`,
  ...sessionFilesSchema,
];

/** Open turns and old keys are looked for with every turn, in tables that only grow and whose rows hold whole plans. */
const second = [
  `CREATE INDEX turns_by_state ON turns (state, seq)`,
  `CREATE INDEX idempotency_by_time ON idempotency (at)`,
  `ALTER TABLE idempotency ADD COLUMN session TEXT`,
  `ALTER TABLE idempotency ADD COLUMN edition TEXT`,
];

export const sessionMigrations: readonly string[] = [first.join(';\n'), second.join(';\n')];
