/**
 * `/v1/chat/completions`: what stock OpenAI clients call. Decides where a request goes, and nothing else: to the provider
 * as it is, or, with an agent, a toolset or a session, to a turn of a session whose answer comes back in this dialect.
 */
import { z } from 'zod';
import { parseDocument } from '../../core/issues.ts';
import { limits } from '../../core/limits.ts';
import type { InputPart, Message } from '../../core/message.ts';
import type { Plan } from '../../core/plan.ts';
import { invalidRequest, Problem } from '../../core/problem.ts';
import type { Principal } from '../../core/principal.ts';
import { ChatCompletionRequest, toConversation, toSettings } from '../../dialects/openai-chat-request.ts';
import type { Session } from '../../ports/session.ts';
import type { Services } from '../../wiring.ts';
import { requireAgent, requireBareModel, requirePlan, requireToolset } from '../access.ts';
import type { AppContext } from '../context.ts';
import { editionHeader, editionName } from '../documents.ts';
import { eventStreamHeaders } from '../event-stream.ts';
import { idempotencyOf } from '../idempotency.ts';
import { quoted } from '../problems.ts';
import { mount } from '../route.ts';
import type { App } from '../route.ts';

/** On the way through only the names that route it are looked at: the provider judges the rest. */
type Body = Record<string, unknown> & { model: string };

/** What the request says about where it goes. */
type Route = { agent?: string; model?: string; toolset?: string; session?: string };

export function mountChatCompletions(app: App): void {
  mount(
    app,
    {
      method: 'post',
      path: '/v1/chat/completions',
      operationId: 'createChatCompletion',
      tag: 'OpenAI',
      scopes: ['chat'],
      summary: 'Chat, as OpenAI clients do',
      description:
        '`model` is `agent/<name>` or `<provider>/<model>`. With an agent, a toolset or a session, server tools run inside and the answer is one assistant message; without, the request goes to the provider as it is. Faults have the OpenAI shape.',
      query: z.looseObject({}),
      headers: {
        'x-moniker-toolset': 'A toolset whose tools run inside; as `toolset` in the body.',
        'x-moniker-session': 'A session that remembers; `new` makes one. Messages that it has stored may be sent again or left out.',
        'idempotency-key': 'With a session: a repeat joins the first turn.',
      },
      body: { schema: z.unknown(), documented: ChatCompletionRequest, maxBytes: limits.maxLargeBodyBytes },
      answers: {
        200: {
          description: 'A completion, or its chunks (`text/event-stream`) with `stream: true`.',
          schema: z.looseObject({ id: z.string(), object: z.string(), model: z.string() }).meta({ id: 'ChatCompletion' }),
          also: 'text/event-stream',
          headers: {
            ...editionHeader,
            'x-moniker-session': 'The session it ran in; another one than asked for when the messages differ from what was stored.',
          },
        },
      },
      openAiErrors: true,
      problems: ['model_not_found', 'not_found', 'upstream_error', 'upstream_timeout', 'rate_limited'],
    },
    async ({ c, services, principal, body: value, bytes, text }) => {
      const body = requireModel(value);
      const route = readRoute(c, body);
      if (route.agent === undefined && route.toolset === undefined && route.session === undefined) {
        requireBareModel(principal);
        return await services.proxyChat(principal, { ref: body.model, body: withoutToolset(body), text, signal: () => c.req.raw.signal });
      }
      return await answerInSession(c, services, principal, route, body, bytes);
    },
  );
}

async function answerInSession(
  c: AppContext,
  services: Services,
  principal: Principal,
  route: Route,
  body: Body,
  bytes: Uint8Array,
): Promise<Response> {
  if (route.agent !== undefined) requireAgent(principal, route.agent);
  if (route.toolset !== undefined) requireToolset(principal, route.toolset);
  const request = parseDocument(ChatCompletionRequest, body);
  const { system, history, input } = readConversation(request);
  const idempotency = await idempotencyOf(c, bytes);

  const existing = route.session === undefined || route.session === 'new' ? null : services.sessions.get(route.session);
  const setup = existing === null ? null : await existing.setup(principal);
  const toolset = route.toolset ?? (route.agent === undefined ? setup?.toolset : undefined);
  const plan = await services.planTurn(principal, {
    agent: route.agent,
    model: route.model,
    toolset,
    instructions: joined(route.agent === undefined ? setup?.instructions : undefined, system),
    settings: toSettings(request),
  });
  requirePlan(principal, plan);
  if ((request.tools?.length ?? 0) > 0) {
    if (plan.edition !== undefined || route.session !== undefined) throw ownToolsRefused();
    // An agent without tools of its own: its model and instructions, the caller's tools.
    return await services.proxyChat(principal, { ref: plan.model, body: asAgent(plan, request, body), signal: () => c.req.raw.signal });
  }

  if ((request.n ?? 1) > 1)
    throw invalidRequest([{ path: 'n', message: 'a turn with a session or tools of the server has one answer: leave n out' }]);

  const session = existing ?? (await beginSession(services, principal, { ...route, toolset }));
  const { turn, session: id, edition } = await session.submit(principal, { plan, input, history, ...idempotency });
  const answering = services.sessions.get(id);
  const headers = { 'x-moniker-session': id, ...(edition !== null && { 'x-moniker-edition': editionName(edition) }) };
  const shape = { model: body.model, includeUsage: request.stream_options?.include_usage === true };
  if (request.stream === true) {
    return new Response(await answering.completion(principal, turn, { ...shape, streamed: true }), {
      headers: { ...eventStreamHeaders, ...headers },
    });
  }
  // Throws what a turn failed with: nothing has been sent yet, so it can still be the error that it is.
  return new Response(await answering.completion(principal, turn, { ...shape, streamed: false }), {
    headers: { 'content-type': 'application/json', ...headers },
  });
}

/** Asked for by `new`: listed. Made for the tools' sake alone: unlisted, and it deletes itself. */
async function beginSession(services: Services, principal: Principal, { agent, model, toolset, session }: Route): Promise<Session> {
  const view = await services.sessions.create(principal, {
    ...(agent !== undefined && { agent }),
    ...(model !== undefined && { model }),
    ...(toolset !== undefined && { toolset }),
    listed: session === 'new',
  });
  return services.sessions.get(view.id);
}

function requireModel(value: unknown): Body {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw invalidRequest([{ path: '', message: 'must be an object' }]);
  const { model } = value as { model?: unknown };
  if (typeof model !== 'string' || model === '')
    throw invalidRequest([{ path: 'model', message: 'must be agent/<name> or <provider>/<model>' }]);
  return value as Body; // Checked just now.
}

/** Throws `invalid_request` where body and header name two toolsets, `model_not_found` for a model that is no ref. */
function readRoute(c: AppContext, body: Body): Route {
  const inBody = body.toolset ?? undefined;
  if (inBody !== undefined && typeof inBody !== 'string')
    throw invalidRequest([{ path: 'toolset', message: 'must be the name of a toolset' }]);
  const inHeader = c.req.header('x-moniker-toolset');
  if (inBody !== undefined && inHeader !== undefined && inBody !== inHeader) {
    throw invalidRequest([{ path: 'toolset', message: 'differs from the header x-moniker-toolset: give one' }]);
  }
  const session = c.req.header('x-moniker-session');
  const toolset = inBody ?? inHeader;
  return {
    ...modelOrAgent(body.model),
    ...(toolset !== undefined && { toolset }),
    ...(session !== undefined && { session }),
  };
}

function modelOrAgent(ref: string): Pick<Route, 'agent' | 'model'> {
  const slash = ref.indexOf('/');
  if (slash < 1 || slash === ref.length - 1) {
    throw new Problem(
      'model_not_found',
      `${quoted(ref)} is no model here: it must be agent/<name> or <provider>/<model>. GET /v1/models lists them.`,
      { param: 'model' },
    );
  }
  return ref.startsWith('agent/') ? { agent: ref.slice(slash + 1) } : { model: ref };
}

/** The user messages at the end are the input; what stands before them is history. */
function readConversation(request: ChatCompletionRequest): { system: string; history: Message[]; input: InputPart[] } {
  const { system, messages } = toConversation(request);
  const last = messages.findLastIndex((message) => message.role !== 'user');
  const input = messages.slice(last + 1).flatMap((message) => (message.role === 'user' ? message.parts : []));
  if (input.length === 0) throw invalidRequest([{ path: 'messages', message: 'must end with a user message' }]);
  return { system, history: messages.slice(0, last + 1), input };
}

function ownToolsRefused(): Problem {
  return invalidRequest([
    {
      path: 'tools',
      message:
        'tools of the request cannot be used together with server tools or a session: leave `tools` out, or ask without toolset and session and with a model that is no agent with tools',
    },
  ]);
}

function withoutToolset({ toolset: _toolset, ...body }: Body): Body {
  // The rest of a record without one key keeps `model`, which the compiler loses.
  return body as Body;
}

/** The plan's instructions hold the caller's system messages already. */
function asAgent(plan: Plan, request: ChatCompletionRequest, body: Body): Body {
  const rest = request.messages.filter(({ role }) => role !== 'system' && role !== 'developer');
  const system = plan.instructions === '' ? [] : [{ role: 'system', content: plan.instructions }];
  return { ...withoutToolset(body), model: plan.model, messages: [...system, ...rest] };
}

function joined(...texts: (string | undefined)[]): string | undefined {
  const text = texts.filter((part) => part !== undefined && part !== '').join('\n\n');
  return text === '' ? undefined : text;
}
