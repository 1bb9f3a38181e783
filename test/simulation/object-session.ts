/**
 * The session tier's machine: the `Session` object as it is released, on a storage that can lose its last writes. What the
 * platform does around it (one object at a time, its alarm, the gate before what goes out) is here and in `sql-disk.ts`.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Decision } from '../../src/core/approval.ts';
import type { PolicyRule } from '../../src/core/policy.ts';
import type { Principal } from '../../src/core/principal.ts';
import { unwrap } from '../../src/core/problem.ts';
import type { SessionEvent } from '../../src/core/session-event.ts';
import type { TurnDeps } from '../../src/engine/run-turn.ts';
import { EventLog } from '../../src/session/event-log.ts';
import { foundRoom } from '../../src/session/room.ts';
import { Session } from '../../src/session/session.ts';
import type { Bindings } from '../../src/storage/bindings.ts';
import type { Wiring } from '../../src/wiring.ts';
import { limitTimeBy } from './life-time-limit.ts';
import type { Machine, Process } from './machine.ts';
import { silentLog } from './process-deps.ts';
import { SqlDisk, storageOf } from './sql-disk.ts';
import { namesFor } from './upstream.ts';
import type { Life, World } from './world.ts';

const owner: Principal = { workspace: 'default', keyId: 'key', scopes: ['admin'] };
const session = 's';

export function createObjectMachine(world: World, database: DatabaseSync, depsOf: (life: Life) => TurnDeps): Machine {
  const disk = new SqlDisk(database, (query, [id, , body]) => {
    if (query.startsWith('INSERT INTO events ')) world.note(() => `  ${id} ${String(body).slice(0, 180)}`);
    else world.note(() => `    ${query.slice(0, 90)}`);
  });
  const rules: PolicyRule[] = [];
  const founder = world.newLife();
  foundRoom(storageOf(disk, founder), { workspace: owner.workspace, keyId: owner.keyId, setup: { listed: true }, createdAt: world.now });
  disk.flush();
  founder.state = 'dead';
  return {
    boot: (life) => bootObject(disk, life, wiringOf(world, life, depsOf(life), rules, disk)),
    flush: () => disk.flush(),
    lose: () => disk.lose(world.random),
    alarm: () => disk.alarm,
    clearAlarm: () => disk.setAlarm(null),
    events: () => readLog(disk, world),
    unfinished: () => (disk.isEmpty() ? 0 : disk.all(`SELECT id FROM turns WHERE state <> 'ended'`).length),
    close: () => disk.close(),
  };
}

function bootObject(disk: SqlDisk, life: Life, wiring: Wiring): Process {
  limitTimeBy(life.clock);
  const ctx = {
    id: { toString: () => session },
    storage: storageOf(disk, life),
    waitUntil: (work: Promise<unknown>) => void work.catch(() => undefined),
  };
  // The test's `wire` hands out what it is given; the object uses no more of its context than this.
  const object = new Session(ctx as unknown as DurableObjectState, wiring as unknown as Bindings);
  return {
    send: async (key, text, plan) => {
      const request = { plan, input: [{ type: 'text' as const, text }], idempotencyKey: key, bodyHash: key };
      return unwrap(await object.submit(owner, request)).turn;
    },
    cancel: async () => unwrap(await object.cancel(owner)).turn,
    decide: async (callId: string, decision: Decision) => {
      unwrap(await object.decide(owner, callId, decision, { remember: false }));
    },
    giveResult: async (callId, text) => {
      unwrap(await object.takeResults(owner, [{ callId, content: [{ type: 'text', text }], isError: false }]));
    },
    alarm: () => object.alarm(),
    read: async (after) => unwrap(await object.eventsAfter(owner, after, 0)),
  };
}

/** What the object is built with: everything outside takes its time, and what goes out finds all that was written stored. */
function wiringOf(world: World, life: Life, deps: TurnDeps, rules: PolicyRule[], disk: SqlDisk): Wiring {
  const outside = async (what: string): Promise<void> => {
    await life.pause(what);
    if (life.state === 'alive') disk.flush();
  };
  const catalog = {
    appendAudit: async () => {
      await outside('the Catalog is told');
      if (world.random.chance(0.05)) throw new Error('the Catalog is away');
    },
    forgetSession: () => outside('the Catalog forgets the session'),
    allow: async (rule: PolicyRule) => {
      await outside('the Catalog is told a rule');
      rules.push(rule);
    },
  };
  const wiring: Pick<Wiring, 'clock' | 'ids' | 'log' | 'turnDeps' | 'callDeps' | 'namesFor' | 'rules'> & { catalog(): typeof catalog } = {
    clock: life.clock,
    ids: deps.ids,
    log: silentLog,
    catalog: () => catalog,
    turnDeps: () => deps,
    callDeps: () => deps,
    namesFor: async (_workspace, plan) => {
      await life.pause('the names of the plan are read');
      return namesFor(plan);
    },
    rules: async () => [...rules],
  };
  // A session that forks asks for more; nobody here makes it fork.
  return wiring as unknown as Wiring;
}

function readLog(disk: SqlDisk, world: World): SessionEvent[] {
  if (disk.isEmpty()) return [];
  const exec = (query: string, ...bindings: (string | number | null)[]) => {
    const rows = disk.all(query, ...bindings);
    return { toArray: () => rows, one: () => rows[0], [Symbol.iterator]: () => rows[Symbol.iterator]() };
  };
  // The log reads by nothing else.
  return [...new EventLog({ exec } as unknown as SqlStorage, () => world.now).readAll(0)];
}
