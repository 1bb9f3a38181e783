/**
 * Asks for what a nested call of an MCP client's call waits for, while the outer call is open: on the connection of a session (2025
 * revisions), or from the object that keeps the call in flight (`in-flight-call.ts`). Nothing is rerun, since the outer call has not ended. Used by
 * `serve-call.ts`.
 */
import type { CallerChannel } from '../../ports/upstream.ts';
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import { toGiven, type AskableInput, type InputAnswer, type InputRequired } from '../../core/tools/mcp-input.ts';
import type { Principal } from '../../core/principal.ts';
import {
  approvalKey,
  approvalRefusal,
  approvalRequest,
  cannotAsk,
  cannotWaitForNested,
  clientToolRefusal,
  deniedByPerson,
  isApproved,
} from './serve-approval.ts';
import { screenQuestions } from './serve-questions.ts';
import type { ToolCallRequest, WaitFor } from '../call/tool-call.ts';

/**
 * Calls that stay open while they wait for an answer from their MCP client. Each one holds its machine in the meantime, so the
 * limit is lower than `maxSandboxes` in an isolate, with shares of it per workspace and per key, so that neither can block the
 * others.
 */
export const maxOpenQuestions = 30;
export const maxOpenQuestionsPerWorkspace = 12;
export const maxOpenQuestionsPerKey = 6;

type Asked = { principal: Principal; channel: CallerChannel; askable: AskableInput };

/** Returns the changes to the request with which the call is made again. `rounds`: how often it has asked for input before. */
export async function askDuringCall(asked: Asked, waitFor: WaitFor, rounds: number): Promise<Partial<ToolCallRequest>> {
  switch (waitFor.kind) {
    case 'approval':
      return await askApproval(asked, waitFor);
    case 'input':
      return await askInput(asked, waitFor, rounds);
    case 'client':
      return { refusal: clientToolRefusal(waitFor.tool) };
    case 'inner':
      return { refusal: cannotWaitForNested(waitFor.tool) };
    default:
      return waitFor satisfies never;
  }
}

const sessionsCan = 'this connection cannot ask for one during this call';

const tooMany = 'too many calls of this key or workspace are already waiting for an answer. Try again later';

/** The number of open questions, by workspace and key. Counts what this isolate holds, so it is module state. */
const open = { all: 0, byWorkspace: new Map<string, number>(), byKey: new Map<string, number>() };

/** Whether one more question may be opened: no key or workspace can use up the limit of the others. */
function mayAsk({ workspace, keyId }: Principal): boolean {
  return (
    open.all < maxOpenQuestions &&
    (open.byWorkspace.get(workspace) ?? 0) < maxOpenQuestionsPerWorkspace &&
    (open.byKey.get(`${workspace} ${keyId}`) ?? 0) < maxOpenQuestionsPerKey
  );
}

function countOpen({ workspace, keyId }: Principal, change: 1 | -1): void {
  open.all += change;
  for (const [table, name] of [[open.byWorkspace, workspace] as const, [open.byKey, `${workspace} ${keyId}`] as const]) {
    const count = (table.get(name) ?? 0) + change;
    if (count === 0) table.delete(name);
    else table.set(name, count);
  }
}

/** Returns null if the client disconnected or did not answer in time. */
async function waitForAnswer(principal: Principal, ask: () => Promise<InputAnswer>): Promise<InputAnswer | null> {
  countOpen(principal, 1);
  try {
    return await ask();
  } catch {
    // However the connection failed, there is no answer.
    return null;
  } finally {
    countOpen(principal, -1);
  }
}

async function askApproval(
  { principal, channel, askable }: Asked,
  waitFor: Extract<WaitFor, { kind: 'approval' }>,
): Promise<Partial<ToolCallRequest>> {
  const { tool, ask, round, arguments: args } = waitFor;
  const refusal = approvalRefusal({ principal, askable }, waitFor);
  if (refusal !== null) return { refusal };
  if (channel.ask === undefined) return { refusal: cannotAsk(waitFor, sessionsCan) };
  if (!mayAsk(principal)) return { refusal: cannotAsk(waitFor, tooMany) };
  const send = channel.ask;
  const answer = await waitForAnswer(principal, () => send(approvalRequest(tool, ask, args), approvalKey));
  if (answer === null) return { refusal: cannotAsk(waitFor, 'the client did not answer') };
  return isApproved(answer) ? { approved: { binding: ask.binding, round } } : { refusal: deniedByPerson };
}

async function askInput(
  { principal, channel, askable }: Asked,
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
    if (!mayAsk(principal)) return failed(`it asked for input, and ${tooMany}`);
    const answer = await waitForAnswer(principal, () => send(question, key));
    // The server expects an answer to each of its questions.
    if (answer === null) return failed('it asked for input, and the client did not answer');
    answers.set(key, answer);
  }
  return { given: toGiven(input, Object.fromEntries(answers)), rounds: rounds + 1 };
}
