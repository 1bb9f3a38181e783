/**
 * Everything an open session works with, built from its tables once an object's life: log, queue, timers, files,
 * transcript and the runner. `session.ts` is its door.
 */
import type { CallScope } from '../engine/tool-call.ts';
import type { FileSystem } from '../ports/file-system.ts';
import type { ResultStore } from '../ports/result-store.ts';
import type { SessionSetup, SessionView } from '../ports/session.ts';
import { migrate } from '../storage/schema.ts';
import { createSessionFiles } from '../storage/session-files.ts';
import type { Wiring } from '../wiring.ts';
import { ApprovalLinks } from './approval-links.ts';
import { Approvals } from './approvals.ts';
import { AuditOutbox } from './audit-outbox.ts';
import { CallJournals } from './call-journal.ts';
import { CallStore } from './call-store.ts';
import { ClientCalls } from './client-calls.ts';
import { CompletionStore } from './completion-store.ts';
import { EventLog } from './event-log.ts';
import { Inputs } from './inputs.ts';
import { Notices } from './notices.ts';
import { createResultStore } from './result-store.ts';
import { sessionMigrations } from './schema.ts';
import { createTaintStore, type TaintStore } from '../storage/taint-store.ts';
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
  approvals: Approvals;
  links: ApprovalLinks;
  clientCalls: ClientCalls;
  inputs: Inputs;
  calls: CallStore;
  journals: CallJournals;
  completions: CompletionStore;
  taint: TaintStore;
  notices: Notices;
  runner: TurnRunner;
};

/**
 * `none` before `foundRoom` was called for this object, and after its deletion; `leaving` from a deletion's begin to its end.
 * Reads only where there is nothing, so that guessing ids stores nothing.
 */
export function stateOf(storage: DurableObjectStorage): 'none' | 'open' | 'leaving' {
  const { sql } = storage;
  if (sql.exec(`SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'meta'`).toArray().length === 0) return 'none';
  migrate(storage, sessionMigrations);
  const [row] = [...sql.exec<{ leaving: number }>('SELECT leaving FROM meta')];
  return row === undefined ? 'none' : row.leaving === 0 ? 'open' : 'leaving';
}

/** Durable before anything else of a deletion: whoever opens the object from here on does the rest. Its alarm comes if nobody does. */
export function markLeaving({ timers }: Room, storage: DurableObjectStorage, retryAt: number): void {
  storage.sql.exec('UPDATE meta SET leaving = 1');
  timers.clearAll();
  timers.set('erase', retryAt);
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

/** `audit`, `flushAudit`, `tell` (what is stored of turns goes to the Catalog) and `keep` are the object's. Starts nothing: the caller recovers and pumps once it has the room. */
export function openRoom(
  storage: DurableObjectStorage,
  session: string,
  wiring: Wiring,
  own: { audit: CallScope['audit']; flushAudit(): Promise<unknown>; tell(): void; keep(work: Promise<unknown>): void },
): Room {
  migrate(storage, sessionMigrations);
  const meta = readMeta(storage.sql);
  const now = (): number => wiring.clock.now();
  const log = new EventLog(storage.sql, now);
  const transcript = createLogTranscript(storage.sql, log);
  const approvals = new Approvals(storage.sql, now);
  const inputs = new Inputs(storage.sql, now);
  const turns = new TurnStore(storage.sql, now);
  const timers = new Timers(storage);
  const { workspace, keyId } = meta;
  const parts = {
    log,
    transcript,
    completions: new CompletionStore(storage.sql),
    results: createResultStore(storage.sql),
    turns,
    timers,
    files: createSessionFiles(storage.sql, now),
    audit: new AuditOutbox(storage.sql),
    approvals,
    links: new ApprovalLinks(storage.sql, now),
    clientCalls: new ClientCalls(storage.sql),
    inputs,
    calls: new CallStore(storage.sql, now),
    journals: new CallJournals(storage.sql, now, { approvals, inputs }),
    taint: createTaintStore(storage.sql, now),
    notices: new Notices({
      ...{ sql: storage.sql, session, log, turns, timers, now, tell: own.tell },
      subscriptions: () => wiring.directory.subscriptions(workspace),
    }),
  };
  const deps = wiring.turnDeps(workspace);
  const runner = new TurnRunner({
    ...parts,
    ...own,
    deps,
    workspace,
    keyId,
    session,
    rules: () => wiring.rules(workspace),
    namesFor: (plan) => wiring.namesFor(workspace, plan, keyId),
    skillsFor: async (plan) => (plan.skills === undefined ? [] : await wiring.skillsFor(workspace, plan)),
  });
  return { meta, ...parts, runner };
}

export function viewOf(session: string, { meta, turns }: Room): SessionView {
  const { agent, model, toolset } = meta.setup;
  const current = turns.current();
  return {
    id: session,
    ...(agent !== undefined && { agent }),
    ...(model !== undefined && { model }),
    toolset: toolset ?? null,
    createdAt: new Date(meta.createdAt).toISOString(),
    turn: current === null ? null : { id: current.id, status: current.status ?? current.state, reason: current.reason },
    queued: turns.queued(),
  };
}

function readMeta(sql: SqlStorage): SessionMeta {
  const row = sql
    .exec<{ workspace: string; key_id: string; setup: string; created_at: number }>('SELECT workspace, key_id, setup, created_at FROM meta')
    .one();
  return { workspace: row.workspace, keyId: row.key_id, setup: JSON.parse(row.setup) as SessionSetup, createdAt: row.created_at };
}
