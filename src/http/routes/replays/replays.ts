/** `/v1/replays`: replays recorded work with another model, agent, toolset or prompt, and compares. */
import * as z from 'zod';
import { isAllowed } from '../../../core/people/authority.ts';
import type { Principal } from '../../../core/people/principal.ts';
import { ListedReplay, Replay, ReplayCase, ReplayCaseDetail, ReplayCaseStatus, ReplayRequest } from '../../../core/replay/replay.ts';
import { limits } from '../../../core/limits/limits.ts';
import { ResourceName } from '../../../core/turn/agent.ts';
import { startReplay } from '../../../engine/replay/start-replay.ts';
import type { ReplayPort } from '../../../ports/replays.ts';
import { eventStreamHeaders, openEventStream, resumePoint } from '../../event-stream.ts';
import { idempotencyHeader, idempotencyOf } from '../../idempotency.ts';
import { pageFields, pageOf } from '../../paging.ts';
import { requireStream } from '../../places.ts';
import { toProblem } from '../../problems.ts';
import { SessionEventSchema } from '../../../core/turn/session-event.ts';
import { defineRoute } from '../../route.ts';

const replayParams = z.object({ replay: z.string().min(1).max(200).meta({ description: 'Id of a replay.' }) });
const common = { tag: 'Replays', scopes: ['chat'] } as const;
const own = { ...common, params: replayParams } as const;

export const replayRoutes = [
  defineRoute(
    {
      ...common,
      method: 'post',
      path: '/v1/replays',
      operationId: 'startReplay',
      summary: 'Start a replay',
      description:
        'Runs recorded turns and requests again with what `with` replaces. Their calls of tools are answered from the recording: no tool is called, no approval asked for, and nothing written. Models are called, and count for the key and its limits. A key replays what it can read: its own work, or all work for an unbound key with scope `admin`. Drafts and `run-safe` require an unbound key.',
      headers: { 'idempotency-key': idempotencyHeader },
      body: { schema: ReplayRequest, maxBytes: limits.maxLargeBodyBytes },
      answers: {
        202: { description: 'Stored and running.', schema: Replay, headers: { location: 'URL of the replay.' } },
      },
      problems: ['not_found', 'model_not_found', 'rate_limited', 'idempotency_mismatch'],
    },
    async ({ c, services, principal, body, bytes, answer }) => {
      const idempotency = await idempotencyOf(c, bytes);
      const { aliases } = services.settings;
      const replay = await startReplay({ ...services, aliases }, principal, body, idempotency);
      return answer(202, replay, { location: `/v1/replays/${replay.id}` });
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/replays',
      operationId: 'listReplays',
      summary: 'List replays',
      description: `The replays of the key, newest first; for an unbound key with scope \`admin\`, all of the workspace. A copy that is a few seconds old at most. A replay is stored for ${limits.replayTtlMs / 86_400_000} days.`,
      query: z.strictObject({ ...pageFields, suite: ResourceName.optional() }),
      answers: { 200: { description: 'A page of replays.', schema: pageOf(ListedReplay) } },
    },
    async ({ answer, services, principal, query: { cursor, limit, suite } }) => {
      const keyId = isAllowed(principal, { act: 'open-session', isOwn: false }) ? null : principal.keyId;
      const page = { limit, ...(cursor !== undefined && { cursor }) };
      return answer(200, await services.catalog(principal).replays({ keyId, ...(suite !== undefined && { suite }) }, page));
    },
  ),

  defineRoute(
    {
      ...own,
      method: 'get',
      path: '/v1/replays/{replay}',
      operationId: 'getReplay',
      summary: 'Read a replay',
      answers: { 200: { description: 'The replay.', schema: Replay } },
    },
    async ({ answer, services, principal, params }) => answer(200, await services.replays.get(params.replay).view(principal)),
  ),

  defineRoute(
    {
      ...own,
      method: 'delete',
      path: '/v1/replays/{replay}',
      operationId: 'deleteReplay',
      summary: 'Delete a replay',
      description: 'Ends it if it runs.',
      answers: { 204: { description: 'Gone.' } },
    },
    async ({ answer, services, principal, params }) => {
      await services.replays.get(params.replay).remove(principal);
      return answer(204, null);
    },
  ),

  defineRoute(
    {
      ...own,
      method: 'post',
      path: '/v1/replays/{replay}/cancel',
      storesNothing: true,
      operationId: 'cancelReplay',
      summary: 'Cancel a replay',
      description: 'Cases that run are aborted, and those that wait are skipped. Has no effect on a replay that has ended.',
      answers: { 200: { description: 'The replay.', schema: Replay } },
    },
    async ({ answer, services, principal, params }) => answer(200, await services.replays.get(params.replay).cancel(principal)),
  ),

  defineRoute(
    {
      ...own,
      method: 'get',
      path: '/v1/replays/{replay}/cases',
      operationId: 'listReplayCases',
      summary: 'List the cases of a replay',
      query: z.strictObject({ ...pageFields, status: ReplayCaseStatus.optional() }),
      answers: { 200: { description: 'A page of cases, in the order of their numbers.', schema: pageOf(ReplayCase) } },
    },
    async ({ answer, services, principal, params, query: { cursor, limit, status } }) => {
      const page = { limit, ...(cursor !== undefined && { cursor }), ...(status !== undefined && { status }) };
      return answer(200, await services.replays.get(params.replay).cases(principal, page));
    },
  ),

  defineRoute(
    {
      ...own,
      method: 'get',
      path: '/v1/replays/{replay}/cases/{number}',
      operationId: 'getReplayCase',
      summary: 'Compare both sides of a case',
      description:
        'The recorded side is read from its session or from the request log. When that is gone, the contents of both sides are, too.',
      params: replayParams.extend({
        number: z
          .string()
          .regex(/^[1-9][0-9]{0,5}$/)
          .transform(Number),
      }),
      answers: { 200: { description: 'The case with both sides.', schema: ReplayCaseDetail } },
    },
    async ({ answer, services, principal, params }) =>
      answer(200, await services.replays.get(params.replay).readCase(principal, params.number)),
  ),

  defineRoute(
    {
      ...own,
      method: 'get',
      path: '/v1/replays/{replay}/events',
      operationId: 'followReplay',
      summary: 'Follow a replay',
      description: `Server-sent events: \`replay-case\` when a case has ended, \`replay-end\` when all have. Closes after ${limits.idleCloseMs / 1000} idle seconds; reconnect with \`Last-Event-ID\`.`,
      headers: { 'last-event-id': 'As browsers send it. An invalid number means from the start.' },
      answers: { 200: { description: 'The events.', contentType: 'text/event-stream', events: SessionEventSchema } },
    },
    async ({ c, services, principal, params }) => {
      requireStream(c);
      const request = { method: c.req.method, path: c.req.path, requestId: c.get('requestId') };
      const fail = (error: unknown) => toProblem(error, request, services.log);
      const after = resumePoint(undefined, c.req.header('last-event-id'));
      const stream = await openEventStream(
        services.replays.get(params.replay),
        principal,
        after,
        fail,
        ({ type }) => type === 'replay-end',
      );
      return new Response(stream, { headers: eventStreamHeaders });
    },
  ),

  defineRoute(
    {
      ...own,
      method: 'get',
      path: '/v1/replays/{replay}/export',
      operationId: 'exportReplay',
      summary: 'Export the cases of a replay',
      description: 'One `ReplayCaseDetail` a line (NDJSON), with both sides: for a judgement elsewhere.',
      answers: { 200: { description: 'The cases.', contentType: 'application/x-ndjson' } },
    },
    async ({ c, services, principal, params }) => {
      requireStream(c);
      const replay = services.replays.get(params.replay);
      // Before the response begins, so that an unknown id is a problem.
      await replay.view(principal);
      const headers = { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' };
      return new Response(casesAsLines(replay, principal), { headers });
    },
  ),
];

/** Reads a case when the client has read the one before. A stream that fails is cut off, so that it is not taken for a whole one. */
function casesAsLines(replay: ReplayPort, principal: Principal): ReadableStream<Uint8Array> {
  const utf8 = new TextEncoder();
  let cursor: string | undefined;
  let numbers: number[] = [];
  let isLast = false;
  return new ReadableStream({
    async pull(controller) {
      if (numbers.length === 0 && !isLast) {
        const page = await replay.cases(principal, { limit: limits.maxPageItems, ...(cursor !== undefined && { cursor }) });
        numbers = page.items.map(({ number }) => number);
        cursor = page.nextCursor ?? undefined;
        isLast = page.nextCursor === null;
      }
      const number = numbers.shift();
      if (number === undefined) controller.close();
      else controller.enqueue(utf8.encode(`${JSON.stringify(await replay.readCase(principal, number))}\n`));
    },
  });
}
