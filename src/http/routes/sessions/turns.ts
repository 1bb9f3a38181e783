/** A session's turns: submits input, follows the log, and cancels. A turn belongs to the session; requests only submit or watch. */
import * as z from 'zod';
import { toVisibleEvent } from '../../../dialects/native.ts';
import { limits } from '../../../core/limits/limits.ts';
import type { Plan } from '../../../core/turn/plan.ts';
import { submitWithinLimits } from '../../../engine/plan/turn-limits.ts';
import { type SessionCallRequest, type SubmittedTurn, type SubmitTurn, TurnAnswer, TurnRequest } from '../../../ports/session.ts';
import { editionHeader, editionName, replacedHeader, replacedToolsHeader } from '../../conditions.ts';
import { eventStreamHeaders, openEventStream, resumePoint } from '../../event-stream.ts';
import { SessionEventSchema } from '../../../core/turn/session-event.ts';
import { runIdempotent } from '../../../engine/idempotency.ts';
import { idempotencyHeader, idempotencyOf } from '../../idempotency.ts';
import { requireStream } from '../../places.ts';
import { toProblem } from '../../problems.ts';
import { defineRoute } from '../../route.ts';
import { sessionParams } from './sessions.ts';

const defaultEventsPerPage = 100;

const EventNumber = z
  .string()
  .regex(/^(0|[1-9][0-9]{0,14})$/, { message: 'must be the number of an event' })
  .transform(Number);

const EventsQuery = z
  .strictObject({
    follow: z.enum(['true', 'false']).default('true').meta({ description: '`false`: respond with one page as JSON.' }),
    after: EventNumber.optional().meta({
      description: 'Only events after this number. Default: `Last-Event-ID`, otherwise all.',
      example: '0',
    }),
    before: EventNumber.optional().meta({ description: 'With `follow=false`: only events before this number.' }),
    limit: z.coerce
      .number()
      .int()
      .min(1)
      .max(limits.maxEventsPerPage)
      .optional()
      .meta({
        description: `With \`follow=false\`: the most events of the page. Default ${defaultEventsPerPage}.`,
      }),
  })
  .superRefine((query, context) => {
    if (query.follow === 'false') return;
    for (const field of ['before', 'limit'] as const)
      if (query[field] !== undefined) context.addIssue({ code: 'custom', path: [field], message: 'is only for a page: add follow=false' });
  });

const EventPage = z
  .object({
    items: z.array(SessionEventSchema),
    lastEvent: z.int().meta({ description: 'Number of the newest event of the session.' }),
  })
  .meta({ id: 'EventPage' });

const common = { tag: 'Sessions', scopes: ['chat'], params: sessionParams } as const;

export const turnRoutes = [
  defineRoute(
    {
      ...common,
      method: 'post',
      path: '/v1/sessions/{id}/turns',
      operationId: 'createTurn',
      summary: 'Submit a turn',
      description:
        'The turn is stored before it runs. Responds when it has ended, or with status `waiting` if the user or the caller has to act first; with `Accept: text/event-stream` as events while it runs; with `Prefer: respond-async` immediately. A session runs one turn at a time, in order of acceptance. A disconnect does not cancel the turn.',
      headers: {
        accept: '`text/event-stream`: the events of this turn.',
        prefer: '`respond-async`: respond 202 when it is stored.',
        'idempotency-key': idempotencyHeader,
      },
      body: { schema: TurnRequest, maxBytes: limits.maxLargeBodyBytes },
      answers: {
        200: {
          description:
            'The result of the turn, or what it waits for, or its events (`text/event-stream`), which close after a waiting event.',
          schema: TurnAnswer,
          also: 'text/event-stream',
          events: SessionEventSchema,
          headers: { ...editionHeader, ...replacedHeader },
        },
        202: {
          description: 'Stored and running. `location` is the session, which shows the result.',
          schema: z
            .object({ turn: z.string(), position: z.int().meta({ description: 'Number of turns ahead of it.' }) })
            .meta({ id: 'TurnAccepted', example: { turn: 'turn_1', position: 0 } }),
          headers: { ...editionHeader, ...replacedHeader, location: 'URL of the session.', 'preference-applied': '`respond-async`.' },
        },
      },
      problems: [
        'idempotency_mismatch',
        'conflict',
        'model_not_found',
        'rate_limited',
        'upstream_error',
        'upstream_timeout',
        'unavailable',
      ],
    },
    async ({ c, services, principal, params, body, bytes, answer }) => {
      const idempotency = await idempotencyOf(c, bytes);
      const session = services.sessions.get(params.id);
      const streamed = c.req.header('accept')?.includes('text/event-stream') === true;
      const isAsync = prefersAsync(c.req.header('prefer'));
      if (streamed) requireStream(c);
      const find = (key: string, bodyHash: string) => session.findByIdempotencyKey(principal, key, bodyHash);
      const begin = async () => {
        const { idempotencyKey: key, bodyHash = '' } = idempotency;
        // A prompt is not requested again for a turn that is stored.
        const stored = body.prompt === undefined || key === undefined ? null : await find(key, bodyHash);
        if (stored !== null) return stored;
        const { agent, model, toolset, instructions, tools: usual } = await session.setup(principal);
        const plan = await services.planTurn(principal, { agent, model, toolset, instructions, tools: body.tools ?? usual });
        const written = typeof body.input === 'string' ? [{ type: 'text' as const, text: body.input }] : (body.input ?? []);
        const call = (request: SessionCallRequest) => session.call(principal, request);
        const prompted = body.prompt === undefined ? [] : await services.prompts.expand({ principal, plan, call }, body.prompt);
        const input = [...prompted, ...written];
        const { replaced } = plan;
        const awaitsAnswer = !streamed && !isAsync;
        const submit = (request: SubmitTurn) => session.submit(principal, request);
        return {
          ...(await submitWithinLimits(services, principal, { plan, input, awaitsAnswer, ...idempotency }, submit)),
          ...(replaced !== undefined && { replaced }),
        };
      };
      const begun = await runIdempotent<SubmittedTurn & Pick<Plan, 'replaced'>>(idempotency, begin, find);
      const { turn, position, edition } = begun;

      const used = { ...(edition !== null && { 'x-moniker-edition': editionName(edition) }), ...replacedToolsHeader(begun) };
      if (streamed) {
        return new Response(await session.stream(principal, turn), {
          headers: { ...eventStreamHeaders, ...(used as Record<string, string>) },
        });
      }
      if (isAsync) {
        return answer(
          202,
          { turn, position },
          {
            ...used,
            location: `/v1/sessions/${params.id}`,
            'preference-applied': 'respond-async',
          },
        );
      }
      return answer(200, await session.waitForAnswer(principal, turn), used);
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/sessions/{id}/events',
      operationId: 'followEvents',
      summary: 'Read or follow the event log',
      description: `Server-sent events: \`id\` is the event’s number, \`event\` its type, \`data\` the event as JSON. Closes after ${limits.idleCloseMs / 1000} idle seconds; reconnect with \`Last-Event-ID\`. With \`follow=false\` responds with one page as JSON, oldest event first: the newest events, those before \`before\`, or with \`after\` alone the first ones after it. A page of long events has fewer than \`limit\`, at least one.`,
      query: EventsQuery,
      headers: { 'last-event-id': 'As browsers send it. An invalid number means from the start.' },
      answers: { 200: { description: 'The events.', schema: EventPage, also: 'text/event-stream', events: SessionEventSchema } },
    },
    async ({ c, services, principal, params, query: { follow, before, limit = defaultEventsPerPage, ...query }, answer }) => {
      if (follow === 'false') {
        const range = { ...query, ...(before !== undefined && { before }), limit };
        const { items, lastEvent } = await services.sessions.get(params.id).eventPage(principal, range);
        return answer(200, { items: items.map(toVisibleEvent), lastEvent });
      }
      requireStream(c);
      const after = resumePoint(query.after, c.req.header('last-event-id'));
      const request = { method: c.req.method, path: c.req.path, requestId: c.get('requestId') };
      const fail = (error: unknown) => toProblem(error, request, services.log);
      return new Response(await openEventStream(services.sessions.get(params.id), principal, after, fail), { headers: eventStreamHeaders });
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'post',
      path: '/v1/sessions/{id}/cancel',
      storesNothing: true,
      operationId: 'cancelTurn',
      summary: 'Cancel the running turn',
      answers: {
        200: {
          description: '`cancelled` is false if no turn was running.',
          schema: z.object({ turn: z.string().nullable(), cancelled: z.boolean() }).meta({ id: 'CancelAnswer' }),
        },
      },
    },
    async ({ answer, services, principal, params }) => answer(200, await services.sessions.get(params.id).cancel(principal)),
  ),
];

/** RFC 7240: preferences are separated by commas, their parameters by semicolons. */
function prefersAsync(header: string | undefined): boolean {
  return header?.split(',').some((part) => part.split(';', 1)[0]?.trim().toLowerCase() === 'respond-async') ?? false;
}
