/**
 * Compaction before a model call: if the conversation exceeds its token budget, the same model summarizes the older turns in one event.
 * If the summary fails, the older turns are dropped; the current turn continues.
 */
import { splitModelRef } from '../../core/turn/agent.ts';
import type { Usage } from '../../core/model/chat-event.ts';
import {
  boundSummary,
  fallbackSummary,
  maxSummaryTokens,
  planCompaction,
  summaryInput,
  summaryInstruction,
  type CompactionPlan,
} from '../../core/turn/compaction.ts';
import { failpoint } from '../../core/failpoint.ts';
import { limits } from '../../core/limits/limits.ts';
import type { Message } from '../../core/model/message.ts';
import type { StepDeps, StepScope } from './run-step.ts';
import { abortAfter } from '../timeout.ts';

/** The turn waits this long for a summary; then the oldest turns are left out without one. */
export const summaryTimeoutMs = 60_000;

export type CompactScope = Pick<StepScope, 'workspace' | 'turn' | 'plan' | 'append' | 'conversation'>;

/** `step`: the step that is about to start. Throws only on abort. */
export async function compactIfLong(deps: StepDeps, scope: CompactScope, step: number, signal: AbortSignal): Promise<void> {
  if (scope.conversation === undefined) return;
  const maxTokens = scope.plan.limits.maxContextTokens ?? limits.maxContextTokens;
  const plan = planCompaction(scope.conversation, scope.turn, maxTokens);
  if (plan === null) return;
  const text = await summarize(deps, scope, step, plan, signal);
  await failpoint('compaction-mid');
  signal.throwIfAborted();
  const { through } = plan;
  deps.log.info('a conversation was compacted', { turn: scope.turn, through, turns: plan.turns.length, summed: text !== null });
  scope.append({ type: 'compaction', turn: scope.turn, through, summary: text ?? fallbackSummary(plan) });
}

/** Returns null when none of the plan's models returned a summary in time. */
async function summarize(
  deps: StepDeps,
  scope: CompactScope,
  step: number,
  plan: CompactionPlan,
  signal: AbortSignal,
): Promise<string | null> {
  const timed = abortAfter(deps.clock, summaryTimeoutMs, () => new Error('the summary took too long'), signal);
  const input = summaryInput(plan);
  try {
    for (const model of [scope.plan.model, ...scope.plan.fallbacks]) {
      const text = await askFor(deps, scope, { step, model }, input, timed.signal);
      const summary = text === null ? null : boundSummary(plan, text);
      signal.throwIfAborted();
      if (summary !== null) return summary;
    }
    return null;
  } finally {
    timed.disarm();
  }
}

async function askFor(
  deps: StepDeps,
  scope: CompactScope,
  at: { step: number; model: string },
  input: Message,
  signal: AbortSignal,
): Promise<string | null> {
  const { provider, model } = splitModelRef(at.model);
  let text = '';
  let usage: Usage | null = null;
  let isComplete = false;
  try {
    const request = {
      access: await deps.directory.provider(scope.workspace, provider),
      model,
      messages: [{ role: 'system' as const, parts: [{ type: 'text' as const, text: summaryInstruction }] }, input],
      tools: [],
      toolChoice: 'none' as const,
      settings: { maxOutputTokens: maxSummaryTokens },
      ...(scope.plan.timeouts !== undefined && { timeouts: scope.plan.timeouts }),
    };
    for await (const events of deps.model.stream(request, signal)) {
      for (const event of events) {
        // A character has at least one byte, so this collects what `boundSummary` keeps.
        if (event.type === 'text' && text.length < limits.maxSummaryBytes) text += event.text;
        else if (event.type === 'usage') usage = event.usage;
        else if (event.type === 'finish') isComplete = event.reason === 'stop' || event.reason === 'length';
        else if (event.type === 'error') deps.log.info('a summary failed', { turn: scope.turn, code: event.problem.code });
      }
    }
  } catch (error) {
    // Whatever the error, the turn continues without the summary, unless the turn itself was aborted.
    deps.log.info('requesting a summary failed', { turn: scope.turn, model: at.model, error: String(error) });
  }
  // An unusable summary was billed as well.
  if (usage !== null) scope.append({ type: 'usage', turn: scope.turn, step: at.step, usage, model: at.model });
  return isComplete ? text : null;
}
