/**
 * `/v1/schedules`: turns that start at given times, with the next time. Secrets can be written but not read. `schedule-runs.ts` has the
 * runs.
 */
import * as z from 'zod';
import { ResourceName } from '../../../core/turn/agent.ts';
import { limits } from '../../../core/limits/limits.ts';
import { invalidRequest } from '../../../core/problem.ts';
import { Delivery } from '../../../core/triggers/delivery.ts';
import { readTimeRule, timesFrom } from '../../../core/triggers/schedules/next-run.ts';
import { Schedule } from '../../../core/triggers/schedules/schedule.ts';
import type { ScheduleDocument } from '../../../core/triggers/schedules/schedule.ts';
import type { StoredDocument } from '../../../ports/catalog.ts';
import { documentRoutes, shownWarnings } from '../../document-routes.ts';
import { storedBody } from '../../conditions.ts';
import { defineRoute } from '../../route.ts';

/** Times shown in one response: each is a separate search. */
const maxShownScheduleTimes = 100;

const what = 'Schedules';
const name = ResourceName.meta({ example: 'morning' });
export const scheduleParams = z.object({ schedule: name });

/** Fields that GET adds to the document. Accepted and ignored on writes, so that the output of GET can be sent back. */
const shown = {
  hasCallbackSecret: z.boolean().meta({ readOnly: true, description: 'Shown by GET; ignored on writes.' }),
  nextRunAt: z.iso.datetime().nullable().meta({ readOnly: true, description: 'null: no further run, or paused.' }),
  lastRun: Delivery.nullable().meta({
    readOnly: true,
    description: `The newest run that was not skipped; null: none in the last ${limits.deliveryTtlMs / 86_400_000} days.`,
  }),
};

const { callbackSecret: _callbackSecret, ...documentShape } = Schedule.shape;
const ScheduleView = z.object({ ...documentShape, name: ResourceName, ...shown }).meta({ id: 'ScheduleView' });
const ScheduleInput = Schedule.safeExtend({
  ...z.object(shown).partial().shape,
  lastRun: z.unknown().optional(),
  warnings: shownWarnings,
}).meta({
  id: 'ScheduleToWrite',
  example: Schedule.meta()?.example,
});

const TimesQuery = z.strictObject({
  count: z.coerce.number().int().min(1).max(maxShownScheduleTimes).default(5).meta({ description: 'Maximum number of times.' }),
});

const ScheduleTimes = z.object({ times: z.array(z.iso.datetime()) }).meta({ id: 'ScheduleTimes' });

const TimesPreview = z
  .strictObject({ draft: ScheduleInput, count: z.int().min(1).max(maxShownScheduleTimes).default(5) })
  .meta({ id: 'ScheduleTimesPreview', example: { draft: { agent: 'demo', interval: '15m', input: 'Look for news.' }, count: 5 } });

export const scheduleRoutes = [
  ...documentRoutes({
    kind: 'schedule',
    noun: 'schedule',
    tag: what,
    scopes: ['admin'],
    name,
    body: ScheduleInput,
    view: ScheduleView,
    unshown: { kept: ['callbackSecret'] },
    warnings: shownWarnings,
    toView,
    shown: Object.keys(shown),
    storesName: true,
  }),

  defineRoute(
    {
      method: 'get',
      path: '/v1/schedules/{schedule}/next',
      operationId: 'listScheduleTimes',
      tag: what,
      scopes: ['admin'],
      workspace: what,
      summary: 'List the next times of a schedule',
      description: 'In UTC. For a paused schedule, the times as if it were resumed now.',
      params: scheduleParams,
      query: TimesQuery,
      answers: {
        200: { description: 'Earliest first.', schema: ScheduleTimes },
      },
    },
    async ({ answer, services, principal, params, query }) => {
      const { body } = await services.catalog(principal).get('schedule', params.schedule);
      return answer(200, { times: nextTimes(body, query.count, services.clock.now()) });
    },
  ),

  defineRoute(
    {
      method: 'post',
      path: '/v1/schedules/{schedule}/next',
      storesNothing: true,
      operationId: 'previewScheduleTimes',
      tag: what,
      scopes: ['admin'],
      workspace: what,
      summary: 'List the next times of a draft',
      description: 'In UTC, as if it were stored now. The draft is validated as by PUT, and not stored; the schedule need not exist.',
      params: scheduleParams,
      body: TimesPreview,
      answers: { 200: { description: 'Earliest first.', schema: ScheduleTimes } },
    },
    async ({ answer, services, body: { draft, count } }) =>
      answer(200, { times: nextTimes({ ...draft, paused: true }, count, services.clock.now()) }),
  ),
];

const noRuns = { nextRunAt: null, lastRun: null };

function toView(document: StoredDocument): z.input<typeof ScheduleView> {
  return { ...noRuns, ...storedBody<z.input<typeof ScheduleView>>(document), name: document.name };
}

function nextTimes(body: Record<string, unknown>, count: number, now: number): string[] {
  // Parsed by the schema when it was written; GET adds the other fields.
  const { paused, nextRunAt, ...document } = body as ScheduleDocument & { nextRunAt?: string | null };
  const read = readTimeRule(document);
  if ('issue' in read) throw invalidRequest([read.issue]);
  const standing = typeof nextRunAt === 'string' ? Date.parse(nextRunAt) : null;
  const first = paused === true ? read.rule.first(now) : standing;
  return timesFrom(read.rule, first, count).map((at) => new Date(at).toISOString());
}
