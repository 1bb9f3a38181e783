/** Makes a call and approves its question at once. */
import type { GivenApproval } from '../../src/core/policy/approval.ts';
import type { CallOutcome, ToolCallRequest } from '../../src/engine/call/tool-call.ts';

/** Members of a request. `approved: true`: the first question is approved; a further one is returned. */
export type How = Partial<Omit<ToolCallRequest, 'approved'>> & { approved?: true | GivenApproval };

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

export function yesTo({ ask: { binding }, round }: { ask: { binding: readonly string[] }; round: number }): GivenApproval {
  return { binding, round };
}
