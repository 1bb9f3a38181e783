/**
 * A chat request of any dialect, from what the client sent to its answer: a request without agent, toolset and session goes to the provider;
 * any other one becomes a turn of a session, whose response the session encodes from its log. Where there are no sessions, the turn runs
 * within the request.
 */
import type { Dropped, DroppedItem } from '../../core/model/dropped.ts';
import type { ModelSettings } from '../../core/model/model-settings.ts';
import { requireAllowed } from '../../core/people/authority.ts';
import type { Principal } from '../../core/people/principal.ts';
import { once } from '../../core/memoize.ts';
import { invalidRequest, Problem } from '../../core/problem.ts';
import { joinParagraphs } from '../../core/text/paragraphs.ts';
import type { EditionPointer } from '../../core/toolset/edition-tool.ts';
import type { ClientTool, Plan } from '../../core/turn/plan.ts';
import type { ConversationBuilder } from '../../dialects/conversation.ts';
import type { DialectRequest } from '../../dialects/dialect.ts';
import type { Directory } from '../../ports/directory.ts';
import type { Limiter } from '../../ports/limiter.ts';
import type { Ids } from '../../ports/runtime.ts';
import type { SessionSetup, SubmittedTurn, SubmitTurn } from '../../ports/session.ts';
import { type Idempotency, runIdempotent } from '../idempotency.ts';
import type { PlanRequest } from '../plan/plan-turn.ts';
import { countAgentUse, submitWithinLimits } from '../plan/turn-limits.ts';
import { keepAnswer, type KeptReplies, withReferredItems } from '../proxy/kept-replies.ts';
import { countsUse } from '../proxy/reserve-request.ts';
import type { AskedChat, ProxiedChat } from '../proxy/translate-chat.ts';
import { findRepeated, findSession, type FindSessionDeps, type FoundSession, type RoutedChat, submitToSession } from './chat-session.ts';
import { type ChatRoute, type IncomingChat, isPlain, readRoute, resolveModel, withoutToolset } from './incoming-chat.ts';

/** `isLimited`: by tokens or cost. */
export type UnsentRules = { hasTools: boolean; isLimited: boolean };

export type ChatDeps = FindSessionDeps & {
  ids: Ids;
  directory: Directory;
  limiter: Limiter;
  planTurn(principal: Principal, request: PlanRequest): Promise<Plan>;
  /** What translated replies need again, for a key. */
  keptReplies(principal: Principal): KeptReplies;
  proxyChat(principal: Principal, chat: AskedChat): Promise<Response>;
  /** Reports to `dropped` which settings the model will not be sent. Throws for a web search that cannot run. */
  reportUnsent(principal: Principal, ref: string, settings: ModelSettings, dropped: Dropped, turn: UnsentRules): Promise<void>;
  /** Runs turns where there are no sessions. Absent: there are. */
  turnWithinRequest?: RunTurnWithinRequest;
};

/**
 * Runs the turn of a request, for as long as its client is connected, and returns its answer. Throws `not_configured` for what only a session
 * does and, without streaming, the problem that the turn failed with.
 */
export type RunTurnWithinRequest = (chat: RoutedChat, turn: SubmitTurn) => Promise<ReadableStream<Uint8Array>>;

/** The provider's response, or the completion of a turn. */
export type ChatAnswer = Response | (Completion & Pick<Plan, 'replaced'>);
/** `session`, `completion`: null for a turn within its request. */
type Completion = {
  content: ReadableStream<Uint8Array>;
  streamed: boolean;
  edition: EditionPointer | null;
  session: string | null;
  completion: string | null;
  dropped: readonly DroppedItem[];
};

type TurnBegun = SubmittedTurn & Pick<Plan, 'replaced'>;
/** A submitted turn, a turn that runs, or a request for a provider. */
type PlannedChat =
  | TurnBegun
  | ({ content: ReadableStream<Uint8Array>; edition: EditionPointer | null } & Pick<Plan, 'replaced'>)
  | Pick<AskedChat, 'ref' | 'agent' | 'limited' | 'fallbacks' | 'timeouts'>;

const loadDecisions = once(() => import('./decide-in-chat.ts'));

export async function runChat(deps: ChatDeps, incoming: IncomingChat): Promise<ChatAnswer> {
  const { principal, dialect } = incoming;
  const ref = await resolveModel(deps, principal, incoming.body.model);
  const route = readRoute(incoming, ref);
  if (isPlain(route) && dialect.createCallReader === undefined && (!isBackground(incoming) || needsProvider(incoming))) {
    requireAllowed(principal, { act: 'use-model' });
    return await incoming.open(deps.proxyChat(principal, { ...toProxied(incoming), ref, text: incoming.text }));
  }
  const body = await withStoredItems(deps, incoming, route);
  const whole = body === incoming.body ? incoming : { ...incoming, body };
  const chat = { ...whole, route: whole === incoming ? route : readRoute(whole, ref), request: dialect.readRequest(body) };
  const found = await findSession(deps, chat);
  const idempotency = await chat.idempotency();
  const find = (key: string, bodyHash: string) => findRepeated(deps, chat, found, key, bodyHash);
  const planned = await runIdempotent<PlannedChat>(idempotency, () => beginTurn(deps, chat, found, idempotency), find);
  if ('turn' in planned) return await completionOf(deps, chat, planned);
  if ('content' in planned) {
    const { streamed, dropped } = chat.request;
    return { ...planned, streamed, session: null, completion: null, dropped: dropped.items() };
  }
  return await chat.open(deps.proxyChat(principal, { ...toProxied(chat), ...planned, agentName: chat.route.agent }));
}

/** Its answer is read later, so that its turn runs in a session, unless only a provider can run it. */
function isBackground({ dialect, body }: Pick<IncomingChat, 'dialect' | 'body'>): boolean {
  return dialect.name === 'openai-responses' && body.background === true;
}

/** Whether the request, which names no session, has what a session cannot do: such as tools that the provider runs, or its earlier response. */
function needsProvider({ dialect, body }: IncomingChat): boolean {
  try {
    const request = dialect.readRequest(body);
    request.conversation({});
    request.clientTools();
    return request.previous !== null || request.settings().webSearch !== undefined;
  } catch (error) {
    if (error instanceof Problem && error.code === 'invalid_request') return true;
    throw error;
  }
}

function toProxied({ dialect, body, headers, signal, requestId, cache }: IncomingChat) {
  return { dialect, body: withoutToolset(body), headers, signal, requestId, cache };
}

/** Returns the request with the items that it refers to; the same object without references. */
async function withStoredItems(deps: ChatDeps, { principal, dialect, body }: IncomingChat, { session, previousCalls }: ChatRoute) {
  if (dialect.name !== 'openai-responses') return body;
  return await withReferredItems(deps.keptReplies(principal), body, { session: session ?? previousCalls, unknown: 'refuse' });
}

async function beginTurn(deps: ChatDeps, chat: RoutedChat, found: FoundSession | null, idempotency: Idempotency): Promise<PlannedChat> {
  const { principal, dialect, route, body, request } = chat;
  const conversation = request.conversation({ inSession: found !== null });
  const tools = request.clientTools();
  const plan = await planChat(deps, chat, conversation, found?.setup ?? null, tools);
  if (
    tools !== null &&
    tools.length > 0 &&
    plan.edition === undefined &&
    plan.skills === undefined &&
    dialect.createCallReader === undefined &&
    route.session === undefined &&
    route.previousCalls === null &&
    !isBackground(chat)
  ) {
    const { idempotencyKey: key, bodyHash = '' } = idempotency;
    // The agent may have had tools at the first request.
    const repeated = key === undefined ? null : await findRepeated(deps, chat, found, key, bodyHash);
    if (repeated !== null) return repeated;
    const { limited, timeouts } = plan;
    const [ref = plan.model, ...fallbacks] = plan.routes ?? [plan.model, ...plan.fallbacks];
    if (limited !== undefined) await countAgentUse(deps.limiter, principal.workspace, limited);
    return { ref, agent: overridesOf(plan, request), fallbacks, timeouts, ...(limited !== undefined && { limited }) };
  }
  if (request.choices > 1) throw invalidRequest([{ path: 'n', message: 'a turn with a session or server tools has one choice: omit n' }]);

  const { history, input, results, decisions } = conversation;
  if (decisions.length > 0) await (await loadDecisions()).decideInChat(principal, found, conversation, request.dropped);
  const { includeUsage, echo } = request;
  const previous = request.previous === null ? {} : { previous: request.previous };
  const decided = decisions.length > 0 && { decided: true as const };
  const shown = { dialect: dialect.name, model: body.model, includeUsage, echo, results, ...decided, ...previous };
  const replaced = plan.replaced === undefined ? {} : { replaced: plan.replaced };
  const wanted = { plan, input, history, chat: shown, awaitsAnswer: !request.streamed && !isBackground(chat), ...idempotency };
  const { turnWithinRequest } = deps;
  if (turnWithinRequest !== undefined)
    return { content: await turnWithinRequest(chat, wanted), edition: plan.edition ?? null, ...replaced };
  const submitted = await submitWithinLimits(deps, principal, wanted, (turn) => submitToSession(deps, chat, found, turn));
  return { ...submitted, ...replaced };
}

/** For an agent without tools: its model and instructions, and the caller's tools. The plan already contains the caller's own messages. */
function overridesOf({ instructions, settings, protocol }: Plan, request: DialectRequest): NonNullable<ProxiedChat['agent']> {
  const isOwn = protocol !== undefined || JSON.stringify(settings) !== JSON.stringify(request.settings());
  return { instructions, settings, ...(protocol !== undefined && { protocol }), isOwn };
}

async function planChat(
  deps: ChatDeps,
  { principal, route, request }: RoutedChat,
  { system }: ConversationBuilder,
  setup: SessionSetup | null,
  tools: ClientTool[] | null,
): Promise<Plan> {
  const own = route.agent === undefined ? setup : null;
  const settings = request.settings();
  const dropped = { items: request.dropped.items(), names: request.dropped.names };
  const plan = await deps.planTurn(principal, {
    agent: route.agent,
    model: route.model,
    toolset: route.toolset ?? own?.toolset,
    instructions: joinParagraphs(own?.instructions, system),
    settings,
    ...((dropped.items.length > 0 || Object.keys(settings).length > 0) && { dropped }),
    tools: tools ?? setup?.tools ?? [],
    toolPath: request.toolPath,
    allowed: request.allowedTools(),
  });
  if (Object.keys(settings).length > 0) {
    const { edition, clientTools, skills, limited } = plan;
    const hasTools = edition !== undefined || clientTools !== undefined || skills !== undefined;
    const isLimited = limited?.some((holder) => countsUse(holder.limits)) === true;
    await deps.reportUnsent(principal, plan.model, plan.settings, request.dropped, { hasTools, isLimited });
  }
  return plan;
}

/**
 * Returns the completion of a turn, for a new or repeated request. Without streaming, a failed turn throws its problem: nothing has been sent
 * yet, so it can be an HTTP error.
 */
async function completionOf(
  { sessions, keptReplies }: ChatDeps,
  { principal, dialect, body, request: { streamed, dropped, echo } }: RoutedChat,
  begun: TurnBegun,
): Promise<ChatAnswer> {
  const { session, completion } = begun;
  if (completion === null)
    throw new Problem('conflict', 'This Idempotency-Key was used for a turn that was not a chat request. Use a new key.');
  if (body.store !== false) keepAnswer(keptReplies(principal), dialect, completion);
  const content = await sessions.get(session).completion(principal, completion, {
    streamed,
    // The client of a user interface may repeat a request with other ids, and with messages that it has got since.
    ...(dialect.createCallReader !== undefined && { echo }),
  });
  return { ...begun, completion, content, streamed, dropped: dropped.items() };
}
