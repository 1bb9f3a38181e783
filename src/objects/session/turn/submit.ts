/**
 * Accepts input of a caller: stores the turn with its idempotency key before the response. A chat client's request may resume a
 * waiting turn (`submit-chat.ts`), and a different conversation gets its own session. Used by `session.ts`, which has checked the
 * caller.
 */
import { limits } from '../../../core/limits/limits.ts';
import { hashAsked } from '../../../core/policy/answer-name.ts';
import type { ShareShortage } from '../../../core/limits/fair-share.ts';
import type { Principal } from '../../../core/people/principal.ts';
import { nullIfNotFound, Problem } from '../../../core/problem.ts';
import { joinTaint, type Taint, untainted } from '../../../core/policy/taint.ts';
import type { SubmittedTurn, SubmitTurn } from '../../../ports/session.ts';
import { copyInParts } from '../../../storage/files/file-image.ts';
import { unknownSession } from '../object/open-session.ts';
import { acceptTurn, type SubmitContext } from './accept-turn.ts';
import { type Branch, branchBefore } from './branch-history.ts';
import { ownCallId, submitChat } from './submit-chat.ts';
import { hashResults } from './accept-results.ts';

export async function submit(context: SubmitContext, caller: Principal, given: SubmitTurn): Promise<SubmittedTurn> {
  const { session } = context;
  const { chat } = given;
  const own = (chat?.results ?? []).map((result) => ({ ...result, callId: ownCallId(result.callId, session) }));
  // Awaited before the key is looked up: from there on nothing is, so that a concurrent repeat finds what was stored.
  const [results, asked, plan] = await Promise.all([hashResults(own), hashAsked(given.input), context.withNewestMade(caller, given.plan)]);
  const brought = await taintOfImport(context, caller, { ...given, plan });
  const queueShortage = await admitToQueue(context, { ...given, plan });
  const request = { ...given, plan, queueShortage };
  if (context.isEnding()) throw unknownSession();
  keepUnlisted(context, request);
  const { turn, idempotencyKey, bodyHash = '' } = request;
  const repeated = idempotencyKey === undefined ? findNamed(context, turn) : findRepeated(context, idempotencyKey, bodyHash);
  if (repeated !== null) return repeated;
  if (request.taint !== undefined) context.openSession.taint.addAll(request.taint);
  if (chat === undefined) return acceptTurn(context, request, () => null);
  const branch = branchBefore(context, request, results);
  const accepted = branch === null ? submitChat(context, { ...request, chat, results, inputHash: asked, historyTaint: brought }) : null;
  if (accepted !== null) return accepted;
  if (chat.decided) throw new Problem('conflict', decidedElsewhere);
  return await fork(context, caller, request, branch ?? {});
}

const decidedElsewhere =
  'The decision was applied, but this request does not continue from the last response of the session, so it has no response. Send the id of that response, or its whole history.';

/** Returns why the turn may not be queued, if it would be. Requests that wait for it go on in the order of their arrival. */
async function admitToQueue({ openSession, admissions }: SubmitContext, { chat, plan }: SubmitTurn): Promise<ShareShortage | null> {
  const { turns, admitWork } = openSession;
  const ahead = admissions.last;
  // A chat request continues the turn that waits.
  if (ahead === null && (turns.isIdle() || (chat !== undefined && turns.isWaiting()))) return null;
  const admitted = Promise.all([admitWork('queuedTurns', 1, plan.limited), ahead]);
  admissions.last = admitted;
  const [shortage] = await admitted;
  if (admissions.last === admitted) admissions.last = null;
  return shortage;
}

/** Returns the taint marks of a history that an empty session imports; null when it is not judged. The marks of a forked history are in `request.taint`. */
async function taintOfImport(
  { openSession, judgeHistory: judge }: SubmitContext,
  caller: Principal,
  { plan, history, taint }: SubmitTurn,
): Promise<Taint | null> {
  if (taint !== undefined) return untainted;
  const mayBeTaken = history !== undefined && history.length > 0 && openSession.turns.current() === null;
  return mayBeTaken ? await judge(caller, plan, history) : null;
}

/** Removes `previous`: the new session has the whole conversation and does not know that response. */
function withoutPrevious({ previous: _previous, ...chat }: NonNullable<SubmitTurn['chat']>): NonNullable<SubmitTurn['chat']> {
  return chat;
}

/** Returns the turn of an idempotency key without starting anything; waits for a fork that is in progress for the key. */
export async function repeatedTurn(context: SubmitContext, key: string, bodyHash: string): Promise<SubmittedTurn | null> {
  return findRepeated(context, key, bodyHash) ?? (await context.forks.get(jointOf(key, bodyHash))) ?? null;
}

function findRepeated({ openSession, session }: SubmitContext, key: string, bodyHash: string): SubmittedTurn | null {
  const repeated = openSession.turns.findByKey(key, bodyHash);
  return repeated === null
    ? null
    : { position: openSession.turns.countAhead(repeated.turn), ...repeated, session: repeated.session ?? session };
}

/** Finds a turn with an id given by the caller. The id acts as an idempotency key that never expires, since turns are stored as long as their session. */
function findNamed({ openSession, session }: SubmitContext, turn: string | undefined): SubmittedTurn | null {
  const row = turn === undefined ? null : openSession.turns.get(turn);
  if (row === null) return null;
  return { turn: row.id, position: openSession.turns.countAhead(row.id), session, edition: row.plan.edition ?? null, completion: null };
}

/** Postpones the deletion of an unlisted session; after a request with a key, until repeats of the request no longer find its response. */
function keepUnlisted({ openSession, now }: SubmitContext, { idempotencyKey }: SubmitTurn): void {
  if (openSession.meta.setup.listed) return;
  openSession.timers.postpone('expire', now() + (idempotencyKey === undefined ? limits.unlistedSessionTtlMs : limits.idempotencyTtlMs));
}

/**
 * Continues the conversation that the client sent in a new session, with the files of this session as they are now, its marks, and those of
 * the client's history.
 * `branch`: the part of this session's conversation that precedes the request. The key is stored here too: a repeat is sent here again.
 */
async function fork(context: SubmitContext, caller: Principal, request: SubmitTurn, branch: Partial<Branch>): Promise<SubmittedTurn> {
  const { openSession, sessions, forks } = context;
  const { idempotencyKey: key, bodyHash = '' } = request;
  const joint = jointOf(key, bodyHash);
  const make = async (): Promise<SubmittedTurn> => {
    // A repeat after a crash finds the fork that was created and what was submitted to it.
    const made = await sessions.create(caller, openSession.meta.setup, key === undefined ? undefined : `fork ${context.session} ${joint}`);
    const taint = joinTaint(openSession.taint.read(), await context.judgeHistory(caller, request.plan, request.history ?? []));
    const chat = request.chat && withoutPrevious(request.chat);
    const target = sessions.get(made.id);
    const isRepeat = key !== undefined && (await nullIfNotFound(target.findByIdempotencyKey(caller, key, bodyHash))) !== null;
    if (!isRepeat) await copyInParts(openSession.files, (part) => target.applyFiles(caller, part));
    const submitted = await target.submit(caller, { ...request, ...branch, taint, ...(chat && { chat }) });
    if (key !== undefined && !context.isEnding()) openSession.turns.rememberKey(key, bodyHash, submitted);
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
