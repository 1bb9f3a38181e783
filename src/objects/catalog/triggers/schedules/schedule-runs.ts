/**
 * Runs schedules: due times become deliveries, missed times only one, and the next time is stored in the same transaction. The dispatcher
 * sends deliveries to their sessions. Driven by the alarm of the Catalog.
 * Due times are in `schedule_state`, so a process that dies between two runs loses nothing: the next alarm finds the same time, and that
 * time is the id of the delivery, so a repeated run is a duplicate.
 */
import { Problem } from '../../../../core/problem.ts';
import { limits } from '../../../../core/limits/limits.ts';
import type { DeliveryStatus } from '../../../../core/triggers/delivery.ts';
import { parseTemplate } from '../../../../core/triggers/templates/parse-template.ts';
import { renderTrigger } from '../../../../core/triggers/templates/render-template.ts';
import type { ScheduleDocument } from '../../../../core/triggers/schedules/schedule.ts';
import type { AcceptedDelivery, DeliveryVerdict, NewDelivery, ScheduleState } from '../../../../ports/triggers.ts';
import type { CatalogContext } from '../../context.ts';
import { type DueJob, dueJob, dueTime } from '../../../shared/due-job.ts';
import { findRow, isoTime, readRow, requireRow } from '../../documents/documents.ts';
import { checkBacklog } from '../deliveries/backlog.ts';
import { acceptDelivery, lastRunsOf } from '../deliveries/deliveries.ts';
import { heldCount } from '../deliveries/delivery-rows.ts';
import { loadTimeRules } from './time-rules.ts';

/** With `overlap: "queue"`: runs that wait for the one before them. */
export const maxQueuedScheduleRuns = 10;

export type ScheduleDeps = {
  /** Returns the id of the trigger's session with this key. */
  sessionId(schedule: string, agent: string, sessionKey: string): Promise<string>;
  newTurn(): string;
  /** Call when a run was stored. */
  kick(): void;
  wake(): Promise<void>;
  /** Whether runs may begin now (`engine/host.ts`); otherwise they stay due. Absent: always. */
  mayStart?(): boolean;
};

export type Scheduler = DueJob & {
  /** Starts a run outside of its times, even if others are in progress or the schedule is paused. */
  runNow(schedule: string): Promise<AcceptedDelivery>;
};

export function createScheduler(context: CatalogContext, deps: ScheduleDeps): Scheduler {
  const runOne = async (due: DueRow): Promise<void> => {
    try {
      if (await runDue(context, deps, due)) deps.kick();
    } catch (error) {
      // The backlog is full: it stays due for the next alarm.
      if (error instanceof Problem && error.code === 'rate_limited') return;
      context.log.error('a schedule could not run; it will be retried', { schedule: due.schedule, cause: String(error) });
      postpone(context, due);
    }
  };

  /** Times that were computed while the clock was ahead would come too late. */
  const followClock = async (): Promise<void> => {
    const now = context.now();
    if ((readSeen(context.sql) ?? now) > now + clockStepMs) await returnToClock(context, now);
    noteScheduleClock(context);
  };

  const runAllDue = async (): Promise<void> => {
    if (deps.mayStart?.() === false) return;
    await followClock();
    // At most `limits.maxSchedules`; schedules that fail must not block the others.
    const query = 'SELECT schedule, due_at, since FROM schedule_state WHERE due_at <= ? ORDER BY due_at, schedule';
    for (const row of context.sql.exec<DueRow>(query, context.now()).toArray()) await runOne(row);
  };

  return {
    // Times that become due during a round are left to the next alarm.
    ...dueJob({
      nextDue: () => {
        const due = dueTime(context.sql, 'SELECT min(due_at) AS due FROM schedule_state WHERE due_at IS NOT NULL');
        const now = context.now();
        return due !== null && (readSeen(context.sql) ?? now) > now + clockStepMs ? now : due;
      },
      run: runAllDue,
    }),

    runNow: async (schedule) => {
      const turn = deps.newTurn();
      const time = isoTime(context.now());
      // Schedule bodies are written only by their writer.
      const document = requireRow(context.sql, 'schedule', schedule).body as ScheduleDocument;
      const delivery = await toDelivery(deps, { schedule, document, id: `manual-${turn}`, time, turn });
      const accepted = acceptDelivery(context, delivery);
      deps.kick();
      await deps.wake();
      return accepted;
    },
  };
}

/** Returns the next run of each schedule, and the status of its newest one. */
export function scheduleStates(context: CatalogContext, schedules: readonly string[]): Map<string, ScheduleState> {
  const query = 'SELECT schedule, due_at FROM schedule_state WHERE due_at IS NOT NULL AND schedule IN (SELECT value FROM json_each(?))';
  const rows = context.sql.exec<{ schedule: string; due_at: number }>(query, JSON.stringify(schedules)).toArray();
  const nextRuns = new Map(rows.map(({ schedule, due_at: due }) => [schedule, isoTime(due)]));
  const lastRuns = lastRunsOf(context, schedules);
  return new Map(schedules.map((name) => [name, { nextRunAt: nextRuns.get(name) ?? null, lastRun: lastRuns.get(name) ?? null }]));
}

type DueRow = { schedule: string; due_at: number; since: number | null };

/** Stores one delivery for all due times, and the next time. Returns false if nothing is left to do. */
async function runDue(context: CatalogContext, deps: ScheduleDeps, { schedule, due_at: due, since }: DueRow): Promise<boolean> {
  const row = findRow(context.sql, 'schedule', schedule);
  if (row === null) {
    context.sql.exec('DELETE FROM schedule_state WHERE schedule = ?', schedule);
    return false;
  }
  // As above.
  const document = row.body as ScheduleDocument;
  const { readTimeRule } = await loadTimeRules();
  const read = readTimeRule(document);
  if ('issue' in read) throw new Error(`${read.issue.path}: ${read.issue.message}`);
  const { newest, next } = read.rule.since(since ?? due, context.now());
  const time = isoTime(newest);
  const delivery = await toDelivery(deps, { schedule, document, id: time, time, turn: deps.newTurn() });
  // Before the transaction: after a rollback the backlog must be counted again, once for each due schedule.
  if (delivery.verdict.become === 'run') checkBacklog(context, delivery.trigger);
  return context.record(() => {
    // While the session id was computed, another alarm may have run this, or the schedule may have been changed or removed.
    if (readDue(context, schedule) !== due || readRow(context.sql, 'schedule', schedule)?.version !== row.version) return false;
    acceptDelivery(context, { ...delivery, verdict: withOverlap(context, schedule, document, delivery.verdict) });
    context.sql.exec('UPDATE schedule_state SET due_at = ?, since = NULL WHERE schedule = ?', next, schedule);
    return true;
  });
}

/** The clock is synchronized in smaller steps. */
const clockStepMs = 1_000;
const seenKey = 'schedules-seen';

function readSeen(sql: SqlStorage): number | null {
  const row = sql.exec<{ value: string }>('SELECT value FROM meta WHERE key = ?', seenKey).toArray()[0];
  return row === undefined ? null : Number(row.value);
}

/** Call when due times are computed: if the clock is set back later, they are computed again. */
export function noteScheduleClock({ sql, now }: CatalogContext): void {
  sql.exec('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)', seenKey, String(now()));
}

async function returnToClock(context: CatalogContext, now: number): Promise<void> {
  const { readTimeRule } = await loadTimeRules();
  const query = 'SELECT schedule, due_at, since FROM schedule_state WHERE due_at > ?';
  for (const { schedule, due_at: due } of context.sql.exec<DueRow>(query, now).toArray()) {
    const row = findRow(context.sql, 'schedule', schedule);
    // As above. A rule that this release does not read is reported when it is due.
    const read = row === null ? null : readTimeRule(row.body as ScheduleDocument);
    if (read === null || 'issue' in read) continue;
    const update = 'UPDATE schedule_state SET due_at = ? WHERE schedule = ? AND due_at = ?';
    context.sql.exec(update, read.rule.nearest(due, now), schedule, due);
  }
}

type Run = { schedule: string; document: ScheduleDocument; id: string; time: string; turn: string };

/** Returns the delivery to store for a run: a turn, or why there is none. */
async function toDelivery(deps: ScheduleDeps, run: Run): Promise<NewDelivery> {
  return { trigger: { kind: 'schedule', name: run.schedule }, id: run.id, event: null, payload: null, verdict: await judge(deps, run) };
}

async function judge(deps: ScheduleDeps, { schedule, document, id, time, turn }: Run): Promise<DeliveryVerdict> {
  const session = parseTemplate(document.session, 'session', 'schedule');
  const input = parseTemplate(document.input, 'input', 'schedule');
  // Parsed when the schedule was written; a later release may parse them differently.
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

/** Applies the overlap rule to a run that is due before the previous one has ended. */
function withOverlap(context: CatalogContext, schedule: string, { overlap }: ScheduleDocument, verdict: DeliveryVerdict): DeliveryVerdict {
  if (verdict.become !== 'run') return verdict;
  const before = newestInProgress(context, schedule);
  if (before === null) return verdict;
  const { warnings } = verdict.rendered;
  if (overlap === 'skip') return { become: 'skipped', reason: notEndedYet(before), warnings };
  const most = maxQueuedScheduleRuns;
  if (heldCount(context, { kind: 'schedule', name: schedule }) >= most)
    return { become: 'skipped', reason: `${most} runs are already waiting for the previous one, which is the limit`, warnings };
  return { ...verdict, isQueued: true };
}

type RunInProgress = { number: number; id: string; status: DeliveryStatus; session: string | null };

/** A run that waits for approval may do so for days, so the skipped run names it. */
function notEndedYet({ id, status, session }: RunInProgress): string {
  return `the run ${id} has not ended: ${status === 'waiting' ? `it is waiting in its session ${session}` : `it is ${status}`}`;
}

/** One index lookup per status: the schedule may have ten thousand ended runs. */
function newestInProgress(context: CatalogContext, schedule: string): RunInProgress | null {
  const query = `SELECT number, id, status, session FROM deliveries WHERE kind = 'schedule' AND name = ? AND status = ?
    ORDER BY number DESC LIMIT 1`;
  const found = inProgress.flatMap((status) => context.sql.exec<RunInProgress>(query, schedule, status).toArray());
  return found.toSorted((one, other) => other.number - one.number)[0] ?? null;
}

const inProgress: readonly DeliveryStatus[] = ['pending', 'running', 'waiting'];

function readDue(context: CatalogContext, schedule: string): number | null {
  const query = 'SELECT due_at FROM schedule_state WHERE schedule = ?';
  return context.sql.exec<{ due_at: number | null }>(query, schedule).toArray()[0]?.due_at ?? null;
}

/** After an unexpected error: retries later, without blocking other schedules. Its time stays unchanged. */
function postpone(context: CatalogContext, { schedule, due_at: due }: DueRow): void {
  const later = context.now() + limits.maxPublishBackoffMs;
  const statement = 'UPDATE schedule_state SET due_at = ?, since = coalesce(since, due_at) WHERE schedule = ? AND due_at = ?';
  context.sql.exec(statement, later, schedule, due);
}
