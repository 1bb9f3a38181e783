/** A Catalog's deliveries in plain Node: real SQLite, a manual clock, and sessions that record their dispatches. */
import { Problem } from '../../../../../src/core/problem.ts';
import type { Trigger } from '../../../../../src/core/turn/turn-trigger.ts';
import type { TurnNotice } from '../../../../../src/core/triggers/callbacks/turn-notice.ts';
import type { CatalogContext } from '../../../../../src/objects/catalog/context.ts';
import { createTransactions } from '../../../../../src/objects/catalog/records/transactions.ts';
import { dropBacklog } from '../../../../../src/objects/catalog/triggers/deliveries/backlog.ts';
import { createDispatcher } from '../../../../../src/objects/catalog/triggers/deliveries/dispatcher.ts';
import type { Dispatcher } from '../../../../../src/objects/catalog/triggers/deliveries/dispatcher.ts';
import type { TriggeredRun } from '../../../../../src/engine/triggers/dispatch-run.ts';
import type { NewDelivery } from '../../../../../src/ports/triggers.ts';
import { catalogMigrations } from '../../../../../src/objects/catalog/schema.ts';
import { keptLog } from '../../../../fakes/runtime.ts';
import { fakeSql, fakeTransactions } from '../../../../fakes/sql-storage.ts';

export const hook: Trigger = { kind: 'webhook', name: 'hook' };
export const nightly: Trigger = { kind: 'schedule', name: 'nightly' };

export type Storage = { context: CatalogContext; advance(ms: number): void };

export function openStorage(sql = fakeSql(catalogMigrations)): Storage {
  let now = Date.UTC(2026, 0, 1);
  // Deliveries use nothing else of it.
  const context: CatalogContext = {
    workspace: 'default',
    sql,
    now: () => now,
    log: keptLog(),
    ...createTransactions(fakeTransactions(sql), () => context),
  } as unknown as CatalogContext;
  return { context, advance: (ms) => (now += ms) };
}

type Details = { trigger?: Trigger; isQueued?: true; text?: string; turn?: string };

/** A delivery that will run. Its session is named after its key. Each request of a sender has another `turn`. */
export function run(id: string, sessionKey = id, more: Details = {}): NewDelivery {
  const { trigger = hook, isQueued, text = JSON.stringify({ id }), turn = `turn of ${id}` } = more;
  return {
    trigger,
    id,
    event: 'thing.happened',
    payload: trigger.kind === 'schedule' ? null : { text, isJson: true, headers: { 'x-id': id } },
    verdict: {
      become: 'run',
      agent: 'doer',
      session: `session of ${sessionKey}`,
      turn,
      rendered: { sessionKey, input: `Do ${id}.`, warnings: [] },
      ...(isQueued && { isQueued }),
    },
  };
}

/** Present in the Catalog's own tables since `at`. */
export function storeDocument({ context: { sql } }: Storage, kind: 'agent' | 'toolset', name: string, body: object, at: number): void {
  const query =
    'INSERT OR REPLACE INTO documents (kind, name, version, deleted, body, created_at, updated_at) VALUES (?, ?, 1, 0, ?, ?, ?)';
  sql.exec(query, kind, name, JSON.stringify(body), at, at);
}

/** The outcome of a dispatch: accepted; accepted, but the response is lost or never arrives; unreachable; permanently rejected. */
export type Fate = 'taken' | 'taken, answer lost' | 'taken, no answer' | 'no answer' | 'unreachable' | 'refused';

export type Life = {
  dispatcher: Dispatcher;
  /** Every dispatch that sessions accepted, once each, in order. */
  begun: TriggeredRun[];
  /** All attempts. */
  tried: TriggeredRun[];
  told: TurnNotice[];
  /** The number of notices at each start of the callback sender. */
  kicks: number[];
  /** The outcomes of the next attempts; `taken` when there are no more. */
  fates: Fate[];
  /** While set, dispatches wait for it. */
  hold: Promise<void> | null;
  /** Waits until nothing is in progress. */
  quiet(): Promise<void>;
  /** Simulates the death of the object: its later actions have no effect, and another object opens the same tables. */
  die(): void;
};

const never = new Promise<never>(() => undefined);

/** Consecutive objects over the same tables, with sessions that outlive them. */
export function openLife({ context }: Storage): Life {
  const taken = new Set<string>();
  let generation = 0;
  let work: Promise<unknown>[] = [];

  const dispatch = async (mine: number, run: TriggeredRun): Promise<void> => {
    if (mine !== generation) return await never;
    life.tried.push(run);
    const fate = life.fates.shift() ?? 'taken';
    await life.hold;
    if (mine !== generation || fate === 'no answer') return await never;
    const key = `${run.trigger.kind} ${run.trigger.name} ${run.trigger.delivery} ${run.trigger.run}`;
    // `dispatchRun` also checks this first.
    if (run.isRetry && taken.has(key)) return;
    if (fate === 'refused') throw new Problem('not_found', 'There is no agent "doer".');
    if (fate === 'unreachable') throw new Error('Network connection lost.');
    if (!taken.has(key)) life.begun.push(run);
    taken.add(key);
    if (fate === 'taken, answer lost') throw new Error('Network connection lost.');
    if (fate === 'taken, no answer') await never;
  };
  const open = (): Dispatcher => {
    const mine = generation;
    return createDispatcher(context, {
      dispatch: (run) => dispatch(mine, run),
      notifyTurn: (notice) => void life.told.push(notice),
      callbacksQueued: () => void life.kicks.push(life.told.length),
      waitUntil: (promise) => void work.push(promise),
      wake: async () => undefined,
      wakesBy: () => false,
    });
  };
  const life: Life = {
    dispatcher: open(),
    begun: [],
    tried: [],
    told: [],
    kicks: [],
    fates: [],
    hold: null,
    quiet: async () => {
      while (work.length > 0) {
        const all = work;
        work = [];
        await Promise.all(all);
      }
    },
    die: () => {
      generation += 1;
      work = [];
      dropBacklog(context);
      life.dispatcher = open();
    },
  };
  return life;
}

export function notice(run: TriggeredRun, status: TurnNotice['status'] = 'completed'): TurnNotice {
  return {
    session: `session of ${run.sessionKey}`,
    sequence: 1,
    type: status === 'completed' ? 'turn.completed' : status === 'waiting' ? 'approval.required' : 'turn.failed',
    turn: run.turn,
    at: 0,
    agent: run.agent,
    trigger: run.trigger,
    status,
    reason: 'stop',
    text: 'Done.',
    usage: { inputTokens: 1, outputTokens: 1 },
  };
}
