/** Writes schedules: parses templates and times, seals the secret, and computes the next run. `schedule-runs.ts` runs them. */
import { ResourceName } from '../../../../core/turn/agent.ts';
import { invalidRequest, type Issue, type Warning, parseInput } from '../../../../core/problem.ts';
import type { TimeRule } from '../../../../core/triggers/schedules/next-run.ts';
import { parseTemplate } from '../../../../core/triggers/templates/parse-template.ts';
import { Schedule, type ScheduleDocument } from '../../../../core/triggers/schedules/schedule.ts';
import { eraseTarget } from '../../records/erasure.ts';
import type { CatalogContext } from '../../context.ts';
import { requireCapacity, type DocumentRow } from '../../documents/documents.ts';
import { resealCallbackSecret } from '../../documents/secrets.ts';
import { checkNameInBody, type DocumentWriter } from '../../documents/write-document.ts';
import { skipHeld } from '../deliveries/run-queue.ts';
import { noteScheduleClock, scheduleStates } from './schedule-runs.ts';
import { agentWarnings, callbackUrlWarnings } from '../trigger-warnings.ts';
import { loadTimeRules } from './time-rules.ts';

const maxSchedules = 1_000;

export const scheduleWriter: DocumentWriter = {
  nameFault: (_context, name) => ResourceName.safeParse(name).error?.issues[0]?.message ?? null,

  prepare: async (context, name, body, previous) => {
    const { callbackSecret, ...document } = parseInput(Schedule, body);
    checkNameInBody(name, document);
    if (previous === null) requireCapacity(context.sql, 'schedule', maxSchedules, 'schedules');
    // Schedule bodies are written only here.
    const before = previous === null ? null : (previous.body as ScheduleDocument);
    const { readTimeRule, isSameRule } = await loadTimeRules();
    const isSame = before !== null && isSameRule(document, before);
    const rule = checkDocument(document, readTimeRule(document), isSame, context.now());
    const secret = await sealCallback(context, name, document, callbackSecret, previous);
    return {
      body: { ...document, name, hasCallbackSecret: secret.sealed !== null },
      ...secret,
      warnings: [...warningsOf(context, document), ...pastWarnings(document, context.now())],
      commit: () => {
        writeNextRun(context, name, document, isSame && before.paused !== true, rule);
        if (document.paused === true)
          skipHeld(context, { kind: 'schedule', name }, 'the schedule was paused while this run was waiting for the previous one');
      },
    };
  },

  // As above.
  review: (context, body) => warningsOf(context, body as ScheduleDocument),

  shown: scheduleStates,

  prepareRemoval: async (context, name) => () => {
    context.sql.exec('DELETE FROM schedule_state WHERE schedule = ?', name);
    eraseTarget(context, { kind: 'schedule', name });
  },
};

/** Returns the times; throws `invalid_request` with every fault of the times and templates. */
function checkDocument(document: ScheduleDocument, read: { rule: TimeRule } | { issue: Issue }, isSame: boolean, now: number): TimeRule {
  const issues: Issue[] = [];
  if ('issue' in read) issues.push(read.issue);
  // A schedule that has run may be written again with the same date when something else changes.
  else if (!isSame && read.rule.first(now) === null) issues.push(neverIssue(document, now));
  for (const path of ['session', 'input'] as const) {
    const parsed = parseTemplate(document[path], path, 'schedule');
    if ('issue' in parsed) issues.push(parsed.issue);
  }
  if (issues.length > 0 || 'issue' in read) throw invalidRequest(issues);
  return read.rule;
}

function neverIssue({ at }: ScheduleDocument, now: number): Issue {
  if (at !== undefined) return { path: 'at', message: `is in the past (now: ${new Date(now).toISOString()})` };
  return { path: 'cron', message: 'never occurs: none of its months has such a day' };
}

/** `wasRunning`: with the same times. Unchanged times keep the next run, so that frequent writes of a schedule do not prevent it from running. */
function writeNextRun(context: CatalogContext, name: string, document: ScheduleDocument, wasRunning: boolean, rule: TimeRule): void {
  if (wasRunning && document.paused !== true) return;
  const due = document.paused === true ? null : rule.first(context.now());
  const statement = `INSERT INTO schedule_state (schedule, due_at) VALUES (?, ?)
    ON CONFLICT (schedule) DO UPDATE SET due_at = excluded.due_at, since = NULL`;
  context.sql.exec(statement, name, due);
  noteScheduleClock(context);
}

/** Seals the secret that signs callbacks, as `{callback}`: a schedule has no other secret. */
async function sealCallback(
  context: CatalogContext,
  name: string,
  { callbackUrl }: ScheduleDocument,
  given: string | undefined,
  previous: DocumentRow | null,
): Promise<{ sealed: string | null; sealedChanged: boolean }> {
  const place = { workspace: context.workspace, kind: 'schedule', name } as const;
  if (given === undefined && callbackUrl === undefined) return { sealed: null, sealedChanged: (previous?.sealed ?? null) !== null };
  const value = given === undefined ? undefined : JSON.stringify({ callback: given });
  return await resealCallbackSecret(context, place, value, previous, 'callbackSecret');
}

/** Warns when a schedule is written or resumed after its only date. */
function pastWarnings({ at, paused }: ScheduleDocument, now: number): Warning[] {
  if (at === undefined || paused === true || Date.parse(at) > now) return [];
  return [{ path: 'at', message: 'This date has passed, so the schedule will not run again. Set another date, or run it manually.' }];
}

function warningsOf(context: CatalogContext, { agent, callbackUrl }: ScheduleDocument): Warning[] {
  return [...agentWarnings(context, agent, 'its runs fail'), ...callbackUrlWarnings(context, callbackUrl)];
}
