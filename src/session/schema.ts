/**
 * The tables of one session, as migrations that are only ever added to. What each holds:
 * meta: what the session is, one row · events: the log, `body` without id and time · event_chunks: bodies over 1 MB, cut ·
 * turns: accepted turns in order · idempotency: key → turn, kept 24 h (session: of a fork; edition: its pointer) · timers: what the one alarm is for ·
 * audit: rows not yet handed to the Catalog · approvals: what a person is asked for, kept after the word (turn: null of a direct
 * call, whose `arguments_hash` finds it again; a turn's is found by its call; told: a direct call was answered with the no) ·
 * approval_arguments: what it would be called with, cut · approval_links: nonces (SHA-256) of links, used once (key_id: who made it) · client_calls: calls
 * that the caller runs (state: pending, answered, closed; answer_hash: SHA-256 of what it said) · results, result_parts: long
 * results for `fetch_result`, oldest first, in pieces by where they start (UTF-16 units) · compactions: number of each
 * `compaction` event and of the last event that it stands for · completions: answers of chat dialects, so that a cut stream can
 * go on · gathered: tools that the conversation found or called, in order · inputs: what the servers of tools asked a person, kept after the
 * answer (state: pending, given, closed; answer_hash: SHA-256 of the answers) · input_parts: JSON of the question with what its server wants
 * back (`asked`) and of the answers (`given`), cut, until the call has its result · journal: calls beneath open calls (finished: counts those of a root from 1; null: begun, or it waits;
 * attempts: since it last waited; told: it stands in the log; bytes: of what it answered), journal_results: JSON of that, cut, journal_roots: when the outermost was
 * first begun (turn: null of a direct call, which waits under its key); all until it has its result · taint: what the conversation has seen, and what brought
 * it (origin: of all that is private; null: it came from several, or from elsewhere) · calls: direct calls with an idempotency key and their answers (null: begun) · notices: what the Catalog is still to be told of turns (event: the
 * last that it tells of). Files have their own tables (`storage/session-files.ts`).
 */
import { sessionFilesOwn, sessionFilesSchema } from '../storage/session-files.ts';

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

/**
 * Turns that go on after a crash or wait for somebody: `epoch` fences off what an earlier run still says, `spent_ms` is the
 * time that the turn has worked, waits left out, `format` is `logFormat` of the release that accepted it. `meta.leaving`: the
 * session is being deleted, and whoever opens it next does the rest.
 */
const third = [
  `ALTER TABLE turns ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE turns ADD COLUMN spent_ms INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE turns ADD COLUMN format INTEGER NOT NULL DEFAULT 1`,
  `ALTER TABLE meta ADD COLUMN leaving INTEGER NOT NULL DEFAULT 0`,
  `CREATE TABLE approvals (call_id TEXT PRIMARY KEY, turn TEXT, canonical TEXT NOT NULL, entry TEXT NOT NULL, toolset TEXT, arguments_hash TEXT, kind TEXT NOT NULL, target TEXT, reason TEXT NOT NULL, state TEXT NOT NULL, asked_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, decided_by TEXT, told INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID`,
  `CREATE INDEX approvals_by_state ON approvals (state, expires_at)`,
  `CREATE TABLE approval_arguments (call_id TEXT NOT NULL, seq INTEGER NOT NULL, part TEXT NOT NULL, PRIMARY KEY (call_id, seq)) WITHOUT ROWID`,
  `CREATE TABLE client_calls (call_id TEXT PRIMARY KEY, turn TEXT NOT NULL, state TEXT NOT NULL, answer_hash TEXT) WITHOUT ROWID`,
  `CREATE TABLE approval_links (nonce_hash TEXT PRIMARY KEY, call_id TEXT NOT NULL, key_id TEXT NOT NULL, expires_at INTEGER NOT NULL, used INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID`,
  `CREATE TABLE results (number INTEGER PRIMARY KEY, call_id TEXT NOT NULL UNIQUE, bytes INTEGER NOT NULL)`,
  `CREATE TABLE result_parts (call_id TEXT NOT NULL, start INTEGER NOT NULL, part TEXT NOT NULL, PRIMARY KEY (call_id, start)) WITHOUT ROWID`,
  `CREATE TABLE compactions (event INTEGER PRIMARY KEY, after_event INTEGER NOT NULL)`,
  `CREATE TABLE completions (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, turn TEXT NOT NULL, after_event INTEGER NOT NULL, earlier_turn TEXT, earlier_after INTEGER, model TEXT NOT NULL, include_usage INTEGER NOT NULL, created_at INTEGER NOT NULL)`,
  `ALTER TABLE idempotency ADD COLUMN completion TEXT`,
  `CREATE TABLE calls (key TEXT PRIMARY KEY, body_hash TEXT NOT NULL, call_id TEXT NOT NULL, answer TEXT, at INTEGER NOT NULL) WITHOUT ROWID`,
  // Asked for with every turn or keyed call, in tables that only grow, some with rows of a megabyte.
  `CREATE INDEX turns_by_input ON turns (input_event)`,
  `CREATE INDEX client_calls_by_state ON client_calls (state, turn)`,
  `CREATE INDEX calls_by_time ON calls (at)`,
];

/** Answers in other dialects than Chat Completions. `echo`: JSON of what the answer repeats of its request. */
const fourth = [
  `ALTER TABLE completions ADD COLUMN dialect TEXT NOT NULL DEFAULT 'openai-chat'`,
  `ALTER TABLE completions ADD COLUMN echo TEXT NOT NULL DEFAULT '{}'`,
];

/**
 * A conversation from before has called tools, and was sent all of them: those that it called stay in its list when a large toolset is sent
 * on demand. As `core/gathered-tools.ts` reads them from its events, but for results of megabytes (`event_chunks`), which are not looked into.
 */
const fifth = [
  `CREATE TABLE gathered (seq INTEGER PRIMARY KEY, canonical TEXT NOT NULL, name TEXT NOT NULL)`,
  `INSERT INTO gathered (canonical, name)
     SELECT body ->> '$.canonical' AS canonical, body ->> '$.name' AS name FROM events
     WHERE body GLOB '{"type":"tool-result"*' AND body ->> '$.canonical' IS NOT NULL AND body ->> '$.name' IS NOT NULL
     GROUP BY 1, 2 ORDER BY min(id) LIMIT 1000`,
];

/** Tools that ask a person in the middle of a call. */
const sixth = [
  `CREATE TABLE inputs (call_id TEXT NOT NULL, round INTEGER NOT NULL, turn TEXT NOT NULL, canonical TEXT NOT NULL, question TEXT NOT NULL, state TEXT NOT NULL, expires_at INTEGER NOT NULL, answer_hash TEXT, PRIMARY KEY (call_id, round)) WITHOUT ROWID`,
  `CREATE INDEX inputs_by_state ON inputs (state, expires_at)`,
  `CREATE INDEX inputs_by_turn ON inputs (turn)`,
  `CREATE TABLE input_parts (call_id TEXT NOT NULL, kind TEXT NOT NULL, seq INTEGER NOT NULL, part TEXT NOT NULL, PRIMARY KEY (call_id, kind, seq)) WITHOUT ROWID`,
];

/**
 * Tools that call tools, whose file is whose, and what the conversation has seen. Files from before are taken for the caller's: asked about once
 * too often rather than lost.
 */
const seventh = [
  `CREATE TABLE journal (call_id TEXT PRIMARY KEY, root TEXT NOT NULL, canonical TEXT, fingerprint TEXT NOT NULL, attempts INTEGER NOT NULL, told INTEGER NOT NULL, finished INTEGER, bytes INTEGER NOT NULL) WITHOUT ROWID`,
  `CREATE INDEX journal_by_root ON journal (root)`,
  `CREATE TABLE journal_results (call_id TEXT NOT NULL, seq INTEGER NOT NULL, part TEXT NOT NULL, PRIMARY KEY (call_id, seq)) WITHOUT ROWID`,
  `CREATE TABLE journal_roots (root TEXT PRIMARY KEY, turn TEXT, key TEXT, started_at INTEGER NOT NULL) WITHOUT ROWID`,
  ...sessionFilesOwn,
  `CREATE TABLE taint (label TEXT PRIMARY KEY, by TEXT NOT NULL, origin TEXT, at INTEGER NOT NULL) WITHOUT ROWID`,
];

/** What is told of turns to the Catalog, and through it to whoever wants to hear. `turns.asked_event`: the last question that was told of. */
const eighth = [
  `ALTER TABLE turns ADD COLUMN asked_event INTEGER NOT NULL DEFAULT 0`,
  `CREATE TABLE notices (sequence INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT NOT NULL, turn TEXT NOT NULL, event INTEGER NOT NULL, at INTEGER NOT NULL)`,
];

/**
 * `question`: the effects that a question lists and what a yes to it is bound to, as JSON; NULL: an older release asked, and a yes to it is bound to
 * nothing. `round` counts the questions of a call, `earlier` has the reasons of those before this one. A link decides the question that it was made
 * for.
 */
const ninth = [
  `ALTER TABLE approvals ADD COLUMN question TEXT`,
  `ALTER TABLE approvals ADD COLUMN round INTEGER NOT NULL DEFAULT 1`,
  `ALTER TABLE approvals ADD COLUMN earlier TEXT NOT NULL DEFAULT '[]'`,
  `ALTER TABLE approval_links ADD COLUMN round INTEGER NOT NULL DEFAULT 1`,
];

/** Hash of the input before an answer (`core/answer-name.ts`). Of earlier answers it is not known, so that their marks are found under no name. */
const tenth = [`ALTER TABLE completions ADD COLUMN asked TEXT NOT NULL DEFAULT ''`];

export const sessionMigrations: readonly string[] = [first, second, third, fourth, fifth, sixth, seventh, eighth, ninth, tenth].map(
  (statements) => statements.join(';\n'),
);
