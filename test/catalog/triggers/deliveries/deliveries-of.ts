/** A Catalog's deliveries in plain Node: real SQLite, a clock that is set by hand, and sessions that remember what they were given. */
import { Problem } from '../../../../src/core/problem.ts';
import type { Trigger } from '../../../../src/core/triggers/delivery.ts';
import type { TurnNotice } from '../../../../src/core/triggers/callbacks/turn-notice.ts';
import type { CatalogContext } from '../../../../src/catalog/context.ts';
import { createTransactions } from '../../../../src/catalog/records/transactions.ts';
import { dropBacklog } from '../../../../src/catalog/triggers/deliveries/backlog.ts';
import { createDispatcher } from '../../../../src/catalog/triggers/deliveries/dispatcher.ts';
import type { Dispatcher } from '../../../../src/catalog/triggers/deliveries/dispatcher.ts';
import type { TriggeredRun } from '../../../../src/engine/triggers/dispatch-run.ts';
import type { NewDelivery } from '../../../../src/ports/triggers.ts';
import { catalogMigrations } from '../../../../src/storage/schema.ts';
import { keptLog } from '../../../fakes/runtime.ts';
import { fakeSql, fakeTransactions } from '../../../fakes/sql-storage.ts';

export const hook: Trigger = { kind: 'webhook', name: 'hook' };
export const nightly: Trigger = { kind: 'schedule', name: 'nightly' };

export type Storage = { context: CatalogContext; advance(ms: number): void };

export function openStorage(sql = fakeSql(catalogMigrations)): Storage {
  let now = Date.UTC(2026, 0, 1);
  // Deliveries use no more of it than this.
  const context: CatalogContext = {
    workspace: 'default',
    sql,
    now: () => now,
    log: keptLog(),
    ...createTransactions(fakeTransactions(sql), () => context),
  } as unknown as CatalogContext;
  return { context, advance: (ms) => (now += ms) };
}

/** A delivery that is to run. Its session is named after its key. */
export function run(id: string, sessionKey = id, more: { trigger?: Trigger; isQueued?: true; text?: string } = {}): NewDelivery {
  const { trigger = hook, isQueued, text = JSON.stringify({ id }) } = more;
  return {
    trigger,
    id,
    event: 'thing.happened',
    payload: trigger.kind === 'schedule' ? null : { text, isJson: true, headers: { 'x-id': id } },
    verdict: {
      become: 'run',
      agent: 'doer',
      session: `session of ${sessionKey}`,
      turn: `turn of ${id}`,
      rendered: { sessionKey, input: `Do ${id}.`, warnings: [] },
      ...(isQueued && { isQueued }),
    },
  };
}

/** The Catalog's own tables have it since `at`. */
export function storeDocument({ context: { sql } }: Storage, kind: 'agent' | 'toolset', name: string, body: object, at: number): void {
  const query =
    'INSERT OR REPLACE INTO documents (kind, name, version, deleted, body, created_at, updated_at) VALUES (?, ?, 1, 0, ?, ?, ?)';
  sql.exec(query, kind, name, JSON.stringify(body), at, at);
}

/** What a dispatch comes to: taken; taken, but the answer is lost, or never comes; not reached; refused for good. */
export type Fate = 'taken' | 'taken, answer lost' | 'taken, no answer' | 'no answer' | 'unreachable' | 'refused';

export type Life = {
  dispatcher: Dispatcher;
  /** Every dispatch that sessions took, once each, in the order they came. */
  begun: TriggeredRun[];
  /** All that were tried. */
  tried: TriggeredRun[];
  told: TurnNotice[];
  /** How many notices there were each time the sender of callbacks was started. */
  kicks: number[];
  /** Of the next ones; `taken` when there are no more. */
  fates: Fate[];
  /** While set, dispatches wait for it. */
  hold: Promise<void> | null;
  /** Nothing is under way. */
  quiet(): Promise<void>;
  /** The object dies: what it does from here on reaches nobody. Another one is there, over the same tables. */
  die(): void;
};

const never = new Promise<never>(() => undefined);

/** One object after the other over the same tables, with sessions that outlive them. */
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
    // As `dispatchRun` asks first.
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
