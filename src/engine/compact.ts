/**
 * Before a model is asked: a conversation that has grown over its budget has its older turns summed up by the same model, in
 * one event. A summary that cannot be had costs the older turns, never the turn at hand.
 */
import { splitModelRef } from '../core/agent.ts';
import type { Usage } from '../core/chat-event.ts';
import { boundSummary, leftOutSummary, planCompaction, summaryInput, summaryInstruction, type CompactionPlan } from '../core/compaction.ts';
import { crashPoint } from '../core/crash-point.ts';
import { limits } from '../core/limits.ts';
import type { Message } from '../core/message.ts';
import type { StepDeps, StepScope } from './run-step.ts';

export type CompactScope = Pick<StepScope, 'workspace' | 'turn' | 'plan' | 'append' | 'conversation'>;

/** `step`: the one that is about to begin. Throws only on abort. */
export async function compactIfLong(deps: StepDeps, scope: CompactScope, step: number, signal: AbortSignal): Promise<void> {
  if (scope.conversation === undefined) return;
  const maxTokens = scope.plan.limits.maxContextTokens ?? limits.maxContextTokens;
  const plan = planCompaction(scope.conversation, scope.turn, maxTokens);
  if (plan === null) return;
  const text = await summarize(deps, scope, step, plan, signal);
  await crashPoint('compaction-mid');
  signal.throwIfAborted();
  const { through } = plan;
  deps.log.info('a conversation was compacted', { turn: scope.turn, through, turns: plan.turns.length, summed: text !== null });
  scope.append({ type: 'compaction', turn: scope.turn, through, summary: text ?? leftOutSummary(plan) });
}

/** null when none of the plan's models gave one in time. */
async function summarize(
  deps: StepDeps,
  scope: CompactScope,
  step: number,
  plan: CompactionPlan,
  signal: AbortSignal,
): Promise<string | null> {
  const late = new AbortController();
  const disarm = deps.clock.after(limits.summaryTimeoutMs, () => late.abort(new Error('the summary took too long')));
  const input = summaryInput(plan);
  try {
    for (const model of [scope.plan.model, ...scope.plan.fallbacks]) {
      const text = await askFor(deps, scope, { step, model }, input, AbortSignal.any([signal, late.signal]));
      const summary = text === null ? null : boundSummary(plan, text);
      signal.throwIfAborted();
      if (summary !== null) return summary;
    }
    return null;
  } finally {
    disarm();
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
  let whole = false;
  try {
    const request = {
      access: await deps.directory.provider(scope.workspace, provider),
      model,
      messages: [{ role: 'system' as const, parts: [{ type: 'text' as const, text: summaryInstruction }] }, input],
      tools: [],
      toolChoice: 'none' as const,
      settings: { maxOutputTokens: limits.maxSummaryTokens },
    };
    for await (const events of deps.model.stream(request, signal)) {
      for (const event of events) {
        if (event.type === 'text' && text.length < limits.maxSummaryBytes) text += event.text;
        else if (event.type === 'usage') usage = event.usage;
        else if (event.type === 'finish') whole = event.reason === 'stop' || event.reason === 'length';
        else if (event.type === 'error') deps.log.info('a summary failed', { turn: scope.turn, code: event.problem.code });
      }
    }
  } catch (error) {
    // Of whatever kind: the turn goes on without the summary, unless it was the turn itself that was stopped.
    deps.log.info('a summary could not be asked for', { turn: scope.turn, model: at.model, error: String(error) });
  }
  // Also of one that is of no use: it was paid for.
  if (usage !== null) scope.append({ type: 'usage', turn: scope.turn, step: at.step, usage, model: at.model });
  return whole ? text : null;
}
