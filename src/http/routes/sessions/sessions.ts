/** `/v1/sessions`: creates, lists, reads and deletes conversations. `turns.ts` has their turns, `session-files.ts` their files. */
import { noUsage } from '../../../core/model/chat-event.ts';
import * as z from 'zod';
import { ModelRef, ResourceName } from '../../../core/turn/agent.ts';
import { isAllowed } from '../../../core/people/authority.ts';
import { canonicalJson } from '../../../core/hash.ts';
import { limits } from '../../../core/limits/limits.ts';
import { ClientToolInput } from '../../../core/turn/plan.ts';
import { ToolsetReference } from '../../../core/toolset/toolset.ts';
import { triggerOfKey } from '../../../core/triggers/trigger-principal.ts';
import { type Principal, rootKeyId } from '../../../core/people/principal.ts';
import { idempotencyMismatch, nullIfNotFound, Problem } from '../../../core/problem.ts';
import { SessionStatus } from '../../../core/turn/session-summary.ts';
import { ForkPoint, type ListedSession, SessionRow, type SessionSetup, SessionView } from '../../../ports/session.ts';
import { runIdempotent } from '../../../engine/idempotency.ts';
import { idempotencyHeader, idempotencyOf } from '../../idempotency.ts';
import { pageFields, pageOf } from '../../paging.ts';
import { defineRoute } from '../../route.ts';
import type { HttpServices } from '../../services.ts';

export const sessionParams = z.object({ id: z.string().min(1).max(200).meta({ description: 'Id of a session.' }) });

const SessionRequest = z
  .strictObject({
    from: ForkPoint.optional().meta({
      description: 'Fork: continue after a turn of another session, with its agent or model, conversation, tool calls and current files.',
    }),
    agent: ResourceName.optional(),
    model: ModelRef.optional(),
    toolset: ToolsetReference.optional().meta({
      description: 'With `model`: the toolset whose tools run inside Moniker.',
      example: 'demo',
    }),
    instructions: z.string().max(100_000).optional().meta({ description: 'With `model`: the system prompt.' }),
    tools: z.array(ClientToolInput).max(limits.maxClientTools).optional().meta({
      description: 'Tools that the caller runs itself, for turns without `tools`.',
    }),
  })
  .superRefine(({ from, agent, model, toolset, instructions, tools }, context) => {
    const refuse = (field: string, message: string) => context.addIssue({ code: 'custom', path: [field], message });
    if (from !== undefined) {
      for (const [field, value] of Object.entries({ agent, model, toolset, instructions, tools }))
        if (value !== undefined) refuse(field, 'is taken from the session that is forked: omit it');
      return;
    }
    if (agent === undefined && model === undefined) refuse('agent', 'give an agent or a model');
    if (agent === undefined) return;
    for (const [field, value] of Object.entries({ model, toolset, instructions })) {
      if (value !== undefined) refuse(field, 'is defined by the agent: omit it, or set a model instead of an agent');
    }
  })
  .meta({ id: 'SessionRequest', example: { model: 'rehearsal/default', toolset: 'demo' } });

const SessionsQuery = z.strictObject({
  ...pageFields,
  status: SessionStatus.optional(),
  agent: ResourceName.optional(),
  trigger: z
    .string()
    .regex(/^(webhook|schedule)(:[A-Za-z0-9._-]{1,128})?$/, { message: 'must be webhook, schedule, webhook:NAME or schedule:NAME' })
    .optional()
    .meta({ description: 'Only sessions that this trigger started, or any of its kind.', example: 'webhook:triage' }),
});

const TranscriptMessage = z
  .object({
    role: z.enum(['user', 'assistant', 'tool']),
    parts: z.array(z.record(z.string(), z.unknown())),
    turn: z.string(),
  })
  .meta({ id: 'TranscriptMessage' });

const MessagesQuery = z.strictObject({
  cursor: pageFields.cursor,
  limit: z.coerce.number().int().min(1).max(limits.maxMessagesPerPage).optional(),
  order: z.enum(['asc', 'desc']).default('asc').meta({ description: '`desc`: newest first.' }),
});

const common = { tag: 'Sessions', scopes: ['chat'] } as const;

export const sessionRoutes = [
  defineRoute(
    {
      ...common,
      method: 'post',
      path: '/v1/sessions',
      operationId: 'createSession',
      summary: 'Create a session',
      headers: { 'idempotency-key': idempotencyHeader },
      body: SessionRequest,
      answers: {
        201: {
          description: 'Created. Only its key and unbound keys with scope `admin` can access it.',
          schema: SessionView,
          headers: { location: 'URL of the session.' },
        },
      },
      problems: ['model_not_found', 'not_found', 'conflict', 'idempotency_mismatch'],
    },
    async ({ c, services, principal, body, bytes, answer }) => {
      const { idempotencyKey } = await idempotencyOf(c, bytes);
      const setup = { ...body, listed: true };
      const make = async () => {
        if (body.from !== undefined) return await forkSession(services, principal, body.from, idempotencyKey);
        // The plan is discarded: an invalid setup is rejected here, not at the first turn.
        await services.planTurn(principal, body);
        return await createSession(services, principal, setup, idempotencyKey);
      };
      const find = async (key: string) => {
        const session = await services.sessions.getByKey(principal, ownKey(key));
        return asMade(await session.view(principal), await session.setup(principal), setup);
      };
      const view = await runIdempotent({ ...(idempotencyKey !== undefined && { idempotencyKey }) }, make, find);
      return answer(201, await withAgentsToolset(services, principal, view), { location: `/v1/sessions/${view.id}` });
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/sessions',
      operationId: 'listSessions',
      summary: 'List sessions',
      description: 'The sessions of the key; for an unbound key with scope `admin`, all sessions of the workspace.',
      query: SessionsQuery,
      answers: { 200: { description: 'A page of sessions, newest first.', schema: pageOf(SessionRow) } },
    },
    async ({ answer, services, principal, query: { cursor, limit, ...filter } }) => {
      const keyId = isAllowed(principal, { act: 'open-session', isOwn: false }) ? null : principal.keyId;
      const { items, nextCursor } = await services.catalog(principal).sessions({ ...filter, keyId }, { limit, cursor });
      return answer(200, { items: items.map(toRow), nextCursor });
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/sessions/{id}',
      operationId: 'getSession',
      summary: 'Read a session',
      params: sessionParams,
      answers: { 200: { description: 'The session and its newest turn.', schema: SessionView } },
    },
    async ({ answer, services, principal, params }) =>
      answer(200, await withAgentsToolset(services, principal, await services.sessions.get(params.id).view(principal))),
  ),

  defineRoute(
    {
      ...common,
      method: 'delete',
      path: '/v1/sessions/{id}',
      operationId: 'deleteSession',
      summary: 'Delete a session with all its data',
      params: sessionParams,
      answers: { 204: { description: 'Gone.' } },
    },
    async ({ answer, services, principal, params }) => {
      const { id } = params;
      await services.sessions
        .get(id)
        .remove(principal)
        .catch(async (error: unknown) => {
          // The root key finds every session of its workspace: one that is listed has lost its database.
          const isLost = error instanceof Problem && error.code === 'not_found' && principal.keyId === rootKeyId;
          if (!isLost || !(await services.catalog(principal).forgetSession(id, principal.keyId))) throw error;
        });
      return answer(204, null);
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/sessions/{id}/messages',
      operationId: 'listMessages',
      summary: 'Read the transcript',
      description:
        'All messages, including those that models see only as a summary. Oldest first, or newest first with `order=desc`. Without `limit` a page has at most 4 MB.',
      params: sessionParams,
      query: MessagesQuery,
      answers: { 200: { description: 'A page of messages.', schema: pageOf(TranscriptMessage) } },
    },
    async ({ answer, services, principal, params, query }) => {
      const { items, nextCursor } = await services.sessions.get(params.id).messages(principal, query);
      return answer(200, { items, nextCursor });
    },
  ),
];

/** The key's id is not shown; that no key started the session is. */
function toRow({ keyId, ...row }: ListedSession): z.infer<typeof SessionRow> {
  const trigger = triggerOfKey(keyId);
  return trigger === null ? row : { ...row, trigger };
}

/** A repeated idempotency key returns the session that it created, in its original state, if the setup is the same. */
async function createSession(
  services: HttpServices,
  principal: Principal,
  setup: SessionSetup,
  key: string | undefined,
): Promise<SessionView> {
  const view = await services.sessions.create(principal, setup, ...(key === undefined ? [] : [ownKey(key)]));
  return key === undefined ? view : asMade(view, await services.sessions.get(view.id).setup(principal), setup);
}

async function forkSession(services: HttpServices, principal: Principal, from: ForkPoint, key: string | undefined): Promise<SessionView> {
  const source = services.sessions.get(from.session);
  const { agent, model, toolset, instructions, tools } = await source.setup(principal);
  // As above. A key may have been bound to other agents since.
  await services.planTurn(principal, { agent, model, toolset, instructions, tools });
  const view = await source.fork(principal, from.turn, ...(key === undefined ? [] : [ownKey(key)]));
  return key === undefined ? view : asMade(view, await services.sessions.get(view.id).setup(principal), { from, listed: true });
}

/** All but `from` of a fork is the setup of its session. */
function asMade(view: SessionView, made: SessionSetup, asked: SessionSetup): SessionView {
  const isSame =
    asked.from === undefined ? canonicalJson(made) === canonicalJson(asked) : canonicalJson(made.from) === canonicalJson(asked.from);
  if (!isSame) throw idempotencyMismatch();
  if (asked.from !== undefined) {
    if (view.lastEvent === 0) throw new Problem('unavailable', 'The session was not copied completely. Send the request again.');
    return { ...view, turn: null, queued: 0, lastEvent: 1, lastActivityAt: view.createdAt, usage: noUsage };
  }
  const unused = { title: null, lastEvent: 0, lastActivityAt: view.createdAt, usage: noUsage };
  return { ...view, turn: null, queued: 0, ...unused };
}

/** Separate from the sessions that other routes create with this key. */
function ownKey(key: string): string {
  return `session ${key}`;
}

/** A session with an agent uses the agent's current toolset; null also if the agent was deleted. */
async function withAgentsToolset(services: HttpServices, principal: Principal, view: SessionView): Promise<SessionView> {
  if (view.agent === undefined) return view;
  const agent = await nullIfNotFound(services.directory.agent(principal.workspace, view.agent));
  return agent === null ? view : { ...view, toolset: agent.toolset ?? null };
}
