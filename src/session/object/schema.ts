/**
 * The tables of one session, as migrations to which new ones are only appended.
 *
 * - `meta`: the session, one row. `leaving`: it is being deleted; `deleted_by`: by this key, which the audit names. `audit_reserved`: the last
 *   number that rows of `audit` may have without another reservation.
 * - `events`: the log. A row has `count` events that were appended together: `id` is the number of the first one, `body` the event without
 *   number and time, or the array of several. `event_chunks`: long bodies, split.
 * - `turns`: accepted turns in order (`plan`: once ended, only its agent, edition and trigger).
 * - `idempotency`: key → turn, stored for 24 h (`session`: of a fork; `edition`: its pointer).
 * - `timers`: the jobs of the alarm that no other table implies (`timers.ts`).
 * - `audit`: rows that the audit has not received yet.
 * - `waits`: what calls wait for (`kind`: approval, input, client-tool; `round` counts the questions of the kind about the call; `state`:
 *   pending, approved, denied, used, answered, expired). `turn` is null for a direct call, which is found by its `key_hash`;
 *   `reported`: a direct call has returned the denial. `expires_at`: of a call of the client, when it ended, null while pending.
 *   `answer_hash`: SHA-256 of the answer. `question`: JSON of what else the kind stores (`pending/wait.ts`). `wait_parts`: JSON, split,
 *   of the arguments of an approval (`arguments`), and, until the call has its result, of a server's question with its request
 *   state (`asked`) and of the answers (`given`).
 * - `approval_links`: SHA-256 of the nonces of links, each used once (`key_id`: the key that created it).
 * - `results`, `result_parts`: long results for `fetch_result`, oldest first, split; `start` counts UTF-16 units. `result_media`: their
 *   images, audio and files as JSON, split; `start` is the offset of the line that names the block.
 * - `compactions`: number of each `compaction` event and of the last event that it replaces.
 * - `completions`: responses of chat dialects, so that an interrupted stream can continue.
 * - `gathered`: tools that the conversation found or called, in order.
 * - `journal`: nested calls (`finished`: number among the finished calls of a root, from 1, null while started or waiting;
 *   `attempts`: since it last waited; `told`: it is in the log; `bytes`: of its result). `journal_results`: JSON of the results,
 *   split. `journal_roots`: when the outermost call first started (`turn` is null for a direct call, which waits under its `key`).
 *   All are deleted when the outermost call has its result.
 * - `taint`: taint marks of the conversation and the tool that set them (`origin`: the one origin of all private data, else null).
 * - `calls`: direct calls with an idempotency key and their responses (null while running; '' if it is in `call_answers`, split).
 * - `summary`: what lists show of the session, one row (`revision`: counts changes; `sent`: what the Catalog has).
 * - `notices`: notices about turns that the Catalog has not received yet (`event`: the last event that it covers).
 * - `usage_ranges`: ranges of a turn's events whose usage is not sent yet.
 *
 * Files have their own tables (`storage/session-files.ts`). `!` stands for NOT NULL, because every start loads this text.
 */
import { sessionFilesOwn, sessionFilesSchema } from '../../storage/session-files.ts';

const first = [
  `CREATE TABLE meta (id INTEGER PRIMARY KEY CHECK (id = 1), workspace TEXT!, key_id TEXT!, setup TEXT!, created_at INTEGER!)`,
  `CREATE TABLE events (id INTEGER PRIMARY KEY, at INTEGER!, body TEXT!)`,
  `CREATE TABLE event_chunks (id INTEGER!, seq INTEGER!, part TEXT!, PRIMARY KEY (id, seq)) WITHOUT ROWID`,
  `CREATE TABLE turns (seq INTEGER PRIMARY KEY, id TEXT! UNIQUE, state TEXT!, status TEXT, reason TEXT, plan TEXT!, input_event INTEGER, last_event INTEGER, accepted_at INTEGER!)`,
  `CREATE TABLE turn_inputs (turn TEXT!, seq INTEGER!, part TEXT!, PRIMARY KEY (turn, seq)) WITHOUT ROWID`,
  `CREATE TABLE idempotency (key TEXT PRIMARY KEY, body_hash TEXT!, turn TEXT!, at INTEGER!) WITHOUT ROWID`,
  `CREATE TABLE timers (kind TEXT PRIMARY KEY, due INTEGER!) WITHOUT ROWID`,
  `CREATE TABLE audit (sequence INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT!)`,
  ...sessionFilesSchema,
];

/** Open turns and old keys are looked up with every turn, in tables that only grow and whose rows hold whole plans. */
const second = [
  `CREATE INDEX turns_by_state ON turns (state, seq)`,
  `CREATE INDEX idempotency_by_time ON idempotency (at)`,
  `ALTER TABLE idempotency ADD COLUMN session TEXT`,
  `ALTER TABLE idempotency ADD COLUMN edition TEXT`,
];

/**
 * Turns that resume after a crash or wait. `epoch` fences off the writes of an earlier run, `spent_ms` is the time that the turn
 * has worked without waits, `format` is the `logFormat` of the release that accepted it. `meta.leaving`: the session is being
 * deleted, and the next request or alarm finishes the deletion.
 */
const third = [
  `ALTER TABLE turns ADD COLUMN epoch INTEGER! DEFAULT 0`,
  `ALTER TABLE turns ADD COLUMN spent_ms INTEGER! DEFAULT 0`,
  `ALTER TABLE turns ADD COLUMN format INTEGER! DEFAULT 1`,
  `ALTER TABLE meta ADD COLUMN leaving INTEGER! DEFAULT 0`,
  `CREATE TABLE approvals (call_id TEXT PRIMARY KEY, turn TEXT, canonical TEXT!, entry TEXT!, toolset TEXT, arguments_hash TEXT, kind TEXT!, target TEXT, reason TEXT!, state TEXT!, asked_at INTEGER!, expires_at INTEGER!, decided_by TEXT, told INTEGER! DEFAULT 0) WITHOUT ROWID`,
  `CREATE INDEX approvals_by_state ON approvals (state, expires_at)`,
  `CREATE TABLE approval_arguments (call_id TEXT!, seq INTEGER!, part TEXT!, PRIMARY KEY (call_id, seq)) WITHOUT ROWID`,
  `CREATE TABLE client_calls (call_id TEXT PRIMARY KEY, turn TEXT!, state TEXT!, answer_hash TEXT) WITHOUT ROWID`,
  `CREATE TABLE approval_links (nonce_hash TEXT PRIMARY KEY, call_id TEXT!, key_id TEXT!, expires_at INTEGER!, used INTEGER! DEFAULT 0) WITHOUT ROWID`,
  `CREATE TABLE results (number INTEGER PRIMARY KEY, call_id TEXT! UNIQUE, bytes INTEGER!)`,
  `CREATE TABLE result_parts (call_id TEXT!, start INTEGER!, part TEXT!, PRIMARY KEY (call_id, start)) WITHOUT ROWID`,
  `CREATE TABLE compactions (event INTEGER PRIMARY KEY, after_event INTEGER!)`,
  `CREATE TABLE completions (seq INTEGER PRIMARY KEY, id TEXT! UNIQUE, turn TEXT!, after_event INTEGER!, earlier_turn TEXT, earlier_after INTEGER, model TEXT!, include_usage INTEGER!, created_at INTEGER!)`,
  `ALTER TABLE idempotency ADD COLUMN completion TEXT`,
  `CREATE TABLE calls (key TEXT PRIMARY KEY, body_hash TEXT!, call_id TEXT!, answer TEXT, at INTEGER!) WITHOUT ROWID`,
  // Queried with every turn or keyed call, in tables that only grow, some with rows of a megabyte.
  `CREATE INDEX turns_by_input ON turns (input_event)`,
  `CREATE INDEX client_calls_by_state ON client_calls (state, turn)`,
  `CREATE INDEX calls_by_time ON calls (at)`,
];

/** Responses in other dialects than Chat Completions. `echo`: JSON of the request fields that the response repeats. */
const fourth = [
  `ALTER TABLE completions ADD COLUMN dialect TEXT! DEFAULT 'openai-chat'`,
  `ALTER TABLE completions ADD COLUMN echo TEXT! DEFAULT '{}'`,
];

/**
 * An existing conversation was sent all tools: those that it called stay in its list when a large toolset is sent on demand. Read
 * from its events as in `core/tools/gathered-tools.ts`, except results over 1 MB (`event_chunks`), which are skipped.
 */
const fifth = [
  `CREATE TABLE gathered (seq INTEGER PRIMARY KEY, canonical TEXT!, name TEXT!)`,
  `INSERT INTO gathered (canonical, name)
     SELECT body ->> '$.canonical' AS canonical, body ->> '$.name' AS name FROM events
     WHERE body GLOB '{"type":"tool-result"*' AND body ->> '$.canonical' IS NOT NULL AND body ->> '$.name' IS NOT NULL
     GROUP BY 1, 2 ORDER BY min(id) LIMIT 1000`,
];

/** Tools that ask a person for input during a call. */
const sixth = [
  `CREATE TABLE inputs (call_id TEXT!, round INTEGER!, turn TEXT!, canonical TEXT!, question TEXT!, state TEXT!, expires_at INTEGER!, answer_hash TEXT, PRIMARY KEY (call_id, round)) WITHOUT ROWID`,
  `CREATE INDEX inputs_by_state ON inputs (state, expires_at)`,
  `CREATE INDEX inputs_by_turn ON inputs (turn)`,
  `CREATE TABLE input_parts (call_id TEXT!, kind TEXT!, seq INTEGER!, part TEXT!, PRIMARY KEY (call_id, kind, seq)) WITHOUT ROWID`,
];

/**
 * Nested calls, the owner of a file, and taint marks. Existing files count as the client's: a tool then needs one approval too many,
 * but no file of the client is lost.
 */
const seventh = [
  `CREATE TABLE journal (call_id TEXT PRIMARY KEY, root TEXT!, canonical TEXT, fingerprint TEXT!, attempts INTEGER!, told INTEGER!, finished INTEGER, bytes INTEGER!) WITHOUT ROWID`,
  `CREATE INDEX journal_by_root ON journal (root)`,
  `CREATE TABLE journal_results (call_id TEXT!, seq INTEGER!, part TEXT!, PRIMARY KEY (call_id, seq)) WITHOUT ROWID`,
  `CREATE TABLE journal_roots (root TEXT PRIMARY KEY, turn TEXT, key TEXT, started_at INTEGER!) WITHOUT ROWID`,
  ...sessionFilesOwn,
  `CREATE TABLE taint (label TEXT PRIMARY KEY, by TEXT!, origin TEXT, at INTEGER!) WITHOUT ROWID`,
];

/** Notices about turns to the Catalog and its subscribers. `turns.asked_event`: the last question with a notice. */
const eighth = [
  `ALTER TABLE turns ADD COLUMN asked_event INTEGER! DEFAULT 0`,
  `CREATE TABLE notices (sequence INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT!, turn TEXT!, event INTEGER!, at INTEGER!)`,
];

/**
 * `question`: JSON of the effects that the question lists and of what an approval is bound to; NULL when an older release stored it,
 * whose approval is bound to nothing. `round` counts the questions of a call; `earlier` has the reasons of the earlier ones. A link
 * decides the question that it was created for.
 */
const ninth = [
  `ALTER TABLE approvals ADD COLUMN question TEXT`,
  `ALTER TABLE approvals ADD COLUMN round INTEGER! DEFAULT 1`,
  `ALTER TABLE approvals ADD COLUMN earlier TEXT! DEFAULT '[]'`,
  `ALTER TABLE approval_links ADD COLUMN round INTEGER! DEFAULT 1`,
];

/** Hash of the input of a response (`core/policy/answer-name.ts`). It is unknown for earlier responses, whose taint marks are therefore not found. */
const tenth = [`ALTER TABLE completions ADD COLUMN asked TEXT! DEFAULT ''`];

/**
 * Approvals, requests for input and calls of the client in one table, with one retention. That of calls of the client begins at the
 * newest event of the log, since their ends were not stored.
 */
const eleventh = [
  `CREATE TABLE waits (call_id TEXT!, kind TEXT!, round INTEGER!, turn TEXT, state TEXT!, asked_at INTEGER!, expires_at INTEGER, key_hash TEXT, answer_hash TEXT, reported INTEGER! DEFAULT 0, question TEXT!, PRIMARY KEY (call_id, kind, round)) WITHOUT ROWID`,
  `CREATE TABLE wait_parts (call_id TEXT!, kind TEXT!, seq INTEGER!, part TEXT!, PRIMARY KEY (call_id, kind, seq)) WITHOUT ROWID`,
  `INSERT INTO waits
     SELECT call_id, 'approval', round, turn, state, asked_at, expires_at, arguments_hash, NULL, told,
       json_object('canonical', canonical, 'entry', entry, 'toolset', toolset, 'ask', kind, 'target', target, 'reason', reason,
         'question', json(question), 'earlier', json(earlier))
     FROM approvals`,
  `INSERT INTO waits
     SELECT call_id, 'input', round, turn, CASE state WHEN 'given' THEN 'answered' WHEN 'closed' THEN 'expired' ELSE state END,
       expires_at, expires_at, NULL, answer_hash, 0, json_object('canonical', canonical, 'text', question)
     FROM inputs`,
  `INSERT INTO waits
     SELECT call_id, 'client-tool', 1, turn, CASE state WHEN 'closed' THEN 'expired' ELSE state END, 0,
       CASE state WHEN 'pending' THEN NULL ELSE (SELECT coalesce(max(at), 0) FROM events) END, NULL, answer_hash, 0, '{}'
     FROM client_calls`,
  `INSERT INTO wait_parts SELECT call_id, 'arguments', seq, part FROM approval_arguments`,
  `INSERT INTO wait_parts SELECT call_id, kind, seq, part FROM input_parts`,
  ...['approvals', 'approval_arguments', 'inputs', 'input_parts', 'client_calls'].map((table) => `DROP TABLE ${table}`),
  `CREATE INDEX waits_by_state ON waits (state, expires_at)`,
  `CREATE INDEX waits_ended ON waits (expires_at) WHERE state <> 'pending'`,
  `CREATE INDEX waits_by_turn ON waits (turn)`,
  `CREATE INDEX waits_by_key ON waits (key_hash) WHERE key_hash IS NOT NULL`,
];

/** Plans of ended turns, which can be long, keep what is read of them (`turn/turn-store.ts`). */
const twelfth = [
  `UPDATE turns SET plan = json_patch('{}', json_object('agent', plan -> '$.agent', 'edition', plan -> '$.edition', 'trigger', plan -> '$.trigger')) WHERE state = 'ended'`,
];

/** Media of results for `fetch_result`, and responses of direct calls that are too long for a row. */
const thirteenth = [
  `CREATE TABLE result_media (call_id TEXT!, start INTEGER!, seq INTEGER!, part TEXT!, PRIMARY KEY (call_id, start, seq)) WITHOUT ROWID`,
  `CREATE TABLE call_answers (key TEXT!, seq INTEGER!, part TEXT!, PRIMARY KEY (key, seq)) WITHOUT ROWID`,
];

/** Usage of turns to send; `turns.counted_event`: the last event of a turn in a stored range. */
const fourteenth = [
  `ALTER TABLE turns ADD COLUMN counted_event INTEGER! DEFAULT 0`,
  `CREATE TABLE usage_ranges (sequence INTEGER PRIMARY KEY AUTOINCREMENT, turn TEXT!, after_event INTEGER!, through_event INTEGER!)`,
  `CREATE INDEX completions_by_turn ON completions (turn)`,
];

/**
 * What lists of the workspace show, and who decided. `waits.indexed`: the Catalog has this state; ended ones of earlier releases are
 * not sent, and pending ones with the next change.
 */
const fifteenth = [
  `CREATE TABLE summary (id INTEGER PRIMARY KEY CHECK (id = 1), revision INTEGER!, sent INTEGER!, title TEXT, active_at INTEGER!, usage TEXT!)`,
  `ALTER TABLE waits ADD COLUMN decided_by TEXT`,
  `ALTER TABLE waits ADD COLUMN decided_at INTEGER`,
  `ALTER TABLE waits ADD COLUMN indexed INTEGER! DEFAULT 0`,
  `UPDATE waits SET indexed = 1 WHERE state <> 'pending'`,
  `CREATE INDEX waits_unindexed ON waits (asked_at) WHERE indexed = 0`,
];

/** A session that was only stored for a time is deleted by no key. */
const sixteenth = ['ALTER TABLE meta ADD COLUMN deleted_by TEXT'];

/**
 * Fewer rows a turn: several events in a row, no index of ended turns, no counters of AUTOINCREMENT that are written with each row, and no
 * timers that other tables imply.
 */
const seventeenth = [
  `ALTER TABLE events ADD COLUMN count INTEGER! DEFAULT 1`,
  `DROP INDEX turns_by_state`,
  `DROP INDEX turns_by_input`,
  `CREATE INDEX turns_open ON turns (state, seq) WHERE state <> 'ended'`,
  `CREATE TABLE unsent_ranges AS SELECT * FROM usage_ranges`,
  `DROP TABLE usage_ranges`,
  `CREATE TABLE usage_ranges (sequence INTEGER PRIMARY KEY, turn TEXT!, after_event INTEGER!, through_event INTEGER!)`,
  `INSERT INTO usage_ranges SELECT * FROM unsent_ranges`,
  `DROP TABLE unsent_ranges`,
  `ALTER TABLE meta ADD COLUMN audit_reserved INTEGER! DEFAULT 0`,
  `UPDATE meta SET audit_reserved = coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit'), 0)`,
  `CREATE TABLE unsent_rows AS SELECT * FROM audit`,
  `DROP TABLE audit`,
  `CREATE TABLE audit (sequence INTEGER PRIMARY KEY, body TEXT!)`,
  `INSERT INTO audit SELECT * FROM unsent_rows`,
  `DROP TABLE unsent_rows`,
  `DELETE FROM timers WHERE kind IN ('turn', 'audit', 'notice', 'usage', 'summary')`,
];

export const sessionMigrations: readonly string[] = [
  first,
  second,
  third,
  fourth,
  fifth,
  sixth,
  seventh,
  eighth,
  ninth,
  tenth,
  eleventh,
  twelfth,
  thirteenth,
  fourteenth,
  fifteenth,
  sixteenth,
  seventeenth,
].map((statements) => statements.join(';\n').replaceAll('!', ' NOT NULL'));
