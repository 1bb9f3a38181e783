/**
 * The tables of one session (`objects/shared/migrate.ts`). A new one has those that every session uses; it creates each other one when it first
 * stores something in it (`objects/shared/lazy-tables.ts`).
 *
 * - `meta`: the session, one row. `leaving`: it is being deleted; `deleted_by`: by this key, which the audit names. `audit_reserved`: the last
 *   number that rows of `audit` may have without another reservation.
 * - `events`: the log. A row has `count` events that were appended together: `id` is the number of the first one, `body` the event without
 *   number and time, or the array of several. `event_chunks`: long bodies, split.
 * - `turns`: accepted turns in order (`plan`: once ended, only what is read of it then).
 * - `turn_requests`: JSON, split, of what requests of turns had besides the agent or model, once for equal ones (`plan.request`: `hash`).
 * - `idempotency`: key → turn, stored for 24 h (`session`: of a fork; `edition`: its pointer).
 * - `timers`: the jobs of the alarm that no other table implies (`timers.ts`).
 * - `audit`: rows that the audit has not received yet.
 * - `waits`: what calls wait for (`kind`: approval, input, client-tool; `round` counts the questions of the kind about the call; `state`:
 *   pending, approved, denied, used, answered, expired). `turn` is null for a direct call, which is found by its `key_hash`;
 *   `reported`: a direct call has returned the denial. `expires_at`: of a call of the client, when it ended, null while pending.
 *   `answer_hash`: SHA-256 of the answer. `question`: JSON of what else the kind stores (`pending/wait.ts`). `wait_parts`: JSON, split,
 *   of the arguments of an approval (`arguments`), and, until the call has its result, of a server's question with its request
 *   state (`asked`) and of the answers (`given`).
 * - `remembered`: rules that approvals were remembered as, for this session only (`objects/shared/remembered-rules.ts`).
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
 * - `usage_ranges`: ranges of a turn's events whose usage is not sent yet; of a turn of a replay, which has no events here, its `report`.
 * - `replay`: of the object of a replay, one row. `principal`: JSON of the key that started it; `of`: hash of its request; `sums`, `listed`: JSON of
 *   what its cases add up to, and of what lists show. `replay_cases`: its cases, with what came of each (`result`: JSON). `replay_parts`: JSON, split, of the request, and of the
 *   replayed turn of each case.
 *
 * - `metadata`: that of the conversation, one row (`value`: JSON).
 *
 * Files have their own tables (`storage/files/session-files.ts`).
 */
import { lazyTables } from '../../shared/lazy-tables.ts';
import { rememberedSchema } from '../../shared/remembered-rules.ts';
import { schemaSteps } from '../../shared/migrate.ts';
import { sessionFilesSchema } from '../../../storage/files/session-files.ts';

export const sessionMigrations = schemaSteps(
  `
  CREATE TABLE meta (id INTEGER PRIMARY KEY CHECK (id = 1), workspace TEXT!, key_id TEXT!, setup TEXT!, created_at INTEGER!,
    leaving INTEGER! DEFAULT 0, deleted_by TEXT, audit_reserved INTEGER! DEFAULT 0);
  CREATE TABLE events (id INTEGER PRIMARY KEY, at INTEGER!, body TEXT!, count INTEGER! DEFAULT 1);
  CREATE TABLE event_chunks (id INTEGER!, seq INTEGER!, part TEXT!, PRIMARY KEY (id, seq)) WITHOUT ROWID;
  CREATE TABLE turns (seq INTEGER PRIMARY KEY, id TEXT! UNIQUE, state TEXT!, status TEXT, reason TEXT, plan TEXT!, input_event INTEGER,
    last_event INTEGER, accepted_at INTEGER!, epoch INTEGER! DEFAULT 0, spent_ms INTEGER! DEFAULT 0, asked_event INTEGER! DEFAULT 0,
    counted_event INTEGER! DEFAULT 0);
  CREATE INDEX turns_open ON turns (state, seq) WHERE state <> 'ended';
  CREATE TABLE turn_inputs (turn TEXT!, seq INTEGER!, part TEXT!, PRIMARY KEY (turn, seq)) WITHOUT ROWID;
  CREATE TABLE turn_requests (hash TEXT!, seq INTEGER!, part TEXT!, PRIMARY KEY (hash, seq)) WITHOUT ROWID;
  CREATE TABLE idempotency (key TEXT PRIMARY KEY, body_hash TEXT!, turn TEXT!, at INTEGER!, session TEXT, edition TEXT,
    completion TEXT) WITHOUT ROWID;
  CREATE INDEX idempotency_by_time ON idempotency (at);
  CREATE TABLE timers (kind TEXT PRIMARY KEY, due INTEGER!) WITHOUT ROWID;
  CREATE TABLE approval_links (nonce_hash TEXT PRIMARY KEY, call_id TEXT!, key_id TEXT!, expires_at INTEGER!, used INTEGER! DEFAULT 0,
    round INTEGER! DEFAULT 1) WITHOUT ROWID;
  CREATE TABLE results (number INTEGER PRIMARY KEY, call_id TEXT! UNIQUE, bytes INTEGER!);
  CREATE TABLE result_parts (call_id TEXT!, start INTEGER!, part TEXT!, PRIMARY KEY (call_id, start)) WITHOUT ROWID;
  CREATE TABLE compactions (event INTEGER PRIMARY KEY, after_event INTEGER!);
  CREATE TABLE completions (seq INTEGER PRIMARY KEY, id TEXT! UNIQUE, turn TEXT!, after_event INTEGER!, earlier_turn TEXT,
    earlier_after INTEGER, model TEXT!, include_usage INTEGER!, created_at INTEGER!, dialect TEXT! DEFAULT 'openai-chat',
    echo TEXT! DEFAULT '{}', asked TEXT! DEFAULT '');
  CREATE INDEX completions_by_turn ON completions (turn);
  CREATE TABLE calls (key TEXT PRIMARY KEY, body_hash TEXT!, call_id TEXT!, answer TEXT, at INTEGER!) WITHOUT ROWID;
  CREATE INDEX calls_by_time ON calls (at);
  CREATE TABLE gathered (seq INTEGER PRIMARY KEY, canonical TEXT!, name TEXT!);
  CREATE TABLE journal (call_id TEXT PRIMARY KEY, root TEXT!, canonical TEXT, fingerprint TEXT!, attempts INTEGER!, told INTEGER!,
    finished INTEGER, bytes INTEGER!) WITHOUT ROWID;
  CREATE INDEX journal_by_root ON journal (root);
  CREATE TABLE journal_results (call_id TEXT!, seq INTEGER!, part TEXT!, PRIMARY KEY (call_id, seq)) WITHOUT ROWID;
  CREATE TABLE journal_roots (root TEXT PRIMARY KEY, turn TEXT, key TEXT, started_at INTEGER!) WITHOUT ROWID;
  CREATE TABLE taint (label TEXT PRIMARY KEY, by TEXT!, origin TEXT, at INTEGER!) WITHOUT ROWID;
  CREATE TABLE notices (sequence INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT!, turn TEXT!, event INTEGER!, at INTEGER!);
  CREATE TABLE waits (call_id TEXT!, kind TEXT!, round INTEGER!, turn TEXT, state TEXT!, asked_at INTEGER!, expires_at INTEGER,
    key_hash TEXT, answer_hash TEXT, reported INTEGER! DEFAULT 0, question TEXT!, decided_by TEXT, decided_at INTEGER,
    indexed INTEGER! DEFAULT 0, PRIMARY KEY (call_id, kind, round)) WITHOUT ROWID;
  CREATE INDEX waits_by_state ON waits (state, expires_at);
  CREATE INDEX waits_ended ON waits (expires_at) WHERE state <> 'pending';
  CREATE INDEX waits_by_turn ON waits (turn);
  CREATE INDEX waits_by_key ON waits (key_hash) WHERE key_hash IS!;
  CREATE INDEX waits_unindexed ON waits (asked_at) WHERE indexed = 0;
  CREATE TABLE wait_parts (call_id TEXT!, kind TEXT!, seq INTEGER!, part TEXT!, PRIMARY KEY (call_id, kind, seq)) WITHOUT ROWID;
  CREATE TABLE result_media (call_id TEXT!, start INTEGER!, seq INTEGER!, part TEXT!, PRIMARY KEY (call_id, start, seq)) WITHOUT ROWID;
  CREATE TABLE call_answers (key TEXT!, seq INTEGER!, part TEXT!, PRIMARY KEY (key, seq)) WITHOUT ROWID;
  CREATE TABLE summary (id INTEGER PRIMARY KEY CHECK (id = 1), revision INTEGER!, sent INTEGER!, title TEXT, active_at INTEGER!,
    usage TEXT!);
  CREATE TABLE usage_ranges (sequence INTEGER PRIMARY KEY, turn TEXT!, after_event INTEGER!, through_event INTEGER!, report TEXT);
  CREATE TABLE replay (id INTEGER PRIMARY KEY CHECK (id = 1), of TEXT!, principal TEXT!, status TEXT!, reason TEXT, ended_at INTEGER,
    sums TEXT!, listed TEXT);
  CREATE TABLE replay_cases (number INTEGER PRIMARY KEY, session TEXT, turn TEXT, request TEXT, rules INTEGER, status TEXT!, reason TEXT,
    attempts INTEGER! DEFAULT 0, result TEXT);
  CREATE INDEX replay_cases_by_status ON replay_cases (status, number);
  CREATE TABLE replay_parts (name TEXT!, seq INTEGER!, part TEXT!, PRIMARY KEY (name, seq)) WITHOUT ROWID;
  CREATE TABLE audit (sequence INTEGER PRIMARY KEY, body TEXT!);
  ${rememberedSchema}
  ${sessionFilesSchema}`,
  `
  CREATE TABLE metadata (id INTEGER PRIMARY KEY CHECK (id = 1), value TEXT!);`,
);

/** What every session with a tool uses. */
const eager = ['meta', 'events', 'turns', 'timers', 'audit', 'gathered', 'usage_ranges', 'summary'];

export const lazySessionTables = lazyTables(sessionMigrations, eager);
