/**
 * `/v1/schedules/{schedule}/runs`: the runs of a schedule, and manual runs. Runs are deliveries without a payload; those of a removed
 * schedule can still be read.
 */
import * as z from 'zod';
import { Delivery, DeliveryStatus } from '../../../core/triggers/delivery.ts';
import type { DeliveryWithPayload } from '../../../core/triggers/delivery.ts';
import type { Trigger } from '../../../core/turn/turn-trigger.ts';
import { pageFields, pageOf } from '../../paging.ts';
import { defineRoute } from '../../route.ts';
import { acceptedAnswer, acceptedHeaders, toAcceptedBody } from './accepted-delivery.ts';
import { scheduleParams } from './schedules.ts';

const common = { tag: 'Schedules', scopes: ['admin'], workspace: 'Schedules' } as const;
const query = z.strictObject({ ...pageFields, status: DeliveryStatus.optional().meta({ description: 'Only runs with this status.' }) });
const params = scheduleParams.extend({
  run: z.string().meta({ description: 'Id of the run: the time when it was due, or `manual-…`.', example: '2026-03-09T08:00:00.000Z' }),
});

export const scheduleRunRoutes = [
  defineRoute(
    {
      ...common,
      method: 'post',
      path: '/v1/schedules/{schedule}/run',
      operationId: 'runSchedule',
      summary: 'Run a schedule now',
      description:
        'Runs once, outside of its times: also while another run is in progress, or the schedule is paused. Returns 403 for a key with `egressHosts`, `ips` or `models`.',
      params: scheduleParams,
      answers: {
        202: acceptedAnswer,
      },
      problems: ['rate_limited'],
    },
    async ({ answer, services, principal, params }) => {
      const accepted = await services.storedWork(principal).runSchedule(params.schedule);
      return answer(202, toAcceptedBody(accepted), acceptedHeaders(accepted));
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/schedules/{schedule}/runs',
      operationId: 'listScheduleRuns',
      summary: 'List the runs of a schedule, newest first',
      params: scheduleParams,
      query,
      answers: { 200: { description: 'A page of runs.', schema: pageOf(Delivery) } },
    },
    async ({ answer, services, principal, params, query }) => {
      const { items, nextCursor } = await services.triggers(principal.workspace).deliveries(triggerOf(params.schedule), query);
      // An empty list may mean that the schedule does not exist, which is then reported.
      if (items.length === 0) await services.catalog(principal).get('schedule', params.schedule);
      return answer(200, { items: items.map(toRun), nextCursor });
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/schedules/{schedule}/runs/{run}',
      operationId: 'getScheduleRun',
      summary: 'Read a run',
      params,
      answers: { 200: { description: 'The run and its status.', schema: Delivery } },
    },
    async ({ answer, services, principal, params }) => {
      return answer(200, toRun(await services.triggers(principal.workspace).delivery(triggerOf(params.schedule), params.run)));
    },
  ),
];

function triggerOf(name: string): Trigger {
  return { kind: 'schedule', name };
}

/** Runs have no payload. */
function toRun({ payload: _payload, ...run }: DeliveryWithPayload): Delivery {
  return run;
}
