/**
 * What a model is told before the conversation, put together in one place: the agent's instructions, then what belongs to its
 * tools. Said at every step and each time to the byte the same while the plan is the same, so that a provider's cache of prefixes
 * holds; nothing here may depend on what the conversation has come to. Used by the engine, and to show a toolset's prompt.
 */
import type { AliasMap } from './alias-map.ts';
import { announceBlock } from './announce.ts';
import { joinParagraphs } from './paragraphs.ts';
import type { Plan } from './plan.ts';
import { instructionBlocks } from './server-instructions.ts';

/** '' where there is nothing to say. `names`: what the plan offers; null: no tools. */
export function systemPrompt(plan: Pick<Plan, 'instructions' | 'skills'>, names: AliasMap | null): string {
  // What is told of skills comes last, after the tools that they speak of.
  return joinParagraphs(plan.instructions, toolPrompt(names));
}

/** The part that comes with the tools: what their servers say, and the names they may be called by. */
export function toolPrompt(names: AliasMap | null): string {
  return names === null ? '' : joinParagraphs(...instructionBlocks(names), announceBlock(names));
}
