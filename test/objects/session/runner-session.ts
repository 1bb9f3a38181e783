/** An open session in plain Node, over SQLite in memory, with a scripted model and tool. It can die and be opened again. */
import type { UsageReport } from '../../../src/core/records/usage.ts';
import { createHash } from 'node:crypto';
import { vi } from 'vitest';
import { buildAliasMap } from '../../../src/core/toolset/alias-map.ts';
import type { AuditRow } from '../../../src/core/records/audit.ts';
import type { ChatEvent } from '../../../src/core/model/chat-event.ts';
import type { ClientTool, Plan } from '../../../src/core/turn/plan.ts';
import type { PolicyRule } from '../../../src/core/policy/rule.ts';
import type { SessionUpdate } from '../../../src/core/turn/session-summary.ts';
import type { SessionEvent } from '../../../src/core/turn/session-event.ts';
import { textResult, type ToolDefinition } from '../../../src/core/tools/tool.ts';
import type { SubscriptionHead } from '../../../src/core/triggers/callbacks/callback.ts';
import type { TurnNotice } from '../../../src/core/triggers/callbacks/turn-notice.ts';
import { turnNames } from '../../../src/engine/plan/plan-names.ts';
import type { TurnDeps } from '../../../src/engine/turn/run-turn.ts';
import type { Directory } from '../../../src/ports/directory.ts';
import type { ToolOutcome, ToolContext } from '../../../src/ports/tool-executor.ts';
import { runAlarm } from '../../../src/objects/session/object/alarm.ts';
import { ApprovalLinks } from '../../../src/objects/session/pending/approval-links.ts';
import { AuditOutbox } from '../../../src/objects/session/object/audit-outbox.ts';
import { CallJournals } from '../../../src/objects/session/log/call-journal.ts';
import { CallStore } from '../../../src/objects/session/direct/keyed-call-store.ts';
import { CompletionStore } from '../../../src/objects/session/log/completion-store.ts';
import { callWithSession } from '../../../src/objects/session/direct/direct-calls.ts';
import type { DecisionContext } from '../../../src/objects/session/pending/decide.ts';
import { EventLog } from '../../../src/objects/session/log/event-log.ts';
import { WaitStore } from '../../../src/objects/session/pending/wait-store.ts';
import { UsageOutbox } from '../../../src/objects/session/object/usage-outbox.ts';
import { SummaryOutbox } from '../../../src/objects/session/object/summary-outbox.ts';
import { Notices } from '../../../src/objects/session/object/notices.ts';
import { createPools } from '../../../src/engine/fair-pool.ts';
import { createRememberedRules } from '../../../src/objects/shared/remembered-rules.ts';
import { createTaintStore } from '../../../src/objects/shared/taint-store.ts';
import { createResultStore } from '../../../src/objects/session/log/result-store.ts';
import type { OpenSession } from '../../../src/objects/session/object/open-session.ts';
import { lazySessionTables, sessionMigrations } from '../../../src/objects/session/object/schema.ts';
import { withLazyTables } from '../../../src/objects/shared/lazy-tables.ts';
import { Timers } from '../../../src/objects/session/object/timers.ts';
import { createLogTranscript } from '../../../src/objects/session/log/transcript-log.ts';
import { TurnRunner } from '../../../src/objects/session/turn/turn-runner.ts';
import { TurnStore } from '../../../src/objects/session/turn/turn-store.ts';
import type { SessionCall, SessionCallRequest } from '../../../src/ports/session.ts';
import { createMemoryFiles } from '../../../src/storage/files/memory-files.ts';
import { compile, knownTools, toolOf } from '../../fakes/known-tools.ts';
import { countedIds, fakeClock, keptLog } from '../../fakes/runtime.ts';
import { fakeSql } from '../../fakes/sql-storage.ts';

// The platform hashes in another thread, which takes an unknown time.
vi.spyOn(crypto.subtle, 'digest').mockImplementation(async (_algorithm, data) => {
  const bytes = ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);
  return Uint8Array.from(createHash('sha256').update(bytes).digest()).buffer;
});

export const plan: Plan = { model: 'a/b', fallbacks: [], instructions: '', allow: null, aliases: true, limits: {}, settings: {} };
export const pointer = { toolset: 'demo', version: 1, revision: 1, hash: 'h' };

const builtins = ['bash', 'read', 'http_request'].map((name) => toolOf('builtin', name, { kind: 'builtin' }));
const toolset = {
  tools: [
    { tool: 'builtin.bash' },
    { tool: 'builtin.bash', name: 'asks', approval: 'always' },
    { tool: 'builtin.read' },
    { tool: 'builtin.http_request' },
  ],
};

export type Model = (signal: AbortSignal) => AsyncIterable<readonly ChatEvent[]>;
export type Execute = (args: Record<string, unknown>, context: ToolContext, canonical: string) => Promise<ToolOutcome>;

export async function* reply(...events: ChatEvent[]): AsyncGenerator<ChatEvent[]> {
  yield events;
}

export const finish: ChatEvent = { type: 'finish', reason: 'stop', raw: 'stop' };

/** A step of calls: `[name, arguments]` each. */
export function calls(...made: [name: string, args: Record<string, unknown>][]): Model {
  const events = made.flatMap(([name, args], call): ChatEvent[] => [
    { type: 'call-start', call, name, nativeId: null },
    { type: 'call-end', call, state: 'ok', arguments: args, raw: JSON.stringify(args) },
  ]);
  return () => reply(...events, { type: 'finish', reason: 'tool-calls', raw: null });
}

/** Never ends, like a provider that stopped sending; ends when aborted. */
export async function* silence(signal: AbortSignal): AsyncGenerator<ChatEvent[]> {
  await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
  yield [];
}

/** `more`: additional tools of any kind in the toolset; `asks`: those that require approval. `safe`: those that may run again. */
export type RoomOptions = {
  asks?: readonly string[];
  safe?: readonly string[];
  execute?: Execute;
  clientTools?: ClientTool[];
  rules?: PolicyRule[];
  more?: readonly ToolDefinition[];
  /** The owner of the session. */
  keyId?: string;
  /** What the Catalog replies when the session is about to have more questions or queued turns. */
  admitWork?: OpenSession['admitWork'];
};

export async function makeRoom(
  models: Model[],
  {
    execute = async () => textResult('ran'),
    clientTools = [],
    rules = [],
    more = [],
    asks = [],
    safe = ['builtin.read'],
    keyId = 'root',
    admitWork = async () => null,
  }: RoomOptions = {},
) {
  const clock = fakeClock();
  const running = createPools(clock).turns;
  const ids = countedIds();
  const sql = withLazyTables(fakeSql(sessionMigrations, lazySessionTables), lazySessionTables);
  sql.exec(`INSERT INTO meta (id, workspace, key_id, setup, created_at) VALUES (1, 'default', 'root', '{}', 0)`);
  const document = {
    tools: [
      ...toolset.tools,
      ...more.map(({ canonical }) => ({ tool: canonical, ...(asks.includes(canonical) && { approval: 'always' }) })),
    ],
  };
  const { edition } = await compile(document, knownTools([...builtins, ...more]));
  const all = buildAliasMap(edition, { aliases: true });
  const scripted = [...models];
  const alarm: { at: number | null } = { at: null };
  const storage = {
    sql,
    setAlarm: async (at: number) => {
      alarm.at = at;
    },
    deleteAlarm: async () => {
      alarm.at = null;
    },
  } as unknown as DurableObjectStorage;
  const work: Promise<unknown>[] = [];
  const sent: AuditRow[] = [];
  const allowed: PolicyRule[] = [];
  /** `<key> <scope>` of the active keys. */
  const standing = new Set(['k1 approve']);
  const aborted: unknown[] = [];
  const asked = { model: 0 };
  const brake = { audit: false, catalog: 0 };
  /** null: the Catalog does not return the subscribers. `isAway`: it takes no notices. `take`: receives them instead. */
  const listeners: {
    heads: readonly SubscriptionHead[] | null;
    isAway: boolean;
    take?: (notices: readonly TurnNotice[]) => Promise<void>;
  } = { heads: [], isAway: false };
  const told: TurnNotice[] = [];
  const used: UsageReport[] = [];
  const kept = keptLog();
  const deps = {
    clock,
    ids,
    log: kept,
    directory: {
      provider: async () => ({ name: 'a', kind: 'rehearsal', baseUrl: '', headers: {}, models: [], profile: {} }),
    } as unknown as Directory,
    model: {
      stream: (_request: unknown, signal: AbortSignal) => {
        asked.model += 1;
        signal.addEventListener('abort', () => aborted.push(signal.reason), { once: true });
        return (scripted.shift() ?? (() => reply(finish)))(signal);
      },
    },
    executor: {
      isSafe: (tool: { canonical: string }) => safe.includes(tool.canonical),
      execute: (tool: { canonical: string }, args: Record<string, unknown>, context: ToolContext) => execute(args, context, tool.canonical),
    },
    fetch: () => Promise.reject(new Error('no network here')),
    secret: async () => '',
  } as unknown as TurnDeps;

  const updates: SessionUpdate[] = [];
  const requireReceiver = (): void => {
    if (listeners.isAway) throw new Error('the receiver is unavailable');
  };

  /** Opens the session as a new process does, from its tables. */
  const open = (): OpenSession => {
    const log = new EventLog(sql, clock.now);
    const turns = new TurnStore(sql, clock.now);
    const timers = new Timers(storage);
    timers.restore(clock.now());
    const results = createResultStore(sql);
    const meta = { workspace: 'default', keyId: 'root', setup: { model: 'a/b', listed: true }, createdAt: clock.now() };
    const host = {
      ...{ sql, session: 's', timers, now: clock.now, log: kept, isGone: () => self.room !== opened },
      waitUntil: (promise: Promise<unknown>) => void work.push(promise),
    };
    const audit = new AuditOutbox({ ...host, send: async (rows) => void sent.push(...rows) });
    const summary = new SummaryOutbox({
      ...{ ...host, meta, turns },
      send: async (update) => {
        requireReceiver();
        updates.push(update);
      },
    });
    const waits = new WaitStore(sql, clock.now, (how) => (how === 'asked' ? summary.noteAsked() : summary.noteChange()));
    const parts = {
      summary,
      log,
      transcript: createLogTranscript(sql, log, results),
      completions: new CompletionStore(sql),
      results,
      turns,
      timers,
      notices: new Notices({
        ...{ ...host, events: log, turns },
        subscriptions: async () => {
          if (listeners.heads === null) throw new Error('the catalog is unavailable');
          return listeners.heads;
        },
        send: async (notices) => {
          if (listeners.take !== undefined) return await listeners.take(notices);
          requireReceiver();
          told.push(...notices);
        },
      }),
      usage: new UsageOutbox({
        ...{ ...host, keyId: 'root', model: 'a/b', events: log, turns },
        provider: (name) => deps.directory.provider('default', name),
        send: async (reports) => {
          requireReceiver();
          used.push(...reports);
        },
      }),
      files: createMemoryFiles(clock.now),
      waits,
      approvalLinks: new ApprovalLinks(sql, clock.now),
      remembered: createRememberedRules(sql, clock.now),
      taint: createTaintStore(sql, clock.now),
      keyedCalls: new CallStore(sql, clock.now),
      journals: new CallJournals(sql, clock.now, waits),
    };
    const runner = new TurnRunner({
      ...parts,
      deps,
      audit: (row) => {
        if (brake.audit) throw new Error('the disk is full');
        audit.add(row);
      },
      flushAudit: () => audit.outbox.flush(),
      workspace: 'default',
      keyId,
      session: 's',
      rules: async () => parts.remembered.after([...rules, ...allowed]),
      skillsFor: async () => [],
      admitWork,
      namesFor: async (asked) => {
        if (brake.catalog > 0) {
          brake.catalog -= 1;
          throw new Error('the catalog is unavailable');
        }
        return turnNames(all, asked);
      },
      waitUntil: (promise) => void work.push(promise),
      running,
      yieldToEventLoop: async () => undefined,
    });
    const metadata = { read: () => ({}), write: () => undefined };
    const opened = { meta, audit, ...parts, admitWork, runner, metadata, replay: { sql, run: null } };
    return opened;
  };

  const countEvents = (): unknown => sql.exec('SELECT sum(count) AS events FROM events').one().events;
  const settle = async (): Promise<void> => {
    // Hashes are made in other threads, so on a busy machine only a long time without a new event means that all is done.
    for (let events = countEvents(), quiet = 0; quiet < 60; quiet += 1) {
      await crypto.subtle.digest('SHA-256', new Uint8Array(1));
      await new Promise((resolve) => setImmediate(resolve));
      const before = events;
      events = countEvents();
      if (events !== before) quiet = 0;
    }
  };
  const self = {
    room: open(),
    sql,
    clock,
    alarm,
    work,
    sent,
    allowed,
    standing,
    aborted,
    asked,
    brake,
    /** Places of turns in progress. */
    running,
    listeners,
    /** The notices that the Catalog received. */
    told,
    /** The usage that the shard received. */
    used,
    /** The updates of lists that the Catalog received. */
    updates,
    lines: kept.lines,
    /** The names with which direct calls are resolved. */
    names: all,
    settle,
    accept(id: string, own: Partial<Plan> = {}): void {
      self.room.turns.accept(id, { ...plan, edition: pointer, ...(clientTools.length > 0 && { clientTools }), ...own }, [
        { type: 'text', text: id },
      ]);
      self.room.runner.startNext();
    },
    events: (): SessionEvent[] => [...self.room.log.readAll(0)],
    /** The process dies: whatever it still does has no effect. */
    die(): void {
      sql.exec('UPDATE turns SET epoch = epoch + 1');
      self.room = open();
    },
    /** A new process opens the tables that a dead one left. */
    async restart(): Promise<void> {
      self.die();
      self.room.runner.recover();
      self.room.runner.startNext();
      await settle();
    },
    async ring(): Promise<void> {
      const leave = async (): Promise<void> => {
        self.left += 1;
      };
      const own = { openSession: self.room, session: 's', now: clock.now, log: kept };
      await runAlarm({ ...own, isCancelled: async () => false, continueReplay: async () => undefined, destroy: leave });
      await settle();
    },
    left: 0,
    decisionContext: (): DecisionContext => ({
      openSession: self.room,
      session: 's',
      now: clock.now,
      log: kept,
      isDeleted: () => false,
      redact: async (reason) => reason,
      addRule: async (...added) => void allowed.push(...added),
      knowHosts: async (hosts) =>
        void allowed.push(...hosts.map((host) => ({ decision: 'allow' as const, kind: 'network' as const, host }))),
      originRights: async ({ keyId }) => {
        if (brake.catalog > 0) {
          brake.catalog -= 1;
          throw new Error('the catalog is unavailable');
        }
        // Administrators, who decide for every session.
        return standing.has(`${keyId} approve`) ? { scopes: ['approve', 'admin'] } : null;
      },
    }),
    underWay: new Map<string, Promise<SessionCall>>(),
    call: (request: Partial<SessionCallRequest> & { name: string }): Promise<SessionCall> =>
      callWithSession(
        {
          openSession: self.room,
          session: 's',
          keyId: 'root',
          deps,
          ids,
          names: self.names,
          rules: self.room.remembered.after([...rules, ...allowed]),
          skills: [],
          inFlight: self.underWay,
          scratchFiles: () => createMemoryFiles(clock.now),
          directMarks: () => ({ read: async () => null, add: async () => undefined, known: () => null }),
          isDeleted: () => false,
          isEnding: () => false,
          audit: (row) => self.room.audit.add(row),
        },
        { plan: { ...plan, edition: pointer }, arguments: {}, ...request },
      ),
  };
  return self;
}

export const ends = (events: SessionEvent[]) =>
  events.flatMap((event) => (event.type === 'turn-end' ? [`${event.turn} ${event.status} ${event.reason}`] : []));

export const types = (events: SessionEvent[]) => events.map(({ type }) => type);
