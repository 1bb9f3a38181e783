/** How a turn ends: the results of its open calls, and the problems that end one. */
import { toCitation } from '../../core/model/citation.ts';
import { toMadeSearch } from '../../core/model/web-search.ts';
import { Problem, type ProblemBody } from '../../core/problem.ts';
import { listFirst } from '../../core/text/paragraphs.ts';
import { errorResult, type ToolResult } from '../../core/tools/tool.ts';
import type { Proposal } from '../../core/tools/ui-tool.ts';
import type { SessionEventBody, TurnEndReason, TurnStatus } from '../../core/turn/session-event.ts';
import { unansweredCalls, type StepCall, type TurnState } from '../../core/turn/turn-state.ts';
import { outcomeUnknown } from '../call/call-tool.ts';
import type { StepScope } from './run-step.ts';

/** Returns the events that end a turn. Every open call gets a result first, so that the history stays complete. */
export function closingEvents(
  state: TurnState,
  status: TurnStatus,
  reason: TurnEndReason,
  proposals: readonly Proposal[] = [],
): SessionEventBody[] {
  const { turn, step } = state;
  const results = unansweredCalls(state).map((call): SessionEventBody => toResultEvent(turn, step, call, openCallResult(call, status)));
  const problem = reason === 'recovery_limit' ? [{ type: 'error' as const, turn, problem: recoveryLimitReached() }] : [];
  const proposed = proposals.map((proposal) => ({ type: 'proposal' as const, turn, ...proposal }));
  return [...results, ...problem, ...proposed, { type: 'turn-end', turn, status, reason, usage: state.usage }];
}

/** A call that was started may have had its effect, however the turn ended; one that was not has had none. */
function openCallResult(call: StepCall, status: TurnStatus): ToolResult {
  if (call.interrupted) return outcomeUnknown();
  const how = status === 'cancelled' ? 'was cancelled' : 'ended';
  if (call.attempts > 0) return errorResult('aborted', `The turn ${how} while this call was running: it may have had its effect.`);
  if (call.inner.size > 0)
    return errorResult(
      'aborted',
      `The turn ${how} while this call waited for one of its nested calls: it may have had part of its effect.`,
    );
  if (call.rounds > 0)
    return errorResult('aborted', `The turn ${how} while this call waited for input: it may have had part of its effect.`);
  return errorResult('aborted', `The turn ${how} before this call was run.`);
}

/** Failures of providers and tools are events and results; any other exception of a run is an internal error. */
export function problemOfTurn(error: unknown): Problem {
  return error instanceof Problem ? error : new Problem('internal', 'The turn failed because of an internal error. Try again.');
}

/** Says what the turn waited for when its time was over. */
export function turnTookTooLong(timeoutMs: number, state: TurnState, model: string): Problem {
  const running = state.phase === 'stepped' ? unansweredCalls(state).filter(({ attempts }) => attempts > 0) : [];
  const names = running.map(({ name, canonical }) => canonical ?? name);
  const why =
    state.phase === 'streaming'
      ? `It waited for the model ${model}, which had not finished its reply. Check its provider, or use another model.`
      : names.length > 0
        ? `It waited for ${listFirst(names, maxNamedCalls)}. Check what it did, and what it waits for.`
        : 'Ask for a smaller piece of work.';
  return new Problem('upstream_timeout', `The turn took longer than ${timeoutMs / 1000} s and was ended. ${why}`);
}

const maxNamedCalls = 5;

function recoveryLimitReached(): ProblemBody {
  return new Problem(
    'internal',
    'The service stopped repeatedly during this turn, so the turn was ended. The log shows what its calls did.',
  ).toBody();
}

/** A call that was started is charged, however it ended. */
export function toResultEvent(turn: string, step: number, call: StepCall, result: ToolResult, cost = call.cost): SessionEventBody {
  const { callId, name, canonical, via } = call;
  return { type: 'tool-result', turn, step, callId, name, canonical, via, ...result, ...(cost !== null && { cost }) };
}

/** The call of the tool that stands for a web search of the request is that search, for its client. */
export function searchEvents(
  { turn, plan, names }: Pick<StepScope, 'turn' | 'plan' | 'names'>,
  step: number,
  call: StepCall,
  result: ToolResult,
): SessionEventBody[] {
  const wireName = plan.settings.webSearch?.tool;
  if (wireName === undefined || call.canonical === null) return [];
  if (names()?.tools.find((tool) => tool.wireName === wireName)?.canonical !== call.canonical) return [];
  const links = result.content.map((block) => (block.type === 'resource_link' ? toCitation({ url: block.uri, title: block.title }) : null));
  const search = toMadeSearch([call.arguments?.query], links, result.isError);
  return search === null ? [] : [{ type: 'search', turn, step, call: call.callId, ...search }];
}
