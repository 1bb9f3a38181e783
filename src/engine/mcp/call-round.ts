/** The rounds of a call that an MCP client repeats with answers: what a round begins with, read from the signed state of the one before it. */
import { isRecord } from '../../core/json/wire-value.ts';
import type { GivenInput, InputAnswer } from '../../core/tools/mcp-input.ts';
import type { Refusal } from '../../core/turn/turn-budget.ts';
import type { Ids } from '../../ports/runtime.ts';
import type { ToolCallRequest } from '../call/tool-call.ts';
import { approvalKey, deniedByPerson, isApproved } from './serve-approval.ts';
import type { ServedState } from './serve-state.ts';

/** One attempt of a call, with the decisions and answers so far. */
export type CallRound = Pick<ServedState, 'callId' | 'approved' | 'rounds'> & {
  given?: GivenInput;
  refusal?: Refusal;
  interrupted?: boolean;
  lost?: boolean;
};

export function firstRound({ ids }: { ids: Pick<Ids, 'next'> }, { interrupted }: { interrupted?: { callId: string } }): CallRound {
  return interrupted === undefined ? { callId: ids.next('call'), rounds: 0 } : { ...interrupted, rounds: 0, interrupted: true };
}

export function readRound(
  { callId, rounds, asked, approved, keys, answered, state }: ServedState,
  responses: Readonly<Record<string, unknown>>,
): CallRound {
  const before = { callId, rounds, ...(approved && { approved }) };
  if (asked === 'approval') {
    const { [approvalKey]: answer } = answersTo(keys, responses);
    return isApproved(answer) ? before : { callId, rounds, refusal: deniedByPerson(answer) };
  }
  const given = { responses: { ...answersTo(keys, responses), ...answered }, ...(state !== undefined && { state }) };
  // These answers are for the open call only. If it has to be made again, it was lost, and the result says so.
  return { ...before, given, ...(asked === 'held' && { lost: true }) };
}

/** Returns the answers to the asked questions, without others. A missing answer is a `cancel`, since the server expects one for each. */
export function answersTo(keys: readonly string[], responses: Readonly<Record<string, unknown>>): Record<string, InputAnswer> {
  const answers = keys.map((key): [string, InputAnswer] => {
    const answer = Object.hasOwn(responses, key) ? responses[key] : undefined;
    return [key, isRecord(answer) ? answer : { action: 'cancel' }];
  });
  return Object.fromEntries(answers);
}

export function decisionsOf({ approved, given, refusal, rounds, interrupted, lost }: CallRound): Partial<ToolCallRequest> {
  return {
    rounds,
    ...(interrupted === true && { interrupted, attempts: 1 }),
    ...(lost === true && { unrecoverable: lost }),
    ...(approved !== undefined && { approved: { binding: approved.binding ?? [], round: approved.round ?? 1 } }),
    ...(given !== undefined && { given }),
    ...(refusal !== undefined && { refusal }),
  };
}
