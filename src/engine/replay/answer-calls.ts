/** Answers the calls of a replayed turn from the recorded ones, and notes what the policy says about them. */
import { createAnswerBook, type ReplayCall, type SchemaOf } from '../../core/replay/match-calls.ts';
import type { RecordedTurnCall } from '../../core/replay/recorded-turn.ts';
import type { ReplayRequest } from '../../core/replay/replay.ts';
import type { ToolResult } from '../../core/tools/tool.ts';
import type { CallRecording, ReplayedCall } from '../call/tool-call.ts';
import { ownArguments } from './own-arguments.ts';

export type AnsweredCalls = CallRecording & {
  /** The first call without an answer; null: all had one. */
  unmatched(): ReplayCall | null;
  /** Whether this call was made after all. */
  wasRun(callId: string): boolean;
  /** Calls that require an approval now, and that the policy forbids now. */
  counts(): { asked: number; denied: number };
};

/** `recorded`: with the tool's own arguments. */
export function answerCalls(
  recorded: readonly RecordedTurnCall[],
  schemaOf: SchemaOf,
  unmatchedCalls: ReplayRequest['unmatched'],
): AnsweredCalls {
  const book = createAnswerBook(recorded, schemaOf);
  const run = new Set<string>();
  let unmatched: ReplayCall | null = null;
  const counts = { asked: 0, denied: 0 };
  return {
    unmatched: () => unmatched,
    wasRun: (callId) => run.has(callId),
    counts: () => counts,
    refused(call) {
      // Its recorded answer is not for another call.
      book.take(toReplayCall(call), false);
    },
    answer({ verdict, isSafe, canRun, ...call }) {
      if (verdict === 'ask') counts.asked += 1;
      if (verdict === 'deny') counts.denied += 1;
      const made = toReplayCall(call);
      const found = book.take(made, isSafe);
      if (found !== null) return toResult(found.answer);
      if (unmatchedCalls === 'run-safe' && canRun) {
        run.add(call.callId);
        return 'run';
      }
      unmatched ??= made;
      return null;
    },
  };
}

function toReplayCall({ requested, canonical, tool, arguments: given }: ReplayedCall): ReplayCall {
  return { requested, canonical, arguments: tool === null || given === null ? given : ownArguments(tool, given) };
}

function toResult({ isError, code, content, structuredContent }: RecordedTurnCall): ToolResult {
  return {
    ...{ isError, content: [...content] },
    ...(code !== null && { code }),
    ...(structuredContent !== undefined && { structuredContent }),
  };
}
