/** A Catalog's callbacks in plain Node: real SQLite and encryption, a manual clock, and scripted receivers. */
import { enqueueCallbacks } from '../../../../../src/objects/catalog/triggers/callbacks/callbacks.ts';
import { createCallbackSender } from '../../../../../src/objects/catalog/triggers/callbacks/callback-sender.ts';
import type { CallbackSender } from '../../../../../src/objects/catalog/triggers/callbacks/callback-sender.ts';
import { scheduleWriter } from '../../../../../src/objects/catalog/triggers/schedules/schedule-writer.ts';
import { createTransactions } from '../../../../../src/objects/catalog/records/transactions.ts';
import { subscriptionWriter } from '../../../../../src/objects/catalog/triggers/callbacks/subscription-writer.ts';
import { webhookWriter } from '../../../../../src/objects/catalog/triggers/webhook-writer.ts';
import { putDocument, removeDocument } from '../../../../../src/objects/catalog/documents/write-document.ts';
import type { CatalogContext } from '../../../../../src/objects/catalog/context.ts';
import { readSettings } from '../../../../../src/core/people/settings.ts';
import type { HeldImpact, HeldTool } from '../../../../../src/core/triggers/callbacks/held-notice.ts';
import type { TurnNotice } from '../../../../../src/core/triggers/callbacks/turn-notice.ts';
import type { CallbackMessage, CallbackOutcome } from '../../../../../src/engine/triggers/send-callback.ts';
import { createMasterKey } from '../../../../../src/storage/keys/master-key.ts';
import { catalogMigrations } from '../../../../../src/objects/catalog/schema.ts';
import { keptLog } from '../../../../fakes/runtime.ts';
import { fakeSql, fakeTransactions } from '../../../../fakes/sql-storage.ts';

const writers = { webhook: webhookWriter, schedule: scheduleWriter, subscription: subscriptionWriter };

export const secret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';

export const taken: Partial<CallbackOutcome> = { delivered: true, status: 204, error: null };
export const refused: Partial<CallbackOutcome> = { status: 500, error: 'Responded with 500.' };

export function openCallbacks() {
  const sql = fakeSql(catalogMigrations);
  let now = Date.UTC(2026, 0, 1);
  const log = keptLog();
  const settings = readSettings({ MONIKER_MASTER_KEY: 'a master key of at least 32 characters' });
  const master = createMasterKey(settings.masterKey);
  // Callbacks, and the writers of their targets, use nothing else of it.
  const context: CatalogContext = {
    workspace: 'default',
    sql,
    now: () => now,
    ...createTransactions(fakeTransactions(sql), () => context),
    master,
    settings,
    log,
  } as unknown as CatalogContext;

  let generation = 0;
  let work: Promise<unknown>[] = [];
  const self = {
    context,
    log,
    /** The sent messages, in order. */
    sent: [] as CallbackMessage[],
    /** The outcomes of the next attempts; `taken` when there are no more. */
    outcomes: [] as Partial<CallbackOutcome>[],
    /** Attempts to these URLs fail permanently, whatever `outcomes` has. For messages that are sent at once, in no fixed order. */
    rejecting: new Set<string>(),
    /** Attempts to these URLs stay in progress until they are removed here. */
    held: new Map<string, Promise<void>>(),
    impactOfHeld: async (_server: string, _tool: HeldTool): Promise<HeldImpact | null> => null,
    mostAtOnce: 0,
    wakes: 0,
    sender: null as unknown as CallbackSender,
    now: () => now,
    put: (kind: keyof typeof writers, name: string, body: Record<string, unknown>) =>
      putDocument(context, writers[kind], { kind, name, body, options: {}, by: 'root' }),
    remove: (kind: keyof typeof writers, name: string) => removeDocument(context, writers[kind], { kind, name, options: {}, by: 'root' }),
    subscribe: (name: string, more: Record<string, unknown> = {}) =>
      self.put('subscription', name, { url: `https://${name}.example.net/`, secret, ...more }),
    /** Simulates a schedule written by an earlier release, which required no secret. */
    dropSeal(kind: keyof typeof writers, name: string): void {
      sql.exec('UPDATE documents SET sealed = NULL WHERE kind = ? AND name = ?', kind, name);
    },
    tell(more: Partial<TurnNotice> = {}): void {
      context.record(() => enqueueCallbacks(context, notice(more)));
      self.sender.kick();
    },
    /** Waits until only held attempts are in progress. */
    async quiet(): Promise<void> {
      while (work.length > 0) {
        const all = work;
        work = [];
        await Promise.all(all);
      }
    },
    /** Waits until this many messages were sent; secrets are opened on other threads, whose timing is unknown. */
    async untilSent(count: number): Promise<void> {
      for (let looks = 0; self.sent.length < count; looks += 1) {
        if (looks > 100_000) throw new Error(`${self.sent.length} messages of ${count} went out`);
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    /** Advances the time and fires the alarm. */
    async advance(ms: number): Promise<void> {
      now += ms;
      await self.sender.runDue();
    },
    /** Advances to the next due time; returns how long that was. */
    async skip(): Promise<number> {
      const due = self.sender.nextDue() ?? now;
      const waited = Math.max(0, due - now);
      await self.advance(waited);
      await self.quiet();
      return waited;
    },
    /** Simulates the death of the object: its later actions have no effect, and another object opens the same tables. */
    die(): void {
      generation += 1;
      work = [];
      self.sender = open();
    },
    /** Counts more callbacks of a target than its rows. */
    load(kind: string, name: string, { pending = 0, bytes = 0, ended = 0 }: { pending?: number; bytes?: number; ended?: number }): void {
      const statement = `INSERT INTO callback_loads (kind, name, pending, bytes, ended) VALUES (?1, ?2, ?3, ?4, ?5)
        ON CONFLICT (kind, name) DO UPDATE SET pending = pending + ?3, bytes = bytes + ?4, ended = ended + ?5`;
      sql.exec(statement, kind, name, pending, bytes, ended);
    },
    counts: () => {
      const query = 'SELECT coalesce(sum(pending), 0) AS messages, coalesce(sum(bytes), 0) AS bytes FROM callback_loads';
      return sql.exec<{ messages: number; bytes: number }>(query).one();
    },
  };

  let under = 0;
  const send = async (mine: number, message: CallbackMessage): Promise<CallbackOutcome> => {
    self.sent.push(message);
    under += 1;
    self.mostAtOnce = Math.max(self.mostAtOnce, under);
    await self.held.get(message.url);
    under -= 1;
    if (mine !== generation) return await new Promise(() => undefined);
    const outcome = self.rejecting.has(message.url) ? { isFinal: true } : (self.outcomes.shift() ?? taken);
    return { delivered: false, isFinal: false, status: null, error: 'x', durationMs: 5, retryAfterMs: null, ...outcome };
  };
  const open = (): CallbackSender => {
    const mine = generation;
    return createCallbackSender(context, {
      send: (message) => send(mine, message),
      impactOfHeld: (server, tool) => self.impactOfHeld(server, tool),
      waitUntil: (promise) => void work.push(promise),
      wake: async () => {
        self.wakes += 1;
      },
    });
  };
  self.sender = open();
  return self;
}

let turns = 0;

/** In a separate turn, unless it is named. */
export function notice(more: Partial<TurnNotice> = {}): TurnNotice {
  turns += 1;
  return {
    session: 's',
    sequence: turns,
    type: 'turn.completed',
    turn: `turn_${turns}`,
    at: Date.UTC(2026, 0, 1),
    agent: 'doer',
    status: 'completed',
    reason: 'stop',
    text: 'Done.',
    usage: { inputTokens: 1, outputTokens: 1 },
    ...more,
  };
}
