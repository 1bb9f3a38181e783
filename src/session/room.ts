/**
 * Everything an open session works with, built from its tables once an object's life: log, queue, timers, files,
 * transcript and the runner. `session.ts` is its door.
 */
import type { CallScope } from '../engine/call-tool.ts';
import type { FileSystem } from '../ports/file-system.ts';
import type { ResultStore } from '../ports/result-store.ts';
import type { SessionSetup } from '../ports/session.ts';
import { migrate } from '../storage/schema.ts';
import { createSessionFiles } from '../storage/session-files.ts';
import type { Wiring } from '../wiring.ts';
import { AuditOutbox } from './audit-outbox.ts';
import { EventLog } from './event-log.ts';
import { createResultStore } from './result-store.ts';
import { sessionMigrations } from './schema.ts';
import { Timers } from './timers.ts';
import { createLogTranscript, type LogTranscript } from './transcript-log.ts';
import { TurnRunner } from './turn-runner.ts';
import { TurnStore } from './turn-store.ts';

export type SessionMeta = { workspace: string; keyId: string; setup: SessionSetup; createdAt: number };

export type Room = {
  meta: SessionMeta;
  log: EventLog;
  turns: TurnStore;
  timers: Timers;
  files: FileSystem;
  audit: AuditOutbox;
  transcript: LogTranscript;
  results: ResultStore;
  runner: TurnRunner;
};

/** True once `foundRoom` has been called for this object. Reads only, so that guessing ids stores nothing. */
export function isFounded(storage: DurableObjectStorage): boolean {
  return storage.sql.exec(`SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'meta'`).toArray().length > 0;
}

export function foundRoom(storage: DurableObjectStorage, meta: SessionMeta): void {
  migrate(storage, sessionMigrations);
  const { workspace, keyId, setup, createdAt } = meta;
  storage.sql.exec(
    'INSERT INTO meta (id, workspace, key_id, setup, created_at) VALUES (1, ?, ?, ?, ?)',
    workspace,
    keyId,
    JSON.stringify(setup),
    createdAt,
  );
}

/** `audit`, `flushAudit` and `keep` are the object's. Starts nothing: the caller recovers and pumps once it has the room. */
export function openRoom(
  storage: DurableObjectStorage,
  session: string,
  wiring: Wiring,
  own: { audit: CallScope['audit']; flushAudit(): Promise<unknown>; keep(work: Promise<unknown>): void },
): Room {
  migrate(storage, sessionMigrations);
  const meta = readMeta(storage.sql);
  const now = (): number => wiring.clock.now();
  const log = new EventLog(storage.sql, now);
  const transcript = createLogTranscript(storage.sql, log);
  const parts = {
    log,
    transcript,
    results: createResultStore(storage.sql),
    turns: new TurnStore(storage.sql, now),
    timers: new Timers(storage),
    files: createSessionFiles(storage.sql, now),
    audit: new AuditOutbox(storage.sql),
  };
  const { workspace, keyId } = meta;
  const deps = wiring.turnDeps(workspace);
  const runner = new TurnRunner({
    ...parts,
    ...own,
    deps,
    workspace,
    keyId,
    session,
    rules: () => wiring.rules(workspace),
    namesFor: (plan) => wiring.namesFor(workspace, plan),
  });
  return { meta, ...parts, runner };
}

function readMeta(sql: SqlStorage): SessionMeta {
  const row = sql
    .exec<{ workspace: string; key_id: string; setup: string; created_at: number }>('SELECT workspace, key_id, setup, created_at FROM meta')
    .one();
  return { workspace: row.workspace, keyId: row.key_id, setup: JSON.parse(row.setup) as SessionSetup, createdAt: row.created_at };
}
