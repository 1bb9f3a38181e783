/**
 * Accepts input of a caller: stores the turn with its idempotency key before the response. A chat client's request may resume a
 * waiting turn (`submit-chat.ts`), and a different conversation gets its own session. Used by `session.ts`, which has checked the
 * caller.
 */
import { limits } from '../core/limits.ts';
import { hashAsked } from '../core/answer-name.ts';
import type { Principal } from '../core/principal.ts';
import { Problem } from '../core/problem.ts';
import { joinTaint, type Taint, untainted } from '../core/taint.ts';
import type { SubmittedTurn, SubmitTurn } from '../ports/session.ts';
import { acceptTurn, type SubmitDoor } from './accept-turn.ts';
import { type Branch, branchFrom } from './branch.ts';
import { ownCallId, submitChat } from './submit-chat.ts';
import { hashResults } from './take-results.ts';

export async function submit(context: SubmitDoor, caller: Principal, request: SubmitTurn): Promise<SubmittedTurn> {
  const { session } = context;
  const { chat } = request;
  const own = (chat?.results ?? []).map((result) => ({ ...result, callId: ownCallId(result.callId, session) }));
  // Computed before the key is looked up: from there on nothing is awaited, so that a concurrent repeat finds what was stored.
  const [results, asked] = await Promise.all([hashResults(own), hashAsked(request.input)]);
  const brought = await taintOfImport(context, caller, request);
  if (context.gone()) throw new Problem('not_found', 'There is no such session.');
  keepUnlisted(context, request);
  const { turn, idempotencyKey, bodyHash = '' } = request;
  const repeated = idempotencyKey === undefined ? findNamed(context, turn) : findRepeated(context, idempotencyKey, bodyHash);
  if (repeated !== null) return repeated;
  if (request.taint !== undefined) context.room.taint.take(request.taint);
  if (chat === undefined) return acceptTurn(context, request, () => null);
  const branch = branchFrom(context, request, results);
  if (branch !== null) return await fork(context, caller, request, branch);
  return submitChat(context, { ...request, chat, results, asked, brought }) ?? (await fork(context, caller, request, {}));
}

/** Returns the taint marks of a history that an empty session imports; null when it is not judged. The marks of a forked history are in `request.taint`. */
async function taintOfImport({ room, judge }: SubmitDoor, caller: Principal, { plan, history, taint }: SubmitTurn): Promise<Taint | null> {
  if (taint !== undefined) return untainted;
  const mayBeTaken = history !== undefined && history.length > 0 && room.turns.current() === null;
  return mayBeTaken ? await judge(caller, plan, history) : null;
}

/** Removes `previous`: the new session has the whole conversation and does not know that response. */
function withoutPrevious({ previous: _previous, ...chat }: NonNullable<SubmitTurn['chat']>): NonNullable<SubmitTurn['chat']> {
  return chat;
}

/** Returns the turn of an idempotency key without starting anything; waits for a fork that is in progress for the key. */
export async function repeatedTurn(context: SubmitDoor, key: string, bodyHash: string): Promise<SubmittedTurn | null> {
  return findRepeated(context, key, bodyHash) ?? (await context.forks.get(jointOf(key, bodyHash))) ?? null;
}

function findRepeated({ room, session }: SubmitDoor, key: string, bodyHash: string): SubmittedTurn | null {
  const repeated = room.turns.findByKey(key, bodyHash);
  return repeated === null ? null : { position: room.turns.ahead(repeated.turn), ...repeated, session: repeated.session ?? session };
}

/** Finds a turn with an id given by the caller. The id acts as an idempotency key that never expires, since turns are stored as long as their session. */
function findNamed({ room, session }: SubmitDoor, turn: string | undefined): SubmittedTurn | null {
  const row = turn === undefined ? null : room.turns.get(turn);
  if (row === null) return null;
  return { turn: row.id, position: room.turns.ahead(row.id), session, edition: row.plan.edition ?? null, completion: null };
}

/** Postpones the deletion of an unlisted session; after a request with a key, until repeats of the request no longer find its response. */
function keepUnlisted({ room, now }: SubmitDoor, { idempotencyKey }: SubmitTurn): void {
  if (room.meta.setup.listed) return;
  room.timers.postpone('expire', now() + (idempotencyKey === undefined ? limits.unlistedSessionTtlMs : limits.idempotencyTtlMs));
}

/**
 * Continues the conversation that the client sent in a new session, with the marks of this session and those of the client's history.
 * `branch`: the part of this session's conversation that precedes the request. The key is stored here too: a repeat is sent here again.
 */
async function fork(context: SubmitDoor, caller: Principal, request: SubmitTurn, branch: Partial<Branch>): Promise<SubmittedTurn> {
  const { room, sessions, forks } = context;
  const { idempotencyKey: key, bodyHash = '' } = request;
  const joint = jointOf(key, bodyHash);
  const make = async (): Promise<SubmittedTurn> => {
    // A repeat after a crash finds the fork that was created and what was submitted to it.
    const made = await sessions.create(caller, room.meta.setup, key === undefined ? undefined : `fork ${context.session} ${joint}`);
    const taint = joinTaint(room.taint.read(), await context.judge(caller, request.plan, request.history ?? []));
    const chat = request.chat && withoutPrevious(request.chat);
    const submitted = await sessions.get(made.id).submit(caller, { ...request, ...branch, taint, ...(chat && { chat }) });
    if (key !== undefined && !context.gone()) room.turns.rememberKey(key, bodyHash, submitted);
    return submitted;
  };
  if (key === undefined) return await make();
  const pending = forks.get(joint) ?? make().finally(() => forks.delete(joint));
  forks.set(joint, pending);
  return await pending;
}

function jointOf(key: string | undefined, bodyHash: string): string {
  return `${key} ${bodyHash}`;
}
