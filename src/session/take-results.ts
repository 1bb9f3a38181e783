/**
 * Results of the caller's own tools, from wherever they come (REST, a chat dialect): each call gets exactly one, bounded like
 * any tool's, and the turn goes on when it has what it waited for.
 */
import { canonicalJson, sha256Hex } from '../core/hash.ts';
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problem.ts';
import { boundResult, keptContent } from '../core/result-bound.ts';
import type { SessionEventBody } from '../core/session-event.ts';
import { errorResult, type ToolResult } from '../core/tool.ts';
import { openCalls, type StepCall, type TurnState } from '../core/turn.ts';
import type { ClientResult, ResultsTaken } from '../ports/session.ts';
import { pendingOf } from './pending.ts';
import type { Room } from './room.ts';

/** `not_found` for a call that nobody waits for, `conflict` for another result than the one before; then none is taken. */
export async function takeResults(room: Room, results: readonly ClientResult[]): Promise<ResultsTaken> {
  const hashes = await Promise.all(results.map(({ content, isError }) => sha256Hex(canonicalJson({ content, isError }))));
  // From here on in one block: what is checked is what is written.
  const known = results.map((result, index) => ({ result, hash: hashes[index] ?? '', call: findCall(room, result.callId) }));
  const turn = known[0]?.call.turn;
  if (turn === undefined) throw new Problem('invalid_request', 'There are no results in it.');
  for (const { result, hash, call } of known) {
    if (call.turn !== turn) throw new Problem('invalid_request', 'The results belong to different turns. Send those of one turn together.');
    if (call.state === 'answered' && call.answerHash !== hash)
      throw new Problem('conflict', `The call ${result.callId} has another result already. A call has one result.`);
  }
  const fresh = new Map(known.filter(({ call }) => call.state === 'pending').map((entry) => [entry.result.callId, entry]));
  if (fresh.size > 0) {
    room.runner.tell(turn, (state) =>
      clientCalls(state).flatMap((call) => {
        const entry = fresh.get(call.callId);
        return entry === undefined ? [] : [toEvent(state, call, bounded(room, entry.result))];
      }),
    );
    for (const { result, hash } of fresh.values()) room.clientCalls.answered(result.callId, hash);
  }
  return { turn, status: statusOf(room, turn), pending: pendingOf(room, turn) };
}

/** What the caller was asked to run and did not: it went on without it. */
export function abortedResults(state: TurnState): SessionEventBody[] {
  const text = 'Not run: the caller went on without running it.';
  return clientCalls(state).map((call) => toEvent(state, call, errorResult('aborted', text)));
}

function findCall(room: Room, callId: string) {
  const call = room.clientCalls.get(callId);
  if (call === null || call.state === 'closed') throw new Problem('not_found', `Nobody waits for a result of ${callId} in this session.`);
  return call;
}

function clientCalls(state: TurnState): StepCall[] {
  return openCalls(state).filter(({ asked }) => asked === 'client');
}

function bounded(room: Room, { callId, content, isError }: ClientResult): ToolResult {
  // A failure of the caller's tool is a tool's failure to the model; no code of ours is in the caller's words.
  const whole: ToolResult = isError ? { content, isError, code: 'tool_error' } : { content, isError };
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
