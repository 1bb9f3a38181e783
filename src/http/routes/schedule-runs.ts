/**
 * `/v1/schedules/{schedule}/runs`: what came of a schedule, and running it now. Runs are deliveries without a payload; those of a schedule
 * that was removed can still be read.
 */
import { z } from 'zod';
import { Delivery, DeliveryStatus } from '../../core/triggers/delivery.ts';
import type { DeliveryWithPayload, Trigger } from '../../core/triggers/delivery.ts';
import { pageFields, pageOf } from '../paging.ts';
import { mountRoute } from '../route.ts';
import type { App } from '../route.ts';
import { Accepted, acceptedResponse } from '../accepted-delivery.ts';
import { scheduleParams } from './schedules.ts';

const common = { tag: 'Schedules', scopes: ['admin'], workspace: 'Schedules' } as const;
const query = z.strictObject({ ...pageFields, status: DeliveryStatus.optional().meta({ description: 'Only those that stand so.' }) });
const params = scheduleParams.extend({
  run: z.string().meta({ description: 'Its id: the time when it was due, or `manual-…`.', example: '2026-03-09T08:00:00.000Z' }),
});

export function mountScheduleRuns(app: App): void {
  mountRoute(
    app,
    {
      ...common,
      method: 'post',
      path: '/v1/schedules/{schedule}/run',
      operationId: 'runSchedule',
      summary: 'Run a schedule now',
      description: 'Once, beside its times: also while another run is under way, and while it is paused.',
      params: scheduleParams,
      answers: {
        202: { description: 'Stored; its turn begins.', schema: Accepted, headers: { location: 'Of the session, where there is one.' } },
      },
      problems: ['rate_limited'],
    },
    async ({ c, services, principal, params }) => {
      return acceptedResponse(c, await services.triggers(principal.workspace).runSchedule(params.schedule));
    },
  );

  mountRoute(
    app,
    {
      ...common,
      method: 'get',
      path: '/v1/schedules/{schedule}/runs',
      operationId: 'listScheduleRuns',
      summary: 'List what came of a schedule, newest first',
      params: scheduleParams,
      query,
      answers: { 200: { description: 'A page of runs.', schema: pageOf(Delivery) } },
    },
    async ({ c, services, principal, params, query }) => {
      const { status, cursor, limit } = query;
      const page = { limit, ...(cursor !== undefined && { cursor }), ...(status !== undefined && { status }) };
      const { items, nextCursor } = await services.triggers(principal.workspace).deliveries(triggerOf(params.schedule), page);
      // Nothing may be because there is no such schedule: a misspelt name is told as one.
      if (items.length === 0) await services.catalog(principal).get('schedule', params.schedule);
      return c.json({ items: items.map(toRun), nextCursor }, 200);
    },
  );

  mountRoute(
    app,
    {
      ...common,
      method: 'get',
      path: '/v1/schedules/{schedule}/runs/{run}',
      operationId: 'getScheduleRun',
      summary: 'Read one run',
      params,
      answers: { 200: { description: 'How it stands.', schema: Delivery } },
    },
    async ({ c, services, principal, params }) => {
      return c.json(toRun(await services.triggers(principal.workspace).delivery(triggerOf(params.schedule), params.run)), 200);
    },
  );
}

function triggerOf(name: string): Trigger {
  return { kind: 'schedule', name };
}

/** Nothing was sent. */
function toRun({ payload: _payload, ...run }: DeliveryWithPayload): Delivery {
  return run;
}
