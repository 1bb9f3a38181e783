/**
 * Requests of 2026-07-28 that need something of whoever called (`input_required`): what we can answer is answered and the request sent
 * again; the rest goes up, and comes back with what was answered. Nothing is kept meanwhile: our own answers, and the task that waits,
 * travel in the state, which is opaque to everybody above.
 */
import { limits } from '../../core/limits.ts';
import type { AskableInput, GivenInput, InputAnswer, InputRequest, InputRequired } from '../../core/mcp-input.ts';
import { Problem } from '../../core/problem.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import { isRecord, recordOf, tryParse } from '../../core/wire-value.ts';
import { upstreamError } from './fault.ts';
import { screenQuestion } from './questions.ts';

export type Answered = { kind: 'result'; result: Record<string, unknown> } | { kind: 'input-required'; input: InputRequired };

/** Added to the parameters of the request when it is sent again. */
export type RetryParams = { inputResponses?: Record<string, InputAnswer>; requestState?: string };

type Asking = Pick<ServerAccess, 'name' | 'mcp'>;

export async function throughRounds(
  server: Asking,
  askable: AskableInput,
  given: GivenInput | undefined,
  send: (retry: RetryParams) => Promise<Record<string, unknown>>,
): Promise<Answered> {
  let retry = given === undefined ? {} : toRetry(given);
  for (let round = 0; round < limits.maxInputRounds; round += 1) {
    const result = await send(retry);
    if (result.resultType !== 'input_required') return { kind: 'result', result };
    const state = typeof result.requestState === 'string' ? result.requestState : undefined;
    const { own, others } = sortQuestions(server, askable, result.inputRequests);
    if (Object.keys(others).length > 0) return { kind: 'input-required', input: toInput(others, { state, own }) };
    retry = { ...(Object.keys(own).length > 0 && { inputResponses: own }), ...(state !== undefined && { requestState: state }) };
  }
  throw upstreamError(server.name, `asked ${limits.maxInputRounds} times for something before it would answer.`, undefined, {
    retryable: false,
  });
}

/** `own`: what is known here. Throws where it asks for what it may not have. */
export function sortQuestions(
  server: Asking,
  askable: AskableInput,
  asked: unknown,
): { own: Record<string, InputAnswer>; others: Record<string, InputRequest> } {
  const own: [string, InputAnswer][] = [];
  const others: [string, InputRequest][] = [];
  const questions = Object.entries(recordOf(asked));
  if (questions.length > limits.maxInputRequests) throw tooMany(server.name);
  for (const [key, written] of questions) {
    const { method, params } = recordOf(written);
    const question = screenQuestion(server, { method: String(method), params: recordOf(params) }, askable);
    if (question.kind === 'refused') throw upstreamError(server.name, `asked for what it cannot have. ${question.reason}`);
    if (question.kind === 'answer') own.push([key, question.answer]);
    else others.push([key, question.request]);
  }
  return { own: Object.fromEntries(own), others: Object.fromEntries(others) };
}

type Carried = { state?: string; own: Record<string, InputAnswer>; task?: string };

/** The server's own state as it is, where there is nothing to carry beside it. */
export function toInput(requests: Record<string, InputRequest>, carried: Carried): InputRequired {
  const { state, own, task } = carried;
  if ((state?.length ?? 0) > limits.maxInputStateLength) {
    throw new Problem(
      'upstream_error',
      `A server wants more than ${limits.maxInputStateLength} characters of state back, which is not kept.`,
    );
  }
  const isPlain = Object.keys(own).length === 0 && task === undefined && state?.startsWith(mark) !== true;
  const written = isPlain ? state : `${mark}${JSON.stringify({ state, own, task })}`;
  return { requests, ...(written !== undefined && { state: written }) };
}

/** What `toInput` wrote. */
export function readCarried(state: string | undefined): Carried {
  if (state?.startsWith(mark) !== true) return { own: {}, ...(state !== undefined && { state }) };
  const read = recordOf(tryParse(state.slice(mark.length)));
  const own = Object.entries(recordOf(read.own)).filter((entry): entry is [string, InputAnswer] => isRecord(entry[1]));
  return {
    own: Object.fromEntries(own),
    ...(typeof read.state === 'string' && { state: read.state }),
    ...(typeof read.task === 'string' && { task: read.task }),
  };
}

const mark = 'moniker:';

function toRetry({ responses, state }: GivenInput): RetryParams {
  const carried = readCarried(state);
  return {
    inputResponses: { ...carried.own, ...responses },
    ...(carried.state !== undefined && { requestState: carried.state }),
  };
}

function tooMany(server: string): Problem {
  return upstreamError(server, `asked for more than ${limits.maxInputRequests} things at once.`, undefined, { retryable: false });
}
