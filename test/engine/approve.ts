/** A call whose question is answered with yes at once, as a person would who reads it. */
import type { Approved } from '../../src/core/approval.ts';
import type { CallOutcome, ToolCallRequest } from '../../src/engine/tool-call.ts';

/** Members of a request. `approved: true`: its first question is answered with yes; a further one is what comes of it. */
export type How = Partial<Omit<ToolCallRequest, 'approved'>> & { approved?: true | Approved };

export async function callWith(
  { approved, ...more }: How,
  call: (more: Partial<ToolCallRequest>) => Promise<CallOutcome>,
): Promise<CallOutcome> {
  if (typeof approved === 'object') return await call({ ...more, approved });
  const outcome = await call(more);
  return approved === true && 'waitFor' in outcome && outcome.waitFor.kind === 'approval'
    ? await call({ ...more, approved: yesTo(outcome.waitFor) })
    : outcome;
}

export function yesTo({ ask: { binding }, round }: { ask: { binding: readonly string[] }; round: number }): Approved {
  return { binding, round };
}
