/**
 * The tables of the Catalog, one Durable Object with SQLite for each workspace (`objects/shared/migrate.ts`). Times are milliseconds since
 * the epoch.
 *
 * - `meta(key, value)`: `workspace`, for the alarm; `close`: the database has to be closed once (`close-database.ts`);
 *   `sweep`, `sweep-time`, `sweep-session`: when the next sweep is due, the time of the last one, and the last session that it asked
 *   (`catalog-sweep.ts`); `compiled`: how far the toolsets are compiled for which build (JSON, `compiled-build.ts`); `stale:<toolset>`: why one keeps
 *   the edition of an earlier build.
 * - `documents(kind, name, …)`: the newest version of every document. `body` is the JSON that GET returns; `sealed` the
 *   encrypted part (a secret's value, a provider's key; `secret-box.ts`). A DELETE takes a version too and leaves the row
 *   with `deleted = 1` and an empty body, so that version numbers are never reused.
 * - `document_versions(kind, name, version, …)`: earlier versions of agents, the policy and made tools (`document-versions.ts`).
 * - `toolset_versions(name, version, …)`: every version of every toolset with its edition; `revision` counts editions of
 *   one version. `body` and `hash` of a DELETE are null. `retired_at`, `retired_by`: when and by which key it was retired, null if it is not.
 * - `editions(hash, …)`, `edition_chunks(hash, sequence, data)`: compiled bytes in chunks of at most
 *   `limits.storageChunkBytes`. `published_at` is null until KV has it, `unused_since` while a version has the
 *   edition.
 * - `inherited_aliases(tool, toolset)`: toolsets with an entry of `tool` that inherits its default aliases.
 * - `server_tools(server, name, …)`: tools of servers. `accepted`: the definition in force (JSON `{definition, raw?, annotationsAccepted?}`,
 *   null before the first one; `annotationsAccepted` when an administrator accepted its annotations). `listed`: the definition that the
 *   server lists (null when its pin equals the accepted one). Each has its pin; `listed_pin` is null when the server does not list the
 *   tool. `reason`: why it is held (`Hold`), null when it is not; `refused` when the listed definition is invalid, with its hash as
 *   `listed_pin`. `findings`: of the listed one. `decisions`: JSON of `ReviewDecision` (`core/servers/definition-review.ts`), null for none. A row
 *   outlives its server while a toolset names the tool, or a definition of it is rejected.
 * - `toolset_tools(tool, toolset)`: toolsets whose newest version has an entry of `tool`.
 * - `server_state(server, state)`: the state of a server that lists its own tools, and who refreshes it (JSON, `objects/catalog/servers/server-state.ts`).
 * - `server_offers(server, sequence, data)`: prompts, resources and templates of an MCP server (JSON in chunks).
 * - `server_documents(server, sequence, data)`: an OpenAPI document that was uploaded, in chunks.
 * - `server_grants(server, …)`: OAuth tokens of a server (sealed JSON; `objects/catalog/servers/server-grants.ts`).
 * - `connections(server, key_id, …)`: what a user or key has connected at a server with `oauth.per: "user"` (sealed JSON, as in
 *   `server_grants`). `connected_at`: null while a first sign-in is pending. `revision` begins with the time, so that a row that was deleted
 *   and made again never has a revision of before.
 * - `equipment(key_id, …)`: the toolset that a key has equipped over MCP, and its mode.
 * - `spent(nonce, expires_at)`: used single-use nonces.
 * - `joined(number, user, workspace)`: only in the workspace `default`: which people are members of which workspaces, in the order in which
 *   they joined them, without their rights. Written by each workspace's Catalog when its members change.
 * - `publications(kind, name, …)`: documents to publish; `sequence` detects a write during a publish.
 * - `keys(id, …)`: API keys, `hash` only (`key-crypto.ts`). `cancelled_at`: revoked with `cancel`, so its turns end. `previous`: earlier
 *   secrets that still work (JSON `[{hash, expiresAt, usedAt}]`, newest first; `objects/catalog/keys/rotate-key.ts`), null for none.
 * - `key_cancellations(key_id, …)`: revoked keys whose sessions are being cancelled, up to session number `after`; `pass` 2 is the last.
 * - `sessions(id, …)`: the index of listed sessions, with what lists show of them; `revision`: of the newest update. `questions`, `queued`: how
 *   many of each are open (`objects/catalog/records/open-work.ts`). `replay`: JSON of what lists show of a replay, which is no session.
 * - `session_waits(session, call_id, kind, …)`: the newest question of each kind about a call (`wait`: JSON). A decided one gets a new `number`.
 * - `audit_log`, `audit_heads`: the audit log of configuration changes (`audit-log.ts`). `audit_shards(shard, …)`: the newest signed head of
 *   each audit shard.
 * - `deliveries(number, kind, name, id, …)`: deliveries to webhooks (`kind` webhook) and runs of schedules, each once by `id`.
 *   `due_at`: when it is next sent to its session; null when nothing is to be done or an earlier one goes first (the oldest pending one
 *   of a session has a time). `held`: it waits for the end of the previous run. `run` counts replays from 1, `attempts` those of one
 *   run, and `run_at` is when its turn first came. `bytes`: of its parts. `delivery_parts(delivery, part, …)`: the `payload` unchanged,
 *   and, while pending, the agent's `input`, in chunks.
 * - `refused_deliveries(webhook, day, count, last_at)`: requests to webhooks without a valid signature.
 * - `erasures(kind, name, …)`: deleted triggers and subscriptions whose rows, up to these numbers, still have to be erased.
 * - `schedule_state(schedule, due_at, since)`: when each runs next; null when paused or without further runs. `since`: the original
 *   due time of a run that failed and is retried.
 * - `callbacks(number, id, …)`: outgoing messages; `source` is what a message is about, so that a repeated notice has one message.
 *   `callback_bodies`, `callback_attempts`: the body, in chunks, and the result of each attempt. `callback_loads`: of each
 *   target, the number of pending messages with the bytes of their bodies, and of ended ones.
 * - `taint_marks(name, …)`: marks of the taint rule outside session objects (`objects/catalog/records/taint-marks.ts`): of a response that a client may
 *   resend, and of the direct calls of a key. `answers_of`: the key of a response, null for the rest.
 * - `workspaces(name, …)`: the registry of workspaces, in the Catalog of `default`. `progress`: JSON of what a deletion has still to erase
 *   (`catalog/workspaces/`). It and `joined` are not part of a backup: a restore keeps them.
 * - `oauth_records(number, key, …)`: grants and access tokens of the OAuth library, hashes only (`objects/catalog/grants/oauth-records.ts`).
 * - `retired_keys`: one row in the Catalog of the first workspace: earlier master keys (sealed; `retired-keys.ts`).
 * - `reseals(workspace, …)`: the newest rotation of the master key, in the Catalog of the first workspace: how far each workspace is
 *   (`objects/catalog/keys/reseal-job.ts`). `unreadable`: JSON list of what neither key opens. Replaced by the next rotation.
 * - `projects(name, updated_at)`, `project_documents(kind, name, project, …)`: which project owns a document (`catalog/projects/`), the
 *   `version` that it wrote, and whether it created the document. A row is deleted when its document leaves the project.
 * - `imported(kind, name, source, marks, imported_at)`: what the last imports of files gave (`catalog/projects/merge-import.ts`). `source`: a hash
 *   of the file's name; `marks`: keyed hashes of the members of the document (JSON).
 * - `provider_items(number, key_id, kind, provider, id, …)`: files and batches that a key made at a provider (`catalog/records/provider-items.ts`).
 */
import { schemaSteps } from '../shared/migrate.ts';
import { auditLogSchema } from '../shared/audit-log.ts';

export const catalogMigrations = schemaSteps(
  `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT!) WITHOUT ROWID;
  CREATE TABLE documents (kind TEXT!, name TEXT!, version INTEGER!, deleted INTEGER! DEFAULT 0, body TEXT!, sealed TEXT,
    created_at INTEGER!, updated_at INTEGER!, PRIMARY KEY (kind, name));
  CREATE INDEX members_by_user ON documents (json_extract(CASE WHEN json_valid(body) THEN body END, '$.user'))
    WHERE kind = 'member' AND deleted = 0;
  CREATE TABLE toolset_versions (name TEXT!, version INTEGER!, body TEXT, revision INTEGER!, hash TEXT, created_at INTEGER!,
    retired_at INTEGER, retired_by TEXT, PRIMARY KEY (name, version));
  CREATE INDEX toolset_versions_by_hash ON toolset_versions (hash);
  CREATE INDEX toolset_versions_retired ON toolset_versions (name, version) WHERE retired_at IS!;
  CREATE TABLE editions (hash TEXT PRIMARY KEY, bytes INTEGER!, published_at INTEGER, unused_since INTEGER) WITHOUT ROWID;
  CREATE TABLE edition_chunks (hash TEXT!, sequence INTEGER!, data BLOB!, PRIMARY KEY (hash, sequence));
  CREATE TABLE inherited_aliases (tool TEXT!, toolset TEXT!, PRIMARY KEY (tool, toolset)) WITHOUT ROWID;
  CREATE INDEX inherited_aliases_by_toolset ON inherited_aliases (toolset);
  CREATE TABLE publications (kind TEXT!, name TEXT!, sequence INTEGER!, attempts INTEGER!, due_at INTEGER!,
    PRIMARY KEY (kind, name)) WITHOUT ROWID;
  CREATE INDEX publications_by_due ON publications (due_at);
  CREATE TABLE keys (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT! UNIQUE, name TEXT!, hash TEXT!, scopes TEXT!, toolsets TEXT,
    agents TEXT, created_at INTEGER!, expires_at INTEGER, revoked_at INTEGER, last_used_at INTEGER, caller TEXT, cancelled_at INTEGER,
    rotated_at INTEGER, previous TEXT, egress_hosts TEXT, ips TEXT, limits TEXT, models TEXT);
  CREATE TABLE sessions (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT! UNIQUE, key_id TEXT!, agent TEXT, model TEXT, toolset TEXT,
    created_at INTEGER!, status TEXT! DEFAULT 'idle', title TEXT, active_at INTEGER!, usage TEXT!, revision INTEGER! DEFAULT 0,
    questions INTEGER! DEFAULT 0, queued INTEGER! DEFAULT 0, replay TEXT);
  CREATE INDEX sessions_by_key ON sessions (key_id, number);
  CREATE INDEX sessions_by_agent ON sessions (agent, number) WHERE agent IS!;
  CREATE INDEX sessions_by_status ON sessions (status, number) WHERE status NOT IN ('idle', 'completed');
  CREATE INDEX sessions_of_replays ON sessions (number) WHERE replay IS!;
  CREATE INDEX sessions_with_open_work ON sessions (key_id, id, questions, queued) WHERE questions > 0 OR queued > 0;
  CREATE TABLE server_tools (server TEXT!, name TEXT!, accepted TEXT, accepted_pin TEXT, listed TEXT, listed_pin TEXT, reason TEXT,
    findings TEXT, renamed_to TEXT, updated_at INTEGER!, decisions TEXT, PRIMARY KEY (server, name)) WITHOUT ROWID;
  CREATE TABLE toolset_tools (tool TEXT!, toolset TEXT!, PRIMARY KEY (tool, toolset)) WITHOUT ROWID;
  CREATE INDEX toolset_tools_by_toolset ON toolset_tools (toolset);
  CREATE TABLE server_state (server TEXT PRIMARY KEY, state TEXT!) WITHOUT ROWID;
  CREATE TABLE server_offers (server TEXT!, sequence INTEGER!, data BLOB!, PRIMARY KEY (server, sequence));
  CREATE TABLE server_documents (server TEXT!, sequence INTEGER!, data BLOB!, PRIMARY KEY (server, sequence));
  CREATE TABLE server_grants (server TEXT PRIMARY KEY, sealed TEXT, revision INTEGER!) WITHOUT ROWID;
  CREATE TABLE equipment (key_id TEXT PRIMARY KEY, toolset TEXT, mode TEXT, updated_at INTEGER!) WITHOUT ROWID;
  CREATE TABLE spent (nonce TEXT PRIMARY KEY, expires_at INTEGER!) WITHOUT ROWID;
  CREATE INDEX spent_by_expiry ON spent (expires_at);
  CREATE TABLE deliveries (number INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT!, name TEXT!, id TEXT!, event TEXT, status TEXT!,
    reason TEXT, agent TEXT, session TEXT, session_key TEXT, turn TEXT, run INTEGER!, repeats INTEGER!, warnings TEXT!, is_json INTEGER!,
    headers TEXT, bytes INTEGER!, received_at INTEGER!, run_at INTEGER!, ended_at INTEGER, attempts INTEGER!, due_at INTEGER,
    held INTEGER!, UNIQUE (kind, name, id));
  CREATE INDEX deliveries_by_trigger ON deliveries (kind, name, number);
  CREATE INDEX deliveries_by_due ON deliveries (due_at, number) WHERE due_at IS!;
  CREATE INDEX deliveries_by_status ON deliveries (kind, name, status, number);
  CREATE INDEX deliveries_pending ON deliveries (session, number, bytes, kind, name) WHERE status = 'pending';
  CREATE INDEX deliveries_by_end ON deliveries (ended_at) WHERE ended_at IS!;
  CREATE INDEX deliveries_with_parts ON deliveries (ended_at) WHERE ended_at IS! AND bytes > 0;
  CREATE INDEX deliveries_by_weight ON deliveries (number, bytes, status) WHERE bytes > 0 AND status <> 'pending';
  CREATE INDEX deliveries_by_session ON deliveries (session) WHERE session IS!;
  CREATE TABLE delivery_parts (delivery INTEGER!, part TEXT!, sequence INTEGER!, data BLOB!, PRIMARY KEY (delivery, part, sequence));
  CREATE TABLE schedule_state (schedule TEXT PRIMARY KEY, due_at INTEGER, since INTEGER) WITHOUT ROWID;
  CREATE INDEX schedule_state_by_due ON schedule_state (due_at) WHERE due_at IS!;
  CREATE TABLE callbacks (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT! UNIQUE, source TEXT!, kind TEXT!, name TEXT!, type TEXT!,
    delivery TEXT, session TEXT!, turn TEXT, status TEXT!, created_at INTEGER!, ended_at INTEGER, attempts INTEGER!, due_at INTEGER,
    UNIQUE (kind, name, source));
  CREATE INDEX callbacks_by_due ON callbacks (due_at, number) WHERE due_at IS!;
  CREATE INDEX callbacks_due_by_target ON callbacks (kind, name, due_at, number) WHERE due_at IS!;
  CREATE INDEX callbacks_by_status ON callbacks (status, number);
  CREATE INDEX callbacks_by_end ON callbacks (status, ended_at) WHERE ended_at IS!;
  CREATE INDEX callbacks_by_target ON callbacks (kind, name, number);
  CREATE INDEX callbacks_by_delivery ON callbacks (delivery, number) WHERE delivery IS!;
  CREATE INDEX callbacks_by_session ON callbacks (session);
  CREATE TABLE callback_bodies (callback INTEGER!, sequence INTEGER!, data BLOB!, PRIMARY KEY (callback, sequence));
  CREATE TABLE callback_attempts (callback INTEGER!, attempt INTEGER!, at INTEGER!, status INTEGER, duration_ms INTEGER!, error TEXT,
    PRIMARY KEY (callback, attempt)) WITHOUT ROWID;
  CREATE TABLE taint_marks (number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT! UNIQUE, answers_of TEXT, private TEXT, untrusted TEXT,
    origin TEXT, expires_at INTEGER!, session TEXT, session_until INTEGER! DEFAULT 0);
  CREATE INDEX taint_marks_by_expiry ON taint_marks (expires_at);
  CREATE INDEX taint_marks_of_answers ON taint_marks (answers_of, number) WHERE answers_of IS!;
  CREATE TABLE key_cancellations (key_id TEXT PRIMARY KEY, pass INTEGER!, after INTEGER!, turns INTEGER!, attempts INTEGER!,
    due_at INTEGER!) WITHOUT ROWID;
  CREATE INDEX key_cancellations_by_due ON key_cancellations (due_at);
  CREATE TABLE erasures (kind TEXT!, name TEXT!, delivery INTEGER!, callback INTEGER!, due_at INTEGER!,
    PRIMARY KEY (kind, name)) WITHOUT ROWID;
  CREATE TABLE audit_shards (shard INTEGER PRIMARY KEY, number INTEGER!, at INTEGER!, hash TEXT!);
  CREATE TABLE session_waits (number INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT!, call_id TEXT!, kind TEXT!, key_id TEXT!,
    agent TEXT, pending INTEGER!, asked_at INTEGER!, wait TEXT!, UNIQUE (session, call_id, kind));
  CREATE INDEX session_waits_by_state ON session_waits (pending, number);
  CREATE INDEX session_waits_by_key ON session_waits (key_id, pending, number);
  CREATE INDEX session_waits_by_kind ON session_waits (pending, kind, number);
  CREATE TABLE document_versions (kind TEXT!, name TEXT!, version INTEGER!, body TEXT!, created_at INTEGER!,
    PRIMARY KEY (kind, name, version));
  CREATE TABLE refused_deliveries (webhook TEXT!, day TEXT!, count INTEGER!, last_at INTEGER!, PRIMARY KEY (webhook, day)) WITHOUT ROWID;
  CREATE TABLE projects (name TEXT PRIMARY KEY, updated_at INTEGER!) WITHOUT ROWID;
  CREATE TABLE project_documents (kind TEXT!, name TEXT!, project TEXT!, version INTEGER!, created INTEGER!,
    PRIMARY KEY (kind, name)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS workspaces (name TEXT PRIMARY KEY, status TEXT!, created_at INTEGER!, started_at INTEGER, finished_at INTEGER,
    due_at INTEGER, progress TEXT! DEFAULT '{}') WITHOUT ROWID;
  CREATE TABLE connections (server TEXT!, key_id TEXT!, sealed TEXT!, revision INTEGER!, connected_at INTEGER,
    PRIMARY KEY (server, key_id)) WITHOUT ROWID;
  CREATE INDEX connections_by_key ON connections (key_id);
  CREATE TABLE oauth_records (number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT! UNIQUE, value TEXT!, metadata TEXT, expires_at INTEGER);
  CREATE INDEX oauth_records_by_expiry ON oauth_records (expires_at) WHERE expires_at IS!;
  CREATE TABLE retired_keys (id INTEGER PRIMARY KEY CHECK (id = 1), sealed TEXT!);
  CREATE TABLE reseals (workspace TEXT PRIMARY KEY, master TEXT!, started_at INTEGER!, ended_at INTEGER, step INTEGER!, after TEXT!,
    done INTEGER!, remaining INTEGER, unreadable TEXT!, fault TEXT, attempts INTEGER!, due_at INTEGER) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS joined (number INTEGER PRIMARY KEY, user TEXT!, workspace TEXT!, UNIQUE (user, workspace));
  CREATE INDEX IF NOT EXISTS joined_by_workspace ON joined (workspace);
  CREATE TABLE callback_loads (kind TEXT!, name TEXT!, pending INTEGER!, bytes INTEGER!, ended INTEGER!,
    PRIMARY KEY (kind, name)) WITHOUT ROWID;
  ${auditLogSchema}`,
  `
  CREATE TABLE imported (kind TEXT!, name TEXT!, source TEXT!, marks TEXT!, imported_at INTEGER!, PRIMARY KEY (kind, name, source));`,
  `
  ALTER TABLE keys ADD COLUMN cache TEXT;`,
  `
  CREATE TABLE provider_items (number INTEGER PRIMARY KEY AUTOINCREMENT, key_id TEXT!, kind TEXT!, provider TEXT!, id TEXT!, purpose TEXT,
    batch TEXT, model TEXT, counted INTEGER! DEFAULT 0, deleted INTEGER! DEFAULT 0, expires_at INTEGER!,
    UNIQUE (key_id, kind, provider, id));
  CREATE INDEX provider_items_by_key ON provider_items (key_id, kind, number);
  CREATE INDEX provider_items_by_expiry ON provider_items (expires_at);`,
);
