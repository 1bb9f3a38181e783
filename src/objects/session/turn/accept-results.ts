/**
 * Accepts results of the client's own tools, from REST or a chat dialect. Each call gets exactly one result, limited in size like
 * any tool's, and the turn resumes when it has everything that it waits for.
 */
import { rootCallId } from '../../../core/toolset/composite-tool.ts';
import { canonicalJson, sha256Hex } from '../../../core/hash.ts';
import type { ClientResult } from '../../../core/model/message.ts';
import { Problem } from '../../../core/problem.ts';
import { boundResult, codeBounds, contentToStore, modelBounds } from '../../../core/toolset/result-bound.ts';
import type { SessionEventBody } from '../../../core/turn/session-event.ts';
import { errorResult, type ToolResult } from '../../../core/tools/tool.ts';
import { unansweredCalls, openInnerQuestions, type InnerQuestion, type StepCall, type TurnState } from '../../../core/turn/turn-state.ts';
import type { ResultsAccepted } from '../../../ports/session.ts';
import { innerResultEvent } from '../log/inner-events.ts';
import { toAccepted } from '../pending/pending.ts';
import type { OpenSession } from '../object/open-session.ts';

/** A result and the hash that identifies a repeat of it. */
export type HashedResult = { result: ClientResult; hash: string };

/** Hashes the results. Throws `conflict` for two different results of one call in the same request. */
export async function hashResults(results: readonly ClientResult[]): Promise<HashedResult[]> {
  const hashOf = ({ content, isError }: ClientResult): Promise<string> => sha256Hex(canonicalJson({ content, isError }));
  const hashed = await Promise.all(results.map(async (result) => ({ result, hash: await hashOf(result) })));
  const byCall = new Map<string, string>();
  for (const { result, hash } of hashed) {
    if ((byCall.get(result.callId) ?? hash) !== hash)
      throw new Problem('conflict', `The call ${result.callId} has two different results in this request. Send one result per call.`);
    byCall.set(result.callId, hash);
  }
  return hashed;
}

/** `by`: id of the key. Throws `not_found` for a call that is not pending and `conflict` for a different result than the stored one; then no result is stored. */
export async function acceptResults(openSession: OpenSession, results: readonly ClientResult[], by: string): Promise<ResultsAccepted> {
  const hashed = await hashResults(results);
  // One transaction from here, so that the checks still hold for the writes.
  const known = hashed.map((entry) => ({ ...entry, call: findCall(openSession, entry.result.callId) }));
  const turn = known[0]?.call.turn;
  if (turn === undefined) throw new Problem('invalid_request', 'The request has no results.');
  for (const { result, hash, call } of known) {
    if (call.turn !== turn)
      throw new Problem('invalid_request', 'The results belong to different turns. Send the results of one turn per request.');
    if (call.state === 'answered' && call.answerHash !== hash)
      throw new Problem('conflict', `The call ${result.callId} already has a different result, which cannot be changed.`);
  }
  const fresh = known.filter(({ call }) => call.state === 'pending');
  if (fresh.length > 0) {
    openSession.runner.applyExternal(turn, (state) => resultEvents(openSession, state, fresh));
    markAnswered(openSession, fresh, by);
  }
  return toAccepted(openSession, turn);
}

/** Returns the log events of the results, in call order. Call `answered` once they are in the log. */
export function resultEvents(openSession: OpenSession, state: TurnState, fresh: readonly HashedResult[]): SessionEventBody[] {
  const byCall = new Map(fresh.map(({ result }) => [result.callId, result]));
  const ofStep = clientCalls(state).flatMap((call) => {
    const result = byCall.get(call.callId);
    return result === undefined ? [] : [toEvent(state, call, bounded(openSession, result))];
  });
  const nested = clientQuestions(state).flatMap((question) => {
    const result = byCall.get(question.callId);
    return result === undefined ? [] : [answerNested(openSession, state, question, toToolResult(result))];
  });
  return [...ofStep, ...nested];
}

export function markAnswered(openSession: OpenSession, fresh: readonly HashedResult[], by: string): void {
  for (const { result, hash } of fresh) openSession.waits.markAnswered(result.callId, hash, by);
}

/** Aborts the pending calls of the client, which continued without running them. `except`: calls that it may still run. */
export function abortedResults(openSession: OpenSession, state: TurnState, except: ReadonlySet<string> = new Set()): SessionEventBody[] {
  const result = errorResult('aborted', 'Not run: the client continued without running this tool.');
  const isAborted = ({ callId }: { callId: string }): boolean => !except.has(callId);
  return [
    ...clientCalls(state)
      .filter(isAborted)
      .map((call) => toEvent(state, call, result)),
    ...clientQuestions(state)
      .filter(isAborted)
      .map((question) => answerNested(openSession, state, question, result)),
  ];
}

/** Returns the ids of the calls that the client is to run, including nested calls. */
export function clientCallIds(state: TurnState): string[] {
  return [...clientCalls(state), ...clientQuestions(state)].map(({ callId }) => callId);
}

function findCall(openSession: OpenSession, callId: string) {
  const call = openSession.waits.get('client-tool', callId);
  if (call === null && openSession.waits.get('input', callId)?.state === 'pending')
    throw new Problem('not_found', `${callId} waits for input, not for a result. Send {"callId", "input"} as in its \`pending\` entry.`);
  if (call === null || call.state === 'expired') throw new Problem('not_found', `No pending call ${callId} in this session.`);
  return call;
}

function clientCalls(state: TurnState): StepCall[] {
  return unansweredCalls(state).filter(({ asked }) => asked === 'client');
}

function clientQuestions(state: TurnState): InnerQuestion[] {
  return unansweredCalls(state)
    .flatMap(openInnerQuestions)
    .filter(({ asked }) => asked === 'client');
}

/** Stores the whole result in the journal, since code may read all of it, and returns the event. Call it in the transaction that appends the event. */
function answerNested(
  openSession: OpenSession,
  { turn, step }: TurnState,
  { callId, canonical }: InnerQuestion,
  result: ToolResult,
): SessionEventBody {
  const shown = boundResult(result, codeBounds);
  openSession.journals.recordClientResult(callId, shown);
  return innerResultEvent({ turn, step, callId, root: rootCallId(callId), canonical }, shown, { durationMs: 0 });
}

/** Returns the result with the code `tool_error` if it is an error; the client cannot set another code. */
function toToolResult({ content, isError }: ClientResult): ToolResult {
  return isError ? { content, isError, code: 'tool_error' } : { content, isError };
}

function bounded(openSession: OpenSession, result: ClientResult): ToolResult {
  const { callId } = result;
  const whole = toToolResult(result);
  const shown = boundResult(whole, modelBounds, callId);
  const rest = shown === whole ? null : contentToStore(whole, shown);
  if (rest !== null) openSession.results.store(callId, rest);
  return shown;
}

function toEvent({ turn, step }: TurnState, call: StepCall, result: ToolResult): SessionEventBody {
  const { callId, name, canonical, via } = call;
  return { type: 'tool-result', turn, step, callId, name, canonical, via, ...result };
}
