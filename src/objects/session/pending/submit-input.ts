/**
 * Applies a person's answers to an elicitation of a tool's server: checks them against the form, stores them and passes them to the
 * turn, which repeats the call with them. Repeating the same answers has no effect. `session.ts` has checked the caller.
 */
import { outerRootId } from '../../../core/toolset/composite-tool.ts';
import { declined, elicitationFaults } from '../../../core/servers/elicitation.ts';
import { canonicalJson, sha256Hex } from '../../../core/hash.ts';
import type { InputRequest } from '../../../core/tools/mcp-input.ts';
import { invalidRequest, Problem, quoted, type Issue } from '../../../core/problem.ts';
import type { GivenInputs, ResultsAccepted } from '../../../ports/session.ts';
import type { ElicitationAnswers } from './wait-store.ts';
import type { RequestedInput } from './wait.ts';
import { toAccepted } from './pending.ts';
import type { OpenSession } from '../object/open-session.ts';

/** `by`: id of the key. Throws `not_found` for a call without an open question and `conflict` when it has different answers. */
export async function submitInput(
  openSession: OpenSession,
  { callId, input, round }: GivenInputs,
  by: string,
  now: number,
): Promise<ResultsAccepted> {
  const hash = await hashOf(input);
  // One transaction from here, so that the checks still hold for the writes.
  const asked = openSession.waits.get('input', callId, round);
  if (asked === null || asked.state === 'expired') throw noOpenQuestion(callId);
  if (asked.state === 'answered' && asked.answerHash !== hash)
    throw new Problem('conflict', `The question of ${callId} already has a different answer, which cannot be changed.`);
  if (asked.state === 'pending') {
    if (asked.expiresAt <= now) throw noOpenQuestion(callId);
    const issues = answerFaults(openSession.waits.questionOf(callId)?.requests ?? {}, input);
    if (issues.length > 0) throw invalidRequest(issues);
    if (!applyAnswers(openSession, asked, { answers: input, hash, by })) throw noOpenQuestion(callId);
  }
  return toAccepted(openSession, asked.turn);
}

/** Declines a question that has expired. */
export async function expireInput(openSession: OpenSession, { callId, round }: RequestedInput): Promise<void> {
  const requests = openSession.waits.questionOf(callId)?.requests ?? {};
  const answers: ElicitationAnswers = Object.fromEntries(Object.keys(requests).map((key) => [key, declined]));
  const hash = await hashOf(answers);
  // The question may have been answered, or its turn cancelled, in the meantime.
  const asked = openSession.waits.get('input', callId, round);
  if (asked?.state === 'pending') applyAnswers(openSession, asked, { answers, hash, by: 'clock' });
}

/** Returns false when the turn has ended. */
function applyAnswers(
  openSession: OpenSession,
  asked: RequestedInput,
  given: { answers: ElicitationAnswers; hash: string; by: string },
): boolean {
  const { callId, round, turn } = asked;
  const { answers, hash, by } = given;
  const actions = Object.fromEntries(Object.entries(answers).map(([key, { action }]) => [key, action]));
  return openSession.runner.applyExternal(turn, ({ step }) => {
    openSession.waits.addAnswers(asked, answers, hash);
    const parent = outerRootId(callId);
    return [{ type: 'input-given', turn, step, callId, ...(parent !== undefined && { parent }), round, actions, by }];
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
      message: `is not a question of this call; its questions are ${Object.keys(requests).map(quoted).join(', ')}`,
    })),
    ...Object.entries(requests).flatMap(([key, request]): Issue[] => {
      const answer = Object.hasOwn(answers, key) ? answers[key] : undefined;
      if (answer === undefined) return [{ path: `input.${key}`, message: 'is missing: answer all questions in one request' }];
      return elicitationFaults(request, answer).map((issue) => ({ ...issue, path: `input.${key}.${issue.path}` }));
    }),
  ];
}

function noOpenQuestion(callId: string): Problem {
  return new Problem('not_found', `No open question for ${callId} in this session: it has another round, has expired or is closed.`);
}
