/**
 * The outbox for the usage of this session's turns. When a turn ends or waits, the range of its events that is not counted yet is stored, in
 * the transaction of the event; what was used is read from the log when the range is sent. The shard counts a range once, however often it
 * is sent, so nothing is lost or doubled when the process dies in between.
 */
import { splitModelRef } from '../../../core/turn/agent.ts';
import { failpoint } from '../../../core/failpoint.ts';
import { priceOf } from '../../../core/model/price.ts';
import type { ProviderAccess } from '../../../core/model/provider.ts';
import { foldTurnUse } from '../../../core/turn/turn-usage.ts';
import { withBudgets } from '../../../core/usage-limits.ts';
import { droppedNames, joinModelUses, toModelUse, type UsageReport } from '../../../core/records/usage.ts';
import type { EventLog } from '../log/event-log.ts';
import { eventsOfTurn } from '../pending/pending.ts';
import type { TurnStore } from '../turn/turn-store.ts';
import { Outbox, type OutboxHost, tableRows } from '../../shared/outbox.ts';
import type { Timers } from './timers.ts';

/** Ranges sent in one call. */
const batchRanges = 20;

type UsageParts = OutboxHost & {
  sql: SqlStorage;
  keyId: string;
  /** Of the session, for turns without events. */
  model: string;
  events: EventLog;
  turns: Pick<TurnStore, 'get'>;
  timers: Timers;
  provider(name: string): Promise<ProviderAccess>;
  send(reports: readonly UsageReport[]): Promise<void>;
};

const statements = {
  next: 'SELECT sequence, turn, after_event, through_event, report FROM usage_ranges ORDER BY sequence LIMIT ?',
  remove: 'DELETE FROM usage_ranges WHERE sequence = ? AND through_event = ?',
};

type Range = { sequence: number; turn: string; after_event: number; through_event: number; report: string | null };

export class UsageOutbox {
  readonly #parts: UsageParts;
  readonly outbox: Outbox<Range>;

  constructor(parts: UsageParts) {
    this.#parts = parts;
    this.outbox = new Outbox({
      ...parts,
      rows: tableRows<Range>(parts.sql, { ...statements, changes: 'through_event', batch: batchRanges }),
      send: async (ranges) => {
        await failpoint('usage-noted-before-sent');
        await parts.send(await Promise.all(ranges.map((range) => this.#build(range))));
        await failpoint('usage-sent-before-noted');
      },
      what: 'usage',
      timer: parts.timers.of('usage'),
    });
  }

  /** Notes that a turn has ended or waits, with its event `through`. Call it in the transaction of that event. */
  note(turn: string, through: number): void {
    const { sql } = this.#parts;
    const query = 'SELECT max(counted_event, coalesce(input_event, 0)) AS after, state FROM turns WHERE id = ?';
    const { after, state } = sql.exec<{ after: number; state: string }>(query, turn).one();
    if (through <= after) return;
    sql.exec('INSERT INTO usage_ranges (turn, after_event, through_event) VALUES (?, ?, ?)', turn, after, through);
    // A turn that has ended has no further range.
    if (state !== 'ended') sql.exec('UPDATE turns SET counted_event = ? WHERE id = ?', through, turn);
    this.outbox.added();
    this.outbox.send();
  }

  /** Notes the usage of a turn whose events are not in the log. Call it in the transaction that stores its result. */
  noteReport(report: UsageReport): void {
    const insert = 'INSERT INTO usage_ranges (turn, after_event, through_event, report) VALUES (?, 0, ?, ?)';
    this.#parts.sql.exec(insert, report.id, report.part, JSON.stringify(report));
    this.outbox.added();
    this.outbox.send();
  }

  async #build({ turn, after_event: after, through_event: through, report }: Range): Promise<UsageReport> {
    // Written by `noteReport`.
    if (report !== null) return JSON.parse(report) as UsageReport;
    const { events: log, turns, session, keyId, model, sql } = this.#parts;
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
        ...droppedNames(use.dropped),
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
