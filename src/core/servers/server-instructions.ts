/** The instructions of servers (MCP `instructions`) as models receive them. The compiler includes trusted servers only. */
import { isForModels, type Edition } from '../toolset/edition-tool.ts';
import { nameLookup, type OfferedNames } from '../names/old-names.ts';
import { rewriteNames } from '../names/rewrite-names.ts';
import { KB } from '../limits/units.ts';

/** Total characters of server instructions in one system prompt: those that do not fit are left out completely. */
export const maxInstructionsInPrompt = 32 * KB;

/** Returns one block per server with offered tools, in the edition's order. Tool names are replaced by their current names. */
export function instructionBlocks(names: OfferedNames & { readonly edition: Pick<Edition, 'instructions'> }): string[] {
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
