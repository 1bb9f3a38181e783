/**
 * Builds the system prompt: the agent's instructions, then the part that belongs to its tools. Sent with every step, and identical to
 * the byte while the plan is the same, so that a provider's prefix cache stays valid; it must not depend on the conversation. Used by
 * the engine, and to show the prompt of a toolset.
 */
import { memoizeByObject } from '../memoize.ts';
import type { AliasMap } from '../toolset/alias-map.ts';
import { announceBlock } from '../toolset/model-definitions.ts';
import { codeBlock } from './tool-declarations.ts';
import { alwaysOffered } from './offered-tools.ts';
import { rootOf, nameLookup, type OfferedNames } from '../toolset/old-names.ts';
import { joinParagraphs } from '../text/paragraphs.ts';
import type { Plan } from './plan.ts';
import { skillsBlock } from '../skills/skill-prompt.ts';
import { isForModels, type Edition } from '../toolset/edition-tool.ts';
import { rewriteNames } from '../names/rewrite-names.ts';
import { KB } from '../limits/units.ts';

/** Returns '' if there is nothing to send. `names`: the tools of the plan; null: no tools. */
export function systemPrompt(plan: Pick<Plan, 'instructions' | 'skills'>, names: AliasMap | null): string {
  // Skills come last, after the tools that they mention.
  return joinParagraphs(plan.instructions, toolPrompt(names), skillsBlock(plan.skills, names));
}

/** Returns the part for the tools: the instructions of their servers, and the announced names. */
export function toolPrompt(names: AliasMap | null): string {
  if (names === null) return '';
  // Tools added by a conversation or a caller go by their own names, and have no server with instructions.
  return rootPrompt(rootOf(names));
}

/** Built once per edition and rights: it is as long as the toolset, and every step sends it. */
const rootPrompt = memoizeByObject((root: AliasMap): string => {
  // In code mode the declarations contain the names.
  const names = root.inner === undefined ? announceBlock(root, alwaysOffered(root)) : codeBlock(root).text;
  return joinParagraphs(...instructionBlocks(rootOf(root.inner ?? root)), names);
});

/**
 * Returns the instructions of the servers, for clients that get the names elsewhere: over MCP they are in the descriptions (contract
 * §4).
 */
export function serverPrompt(names: AliasMap | null): string {
  return names === null ? '' : joinParagraphs(...instructionBlocks(rootOf(names.inner ?? names)));
}

/** Total characters of server instructions in one system prompt: those that do not fit are left out completely. */
export const maxInstructionsInPrompt = 32 * KB;

/** Returns one block per server with offered tools, in the edition's order. Tool names are replaced by their current names. */
function instructionBlocks(names: OfferedNames & { readonly edition: Pick<Edition, 'instructions'> }): string[] {
  if (names.edition.instructions === undefined) return [];
  const offering = new Set(names.tools.filter(isForModels).map(({ server }) => server));
  const blocks: string[] = [];
  let room: number = maxInstructionsInPrompt;
  for (const { server, text } of names.edition.instructions) {
    if (!offering.has(server)) continue;
    const block = `## Instructions of ${server}\n${rewriteNames(text, nameLookup(names, server))}`;
    if (block.length > room) continue;
    room -= block.length;
    blocks.push(block);
  }
  return blocks;
}
