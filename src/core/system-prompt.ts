/**
 * What a model is told before the conversation, put together in one place: the agent's instructions, then what belongs to its
 * tools. Said at every step and each time to the byte the same while the plan is the same, so that a provider's cache of prefixes
 * holds; nothing here may depend on what the conversation has come to. Used by the engine, and to show a toolset's prompt.
 */
import type { AliasMap } from './alias-map.ts';
import { announceBlock } from './announce.ts';
import { codeBlock } from './code-mode/code-prompt.ts';
import { alwaysOffered } from './offered-tools.ts';
import { rootOf } from './old-names.ts';
import { joinParagraphs } from './paragraphs.ts';
import type { Plan } from './plan.ts';
import { instructionBlocks } from './servers/server-instructions.ts';
import { skillsBlock } from './skills/skill-prompt.ts';

/** '' where there is nothing to say. `names`: what the plan offers; null: no tools. */
export function systemPrompt(plan: Pick<Plan, 'instructions' | 'skills'>, names: AliasMap | null): string {
  // What is told of skills comes last, after the tools that they speak of.
  return joinParagraphs(plan.instructions, toolPrompt(names), skillsBlock(plan.skills, names));
}

/** The part that comes with the tools: what their servers say, and the names they may be called by. */
export function toolPrompt(names: AliasMap | null): string {
  if (names === null) return '';
  // Tools that a conversation or a caller adds go by their own names, and have no server that could say something.
  const root = rootOf(names);
  const known = kept.get(root);
  if (known !== undefined) return known;
  // In code mode names are told with the declarations.
  const told = root.inner === undefined ? announceBlock(root, alwaysOffered(root)) : codeBlock(root);
  const prompt = joinParagraphs(...instructionBlocks(rootOf(root.inner ?? root)), told);
  kept.set(root, prompt);
  return prompt;
}

/** What the servers of the tools say, where the names are told elsewhere: over MCP they stand in the descriptions (DESIGN §4). */
export function serverPrompt(names: AliasMap | null): string {
  return names === null ? '' : joinParagraphs(...instructionBlocks(rootOf(names)));
}

/** Found once for an edition and a plan's rights: it is as long as the toolset, and every step says it. */
const kept = new WeakMap<AliasMap, string>();
