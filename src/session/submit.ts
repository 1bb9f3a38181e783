/**
 * Taking in what a caller says: a turn is stored with its key before anyone is answered. A chat client's request may go on
 * with a turn that waits (`submit-chat.ts`), and another conversation than this session's goes to a session of its own. Used
 * by `session.ts`, which checked who asks.
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

export async function submit(door: SubmitDoor, caller: Principal, request: SubmitTurn): Promise<SubmittedTurn> {
  const { session } = door;
  const { chat } = request;
  const own = (chat?.results ?? []).map((result) => ({ ...result, callId: ownCallId(result.callId, session) }));
  // Before the key is looked for: from there on nothing waits, so that a repeat meanwhile finds what was stored.
  const [results, asked] = await Promise.all([hashResults(own), hashAsked(request.input)]);
  const brought = await taintOfImport(door, caller, request);
  if (door.gone()) throw new Problem('not_found', 'There is no such session.');
  keepUnlisted(door, request);
  const { turn, idempotencyKey, bodyHash = '' } = request;
  const repeated = idempotencyKey === undefined ? findNamed(door, turn) : findRepeated(door, idempotencyKey, bodyHash);
  if (repeated !== null) return repeated;
  if (request.taint !== undefined) door.room.taint.take(request.taint);
  if (chat === undefined) return acceptTurn(door, request, () => null);
  const branch = branchFrom(door, request, results);
  if (branch !== null) return await fork(door, caller, request, branch);
  return submitChat(door, { ...request, chat, results, asked, brought }) ?? (await fork(door, caller, request, {}));
}

/** Of a client's history that an empty session takes over; null: not judged. Of a history that a fork brings, the marks are in `request.taint`. */
async function taintOfImport({ room, judge }: SubmitDoor, caller: Principal, { plan, history, taint }: SubmitTurn): Promise<Taint | null> {
  if (taint !== undefined) return untainted;
  const mayBeTaken = history !== undefined && history.length > 0 && room.turns.current() === null;
  return mayBeTaken ? await judge(caller, plan, history) : null;
}

/** In a session of its own the conversation is all there, and that answer is not. */
function withoutPrevious({ previous: _previous, ...chat }: NonNullable<SubmitTurn['chat']>): NonNullable<SubmitTurn['chat']> {
  return chat;
}

/** What the key named, without anything to begin; a fork that is being made for it is waited for. */
export async function repeatedTurn(door: SubmitDoor, key: string, bodyHash: string): Promise<SubmittedTurn | null> {
  return findRepeated(door, key, bodyHash) ?? (await door.forks.get(jointOf(key, bodyHash))) ?? null;
}

function findRepeated({ room, session }: SubmitDoor, key: string, bodyHash: string): SubmittedTurn | null {
  const repeated = room.turns.findByKey(key, bodyHash);
  return repeated === null ? null : { position: room.turns.ahead(repeated.turn), ...repeated, session: repeated.session ?? session };
}

/** A turn that was named beforehand is its own key, which is never forgotten: turns are kept as long as their session. */
function findNamed({ room, session }: SubmitDoor, turn: string | undefined): SubmittedTurn | null {
  const row = turn === undefined ? null : room.turns.get(turn);
  if (row === null) return null;
  return { turn: row.id, position: room.turns.ahead(row.id), session, edition: row.plan.edition ?? null, completion: null };
}

/** One that is in no list lives on from what was last asked of it; with a key, for as long as a repeat finds its answer, whatever is asked after it. */
function keepUnlisted({ room, now }: SubmitDoor, { idempotencyKey }: SubmitTurn): void {
  if (room.meta.setup.listed) return;
  room.timers.postpone('expire', now() + (idempotencyKey === undefined ? limits.unlistedSessionTtlMs : limits.idempotencyTtlMs));
}

/**
 * Continues the conversation that the client sent in a new session, with the marks of this session and those of the client's history.
 * `branch`: the part of this session's conversation that precedes the request. The key is stored here too: a repeat is sent here again.
 */
async function fork(door: SubmitDoor, caller: Principal, request: SubmitTurn, branch: Partial<Branch>): Promise<SubmittedTurn> {
  const { room, sessions, forks } = door;
  const { idempotencyKey: key, bodyHash = '' } = request;
  const joint = jointOf(key, bodyHash);
  const make = async (): Promise<SubmittedTurn> => {
    // A repeat after a death in the middle finds the fork that was made, and what was submitted to it.
    const made = await sessions.create(caller, room.meta.setup, key === undefined ? undefined : `fork ${door.session} ${joint}`);
    const taint = joinTaint(room.taint.read(), await door.judge(caller, request.plan, request.history ?? []));
    const chat = request.chat && withoutPrevious(request.chat);
    const submitted = await sessions.get(made.id).submit(caller, { ...request, ...branch, taint, ...(chat && { chat }) });
    if (key !== undefined && !door.gone()) room.turns.rememberKey(key, bodyHash, submitted);
    return submitted;
  };
  if (key === undefined) return await make();
  const begun = forks.get(joint) ?? make().finally(() => forks.delete(joint));
  forks.set(joint, begun);
  return await begun;
}

function jointOf(key: string | undefined, bodyHash: string): string {
  return `${key} ${bodyHash}`;
}
