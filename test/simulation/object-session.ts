/**
 * The machine of the session tier: the released `Session` object, on a storage that can lose its last writes. What the platform does
 * around it (one object at a time, its alarm, the output gate) is here and in `sql-disk.ts`.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Decision } from '../../src/core/policy/approval.ts';
import type { Plan } from '../../src/core/turn/plan.ts';
import type { PolicyRule } from '../../src/core/policy/rule.ts';
import { originOf, type Principal, Scope } from '../../src/core/people/principal.ts';
import { unwrap } from '../../src/core/problem.ts';
import type { SessionEvent } from '../../src/core/turn/session-event.ts';
import type { TurnDeps } from '../../src/engine/turn/run-turn.ts';
import { EventLog } from '../../src/objects/session/log/event-log.ts';
import { createSessionTables } from '../../src/objects/session/object/open-session.ts';
import { Session } from '../../src/objects/session/object/session.ts';
import type { Bindings } from '../../src/storage/bindings.ts';
import { createSessionFiles } from '../../src/storage/files/session-files.ts';
import type { ModelUse, UsageReport } from '../../src/core/records/usage.ts';
import type { AuditPort } from '../../src/ports/audit.ts';
import { createPools } from '../../src/engine/fair-pool.ts';
import type { Directory } from '../../src/ports/directory.ts';
import type { Triggers } from '../../src/ports/triggers.ts';
import type { SessionNeeds } from '../../src/objects/session/object/session-needs.ts';
import { setSystemClock } from './life-clock.ts';
import type { Audited, Counted, Machine, Process, WholeProcess } from './machine.ts';
import { silentLog } from './process-deps.ts';
import { SqlDisk, storageOf } from './sql-disk.ts';
import { CatalogAway, givenFile, namesFor, pointerOf } from './upstream.ts';
import type { Life, World } from './world.ts';
import { sessionSql } from '../objects/session/session-sql.ts';

const owner: Principal = { workspace: 'default', keyId: 'key', scopes: ['admin'] };
const session = 'ab'.repeat(32);
const callPlan: Plan = {
  model: 'a/b',
  fallbacks: [],
  instructions: '',
  edition: pointerOf('first'),
  allow: null,
  aliases: true,
  limits: {},
  settings: {},
};

export function createObjectMachine(world: World, database: DatabaseSync, depsOf: (life: Life) => TurnDeps): Machine {
  const disk = new SqlDisk(database, (query, [id, , body]) => {
    if (query.startsWith('INSERT INTO events ')) world.note(() => `  ${id} ${String(body).slice(0, 180)}`);
    else world.note(() => `    ${query.slice(0, 90)}`);
  });
  const rules: PolicyRule[] = [];
  /** Notices about turns, stored outside: a crash of this object does not undo them. */
  const told = new Set<string>();
  const counted: Counted = new Map();
  const audited: Audited = new Map();
  let known: { version: number; events: SessionEvent[] } = { version: -1, events: [] };
  const founder = world.newLife();
  createSessionTables(storageOf(disk, founder), {
    workspace: owner.workspace,
    keyId: owner.keyId,
    setup: { listed: true },
    createdAt: world.now,
  });
  createSessionFiles(sessionSql(storageOf(disk, founder)), () => world.now).write(givenFile, new Uint8Array(1), { own: false });
  disk.flush();
  founder.state = 'dead';
  return {
    boot: (life) => bootObject(disk, life, wiringOf(world, life, depsOf(life), rules, { told, counted, audited }, disk)),
    flush: () => disk.flush(),
    lose: () => disk.lose(world.random),
    alarm: () => disk.alarm,
    clearAlarm: () => disk.setAlarm(null),
    events: () => {
      if (known.version !== disk.version) known = { version: disk.version, events: readLog(disk, world) };
      return known.events;
    },
    unfinished: () =>
      disk.isEmpty()
        ? 0
        : disk.all(`SELECT id FROM turns WHERE state <> 'ended'`).length +
          disk.all('SELECT sequence FROM notices').length +
          disk.all('SELECT sequence FROM usage_ranges').length +
          disk.all('SELECT id FROM summary WHERE revision > sent').length +
          disk.all('SELECT call_id FROM waits WHERE indexed = 0').length,
    told: () => told,
    counted: () => counted,
    audited: () => audited,
    isGone: () => disk.isEmpty(),
    close: () => disk.close(),
  };
}

function bootObject(disk: SqlDisk, life: Life, wiring: SessionNeeds): Process {
  setSystemClock(life.clock);
  const ctx = {
    id: { toString: () => session },
    storage: storageOf(disk, life),
    waitUntil: (work: Promise<unknown>) => void work.catch(() => undefined),
  };
  // The test's `wire` returns what it is given; the object uses no more of its context than this.
  const object = new Session(ctx as unknown as DurableObjectState, wiring as unknown as Bindings);
  return {
    send: async (key, text, plan) => {
      const request = { plan, input: [{ type: 'text' as const, text }], idempotencyKey: key, bodyHash: key };
      return unwrap(await object.run('submit', [owner, request])).turn;
    },
    cancel: async () => unwrap(await object.run('cancel', [owner])).turn,
    decide: async (callId: string, decision: Decision) => {
      unwrap(await object.run('decide', [owner, callId, decision, { remember: false }]));
    },
    giveResult: async (callId, text) => {
      unwrap(await object.run('submitResults', [owner, [{ callId, content: [{ type: 'text', text }], isError: false }]]));
    },
    alarm: () => object.alarm(),
    read: async (after) => unwrap(await object.run('eventsAfter', [owner, after, 0])),
    more: moreOf(object),
  };
}

function moreOf(object: Session): WholeProcess {
  return {
    remember: async (callId) => {
      unwrap(await object.run('decide', [owner, callId, 'approve', { remember: true }]));
    },
    mintLink: async (callId) => unwrap(await object.run('mintLink', [owner, callId])).nonce,
    decideByLink: async (nonce, decision) => {
      const outcome = await object.run('decideByLink', [{ nonce, origin: originOf(owner, 0) }, decision]);
      // The key of the link could not be checked, so nothing was decided.
      if (!outcome.ok && outcome.problem.code === 'internal') throw new CatalogAway();
      unwrap(outcome);
    },
    call: async (key, name, args) => {
      const request = { plan: callPlan, name, arguments: args, ...(key !== null && { idempotencyKey: key, bodyHash: key }) };
      return unwrap(await object.run('call', [owner, request])).pending?.[0]?.callId ?? null;
    },
    chat: async (key, { text, results, plan }) => {
      const taken = results.map((result) => ({
        callId: result.callId,
        content: [{ type: 'text' as const, text: result.text }],
        isError: false,
      }));
      const input = text === null ? [] : [{ type: 'text' as const, text }];
      const chat = { dialect: 'openai-chat' as const, echo: {}, model: plan.model, includeUsage: true, results: taken };
      const { turn, completion } = unwrap(await object.run('submit', [owner, { plan, input, idempotencyKey: key, bodyHash: key, chat }]));
      if (completion === null) throw new Error('a chat client got no response to read');
      return { turn, completion };
    },
    streamTurn: async (turn) => unwrap(await object.run('stream', [owner, turn])),
    streamCompletion: async (completion) => unwrap(await object.run('completion', [owner, completion, { streamed: true }])),
    answer: async (turn) => unwrap(await object.run('waitForAnswer', [owner, turn])).status,
    remove: async () => unwrap(await object.run('remove', [owner])),
  };
}

/** The dependencies of the object: outside calls take time, and everything written before a request is stored. */
function wiringOf(
  world: World,
  life: Life,
  deps: TurnDeps,
  rules: PolicyRule[],
  { told, counted, audited }: { told: Set<string>; counted: Counted; audited: Audited },
  disk: SqlDisk,
): SessionNeeds {
  const outside = async (what: string): Promise<void> => {
    const position = disk.position();
    await life.pause(what);
    if (life.state === 'alive') disk.flush();
    // The platform sends nothing before the writes in front of it are stored: this never leaves.
    else if (disk.wasLostBefore(position)) await new Promise(() => undefined);
  };
  const catalog = {
    forgetSession: () => outside('the Catalog forgets the session'),
    limitedHolders: async () => {
      await outside('the Catalog reads who has limits');
      if (world.random.chance(0.05)) throw new CatalogAway();
      return [{ of: 'workspace' as const, name: 'default', limits: { storageBytes: 1_000 } }];
    },
    updateSession: async () => {
      await outside('the Catalog updates its lists');
      if (world.random.chance(0.05)) throw new CatalogAway();
    },
    originRights: async () => {
      await outside('the Catalog checks the key of a link');
      if (world.random.chance(0.05)) throw new CatalogAway();
      return { scopes: Scope.options };
    },
    admitOpenWork: async () => {
      await outside('the Catalog counts questions and queued turns');
      if (world.random.chance(0.05)) throw new CatalogAway();
      return null;
    },
    addRule: async (...added: PolicyRule[]) => {
      await outside('the Catalog stores a rule');
      rules.push(...added);
    },
    knowHosts: async (hosts: readonly string[]) => {
      await outside('the Catalog stores hosts');
      rules.push(...hosts.map((host) => ({ decision: 'allow' as const, kind: 'network' as const, host })));
    },
  };
  let away = false;
  const wiring: Pick<SessionNeeds, 'clock' | 'ids' | 'log' | 'turnDeps' | 'callDeps' | 'namesFor' | 'rules' | 'recordUsage'> & {
    catalog(): typeof catalog;
    limiter: Pick<SessionNeeds['limiter'], 'reportStorage'>;
    sessionEnded: SessionNeeds['sessionEnded'];
    pools: Pick<SessionNeeds['pools'], 'turns'>;
    audit(): Pick<AuditPort, 'append'>;
    triggers(): Pick<Triggers, 'noteTurns'>;
    directory: Pick<Directory, 'subscriptions' | 'provider'>;
  } = {
    clock: life.clock,
    ids: deps.ids,
    log: silentLog,
    catalog: () => catalog,
    pools: createPools(life.clock),
    limiter: { reportStorage: () => outside('the limits hear what is stored') },
    // In the background, and it never fails.
    sessionEnded: async () => undefined,
    audit: () => ({
      append: async (rows) => {
        await outside('a write to the audit');
        if (world.random.chance(0.05)) throw new CatalogAway();
        for (const row of rows) audited.set(`${row.sequence}`, row);
      },
    }),
    recordUsage: async (_workspace, _session, reports) => {
      await outside('usage is stored');
      if (world.random.chance(0.05)) throw new CatalogAway();
      for (const report of reports) count(counted, report);
      // The answer is lost: the reports come again.
      if (world.random.chance(0.05)) throw new CatalogAway();
    },
    triggers: () => ({
      noteTurns: async (notices) => {
        await outside('the Catalog receives a notice');
        if (world.random.chance(0.05)) throw new CatalogAway();
        for (const { turn, type } of notices) if (type !== 'approval.required') told.add(turn);
      },
    }),
    // There is a subscriber.
    directory: { subscriptions: async () => [{}], provider: deps.directory.provider },
    turnDeps: () => deps,
    callDeps: () => deps,
    namesFor: async (_workspace, plan) => {
      await life.pause('the names of the plan are read');
      // For a moment: a turn retries, a direct call gets the error.
      away = !away && world.random.chance(0.03);
      if (away) throw new CatalogAway();
      return namesFor(plan);
    },
    rules: async () => [...rules],
  };
  // Only a session that forks uses more, and no client here makes it fork.
  return wiring as unknown as SessionNeeds;
}

/** What the shard does: the parts of a turn arrive in order, and each counts once. */
function count(counted: Counted, { id, part, models, request }: UsageReport): void {
  const known = counted.get(id) ?? { part: 0, modelCalls: 0, toolCalls: 0, inputTokens: 0 };
  if (known.part >= part) return;
  const sum = (value: (use: ModelUse) => number): number => models.reduce((total, use) => total + value(use), 0);
  counted.set(id, {
    part,
    modelCalls: known.modelCalls + sum(({ calls }) => calls),
    toolCalls: known.toolCalls + (request?.toolCalls ?? 0),
    inputTokens: known.inputTokens + sum(({ usage }) => usage.inputTokens),
  });
}

function readLog(disk: SqlDisk, world: World): SessionEvent[] {
  if (disk.isEmpty()) return [];
  const exec = (query: string, ...bindings: (string | number | null)[]) => {
    const rows = disk.all(query, ...bindings);
    return { toArray: () => rows, one: () => rows[0], [Symbol.iterator]: () => rows[Symbol.iterator]() };
  };
  // The log only reads this way.
  return [...new EventLog({ exec } as unknown as SqlStorage, () => world.now).readAll(0)];
}
