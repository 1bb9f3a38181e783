/** Builds the log events of nested calls. Arguments and results are shortened, since code can make hundreds of calls with megabytes each. */
import { boundResult } from '../../../core/toolset/result-bound.ts';
import type { SessionEventBody } from '../../../core/turn/session-event.ts';
import type { ToolResult } from '../../../core/tools/tool.ts';
import type { InnerCallStart } from '../../../ports/call-journal.ts';
import { KB } from '../../../core/limits/units.ts';

/** The part of an inner call's result that readers of the log see. */
const shownInnerResultBytes = 2 * KB;
/** The part of its arguments that they see, in total and each. */
const shownInnerArgumentCharacters = 4 * KB;
const shownInnerValueCharacters = 1 * KB;

type At = { turn: string; step: number };

export function innerCallEvent({
  turn,
  step,
  callId,
  root,
  requested,
  canonical,
  via,
  arguments: args,
}: InnerCallStart & At): SessionEventBody {
  return { type: 'inner-call', turn, step, callId, parent: root, name: requested, canonical, via, arguments: shownArguments(args) };
}

export function innerResultEvent(
  { turn, step, callId, root, canonical }: Pick<InnerCallStart, 'callId' | 'root' | 'canonical'> & At,
  result: ToolResult,
  { durationMs, cost }: { durationMs: number; cost?: number | undefined },
): SessionEventBody {
  const { isError, code, served } = result;
  const { content } = boundResult({ content: result.content, isError }, { text: shownInnerResultBytes, media: 0 });
  return {
    type: 'inner-result',
    turn,
    step,
    callId,
    parent: root,
    canonical,
    isError,
    ...(code && { code }),
    content,
    ...(served && { served }),
    durationMs,
    ...(cost !== undefined && { cost }),
  };
}

/** Returns the arguments unchanged when they are short; otherwise long values are replaced by their length. */
function shownArguments(args: Record<string, unknown>): Record<string, unknown> {
  if (JSON.stringify(args).length <= shownInnerArgumentCharacters) return args;
  let left: number = shownInnerArgumentCharacters;
  return Object.fromEntries(
    Object.entries(args).flatMap(([name, value]): [string, unknown][] => {
      const { length } = JSON.stringify(value) ?? '';
      if (left <= 0) return [];
      left -= Math.min(length, shownInnerValueCharacters) + name.length;
      return [[name, length <= shownInnerValueCharacters ? value : `[${length} characters]`]];
    }),
  );
}
