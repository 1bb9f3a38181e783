/**
 * The open session: log, queue, timers, files, transcript and runner, built from its tables once in the life of the object.
 * Also who may use it. `session.ts` is its public interface.
 */
import type { FileSystem } from '../../../ports/file-system.ts';
import type { RememberedRules } from '../../../ports/remembered-rules.ts';
import type { ResultStore } from '../../../ports/result-store.ts';
import type { SessionMetadata, SessionSetup, SessionView } from '../../../ports/session.ts';
import { type Act, isAllowed } from '../../../core/people/authority.ts';
import { coversPattern } from '../../../core/model/model-name.ts';
import { areHostsWithin } from '../../../core/secrets/secret.ts';
import type { Principal } from '../../../core/people/principal.ts';
import { Problem } from '../../../core/problem.ts';
import { triggerOfKey } from '../../../core/triggers/trigger-principal.ts';
import { withLazyTables } from '../../shared/lazy-tables.ts';
import { hasTable, migrate } from '../../shared/migrate.ts';
import { createSessionFiles } from '../../../storage/files/session-files.ts';
import type { SessionNeeds } from './session-needs.ts';
import { ApprovalLinks } from '../pending/approval-links.ts';
import { type AdmitWork, createAdmitWork } from './admit-work.ts';
import { AuditOutbox } from './audit-outbox.ts';
import { CallJournals } from '../log/call-journal.ts';
import { CallStore } from '../direct/keyed-call-store.ts';
import { CompletionStore } from '../log/completion-store.ts';
import { EventLog } from '../log/event-log.ts';
import { WaitStore } from '../pending/wait-store.ts';
import { Notices } from './notices.ts';
import { SummaryOutbox } from './summary-outbox.ts';
import { createResultStore } from '../log/result-store.ts';
import { lazySessionTables, sessionMigrations } from './schema.ts';
import { createRememberedRules } from '../../shared/remembered-rules.ts';
import { createTaintStore, type TaintStore } from '../../shared/taint-store.ts';
import { Timers } from './timers.ts';
import { UsageOutbox } from './usage-outbox.ts';
import { createLogTranscript, type LogTranscript } from '../log/transcript-log.ts';
import { TurnRunner } from '../turn/turn-runner.ts';
import { TurnStore } from '../turn/turn-store.ts';

export type SessionRecord = { workspace: string; keyId: string; setup: SessionSetup; createdAt: number };

export type OpenSession = {
  meta: SessionRecord;
  log: EventLog;
  turns: TurnStore;
  timers: Timers;
  files: FileSystem;
  audit: AuditOutbox;
  transcript: LogTranscript;
  results: ResultStore;
  waits: WaitStore;
  approvalLinks: ApprovalLinks;
  remembered: RememberedRules;
  keyedCalls: CallStore;
  journals: CallJournals;
  completions: CompletionStore;
  taint: TaintStore;
  notices: Notices;
  usage: UsageOutbox;
  summary: SummaryOutbox;
  admitWork: AdmitWork;
  runner: TurnRunner;
  /** `run`: of a replay, while it is driven in this process. */
  metadata: { read(): SessionMetadata; write(metadata: SessionMetadata): void };
  replay: { sql: SqlStorage; run: { cancel(reason: string): void; stop(): Promise<void> } | null };
};

/**
 * Returns the state of the session in this object: `none` before it is created, while it is restored and after its deletion, `leaving` while
 * a deletion is in progress. Creates no tables, so that requests with guessed ids store nothing.
 */
export function readSessionState(storage: DurableObjectStorage): 'none' | 'open' | 'leaving' {
  const { sql } = storage;
  if (!hasTable(sql, 'meta') || hasTable(sql, 'restoring')) return 'none';
  migrate(storage, sessionMigrations, lazySessionTables);
  const [row] = [...sql.exec<{ leaving: number }>('SELECT leaving FROM meta')];
  return row === undefined ? 'none' : row.leaving === 0 ? 'open' : 'leaving';
}

/** Marks the session as being deleted, durably and before the rest of the deletion. If the process dies, the next request or the alarm finishes it. */
export function markDeleting({ timers }: OpenSession, storage: DurableObjectStorage, by: string | null, retryAt: number): void {
  storage.sql.exec('UPDATE meta SET leaving = 1, deleted_by = coalesce(deleted_by, ?)', by);
  timers.close(retryAt);
}

/** Returns the id of the key that deletes the session; null for one that is deleted because it has expired. */
export function readDeletedBy(sql: SqlStorage): string | null {
  return sql.exec<{ by: string | null }>('SELECT deleted_by AS by FROM meta').one().by;
}

export function createSessionTables(storage: DurableObjectStorage, meta: SessionRecord): void {
  migrate(storage, sessionMigrations, lazySessionTables);
  const { workspace, keyId, setup, createdAt } = meta;
  const insert = 'INSERT INTO meta (id, workspace, key_id, setup, created_at) VALUES (1, ?, ?, ?, ?)';
  storage.sql.exec(insert, workspace, keyId, JSON.stringify(setup), createdAt);
}

/**
 * Builds the open session. `own`: of the object; `isEnding`: whether it is being deleted. The tables are of the newest schema. Starts
 * nothing: the caller recovers and starts turns.
 */
export function buildOpenSession(
  storage: DurableObjectStorage,
  session: string,
  wiring: SessionNeeds,
  own: {
    isGone(): boolean;
    isEnding(): boolean;
    waitUntil(work: Promise<unknown>): void;
  },
): OpenSession {
  const sql = withLazyTables(storage.sql, lazySessionTables);
  const meta = readMeta(sql);
  const now = (): number => wiring.clock.now();
  const log = new EventLog(sql, now);
  const results = createResultStore(sql);
  const transcript = createLogTranscript(sql, log, results);
  const turns = new TurnStore(sql, now);
  const timers = new Timers(storage, sql);
  const { workspace, keyId } = meta;
  const host = { sql, session, timers, now, log: wiring.log, isGone: own.isGone, waitUntil: own.waitUntil };
  const summary = new SummaryOutbox({
    ...{ ...host, meta, turns },
    // An update that arrives after the deletion would list the session again.
    isGone: own.isEnding,
    send: (update) => wiring.catalog(workspace).updateSession(update),
  });
  const waits = new WaitStore(sql, now, (how) => (how === 'asked' ? summary.noteAsked() : summary.noteChange()));
  const parts = {
    log,
    transcript,
    completions: new CompletionStore(sql),
    results,
    turns,
    timers,
    files: createSessionFiles(sql, now),
    audit: new AuditOutbox({ ...host, send: (rows) => wiring.audit(workspace).append(rows) }),
    waits,
    approvalLinks: new ApprovalLinks(sql, now),
    remembered: createRememberedRules(sql, now),
    keyedCalls: new CallStore(sql, now),
    journals: new CallJournals(sql, now, waits),
    taint: createTaintStore(sql, now),
    summary,
    notices: new Notices({
      ...{ ...host, events: log, turns },
      send: (notices) => wiring.triggers(workspace).noteTurns(notices),
      subscriptions: () => wiring.directory.subscriptions(workspace),
    }),
    usage: new UsageOutbox({
      ...{ ...host, keyId, events: log, turns },
      send: (reports) => wiring.recordUsage(workspace, session, reports),
      model: meta.setup.model ?? 'unknown/unknown',
      provider: (name) => wiring.directory.provider(workspace, name),
    }),
  };
  const admitWork = createAdmitWork({ session, keyId, summary, catalog: wiring.catalog(workspace), log: wiring.log });
  const deps = wiring.turnDeps(workspace);
  const runner = new TurnRunner({
    ...parts,
    ...own,
    ...{ deps, admitWork },
    audit: (row) => parts.audit.add(row),
    flushAudit: () => parts.audit.outbox.flush(),
    workspace,
    keyId,
    session,
    rules: async () => parts.remembered.after(await wiring.rules(workspace)),
    namesFor: (plan) => wiring.namesFor(workspace, plan, keyId),
    skillsFor: async (plan) => (plan.skills === undefined ? [] : await wiring.skillsFor(workspace, plan)),
    running: wiring.pools.turns,
    yieldToEventLoop: () => wiring.clock.sleep(0),
  });
  return { meta, ...parts, admitWork, runner, metadata: createMetadata(sql), replay: { sql, run: null } };
}

function createMetadata(sql: SqlStorage): OpenSession['metadata'] {
  return {
    read() {
      const [row] = sql.exec<{ value: string }>('SELECT value FROM metadata').toArray();
      return row === undefined ? {} : (JSON.parse(row.value) as SessionMetadata); // `write` wrote it.
    },
    write: (metadata) => void sql.exec('INSERT OR REPLACE INTO metadata (id, value) VALUES (1, ?)', JSON.stringify(metadata)),
  };
}

export function toSessionView(session: string, { meta, turns, log, summary, remembered, metadata }: OpenSession): SessionView {
  const { agent, model, toolset, from } = meta.setup;
  const current = turns.current();
  const { title, usage, activeAt } = summary.summary();
  const rules = remembered.list();
  const pairs = metadata.read();
  return {
    id: session,
    ...(agent !== undefined && { agent }),
    ...(model !== undefined && { model }),
    toolset: toolset ?? null,
    createdAt: new Date(meta.createdAt).toISOString(),
    turn: current === null ? null : { id: current.id, status: current.status ?? current.state, reason: current.reason },
    queued: turns.countQueued(),
    ...(from !== undefined && { from }),
    ...(rules.length > 0 && { remembered: rules.map(({ key: _key, note: _note, ...rule }) => rule) }),
    ...(Object.keys(pairs).length > 0 && { metadata: pairs }),
    title,
    lastEvent: log.newest,
    lastActivityAt: new Date(activeAt).toISOString(),
    usage,
  };
}

function readMeta(sql: SqlStorage): SessionRecord {
  const query = 'SELECT workspace, key_id AS keyId, setup, created_at AS createdAt FROM meta';
  const row = sql.exec<Omit<SessionRecord, 'setup'> & { setup: string }>(query).one();
  return { ...row, setup: JSON.parse(row.setup) as SessionSetup };
}

/** Returns the session for its owner and for unbound administrators of its workspace. Throws `not_found` for a replay. */
export function enterSession(open: OpenSession | null, caller: Principal): OpenSession {
  return requireSession(enterObject(open, caller));
}

/** Like `enterSession`, also for a replay. */
export function enterObject(open: OpenSession | null, caller: Principal): OpenSession {
  if (open === null) throw unknownSession();
  const { workspace, keyId } = open.meta;
  if (caller.workspace !== workspace || !isAllowed(caller, { act: 'open-session', isOwn: caller.keyId === keyId })) throw unknownSession();
  return open;
}

/**
 * Throws `forbidden` if the turn that waits here is of another key, and reaches hosts that the caller's tools may not, or uses models that the
 * caller may not: results of the caller would reach them.
 */
export function requireTurnWithin({ turns }: OpenSession, { keyId, egressHosts, models }: Principal): void {
  const plan = egressHosts === undefined && models === undefined ? undefined : turns.waiting()?.plan;
  if (plan === undefined || plan.caller?.key === keyId) return;
  const refuse = (field: string, own: readonly string[], more: string): never => {
    const detail = `This key is limited by its \`${field}\` (${own.join(', ') || 'none'}), and the turn that waits here ${more}. Continue it with the key that started it.`;
    throw new Problem('forbidden', detail);
  };
  if (egressHosts !== undefined && !areHostsWithin(egressHosts, plan.egressHosts)) refuse('egressHosts', egressHosts, 'reaches more');
  // Compared as they are written, also of a provider that knows one model by several names.
  const isOwn = (ref: string): boolean => models === undefined || coversPattern(models, ref);
  if (models !== undefined && ![plan.model, ...plan.fallbacks].every(isOwn)) refuse('models', models, 'uses others');
}

/** Like `enterSession`; a session that a trigger created is also open to keys that approve for its agent. */
export function enterToDecide(open: OpenSession | null, caller: Principal): OpenSession {
  if (open === null) throw unknownSession();
  const isAllowedHere = isAllowed(caller, decisionIn(open, caller.keyId));
  if (caller.workspace !== open.meta.workspace || !isAllowedHere) throw unknownSession();
  return requireSession(open);
}

/** The act of a key that decides an approval of this session. */
export function decisionIn({ meta: { keyId, setup } }: Pick<OpenSession, 'meta'>, by: string): Act {
  const triggered = triggerOfKey(keyId) === null ? null : (setup.agent ?? null);
  return { act: 'decide-approval', isOwn: by === keyId, triggered };
}

/** Returns the session; for all callers who may not use it, it does not exist. */
export function requireSession(open: OpenSession | null): OpenSession {
  if (open === null) throw unknownSession();
  if (open.meta.setup.replay !== true) return open;
  throw new Problem('not_found', 'This is the id of a replay, and of no session. Use /v1/replays with it.');
}

export function unknownSession(): Problem {
  return new Problem('not_found', 'There is no such session.');
}
