/**
 * The session of a chat request: the one that its header names, the one that its ids or its history identify, or a new one. The same
 * idempotency key creates and finds the same session.
 */
import { nameForTurns } from '../../core/model/route.ts';
import { namesOfHistory } from '../../core/policy/answer-name.ts';
import type { Principal } from '../../core/people/principal.ts';
import { invalidRequest, nullIfNotFound, Problem } from '../../core/problem.ts';
import { readToolCallId } from '../../core/text/reference.ts';
import { unknownCompletion } from '../../dialects/answer.ts';
import type { DialectRequest } from '../../dialects/dialect.ts';
import type { CatalogCaller, CatalogPort } from '../../ports/catalog.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { SessionPort, Sessions, SessionSetup, SubmittedTurn, SubmitTurn } from '../../ports/session.ts';
import type { ChatRoute, IncomingChat } from './incoming-chat.ts';

export type FindSessionDeps = {
  sessions: Sessions;
  catalog(caller: CatalogCaller): Pick<CatalogPort, 'taintMarks'>;
  log: Logger;
};

/** A request with what its fields name, as its dialect reads it. */
export type RoutedChat = IncomingChat & { route: ChatRoute; request: DialectRequest };

export type FoundSession = { id: string; session: SessionPort; setup: SessionSetup };

/**
 * A session named in the header must exist. One identified only by call ids may be deleted, or belong to another key: then the messages are
 * an ordinary conversation, and the caller does not learn which case applies. Throws if a previous response is to be continued and there is
 * no session.
 */
export async function findSession(deps: FindSessionDeps, { principal, route, request }: RoutedChat): Promise<FoundSession | null> {
  const found = await findNamed(deps, principal, route, request);
  if (request.previous !== null && found === null) throw noPreviousResponse(route);
  return found;
}

async function findNamed(
  deps: FindSessionDeps,
  principal: Principal,
  { session: named, previousCalls: ofCalls }: ChatRoute,
  request: DialectRequest,
): Promise<FoundSession | null> {
  const { sessions } = deps;
  if (named === 'new') return null;
  if (named !== undefined) {
    const isElsewhere = ofCalls !== null && ofCalls !== named && continuesIn(request, ofCalls);
    if (isElsewhere && (await nullIfNotFound(open(sessions, principal, ofCalls))) !== null) throw twoSessions(ofCalls);
    return await open(sessions, principal, named);
  }
  const previous = ofCalls ?? (await sessionOfHistory(deps, principal, request));
  return previous === null ? null : await nullIfNotFound(open(sessions, principal, previous));
}

/**
 * Returns the session that gave the last answer in the history; null: there is none, several sessions gave it, or its history is not sent.
 * The session compares the rest of the history and creates another session if it differs. Never throws: without a session, the request has
 * a new one.
 */
async function sessionOfHistory({ catalog, log }: FindSessionDeps, principal: Principal, request: DialectRequest): Promise<string | null> {
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
  const { results, decisions } = request.conversation({ inSession: true });
  return results.some(({ callId }) => readToolCallId(callId)?.session === session) || decisions.some((given) => given.session === session);
}

async function open(sessions: Sessions, principal: Principal, id: string): Promise<FoundSession> {
  const session = sessions.get(id);
  return { id, session, setup: await session.setup(principal) };
}

/** Returns the turn of this idempotency key: in the session that the request identifies, or in the one that the key created. */
export async function findRepeated(
  { sessions }: FindSessionDeps,
  { principal, route }: RoutedChat,
  found: FoundSession | null,
  key: string,
  bodyHash: string,
): Promise<SubmittedTurn | null> {
  const here = found === null ? null : await nullIfNotFound(found.session.findByIdempotencyKey(principal, key, bodyHash));
  if (here !== null || (found !== null && route.session !== undefined)) return here;
  const made = await sessions.getByKey(principal, ownKey(key));
  return await nullIfNotFound(made.findByIdempotencyKey(principal, key, bodyHash));
}

/** Submits the turn to the session, or to a new one. */
export async function submitToSession(
  deps: FindSessionDeps,
  chat: RoutedChat,
  found: FoundSession | null,
  turn: SubmitTurn,
): Promise<SubmittedTurn> {
  const { principal, route } = chat;
  if (found === null) return await (await createSession(deps, chat, turn)).submit(principal, turn);
  try {
    return await found.session.submit(principal, turn);
  } catch (error) {
    // It was just deleted, and the caller did not name it.
    if (route.session !== undefined || turn.chat?.previous !== undefined || !(error instanceof Problem && error.code === 'not_found'))
      throw error;
    return await (await createSession(deps, chat, turn)).submit(principal, turn);
  }
}

/**
 * A session requested with `new` is listed. One created only for tools is unlisted and deletes itself. The same idempotency key creates the
 * same session.
 */
async function createSession(
  { sessions }: FindSessionDeps,
  { principal, route }: RoutedChat,
  { idempotencyKey }: SubmitTurn,
): Promise<SessionPort> {
  const { agent, model, toolset, session } = route;
  const setup = {
    ...(agent !== undefined && { agent }),
    ...(model !== undefined && { model: nameForTurns(model) }),
    ...(toolset !== undefined && { toolset }),
    listed: session === 'new',
  };
  const key = idempotencyKey === undefined ? undefined : ownKey(idempotencyKey);
  return sessions.get((await sessions.create(principal, setup, key)).id);
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

function noPreviousResponse({ session }: ChatRoute): Problem {
  if (session === 'new')
    return invalidRequest([{ path: 'x-moniker-session', message: '"new" cannot continue a previous response: omit one of the two' }]);
  return unknownCompletion();
}
