/**
 * A person's answers to what the server of a tool asks: checked against its form, stored, and told to the turn, which makes the call
 * again with them. One set of answers for good: the same again changes nothing. `session.ts` has checked who answers.
 */
import { parentRoot } from '../core/composite-tool.ts';
import { declined, elicitationFaults } from '../core/elicitation.ts';
import { canonicalJson, sha256Hex } from '../core/hash.ts';
import type { InputRequest } from '../core/mcp-input.ts';
import { invalidRequest, Problem, quoted, type Issue } from '../core/problem.ts';
import type { GivenInputs, ResultsTaken } from '../ports/session.ts';
import type { AskedInput, ElicitationAnswers } from './inputs.ts';
import { pendingOf } from './pending.ts';
import type { Room } from './room.ts';

/** `by`: id of the key. `not_found` for a call that asks nothing, `conflict` for what was answered otherwise before. */
export async function giveInput(room: Room, { callId, input, round }: GivenInputs, by: string, now: number): Promise<ResultsTaken> {
  const hash = await hashOf(input);
  // From here on in one block: what is checked is what is written.
  const asked = room.inputs.get(callId, round);
  if (asked === null || asked.state === 'closed') throw nobodyAsks(callId);
  if (asked.state === 'given' && asked.answerHash !== hash)
    throw new Problem('conflict', `The question of ${callId} was answered otherwise before. A question has one answer.`);
  if (asked.state === 'pending') {
    if (asked.expiresAt <= now) throw nobodyAsks(callId);
    const issues = answerFaults(room.inputs.asked(callId)?.requests ?? {}, input);
    if (issues.length > 0) throw invalidRequest(issues);
    if (!tellAnswers(room, asked, { answers: input, hash, by })) throw nobodyAsks(callId);
  }
  const row = room.turns.get(asked.turn);
  return { turn: asked.turn, status: row?.status ?? row?.state ?? 'ended', pending: pendingOf(room, asked.turn) };
}

/** What nobody answered in time is declined, and the tool told so. To be called when the clock says so. */
export async function expireInputs(room: Room): Promise<void> {
  for (const { callId, round } of room.inputs.due()) {
    const requests = room.inputs.asked(callId)?.requests ?? {};
    const answers: ElicitationAnswers = Object.fromEntries(Object.keys(requests).map((key) => [key, declined]));
    const hash = await hashOf(answers);
    // It may have been answered, or its turn cancelled, meanwhile.
    const asked = room.inputs.get(callId, round);
    if (asked?.state === 'pending') tellAnswers(room, asked, { answers, hash, by: 'clock' });
  }
  room.runner.setApprovalTimer();
}

/** False when the turn has ended. */
function tellAnswers(room: Room, asked: AskedInput, given: { answers: ElicitationAnswers; hash: string; by: string }): boolean {
  const { callId, round, turn } = asked;
  const { answers, hash, by } = given;
  const actions = Object.fromEntries(Object.entries(answers).map(([key, { action }]) => [key, action]));
  return room.runner.tell(turn, ({ step }) => {
    room.inputs.answer(asked, answers, hash);
    const beneath = parentRoot(callId);
    return [{ type: 'input-given', turn, step, callId, ...(beneath !== undefined && { parent: beneath }), round, actions, by }];
  });
}

function hashOf(answers: ElicitationAnswers): Promise<string> {
  return sha256Hex(canonicalJson(answers));
}

function answerFaults(requests: Readonly<Record<string, InputRequest>>, answers: ElicitationAnswers): Issue[] {
  const unknown = Object.keys(answers).filter((key) => !Object.hasOwn(requests, key));
  return [
    ...unknown.map((key) => ({
      path: `input.${key}`,
      message: `answers nothing: asked is ${Object.keys(requests).map(quoted).join(', ')}`,
    })),
    ...Object.entries(requests).flatMap(([key, request]): Issue[] => {
      const answer = Object.hasOwn(answers, key) ? answers[key] : undefined;
      if (answer === undefined) return [{ path: `input.${key}`, message: 'is missing: all questions are answered together' }];
      return elicitationFaults(request, answer).map((issue) => ({ ...issue, path: `input.${key}.${issue.path}` }));
    }),
  ];
}

function nobodyAsks(callId: string): Problem {
  return new Problem(
    'not_found',
    `Nobody waits for input to ${callId} in this session: its question was another one, has expired or is over.`,
  );
}
