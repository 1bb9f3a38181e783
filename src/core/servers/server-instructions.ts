/** What servers say of their tools, as models are told it (MCP: `instructions` of a server): only of trusted ones, which the compiler sees to. */
import { isForModels, type Edition } from '../edition-tool.ts';
import { limits } from '../limits.ts';
import { nameLookup, type OfferedNames } from '../old-names.ts';
import { rewriteNames } from '../rewrite-names.ts';

/** One block a server, in the edition's order, of those that have a tool to offer; tools stand in them by their names of today. */
export function instructionBlocks(names: OfferedNames & { readonly edition: Pick<Edition, 'instructions'> }): string[] {
  if (names.edition.instructions === undefined) return [];
  const offering = new Set(names.tools.filter(isForModels).map(({ server }) => server));
  const blocks: string[] = [];
  let room: number = limits.maxInstructionsInPrompt;
  for (const { server, text } of names.edition.instructions) {
    if (!offering.has(server)) continue;
    const block = `## Instructions of ${server}\n${rewriteNames(text, nameLookup(names, server))}`;
    if (block.length > room) continue;
    room -= block.length;
    blocks.push(block);
  }
  return blocks;
}
