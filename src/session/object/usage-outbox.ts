/**
 * The outbox for the usage of this session's turns. When a turn ends or waits, the range of its events that is not counted yet is stored, in
 * the transaction of the event; what was used is read from the log when the range is sent. The shard counts a range once, however often it
 * is sent, so nothing is lost or doubled when the process dies in between.
 */
import { splitModelRef } from '../../core/agent.ts';
import { failpoint } from '../../core/failpoint.ts';
import { limits } from '../../core/limits.ts';
import { priceOf } from '../../core/model/price.ts';
import type { ProviderAccess } from '../../core/model/provider.ts';
import { foldTurnUse } from '../../core/turn/turn-usage.ts';
import { withBudgets } from '../../core/usage-limits.ts';
import { joinModelUses, toModelUse, type UsageReport } from '../../core/usage.ts';
import type { EventLog } from '../log/event-log.ts';
import { eventsOfTurn } from '../pending/pending.ts';
import type { TurnStore } from '../turn/turn-store.ts';
import { faultOf, withCatalogTimeout } from './audit-outbox.ts';
import type { Timers } from './timers.ts';

/** Ranges sent in one call. */
const batchRanges = 20;

type UsageParts = {
  sql: SqlStorage;
  session: string;
  keyId: string;
  /** Of the session, for turns without events. */
  model: string;
  log: EventLog;
  turns: Pick<TurnStore, 'get'>;
  timers: Timers;
  now(): number;
  provider(name: string): Promise<ProviderAccess>;
  /** A range was stored: send it in the background. */
  sendUsage(): void;
};

type Range = { sequence: number; turn: string; after: number; through: number };

export class UsageOutbox {
  readonly #parts: UsageParts;
  #sending: Promise<void> | null = null;
  /** null: not known. Only this object writes rows. */
  #hasRows: boolean | null = null;

  constructor(parts: UsageParts) {
    this.#parts = parts;
  }

  /** Notes that a turn has ended or waits, with its event `through`. Call it in the transaction of that event. */
  note(turn: string, through: number): void {
    const { sql, timers, now, sendUsage } = this.#parts;
    const query = 'SELECT max(counted_event, coalesce(input_event, 0)) AS after, state FROM turns WHERE id = ?';
    const { after, state } = sql.exec<{ after: number; state: string }>(query, turn).one();
    if (through <= after) return;
    this.#hasRows = true;
    sql.exec('INSERT INTO usage_ranges (turn, after_event, through_event) VALUES (?, ?, ?)', turn, after, through);
    // A turn that has ended has no further range.
    if (state !== 'ended') sql.exec('UPDATE turns SET counted_event = ? WHERE id = ?', through, turn);
    // Its alarm is durable with the row: the range is sent even if the process dies.
    timers.set('usage', now() + limits.noticeRetryMs);
    sendUsage();
  }

  hasRows(): boolean {
    this.#hasRows ??= this.#parts.sql.exec('SELECT sequence FROM usage_ranges LIMIT 1').toArray().length > 0;
    return this.#hasRows;
  }

  /** Sends all stored ranges and deletes those that were taken. Returns the error when some are left, else null. */
  async handOver(send: (reports: readonly UsageReport[]) => Promise<void>): Promise<Error | null> {
    if (!this.hasRows()) return null;
    this.#sending ??= this.#sendAll(send);
    return await faultOf(withCatalogTimeout(this.#sending, limits.noticeWaitMs));
  }

  async #sendAll(send: (reports: readonly UsageReport[]) => Promise<void>): Promise<void> {
    const { sql } = this.#parts;
    try {
      for (;;) {
        // This `await` also makes sure that nothing below runs before the caller has stored the returned promise in `#sending`.
        await failpoint('usage-noted-before-sent');
        const query = 'SELECT sequence, turn, after_event AS after, through_event AS through FROM usage_ranges ORDER BY sequence LIMIT ?';
        const ranges = this.hasRows() ? sql.exec<Range>(query, batchRanges).toArray() : [];
        const last = ranges.at(-1);
        if (last === undefined) return;
        await send(await Promise.all(ranges.map((range) => this.#build(range))));
        await failpoint('usage-sent-before-noted');
        sql.exec('DELETE FROM usage_ranges WHERE sequence <= ?', last.sequence);
        this.#hasRows = null;
      }
    } finally {
      // Cleared in the same tick as the last read: ranges stored from now on are sent by another run.
      this.#sending = null;
    }
  }

  async #build({ turn, after, through }: Range): Promise<UsageReport> {
    const { log, turns, session, keyId, model, sql } = this.#parts;
    const row = turns.get(turn);
    const use = foldTurnUse(eventsOfTurn(turn, log.readAll(after, through)), model);
    const { start } = use;
    const at = start?.at ?? row?.acceptedAt ?? use.at;
    const agent = row?.plan.agent ?? null;
    const toolset = row?.plan.edition?.toolset ?? null;
    const dialect = sql.exec<{ dialect: string }>('SELECT dialect FROM completions WHERE turn = ? LIMIT 1', turn).toArray()[0]?.dialect;
    const models = await Promise.all(use.calls.map(async (call) => toModelUse(call, await this.#price(call.model))));
    return {
      ...{ id: turn, part: through, at, keyId, agent, toolset, tools: use.tools },
      models: joinModelUses(models),
      ...withBudgets(row?.plan.limited),
      request: {
        ...{ id: turn, kind: 'turn', at: new Date(at).toISOString(), requestId: null, keyId, agent, session, turn, toolset },
        ...{ dialect: dialect ?? null, model: start?.model ?? null, status: use.status, code: use.code },
        ...{ durationMs: Math.max(0, use.at - at), firstTokenMs: use.firstTokenMs, toolCalls: use.toolCalls },
      },
    };
  }

  /** null also when the provider no longer exists. */
  async #price(ref: string) {
    const { provider, model } = splitModelRef(ref);
    try {
      return priceOf(await this.#parts.provider(provider), model);
    } catch {
      // The usage counts without its cost.
      return null;
    }
  }
}
