/**
 * Writing schedules: their templates and times are read, their secret is sealed, and when they run next follows from each write. What
 * happens then is `schedule-runs.ts`.
 */
import { ResourceName } from '../../../core/agent.ts';
import { parseDocument } from '../../../core/issues.ts';
import { limits } from '../../../core/limits.ts';
import { invalidRequest, Problem } from '../../../core/problem.ts';
import type { Issue } from '../../../core/problem.ts';
import { isSameRule, readTimeRule } from '../../../core/triggers/schedules/next-run.ts';
import type { TimeRule } from '../../../core/triggers/schedules/next-run.ts';
import { parseTemplate } from '../../../core/triggers/templates/parse-template.ts';
import { Schedule } from '../../../core/triggers/schedules/schedule.ts';
import type { ScheduleDocument } from '../../../core/triggers/schedules/schedule.ts';
import type { Warning } from '../../../core/warning.ts';
import { openValue } from '../../../storage/secret-box.ts';
import { eraseTarget } from '../../erasure.ts';
import type { CatalogContext } from '../../context.ts';
import type { DocumentRow } from '../../documents.ts';
import { reseal } from '../../secrets.ts';
import { checkNameInBody } from '../../write-document.ts';
import type { DocumentWriter } from '../../write-document.ts';
import { skipHeld } from '../deliveries/delivery-queue.ts';
import { scheduleState } from './schedule-runs.ts';
import { agentWarnings, callbackUrlWarnings } from '../trigger-warnings.ts';

export const scheduleWriter: DocumentWriter = {
  nameFault: (_context, name) => ResourceName.safeParse(name).error?.issues[0]?.message ?? null,

  prepare: async (context, name, body, previous) => {
    const { callbackSecret, ...document } = parseDocument(Schedule, body);
    checkNameInBody(name, document);
    if (previous === null) requireRoom(context);
    // Bodies of schedules are written here only.
    const before = previous === null ? null : (previous.body as ScheduleDocument);
    const rule = checkDocument(document, before, context.now());
    const secret = await sealCallback(context, name, document, callbackSecret, previous);
    return {
      body: { ...document, name, hasCallbackSecret: secret.sealed !== null },
      ...secret,
      warnings: [...warningsOf(context, document), ...pastWarnings(document, context.now())],
      commit: () => {
        writeNextRun(context, name, document, before, rule);
        if (document.paused === true)
          skipHeld(context, { kind: 'schedule', name }, 'the schedule was paused while it waited for the one before it');
      },
    };
  },

  // As above.
  review: (context, body) => warningsOf(context, body as ScheduleDocument),

  shown: scheduleState,

  prepareRemoval: async (context, name) => () => {
    context.sql.exec('DELETE FROM schedule_state WHERE schedule = ?', name);
    eraseTarget(context, { kind: 'schedule', name });
  },
};

/** Its times; throws `invalid_request` with every fault of them and of its templates. */
function checkDocument(document: ScheduleDocument, before: ScheduleDocument | null, now: number): TimeRule {
  const issues: Issue[] = [];
  const read = readTimeRule(document);
  if ('issue' in read) issues.push(read.issue);
  // One that ran is written again with the same date when something else about it changes.
  else if ((before === null || !isSameRule(document, before)) && read.rule.first(now) === null) issues.push(neverIssue(document, now));
  for (const path of ['session', 'input'] as const) {
    const parsed = parseTemplate(document[path], path, 'schedule');
    if ('issue' in parsed) issues.push(parsed.issue);
  }
  if (issues.length > 0 || 'issue' in read) throw invalidRequest(issues);
  return read.rule;
}

function neverIssue({ at }: ScheduleDocument, now: number): Issue {
  if (at !== undefined) return { path: 'at', message: `is in the past: it is ${new Date(now).toISOString()} now` };
  return { path: 'cron', message: 'never comes: no month that it names has such a day' };
}

/** Part of the write: unchanged times stay where they are, so that writing a schedule often does not keep it from ever running. */
function writeNextRun(
  context: CatalogContext,
  name: string,
  document: ScheduleDocument,
  before: ScheduleDocument | null,
  rule: TimeRule,
): void {
  const isStanding = before !== null && before.paused !== true && document.paused !== true && isSameRule(document, before);
  if (isStanding) return;
  const due = document.paused === true ? null : rule.first(context.now());
  context.sql.exec(
    'INSERT INTO schedule_state (schedule, due_at) VALUES (?, ?) ON CONFLICT (schedule) DO UPDATE SET due_at = excluded.due_at, since = NULL',
    name,
    due,
  );
}

/** What callbacks are signed with, as `{callback}`: there is no other secret of a schedule that could do it. */
async function sealCallback(
  context: CatalogContext,
  name: string,
  { callbackUrl }: ScheduleDocument,
  given: string | undefined,
  previous: DocumentRow | null,
): Promise<{ sealed: string | null; sealedChanged: boolean }> {
  const place = { workspace: context.workspace, kind: 'schedule', name } as const;
  const before = previous?.sealed ?? null;
  if (given !== undefined) return reseal(context, place, JSON.stringify({ callback: given }), previous);
  if (callbackUrl === undefined) return { sealed: null, sealedChanged: before !== null };
  if (before === null)
    throw invalidRequest([{ path: 'callbackSecret', message: 'is missing: what goes to callbackUrl is signed with it' }]);
  // Opened to see that it can be, where the master key has changed: a callback that nobody can sign would fail later.
  await openValue(context.master, place, before);
  return { sealed: before, sealedChanged: false };
}

function requireRoom({ sql }: CatalogContext): void {
  const { count } = sql.exec<{ count: number }>("SELECT count(*) AS count FROM documents WHERE kind = 'schedule' AND deleted = 0").one();
  if (count < limits.maxSchedules) return;
  throw new Problem(
    'conflict',
    `The workspace has ${count} schedules, and ${limits.maxSchedules} is the most: delete one that nobody needs.`,
  );
}

/** One that is written again after its date, or resumed: nothing else would say that it is over. */
function pastWarnings({ at, paused }: ScheduleDocument, now: number): Warning[] {
  if (at === undefined || paused === true || Date.parse(at) > now) return [];
  return [{ path: 'at', message: 'This date has passed: it does not run again. Give another, or run it by hand.' }];
}

function warningsOf(context: CatalogContext, { agent, callbackUrl }: ScheduleDocument): Warning[] {
  return [...agentWarnings(context, agent, 'its runs fail'), ...callbackUrlWarnings(context, callbackUrl)];
}
