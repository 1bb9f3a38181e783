/** What servers say of their tools, as models are told it (MCP: `instructions` of a server): only of trusted ones, which the compiler sees to. */
import type { AliasMap } from './alias-map.ts';
import { limits } from './limits.ts';

/** One block a server, in the edition's order, of those that have a tool to offer. */
export function instructionBlocks({ edition, tools }: Pick<AliasMap, 'edition' | 'tools'>): string[] {
  if (edition.instructions === undefined) return [];
  const offering = new Set(tools.filter(({ state, kind }) => state === 'ready' && kind !== 'ui').map(({ server }) => server));
  const blocks: string[] = [];
  let room: number = limits.maxInstructionsInPrompt;
  for (const { server, text } of edition.instructions) {
    if (!offering.has(server) || text.length > room) continue;
    room -= text.length;
    blocks.push(`## Instructions of ${server}\n${text}`);
  }
  return blocks;
}
