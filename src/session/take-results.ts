/**
 * Results of the caller's own tools, from wherever they come (REST, a chat dialect): each call gets exactly one, bounded like
 * any tool's, and the turn goes on when it has what it waited for.
 */
import { rootCallId } from '../core/composite-tool.ts';
import { canonicalJson, sha256Hex } from '../core/hash.ts';
import { limits } from '../core/limits.ts';
import type { ClientResult } from '../core/message.ts';
import { Problem } from '../core/problem.ts';
import { boundResult, keptContent } from '../core/result-bound.ts';
import type { SessionEventBody } from '../core/session-event.ts';
import { errorResult, type ToolResult } from '../core/tool.ts';
import { openCalls, openQuestions, type InnerQuestion, type StepCall, type TurnState } from '../core/turn-state.ts';
import type { ResultsTaken } from '../ports/session.ts';
import { innerResultEvent } from './inner-events.ts';
import { pendingOf } from './pending.ts';
import type { Room } from './room.ts';

/** A result and the hash by which it is known again. */
export type HashedResult = { result: ClientResult; hash: string };

/** `conflict` for two different results of one call in the same lot. */
export async function hashResults(results: readonly ClientResult[]): Promise<HashedResult[]> {
  const hashOf = ({ content, isError }: ClientResult): Promise<string> => sha256Hex(canonicalJson({ content, isError }));
  const hashed = await Promise.all(results.map(async (result) => ({ result, hash: await hashOf(result) })));
  const byCall = new Map<string, string>();
  for (const { result, hash } of hashed) {
    if ((byCall.get(result.callId) ?? hash) !== hash)
      throw new Problem('conflict', `The call ${result.callId} has two results in one request. A call has one result.`);
    byCall.set(result.callId, hash);
  }
  return hashed;
}

/** `not_found` for a call that nobody waits for, `conflict` for another result than the one before; then none is taken. */
export async function takeResults(room: Room, results: readonly ClientResult[]): Promise<ResultsTaken> {
  const hashed = await hashResults(results);
  // From here on in one block: what is checked is what is written.
  const known = hashed.map((entry) => ({ ...entry, call: findCall(room, entry.result.callId) }));
  const turn = known[0]?.call.turn;
  if (turn === undefined) throw new Problem('invalid_request', 'There are no results in it.');
  for (const { result, hash, call } of known) {
    if (call.turn !== turn) throw new Problem('invalid_request', 'The results belong to different turns. Send those of one turn together.');
    if (call.state === 'answered' && call.answerHash !== hash)
      throw new Problem('conflict', `The call ${result.callId} has another result already. A call has one result.`);
  }
  const fresh = known.filter(({ call }) => call.state === 'pending');
  if (fresh.length > 0) {
    room.runner.tell(turn, (state) => resultEvents(room, state, fresh));
    answered(room, fresh);
  }
  return { turn, status: statusOf(room, turn), pending: pendingOf(room, turn) };
}

/** As the log has them, in call order; `answered` is to be called when they stand there. */
export function resultEvents(room: Room, state: TurnState, fresh: readonly HashedResult[]): SessionEventBody[] {
  const byCall = new Map(fresh.map(({ result }) => [result.callId, result]));
  const ofStep = clientCalls(state).flatMap((call) => {
    const result = byCall.get(call.callId);
    return result === undefined ? [] : [toEvent(state, call, bounded(room, result))];
  });
  const beneath = clientQuestions(state).flatMap((question) => {
    const result = byCall.get(question.callId);
    return result === undefined ? [] : [answerBeneath(room, state, question, wholeOf(result))];
  });
  return [...ofStep, ...beneath];
}

export function answered(room: Room, fresh: readonly HashedResult[]): void {
  for (const { result, hash } of fresh) room.clientCalls.answered(result.callId, hash);
}

/** What the caller was asked to run and did not: it went on without it. `except`: calls that it still may answer. */
export function abortedResults(room: Room, state: TurnState, except: ReadonlySet<string> = new Set()): SessionEventBody[] {
  const result = errorResult('aborted', 'Not run: the caller went on without running it.');
  const isGivenUp = ({ callId }: { callId: string }): boolean => !except.has(callId);
  return [
    ...clientCalls(state)
      .filter(isGivenUp)
      .map((call) => toEvent(state, call, result)),
    ...clientQuestions(state)
      .filter(isGivenUp)
      .map((question) => answerBeneath(room, state, question, result)),
  ];
}

/** Ids of the calls that the caller is asked to run, those beneath other calls included. */
export function clientCallIds(state: TurnState): string[] {
  return [...clientCalls(state), ...clientQuestions(state)].map(({ callId }) => callId);
}

function findCall(room: Room, callId: string) {
  const call = room.clientCalls.get(callId);
  if (call === null && room.inputs.get(callId)?.state === 'pending')
    throw new Problem('not_found', `${callId} waits for input and not for a result: send {"callId", "input"}, as its \`pending\` says.`);
  if (call === null || call.state === 'closed') throw new Problem('not_found', `Nobody waits for a result of ${callId} in this session.`);
  return call;
}

function clientCalls(state: TurnState): StepCall[] {
  return openCalls(state).filter(({ asked }) => asked === 'client');
}

function clientQuestions(state: TurnState): InnerQuestion[] {
  return openCalls(state)
    .flatMap(openQuestions)
    .filter(({ asked }) => asked === 'client');
}

/** Kept beside the log, whole: code is to see all of it. In the block that appends the event. */
function answerBeneath(room: Room, { turn, step }: TurnState, { callId, canonical }: InnerQuestion, result: ToolResult): SessionEventBody {
  const shown = boundResult(result, limits.maxInnerResultBytes);
  room.journals.answer(callId, shown);
  return innerResultEvent({ turn, step, callId, root: rootCallId(callId), canonical }, shown, 0);
}

/** A failure of the caller's tool is a tool's failure to the model; no code of ours is in the caller's words. */
function wholeOf({ content, isError }: ClientResult): ToolResult {
  return isError ? { content, isError, code: 'tool_error' } : { content, isError };
}

function bounded(room: Room, result: ClientResult): ToolResult {
  const { callId } = result;
  const whole = wholeOf(result);
  const shown = boundResult(whole, limits.maxResultBytes, callId);
  const kept = shown === whole ? null : keptContent(whole, shown);
  if (kept !== null) room.results?.keep(callId, kept);
  return shown;
}

function toEvent({ turn, step }: TurnState, call: StepCall, result: ToolResult): SessionEventBody {
  const { callId, name, canonical, via } = call;
  return { type: 'tool-result', turn, step, callId, name, canonical, via, ...result };
}

function statusOf(room: Room, turn: string): string {
  const row = room.turns.get(turn);
  return row?.status ?? row?.state ?? 'ended';
}
