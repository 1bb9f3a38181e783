/**
 * Asks for what a nested call of an MCP client's call waits for, while the outer call is open: on the connection of a session (2025
 * revisions), or from the object that keeps the call in flight (`in-flight-call.ts`). Nothing is rerun, since the outer call has not ended. Used by
 * `serve-call.ts`.
 */
import type { CallerChannel } from '../../ports/upstream.ts';
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import { toGiven, type AskableInput, type InputAnswer, type InputRequired } from '../../core/tools/mcp-input.ts';
import type { Principal } from '../../core/people/principal.ts';
import {
  approvalKey,
  approvalRefusal,
  approvalRequest,
  approvalUnavailable,
  cannotWait,
  deniedByPerson,
  isApproved,
  memorableOf,
  rememberApproval,
  type RememberDeps,
} from './serve-approval.ts';
import { screenQuestions } from './serve-questions.ts';
import type { RememberedRules } from '../../ports/remembered-rules.ts';
import type { Refusal } from '../../core/turn/turn-budget.ts';
import type { ToolCallRequest, WaitFor } from '../call/tool-call.ts';
import type { ShareShortage } from '../../core/limits/fair-share.ts';
import { type FairPool, isShortage, type Place, shortageText } from '../fair-pool.ts';

/** `questions`: the places of calls that stay open for an answer. Each holds its machine meanwhile, so an isolate has fewer of them. */
type Asked = RememberDeps & {
  principal: Principal;
  channel: CallerChannel;
  askable: AskableInput;
  remembered?: RememberedRules;
  questions: Pick<FairPool, 'take'>;
};

/** Returns the changes to the request with which the call is made again. `rounds`: how often it has asked for input before. */
export async function askDuringCall(asked: Asked, waitFor: WaitFor, rounds: number): Promise<Partial<ToolCallRequest>> {
  switch (waitFor.kind) {
    case 'approval':
      return await askApproval(asked, waitFor);
    case 'input':
      return await askInput(asked, waitFor, rounds);
    case 'client':
    case 'inner':
      throw cannotWait(waitFor);
    default:
      return waitFor satisfies never;
  }
}

const sessionsCan = 'this connection cannot ask for one during this call';

/** Returns null if the client disconnected or did not answer in time. */
async function waitForAnswer(place: Place, ask: () => Promise<InputAnswer>): Promise<InputAnswer | null> {
  try {
    return await ask();
  } catch {
    // However the connection failed, there is no answer.
    return null;
  } finally {
    place.release();
  }
}

async function askApproval(asked: Asked, waitFor: Extract<WaitFor, { kind: 'approval' }>): Promise<Partial<ToolCallRequest>> {
  const { principal, channel, askable, questions } = asked;
  const { tool, ask, round, arguments: args } = waitFor;
  const refusal = approvalRefusal({ principal, askable }, waitFor);
  if (refusal !== null) return { refusal };
  if (channel.ask === undefined) return { refusal: approvalUnavailable(waitFor, sessionsCan) };
  const place = questions.take(principal);
  if (isShortage(place)) return { refusal: limitReached(place) };
  const send = channel.ask;
  const memorable = memorableOf(asked, tool, ask);
  const answer = await waitForAnswer(place, () => send(approvalRequest(tool, ask, args, memorable), approvalKey));
  if (answer === null) return { refusal: approvalUnavailable(waitFor, 'the client did not answer') };
  if (!isApproved(answer)) return { refusal: deniedByPerson(answer) };
  await rememberApproval(asked, asked, memorable, answer);
  return { approved: { binding: ask.binding, round } };
}

async function askInput(
  { principal, channel, askable, questions: places }: Asked,
  { tool, input }: { tool: EditionTool; input: InputRequired },
  rounds: number,
): Promise<Partial<ToolCallRequest>> {
  const failed = (why: string): Partial<ToolCallRequest> => ({
    refusal: { code: 'tool_error', message: `${tool.wireName} did not finish: ${why}.` },
  });
  const { questions, answered, fault } = screenQuestions(tool.server, input.requests, askable);
  if (fault !== null) return failed(fault);
  const answers = new Map(Object.entries(answered));
  for (const [key, question] of Object.entries(questions)) {
    const send = channel.ask;
    if (send === undefined) return failed('it asked for input, which this connection cannot provide during a call');
    const place = places.take(principal);
    if (isShortage(place)) return { refusal: limitReached(place) };
    const answer = await waitForAnswer(place, () => send(question, key));
    // The server expects an answer to each of its questions.
    if (answer === null) return failed('it asked for input, and the client did not answer');
    answers.set(key, answer);
  }
  return { given: toGiven(input, Object.fromEntries(answers)), rounds: rounds + 1 };
}

function limitReached(shortage: ShareShortage): Refusal {
  return { code: 'limit_reached', message: `Not run: it needs an answer of a person. ${shortageText(shortage)}` };
}
