/**
 * Makes a call of an entry whose targets are tried in order (`core/toolset/entry-targets.ts`). The next target is called only if the one before it cannot have
 * done anything: it is held, missing or was not sent the call; or it only reads, and its server did not answer.
 */
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import { listFirst } from '../../core/text/paragraphs.ts';
import { contentText, type ServedBy } from '../../core/tools/tool.ts';
import type { CallDeps, CallScope } from './call-scope.ts';
import { audienceFault, prepareArguments, type PreparedCall, type RunnableCall, stateFault } from './prepare-call.ts';
import type { CallOutcome, ToolCallAnswer } from './tool-call.ts';

type Tried = NonNullable<ServedBy['tried']>;

/** Characters of the error of each earlier target that the result repeats. */
const maxErrorCharacters = 300;

/** `run`: makes the call with the tool of the prepared call. */
export async function callInOrder(
  deps: Pick<CallDeps, 'log'>,
  scope: CallScope,
  call: RunnableCall,
  run: (scope: CallScope, call: PreparedCall) => Promise<CallOutcome>,
): Promise<CallOutcome> {
  const left = [...(call.tool.targets?.others ?? [])];
  const tried: Tried = [];
  const errors: string[] = [];
  let current: PreparedCall = call;
  for (;;) {
    // Input that a server asked for belongs to the call that it has begun.
    const mayFollow = (answer: ToolCallAnswer): boolean => left.length > 0 && (call.request.rounds ?? 0) === 0 && isUndone(answer);
    const outcome = await run(scope, { ...current, inOrder: { tried: [...tried], isFollowed: mayFollow } });
    if ('waitFor' in outcome) return withOthers(outcome, current.tool, left);
    const { answer } = outcome;
    const next = mayFollow(answer) ? left.shift() : undefined;
    if (next === undefined) return errors.length === 0 || !answer.result.isError ? outcome : { answer: withErrors(answer, errors) };
    const failed = { tool: current.tool?.canonical ?? '', code: answer.result.code ?? null };
    deps.log.info('another target is called', { ...failed, next: next.canonical, session: scope.session });
    tried.push(failed);
    errors.push(`${failed.tool}: ${contentText(answer.result.content).slice(0, maxErrorCharacters)}`);
    current = prepareNext(scope, call, next);
  }
}

function isUndone({ ran, failed, result: { isError, code } }: ToolCallAnswer): boolean {
  return isError && (failed !== undefined || (!ran && (code === 'tool_held' || code === 'tool_error')));
}

/** The arguments were accepted by the schema that models are shown, but each target has another one. */
function prepareNext(scope: CallScope, call: RunnableCall, tool: EditionTool): PreparedCall {
  const { refusal, ...read } = prepareArguments(tool, call.request.arguments ?? {}, scope.caller);
  return { ...call, ...read, tool, notes: call.notes, refusal: stateFault(tool) ?? audienceFault(tool, scope) ?? refusal };
}

/** The person who decides learns where the call may run; an approval covers all of these. */
function withOthers(
  outcome: Extract<CallOutcome, { waitFor: unknown }>,
  tool: EditionTool | null,
  left: readonly EditionTool[],
): CallOutcome {
  const { waitFor } = outcome;
  if (waitFor.kind !== 'approval' || left.length === 0) return outcome;
  const names = listFirst(
    left.map(({ canonical }) => canonical),
    left.length,
  );
  const reason = `${waitFor.ask.reason}; if ${tool?.canonical} cannot be called, ${names} is called instead`;
  return { waitFor: { ...waitFor, ask: { ...waitFor.ask, reason } } };
}

function withErrors(answer: ToolCallAnswer, errors: readonly string[]): ToolCallAnswer {
  const text = `[Before, the call was not made by: ${errors.join('; ')}]`;
  return { ...answer, result: { ...answer.result, content: [...answer.result.content, { type: 'text', text }] } };
}
