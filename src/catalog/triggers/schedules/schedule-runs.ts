/**
 * When schedules run: the times that are due become deliveries, missed ones once, and the next time is written down with them, in one
 * transaction. Bringing a delivery to its session is the dispatcher's. Driven by the alarm of the Catalog.
 *
 * What is due is in `schedule_state`, so a process that dies between two runs has lost nothing: the alarm that rings afterwards finds
 * the same time, and the id of the delivery, which is that time, makes doing it twice harmless.
 */
import { Problem } from '../../../core/problem.ts';
import { limits } from '../../../core/limits.ts';
import type { DeliveryStatus } from '../../../core/triggers/delivery.ts';
import { readTimeRule } from '../../../core/triggers/schedules/next-run.ts';
import { parseTemplate } from '../../../core/triggers/templates/parse-template.ts';
import { renderTrigger } from '../../../core/triggers/templates/render-template.ts';
import type { ScheduleDocument } from '../../../core/triggers/schedules/schedule.ts';
import type { AcceptedDelivery, DeliveryVerdict, NewDelivery, ScheduleState } from '../../../ports/triggers.ts';
import type { CatalogContext } from '../../context.ts';
import { isoTime, readRow, requireRow } from '../../documents.ts';
import type { Duty } from '../../duty.ts';
import { checkBacklog } from '../deliveries/backlog.ts';
import { acceptDelivery, lastRun } from '../deliveries/deliveries.ts';
import { heldCount } from '../deliveries/delivery-rows.ts';

export type ScheduleDeps = {
  /** Id of the session of a trigger with this key. */
  sessionId(schedule: string, agent: string, sessionKey: string): Promise<string>;
  newTurn(): string;
  /** A run was stored. */
  kick(): void;
  wake(): Promise<void>;
};

export type Scheduler = Duty & {
  /** A run beside its times, whatever else of it is under way, and although it is paused. */
  runNow(schedule: string): Promise<AcceptedDelivery>;
};

export function createScheduler(context: CatalogContext, deps: ScheduleDeps): Scheduler {
  const tendOne = async (due: DueRow): Promise<void> => {
    try {
      if (await runDue(context, deps, due)) deps.kick();
    } catch (error) {
      // Too much is on its way: it stays due, and the alarm comes back for it.
      if (error instanceof Problem && error.code === 'rate_limited') return;
      context.log.error('a schedule could not run, it will be tried again', { schedule: due.schedule, cause: String(error) });
      postpone(context, due);
    }
  };

  const tendAll = async (): Promise<void> => {
    // There are at most `limits.maxSchedules`; the ones that cannot run must not stand before the others.
    const query = 'SELECT schedule, due_at, since FROM schedule_state WHERE due_at <= ? ORDER BY due_at, schedule';
    for (const row of context.sql.exec<DueRow>(query, context.now()).toArray()) await tendOne(row);
  };
  let tending: Promise<void> | null = null;

  return {
    nextDue: () =>
      context.sql.exec<{ due: number | null }>('SELECT min(due_at) AS due FROM schedule_state WHERE due_at IS NOT NULL').one().due,

    tend: () => {
      // What comes due while a round is under way is the next alarm's.
      tending ??= tendAll().finally(() => {
        tending = null;
      });
      return tending;
    },

    runNow: async (schedule) => {
      const turn = deps.newTurn();
      const time = isoTime(context.now());
      // Bodies of schedules are written by their writer only.
      const document = requireRow(context.sql, 'schedule', schedule).body as ScheduleDocument;
      const delivery = await toDelivery(deps, { schedule, document, id: `manual-${turn}`, time, turn });
      const accepted = acceptDelivery(context, delivery);
      deps.kick();
      await deps.wake();
      return accepted;
    },
  };
}

/** When it runs next, and how its newest run stands. */
export function scheduleState(context: CatalogContext, schedule: string): ScheduleState {
  const due = readDue(context, schedule);
  return { nextRunAt: due === null ? null : isoTime(due), lastRun: lastRun(context, { kind: 'schedule', name: schedule }) };
}

type DueRow = { schedule: string; due_at: number; since: number | null };

/** One delivery for all that was due, and the next time. False: there is nothing to be done any more. */
async function runDue(context: CatalogContext, deps: ScheduleDeps, { schedule, due_at: due, since }: DueRow): Promise<boolean> {
  const row = readRow(context.sql, 'schedule', schedule);
  if (row === null || row.deleted) return forget(context, schedule);
  // As above.
  const document = row.body as ScheduleDocument;
  const read = readTimeRule(document);
  if ('issue' in read) throw new Error(`${read.issue.path}: ${read.issue.message}`);
  const { newest, next } = read.rule.since(since ?? due, context.now());
  const time = isoTime(newest);
  const delivery = await toDelivery(deps, { schedule, document, id: time, time, turn: deps.newTurn() });
  // Before the transaction: one that is undone has what is on its way counted anew, for each schedule that is due.
  if (delivery.verdict.become === 'run') checkBacklog(context, delivery.trigger);
  return context.record(() => {
    // While the id of its session was reckoned, another alarm may have run it, or somebody written or removed it.
    if (readDue(context, schedule) !== due || readRow(context.sql, 'schedule', schedule)?.version !== row.version) return false;
    acceptDelivery(context, { ...delivery, verdict: withOverlap(context, schedule, document, delivery.verdict) });
    context.sql.exec('UPDATE schedule_state SET due_at = ?, since = NULL WHERE schedule = ?', next, schedule);
    return true;
  });
}

type Run = { schedule: string; document: ScheduleDocument; id: string; time: string; turn: string };

/** What is to be stored of a run: a turn, or why there is none. */
async function toDelivery(deps: ScheduleDeps, run: Run): Promise<NewDelivery> {
  return { trigger: { kind: 'schedule', name: run.schedule }, id: run.id, event: null, payload: null, verdict: await judge(deps, run) };
}

async function judge(deps: ScheduleDeps, { schedule, document, id, time, turn }: Run): Promise<DeliveryVerdict> {
  const session = parseTemplate(document.session, 'session', 'schedule');
  const input = parseTemplate(document.input, 'input', 'schedule');
  // They were read when it was written; a later release may read them otherwise.
  if ('issue' in session) return failed(`session: ${session.issue.message}`);
  if ('issue' in input) return failed(`input: ${input.issue.message}`);
  const own = { schedule, time, delivery: id };
  const made = renderTrigger({ session: session.template, input: input.template }, { payload: {}, own });
  if ('fault' in made) return failed(made.fault, made.warnings);
  const { agent } = document;
  const sessionId = await deps.sessionId(schedule, agent, made.rendered.sessionKey);
  return { become: 'run', agent, session: sessionId, turn, rendered: made.rendered };
}

function failed(reason: string, warnings: string[] = []): DeliveryVerdict {
  return { become: 'failed', reason, warnings };
}

/** A run that is due while the one before it has not ended. */
function withOverlap(context: CatalogContext, schedule: string, { overlap }: ScheduleDocument, verdict: DeliveryVerdict): DeliveryVerdict {
  if (verdict.become !== 'run') return verdict;
  const before = newestUnderWay(context, schedule);
  if (before === null) return verdict;
  const { warnings } = verdict.rendered;
  if (overlap === 'skip') return { become: 'skipped', reason: stillUnderWay(before), warnings };
  const most = limits.maxQueuedScheduleRuns;
  if (heldCount(context, { kind: 'schedule', name: schedule }) >= most)
    return { become: 'skipped', reason: `${most} runs wait already for the one before them, and no more may`, warnings };
  return { ...verdict, isQueued: true };
}

type UnderWay = { number: number; id: string; status: DeliveryStatus; session: string | null };

/** One that waits for a person may do so for days, and nothing else would say why nothing runs. */
function stillUnderWay({ id, status, session }: UnderWay): string {
  return `the run ${id} has not ended: ${status === 'waiting' ? `it waits for somebody’s word in its session ${session}` : `it is ${status}`}`;
}

/** One look at the index for each status: its schedule may have ended ten thousand runs. */
function newestUnderWay(context: CatalogContext, schedule: string): UnderWay | null {
  const query = `SELECT number, id, status, session FROM deliveries WHERE kind = 'schedule' AND name = ? AND status = ?
    ORDER BY number DESC LIMIT 1`;
  const found = underWay.flatMap((status) => context.sql.exec<UnderWay>(query, schedule, status).toArray());
  return found.toSorted((one, other) => other.number - one.number)[0] ?? null;
}

const underWay: readonly DeliveryStatus[] = ['pending', 'running', 'waiting'];

function readDue(context: CatalogContext, schedule: string): number | null {
  return (
    context.sql.exec<{ due_at: number | null }>('SELECT due_at FROM schedule_state WHERE schedule = ?', schedule).toArray()[0]?.due_at ??
    null
  );
}

/** Its schedule is gone; with it should have been this. */
function forget(context: CatalogContext, schedule: string): false {
  context.sql.exec('DELETE FROM schedule_state WHERE schedule = ?', schedule);
  return false;
}

/** Something that no rule of ours foresees: not at once again, and not in the way of what stands in order. Its time stays what it was. */
function postpone(context: CatalogContext, { schedule, due_at: due }: DueRow): void {
  const later = context.now() + limits.maxPublishBackoffMs;
  context.sql.exec(
    'UPDATE schedule_state SET due_at = ?, since = coalesce(since, due_at) WHERE schedule = ? AND due_at = ?',
    later,
    schedule,
    due,
  );
}
