/** Questions that a request has to ask its client: sent with the response (2026-07-28), or asked on the open connection of a session. */
import { limits } from '../../core/limits/limits.ts';
import { isRecord, recordOf } from '../../core/json/wire-value.ts';
import type { InputRequest } from '../../core/tools/mcp-input.ts';
import type { OfferRequest } from '../../engine/mcp/request-offer.ts';
import { reportWaiting, waitingForUser } from '../../engine/report-waiting.ts';
import type { Exchange } from './exchange.ts';
import type { RpcParams } from './messages.ts';
import { invalidParams, RpcFault, rpcCodes } from './rpc-fault.ts';

type Questions = { kind: 'input'; requests: Readonly<Record<string, InputRequest>>; state: string };

/** A client of a session did not answer. */
export class UnansweredFault extends RpcFault {}

/** Runs the request; for a session also again, with the client's answers, until it has a result. */
export async function withAnswers<Answer extends { kind: string }>(
  { era, ask, notify, deps }: Pick<Exchange, 'era' | 'ask' | 'notify'> & { deps: Pick<Exchange['deps'], 'clock'> },
  params: RpcParams,
  run: (given: OfferRequest) => Promise<Answer | Questions>,
): Promise<Answer | Questions> {
  let given = givenOf(params);
  const { progressToken } = recordOf(params._meta);
  const progress = progressToken === undefined ? undefined : (done: object) => notify('notifications/progress', { progressToken, ...done });
  for (let round = 0; ; round += 1) {
    const answer = await run(given);
    if (!isQuestions(answer) || era === 'modern') return answer;
    if (ask === undefined) throw new UnansweredFault(rpcCodes.internal, 'The request requires input, which needs a session.');
    if (round >= limits.maxInputRounds) {
      throw new UnansweredFault(rpcCodes.internal, `The request required input more than ${limits.maxInputRounds} times.`);
    }
    const asking = answersOf(ask, answer.requests);
    given = { responses: await reportWaiting(deps.clock, progress, waitingForUser, asking), state: answer.state };
  }
}

function isQuestions(answer: { kind: string }): answer is Questions {
  return answer.kind === 'input';
}

async function answersOf(
  ask: NonNullable<Exchange['ask']>,
  requests: Readonly<Record<string, InputRequest>>,
): Promise<Record<string, unknown>> {
  const all = Object.entries(requests).map(async ([key, { method, params }]): Promise<[string, unknown]> => {
    const isPage = method === 'elicitation/create' && params.mode === 'url' && params.elicitationId === undefined;
    return [key, await ask({ method, params: isPage ? { ...params, elicitationId: crypto.randomUUID() } : params })];
  });
  return Object.fromEntries(await Promise.all(all));
}

/** The answers and the state of a repeated request (2026-07-28). */
function givenOf({ inputResponses, requestState }: RpcParams): OfferRequest {
  if (requestState !== undefined && typeof requestState !== 'string') {
    throw invalidParams('Invalid or expired requestState', { reason: 'invalid_request_state' });
  }
  return { ...(isRecord(inputResponses) && { responses: inputResponses }), ...(requestState !== undefined && { state: requestState }) };
}

export function toInputRequired({ requests, state }: Questions): Record<string, unknown> {
  return { resultType: 'input_required', inputRequests: requests, requestState: state };
}
