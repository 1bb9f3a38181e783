/**
 * The tables of a session, as the migrations of `schema.ts` leave them. A test compares the two. A new session has those that every session
 * uses, created in one transaction, and creates each other one when it first stores something in it (`storage/lazy-tables.ts`): a later
 * migration that changes one of these creates it before, if it does not exist. `schema.ts` says what the tables are for, and
 * what `!` stands for; here `INT` also stands for INTEGER and `KEY` for PRIMARY KEY.
 */
import type { LazyTables } from '../../storage/lazy-tables.ts';

const tables = [
  'meta (id INT KEY CHECK (id = 1), workspace TEXT!, key_id TEXT!, setup TEXT!, created_at INT!, leaving INT! DEFAULT 0, deleted_by TEXT, audit_reserved INT! DEFAULT 0)',
  'events (id INT KEY, at INT!, body TEXT!, count INT! DEFAULT 1)',
  'event_chunks (id INT!, seq INT!, part TEXT!, KEY (id, seq)) WITHOUT ROWID',
  'turns (seq INT KEY, id TEXT! UNIQUE, state TEXT!, status TEXT, reason TEXT, plan TEXT!, input_event INT, last_event INT, accepted_at INT!, epoch INT! DEFAULT 0, spent_ms INT! DEFAULT 0, format INT! DEFAULT 1, asked_event INT! DEFAULT 0, counted_event INT! DEFAULT 0)',
  'turn_inputs (turn TEXT!, seq INT!, part TEXT!, KEY (turn, seq)) WITHOUT ROWID',
  'idempotency (key TEXT KEY, body_hash TEXT!, turn TEXT!, at INT!, session TEXT, edition TEXT, completion TEXT) WITHOUT ROWID',
  'timers (kind TEXT KEY, due INT!) WITHOUT ROWID',
  'audit (sequence INT KEY, body TEXT!)',
  'files (path TEXT KEY, parent TEXT!, kind TEXT!, size INT!, mode INT!, modified_at INT!, own INT! DEFAULT 0) WITHOUT ROWID',
  'file_chunks (path TEXT!, seq INT!, bytes BLOB!, KEY (path, seq))',
  'approval_links (nonce_hash TEXT KEY, call_id TEXT!, key_id TEXT!, expires_at INT!, used INT! DEFAULT 0, round INT! DEFAULT 1) WITHOUT ROWID',
  'results (number INT KEY, call_id TEXT! UNIQUE, bytes INT!)',
  'result_parts (call_id TEXT!, start INT!, part TEXT!, KEY (call_id, start)) WITHOUT ROWID',
  'result_media (call_id TEXT!, start INT!, seq INT!, part TEXT!, KEY (call_id, start, seq)) WITHOUT ROWID',
  'compactions (event INT KEY, after_event INT!)',
  "completions (seq INT KEY, id TEXT! UNIQUE, turn TEXT!, after_event INT!, earlier_turn TEXT, earlier_after INT, model TEXT!, include_usage INT!, created_at INT!, dialect TEXT! DEFAULT 'openai-chat', echo TEXT! DEFAULT '{}', asked TEXT! DEFAULT '')",
  'calls (key TEXT KEY, body_hash TEXT!, call_id TEXT!, answer TEXT, at INT!) WITHOUT ROWID',
  'call_answers (key TEXT!, seq INT!, part TEXT!, KEY (key, seq)) WITHOUT ROWID',
  'gathered (seq INT KEY, canonical TEXT!, name TEXT!)',
  'journal (call_id TEXT KEY, root TEXT!, canonical TEXT, fingerprint TEXT!, attempts INT!, told INT!, finished INT, bytes INT!) WITHOUT ROWID',
  'journal_results (call_id TEXT!, seq INT!, part TEXT!, KEY (call_id, seq)) WITHOUT ROWID',
  'journal_roots (root TEXT KEY, turn TEXT, key TEXT, started_at INT!) WITHOUT ROWID',
  'taint (label TEXT KEY, by TEXT!, origin TEXT, at INT!) WITHOUT ROWID',
  'notices (sequence INT KEY AUTOINCREMENT, type TEXT!, turn TEXT!, event INT!, at INT!)',
  'waits (call_id TEXT!, kind TEXT!, round INT!, turn TEXT, state TEXT!, asked_at INT!, expires_at INT, key_hash TEXT, answer_hash TEXT, reported INT! DEFAULT 0, question TEXT!, decided_by TEXT, decided_at INT, indexed INT! DEFAULT 0, KEY (call_id, kind, round)) WITHOUT ROWID',
  'wait_parts (call_id TEXT!, kind TEXT!, seq INT!, part TEXT!, KEY (call_id, kind, seq)) WITHOUT ROWID',
  'usage_ranges (sequence INT KEY, turn TEXT!, after_event INT!, through_event INT!)',
  'summary (id INT KEY CHECK (id = 1), revision INT!, sent INT!, title TEXT, active_at INT!, usage TEXT!)',
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

const spellOut = (statement: string): string =>
  statement.replaceAll('!', ' NOT NULL').replaceAll(' INT', ' INTEGER').replaceAll('KEY', 'PRIMARY KEY');

/** What every session with a tool uses. */
const ofAll: ReadonlySet<string> = new Set(['meta', 'events', 'turns', 'timers', 'audit', 'gathered', 'usage_ranges', 'summary']);

const statements = Object.fromEntries(
  tables.map((table) => {
    const [name = ''] = table.split(' ');
    const own = indexes.filter((index) => index.includes(` ON ${name} (`)).map((index) => `CREATE INDEX IF NOT EXISTS ${index}`);
    return [name, [`CREATE TABLE IF NOT EXISTS ${table}`, ...own].map(spellOut)];
  }),
);

export const newestSessionSchema = Object.entries(statements)
  .flatMap(([name, own]) => (ofAll.has(name) ? own : []))
  .join(';\n');

export const lazySessionTables: LazyTables = Object.fromEntries(Object.entries(statements).filter(([name]) => !ofAll.has(name)));
