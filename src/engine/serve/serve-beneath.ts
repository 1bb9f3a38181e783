/**
 * What a call beneath an MCP client's call waits for, asked for while that one is open: on the connection of a session (2025 eras), or from an
 * object that holds it (`held-call.ts`). What has run beneath it meanwhile is not run again, since nothing of it has ended. Used by `serve-call.ts`.
 */
import type { EditionTool } from '../../core/edition-tool.ts';
import { limits } from '../../core/limits.ts';
import { toGiven, type AskableInput, type InputAnswer, type InputRequired } from '../../core/mcp-input.ts';
import type { Principal } from '../../core/principal.ts';
import type { CallerChannel } from '../../ports/tool-executor.ts';
import { approvalKey, approvalRefusal, approvalRequest, cannotAsk, deniedByPerson, isApproved } from './serve-approval.ts';
import { sortQuestions } from './serve-questions.ts';
import type { ToolCallRequest, WaitFor } from '../tool-call.ts';

type Asked = { principal: Principal; channel: CallerChannel; askable: AskableInput };

/** What the call is made again with. `rounds`: times that it has asked for input before. */
export async function askNow(asked: Asked, waitFor: WaitFor, rounds: number): Promise<Partial<ToolCallRequest>> {
  switch (waitFor.kind) {
    case 'approval':
      return await askApproval(asked, waitFor);
    case 'input':
      return await askInput(asked, waitFor, rounds);
    case 'client':
      return {
        refusal: {
          code: 'not_allowed',
          message: `Not run: ${waitFor.tool.wireName} is run by the caller of a turn, and there is none here.`,
        },
      };
    case 'inner':
      return { refusal: cannotAsk(`a tool beneath ${waitFor.tool.wireName} waits`, sessionsCan) };
    default:
      return waitFor satisfies never;
  }
}

const sessionsCan = 'nobody can be asked in the middle of this call. Call it in a session of Moniker (POST /v1/sessions)';

const tooMany = 'too many calls wait for somebody already. Try again later, or call it in a session of Moniker (POST /v1/sessions)';

/** Of the isolate: whatever waits keeps its machine from others. */
let open = 0;

/** null: the client has left, or took too long. */
async function answerTo(asked: Promise<InputAnswer>): Promise<InputAnswer | null> {
  open += 1;
  try {
    return await asked;
  } catch {
    // Whatever it was, nobody said a word.
    return null;
  } finally {
    open -= 1;
  }
}

async function askApproval(
  { principal, channel, askable }: Asked,
  { tool, ask, round, arguments: args }: Extract<WaitFor, { kind: 'approval' }>,
): Promise<Partial<ToolCallRequest>> {
  const refusal = approvalRefusal({ principal, askable }, ask.reason);
  if (refusal !== null) return { refusal };
  if (channel.ask === undefined) return { refusal: cannotAsk(ask.reason, sessionsCan) };
  if (open >= limits.maxOpenQuestionsBeneath) return { refusal: cannotAsk(ask.reason, tooMany) };
  const answer = await answerTo(channel.ask(approvalRequest(tool, ask, args), approvalKey));
  if (answer === null) return { refusal: cannotAsk(ask.reason, 'nobody answered') };
  return isApproved(answer) ? { approved: { binding: ask.binding, round } } : { refusal: deniedByPerson };
}

async function askInput(
  { channel, askable }: Asked,
  { tool, input }: { tool: EditionTool; input: InputRequired },
  rounds: number,
): Promise<Partial<ToolCallRequest>> {
  const failed = (why: string): Partial<ToolCallRequest> => ({
    refusal: { code: 'tool_error', message: `${tool.wireName} did not finish: ${why}.` },
  });
  const { questions, answered, fault } = sortQuestions(tool.server, input.requests, askable);
  if (fault !== null) return failed(fault);
  const answers = new Map(Object.entries(answered));
  for (const [key, question] of Object.entries(questions)) {
    if (channel.ask === undefined || open >= limits.maxOpenQuestionsBeneath)
      return failed('it asked for something, and nobody can be asked in the middle of this call');
    const answer = await answerTo(channel.ask(question, key));
    // Its server waits for a word on each.
    if (answer === null) return failed('it asked for something, and nobody answered');
    answers.set(key, answer);
  }
  return { given: toGiven(input, Object.fromEntries(answers)), rounds: rounds + 1 };
}
