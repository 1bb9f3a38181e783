/**
 * Runs a chat request of any dialect as a turn: finds or creates the session, plans the turn, and returns the response that the session
 * encodes from its log. `chat.ts` decides which requests go directly to a provider.
 */
import type { EditionPointer } from '../../core/toolset/edition-tool.ts';
import { namesOfHistory } from '../../core/policy/answer-name.ts';
import { joinParagraphs } from '../../core/text/paragraphs.ts';
import type { ClientTool, Plan } from '../../core/turn/plan.ts';
import { invalidRequest, nullIfNotFound, Problem } from '../../core/problem.ts';
import type { Principal } from '../../core/principal.ts';
import { readToolCallId } from '../../core/reference.ts';
import { unknownCompletion } from '../../dialects/answer.ts';
import type { ConversationBuilder } from '../../dialects/conversation.ts';
import type { Dialect, DialectRequest } from '../../dialects/dialect.ts';
import { countAgentUse, submitWithinLimits } from '../../engine/plan/turn-limits.ts';
import { keepAnswer } from '../../engine/proxy/kept-replies.ts';
import type { SessionPort, SessionSetup, SubmittedTurn, SubmitTurn } from '../../ports/session.ts';
import type { ProxiedChat } from '../../providers/proxy.ts';
import type { Services } from '../../wiring.ts';
import type { AppContext } from '../middleware/request-context.ts';
import { editionName, replacedToolsHeader } from '../documents.ts';
import { eventStreamHeaders } from '../event-stream.ts';
import { idempotencyOf, orEarlierResult, type Idempotency } from '../idempotency.ts';
import { withoutToolset, type ChatBody, type ChatRoute } from './chat-request.ts';

export type ChatTurn = {
  c: AppContext;
  services: Services;
  principal: Principal;
  dialect: Dialect;
  route: ChatRoute;
  body: ChatBody;
  bytes: Uint8Array;
  /** The caller's headers for a provider with the same API: an agent without tools is equivalent to its model. */
  headers?: Readonly<Record<string, string>> | undefined;
};

export async function answerInSession(turn: ChatTurn): Promise<Response> {
  const { c, services, principal, dialect, route, body, bytes, headers } = turn;
  const request = dialect.readRequest(body);
  const existing = await findSession(services, principal, route, request);
  if (request.previous !== null && existing === null) throw nothingBefore(route);
  const idempotency = await idempotencyOf(c, bytes);
  const find = (key: string, bodyHash: string) => findRepeated(turn, existing, key, bodyHash);
  const begun = await orEarlierResult<Begun>(idempotency, () => beginTurn(turn, request, existing, idempotency), find);
  if ('turn' in begun) {
    const { completion } = begun;
    if (completion !== null && body.store !== false) keepAnswer(services.keptReplies(principal), dialect, completion);
    return await answer(services, principal, begun, request.streamed);
  }
  return await services.proxyChat(principal, {
    ...begun,
    dialect,
    body: withoutToolset(body),
    headers,
    signal: () => c.req.raw.signal,
    requestId: c.get('requestId'),
    agentName: route.agent,
  });
}

/** A submitted turn, or a request for a provider. */
type Begun = (SubmittedTurn & Pick<Plan, 'replaced'>) | Pick<ProxiedChat, 'ref' | 'agent' | 'limited'>;

async function beginTurn(turn: ChatTurn, request: DialectRequest, existing: Found | null, idempotency: Idempotency): Promise<Begun> {
  const { dialect, route, body } = turn;
  const conversation = request.conversation({ inSession: existing !== null });
  const tools = request.clientTools();
  const plan = await planFor(turn, request, conversation, existing?.setup ?? null, tools);
  if (
    tools !== null &&
    tools.length > 0 &&
    plan.edition === undefined &&
    plan.skills === undefined &&
    route.session === undefined &&
    route.previousCalls === null
  ) {
    const { idempotencyKey: key, bodyHash = '' } = idempotency;
    // The agent may have had tools at the first request.
    const repeated = key === undefined ? null : await findRepeated(turn, existing, key, bodyHash);
    if (repeated !== null) return repeated;
    const { limited } = plan;
    if (limited !== undefined) await countAgentUse(turn.services.limiter, turn.principal.workspace, limited);
    return { ref: plan.model, agent: agentWord(plan, request), ...(limited !== undefined && { limited }) };
  }
  if (request.choices > 1) throw invalidRequest([{ path: 'n', message: 'a turn with a session or server tools has one choice: omit n' }]);

  const { history, input, results } = conversation;
  // A started assistant message can only be continued by a model without session; a turn starts with user input.
  if (input.length === 0 && results.length === 0)
    throw invalidRequest([{ path: dialect.conversationField, message: 'must end with a user message, or with the results of tool calls' }]);
  const { includeUsage, echo } = request;
  const previous = request.previous === null ? {} : { previous: request.previous };
  const chat = { dialect: dialect.name, model: body.model, includeUsage, echo, results, ...previous };
  const { replaced } = plan;
  const wanted = { plan, input, history, chat, awaitsAnswer: !request.streamed, ...idempotency };
  const submitted = await submitWithinLimits(turn.services, turn.principal, wanted, (given) =>
    submit(turn, existing?.session ?? null, given),
  );
  return { ...submitted, ...(replaced !== undefined && { replaced }) };
}

/** For an agent without tools: its model and instructions, and the caller's tools. The plan already contains the caller's own messages. */
function agentWord({ instructions, settings, protocol }: Plan, request: DialectRequest): NonNullable<ProxiedChat['agent']> {
  const isOwn = protocol !== undefined || JSON.stringify(settings) !== JSON.stringify(request.settings());
  return { instructions, settings, ...(protocol !== undefined && { protocol }), isOwn };
}

/** Returns the turn of this idempotency key: in the session that the request identifies, or in the one that the key created. */
async function findRepeated(
  { services, principal, route }: ChatTurn,
  existing: Found | null,
  key: string,
  bodyHash: string,
): Promise<SubmittedTurn | null> {
  const here = existing === null ? null : await nullIfNotFound(existing.session.findByIdempotencyKey(principal, key, bodyHash));
  if (here !== null || (existing !== null && route.session !== undefined)) return here;
  const made = await services.sessions.getByKey(principal, ownKey(key));
  return await nullIfNotFound(made.findByIdempotencyKey(principal, key, bodyHash));
}

/**
 * Returns the `completion` of a turn for a new or repeated request. Without streaming, a failed turn throws its problem: nothing has been
 * sent yet, so it can be an HTTP error.
 */
async function answer(
  services: Services,
  principal: Principal,
  submitted: SubmittedTurn & Pick<Plan, 'replaced'>,
  streamed: boolean,
): Promise<Response> {
  const { session, completion } = submitted;
  if (completion === null)
    throw new Problem('conflict', 'This Idempotency-Key was used for a turn that was not a chat request. Use a new key.');
  const content = await services.sessions.get(session).completion(principal, completion, { streamed });
  return completionResponse(content, { ...submitted, completion }, streamed);
}

/** Sets the same headers for new and stored completions. */
export function completionResponse(
  content: ReadableStream<Uint8Array>,
  submitted: Pick<Plan, 'replaced'> & { session: string; completion: string; edition: EditionPointer | null },
  streamed: boolean,
): Response {
  const { session, completion, edition } = submitted;
  return new Response(content, {
    headers: {
      ...(streamed ? eventStreamHeaders : { 'content-type': 'application/json' }),
      'x-moniker-session': session,
      'x-moniker-completion': completion,
      ...(edition !== null && { 'x-moniker-edition': editionName(edition) }),
      ...(replacedToolsHeader(submitted) as Record<string, string>),
    },
  });
}

type Found = { session: SessionPort; setup: SessionSetup };

/**
 * A session named in the header must exist. One identified only by call ids may be deleted, or belong to another key: then the messages are
 * an ordinary conversation, and the caller does not learn which case applies.
 */
async function findSession(
  services: Services,
  principal: Principal,
  { session: named, previousCalls: ofCalls }: ChatRoute,
  request: DialectRequest,
): Promise<Found | null> {
  const { sessions } = services;
  if (named === 'new') return null;
  if (named !== undefined) {
    const isElsewhere = ofCalls !== null && ofCalls !== named && continuesIn(request, ofCalls);
    if (isElsewhere && (await nullIfNotFound(open(sessions, principal, ofCalls))) !== null) throw twoSessions(ofCalls);
    return await open(sessions, principal, named);
  }
  const previous = ofCalls ?? (await sessionOfHistory(services, principal, request));
  return previous === null ? null : await nullIfNotFound(open(sessions, principal, previous));
}

/**
 * Returns the session that gave the last answer in the history; null: there is none, several sessions gave it, or its history is not sent.
 * The session compares the rest of the history and creates another session if it differs. Never throws: without a session, the request has
 * a new one.
 */
async function sessionOfHistory({ catalog, log }: Services, principal: Principal, request: DialectRequest): Promise<string | null> {
  const { history } = request.conversation({ inSession: false });
  const last = history.findLastIndex(({ role }) => role === 'assistant');
  if (last < 0) return null;
  // The name of an answer depends on the user's input before it.
  const asked = history.findLastIndex(({ role }, index) => index < last && role !== 'user' && role !== 'system');
  try {
    const names = (await namesOfHistory(principal.keyId, history.slice(asked + 1, last + 1))) ?? [];
    const [marks] = names.length === 0 ? [] : await catalog(principal).taintMarks(names);
    return marks?.session ?? null;
  } catch (error) {
    log.error('the session of a conversation could not be looked up', { cause: String(error) });
    return null;
  }
}

/**
 * Returns whether the new messages of the request belong to that session. Older calls of it are the history of a fork, which has their ids
 * from there.
 */
function continuesIn(request: DialectRequest, session: string): boolean {
  if (request.previous !== null) return true;
  return request.conversation({ inSession: true }).results.some(({ callId }) => readToolCallId(callId)?.session === session);
}

async function open(sessions: Services['sessions'], principal: Principal, id: string): Promise<Found> {
  const session = sessions.get(id);
  return { session, setup: await session.setup(principal) };
}

async function planFor(
  { services, principal, route }: ChatTurn,
  request: DialectRequest,
  { system }: ConversationBuilder,
  setup: SessionSetup | null,
  tools: ClientTool[] | null,
): Promise<Plan> {
  const own = route.agent === undefined ? setup : null;
  return await services.planTurn(principal, {
    agent: route.agent,
    model: route.model,
    toolset: route.toolset ?? own?.toolset,
    instructions: joinParagraphs(own?.instructions, system),
    settings: request.settings(),
    tools: tools ?? setup?.tools ?? [],
    toolPath: request.toolPath,
    allowed: request.allowedTools(),
  });
}

async function submit(turn: ChatTurn, existing: SessionPort | null, request: SubmitTurn): Promise<SubmittedTurn> {
  const { principal, route } = turn;
  if (existing === null) return await (await createSession(turn, request)).submit(principal, request);
  try {
    return await existing.submit(principal, request);
  } catch (error) {
    // It was just deleted, and the caller did not name it.
    if (route.session !== undefined || request.chat?.previous !== undefined || !(error instanceof Problem && error.code === 'not_found'))
      throw error;
    return await (await createSession(turn, request)).submit(principal, request);
  }
}

/**
 * A session requested with `new` is listed. One created only for tools is unlisted and deletes itself. The same idempotency key creates the
 * same session.
 */
async function createSession({ services, principal, route }: ChatTurn, { idempotencyKey }: SubmitTurn): Promise<SessionPort> {
  const { agent, model, toolset, session } = route;
  const setup = {
    ...(agent !== undefined && { agent }),
    ...(model !== undefined && { model }),
    ...(toolset !== undefined && { toolset }),
    listed: session === 'new',
  };
  const key = idempotencyKey === undefined ? undefined : ownKey(idempotencyKey);
  return services.sessions.get((await services.sessions.create(principal, setup, key)).id);
}

/** Separate from the sessions that other routes create with this key. */
function ownKey(key: string): string {
  return `chat ${key}`;
}

function twoSessions(ofCalls: string): Problem {
  return invalidRequest([
    {
      path: 'x-moniker-session',
      message: `names another session than the newest tool calls or the previous response, which belong to ${ofCalls}`,
    },
  ]);
}

function nothingBefore({ session }: ChatRoute): Problem {
  if (session === 'new')
    return invalidRequest([{ path: 'x-moniker-session', message: '"new" cannot continue a previous response: omit one of the two' }]);
  return unknownCompletion();
}
