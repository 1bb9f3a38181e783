/**
 * The tables of a session, as the migrations of `schema.ts` leave them. A test compares the two. A new session has those that every session
 * uses, created in one transaction, and creates each other one when it first stores something in it (`storage/lazy-tables.ts`): a later
 * migration that changes one of these creates it before, if it does not exist. `schema.ts` says what the tables are for, and what `!` stands for.
 */
import type { LazyTables } from '../../storage/lazy-tables.ts';

const tables = [
  'meta (id INTEGER PRIMARY KEY CHECK (id = 1), workspace TEXT!, key_id TEXT!, setup TEXT!, created_at INTEGER!, leaving INTEGER! DEFAULT 0, deleted_by TEXT, audit_reserved INTEGER! DEFAULT 0)',
  'events (id INTEGER PRIMARY KEY, at INTEGER!, body TEXT!, count INTEGER! DEFAULT 1)',
  'event_chunks (id INTEGER!, seq INTEGER!, part TEXT!, PRIMARY KEY (id, seq)) WITHOUT ROWID',
  'turns (seq INTEGER PRIMARY KEY, id TEXT! UNIQUE, state TEXT!, status TEXT, reason TEXT, plan TEXT!, input_event INTEGER, last_event INTEGER, accepted_at INTEGER!, epoch INTEGER! DEFAULT 0, spent_ms INTEGER! DEFAULT 0, format INTEGER! DEFAULT 1, asked_event INTEGER! DEFAULT 0, counted_event INTEGER! DEFAULT 0)',
  'turn_inputs (turn TEXT!, seq INTEGER!, part TEXT!, PRIMARY KEY (turn, seq)) WITHOUT ROWID',
  'idempotency (key TEXT PRIMARY KEY, body_hash TEXT!, turn TEXT!, at INTEGER!, session TEXT, edition TEXT, completion TEXT) WITHOUT ROWID',
  'timers (kind TEXT PRIMARY KEY, due INTEGER!) WITHOUT ROWID',
  'audit (sequence INTEGER PRIMARY KEY, body TEXT!)',
  'files (path TEXT PRIMARY KEY, parent TEXT!, kind TEXT!, size INTEGER!, mode INTEGER!, modified_at INTEGER!, own INTEGER! DEFAULT 0) WITHOUT ROWID',
  'file_chunks (path TEXT!, seq INTEGER!, bytes BLOB!, PRIMARY KEY (path, seq))',
  'approval_links (nonce_hash TEXT PRIMARY KEY, call_id TEXT!, key_id TEXT!, expires_at INTEGER!, used INTEGER! DEFAULT 0, round INTEGER! DEFAULT 1) WITHOUT ROWID',
  'results (number INTEGER PRIMARY KEY, call_id TEXT! UNIQUE, bytes INTEGER!)',
  'result_parts (call_id TEXT!, start INTEGER!, part TEXT!, PRIMARY KEY (call_id, start)) WITHOUT ROWID',
  'result_media (call_id TEXT!, start INTEGER!, seq INTEGER!, part TEXT!, PRIMARY KEY (call_id, start, seq)) WITHOUT ROWID',
  'compactions (event INTEGER PRIMARY KEY, after_event INTEGER!)',
  "completions (seq INTEGER PRIMARY KEY, id TEXT! UNIQUE, turn TEXT!, after_event INTEGER!, earlier_turn TEXT, earlier_after INTEGER, model TEXT!, include_usage INTEGER!, created_at INTEGER!, dialect TEXT! DEFAULT 'openai-chat', echo TEXT! DEFAULT '{}', asked TEXT! DEFAULT '')",
  'calls (key TEXT PRIMARY KEY, body_hash TEXT!, call_id TEXT!, answer TEXT, at INTEGER!) WITHOUT ROWID',
  'call_answers (key TEXT!, seq INTEGER!, part TEXT!, PRIMARY KEY (key, seq)) WITHOUT ROWID',
  'gathered (seq INTEGER PRIMARY KEY, canonical TEXT!, name TEXT!)',
  'journal (call_id TEXT PRIMARY KEY, root TEXT!, canonical TEXT, fingerprint TEXT!, attempts INTEGER!, told INTEGER!, finished INTEGER, bytes INTEGER!) WITHOUT ROWID',
  'journal_results (call_id TEXT!, seq INTEGER!, part TEXT!, PRIMARY KEY (call_id, seq)) WITHOUT ROWID',
  'journal_roots (root TEXT PRIMARY KEY, turn TEXT, key TEXT, started_at INTEGER!) WITHOUT ROWID',
  'taint (label TEXT PRIMARY KEY, by TEXT!, origin TEXT, at INTEGER!) WITHOUT ROWID',
  'notices (sequence INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT!, turn TEXT!, event INTEGER!, at INTEGER!)',
  'waits (call_id TEXT!, kind TEXT!, round INTEGER!, turn TEXT, state TEXT!, asked_at INTEGER!, expires_at INTEGER, key_hash TEXT, answer_hash TEXT, reported INTEGER! DEFAULT 0, question TEXT!, decided_by TEXT, decided_at INTEGER, indexed INTEGER! DEFAULT 0, PRIMARY KEY (call_id, kind, round)) WITHOUT ROWID',
  'wait_parts (call_id TEXT!, kind TEXT!, seq INTEGER!, part TEXT!, PRIMARY KEY (call_id, kind, seq)) WITHOUT ROWID',
  'usage_ranges (sequence INTEGER PRIMARY KEY, turn TEXT!, after_event INTEGER!, through_event INTEGER!)',
  'summary (id INTEGER PRIMARY KEY CHECK (id = 1), revision INTEGER!, sent INTEGER!, title TEXT, active_at INTEGER!, usage TEXT!)',
];

const indexes = [
  "turns_open ON turns (state, seq) WHERE state <> 'ended'",
  'idempotency_by_time ON idempotency (at)',
  'files_by_parent ON files (parent)',
  'completions_by_turn ON completions (turn)',
  'calls_by_time ON calls (at)',
  'journal_by_root ON journal (root)',
  'waits_by_state ON waits (state, expires_at)',
  "waits_ended ON waits (expires_at) WHERE state <> 'pending'",
  'waits_by_turn ON waits (turn)',
  'waits_by_key ON waits (key_hash) WHERE key_hash IS NOT NULL',
  'waits_unindexed ON waits (asked_at) WHERE indexed = 0',
];

/** What every session with a tool uses. */
const ofAll: ReadonlySet<string> = new Set(['meta', 'events', 'turns', 'timers', 'audit', 'gathered', 'usage_ranges', 'summary']);

const statements = Object.fromEntries(
  tables.map((table) => {
    const [name = ''] = table.split(' ');
    const own = indexes.filter((index) => index.includes(` ON ${name} (`)).map((index) => `CREATE INDEX IF NOT EXISTS ${index}`);
    return [name, [`CREATE TABLE IF NOT EXISTS ${table}`, ...own].map((statement) => statement.replaceAll('!', ' NOT NULL'))];
  }),
);

export const newestSessionSchema = Object.entries(statements)
  .flatMap(([name, own]) => (ofAll.has(name) ? own : []))
  .join(';\n');

export const lazySessionTables: LazyTables = Object.fromEntries(Object.entries(statements).filter(([name]) => !ofAll.has(name)));
