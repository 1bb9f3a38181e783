/** Bounds of what the servers of a workspace list, all together. */
import { MB } from '../limits/units.ts';
import { invalidRequest } from '../problem.ts';
import type { StoredTool } from './stored-tool.ts';

/** All of them are walked when a toolset is written. */
export const maxWorkspaceTools = 10_000;
/** Definitions, as JSON: the Catalog caches them parsed, which takes several times as much of its 128 MB. */
const maxWorkspaceDefinitionCharacters = 16 * MB;

export type ListingSize = { tools: number; characters: number };

export function listingSize(tools: readonly StoredTool[]): ListingSize {
  const sizeOfTool = ({ accepted, listed, decisions }: StoredTool): number =>
    sizeOf(accepted) + (listed === accepted ? 0 : sizeOf(listed)) + (decisions.length === 0 ? 0 : JSON.stringify(decisions).length);
  const characters = tools.reduce((sum, tool) => sum + sizeOfTool(tool), 0);
  return { tools: tools.length, characters };
}

/** Throws `invalid_request` if a server with these tools and all others are too large together. */
export function requireListingRoom(tools: readonly StoredTool[], others: ListingSize): void {
  const own = listingSize(tools);
  const [count, characters] = [others.tools + own.tools, others.characters + own.characters];
  if (count > maxWorkspaceTools) throw tooLarge(`with these the workspace would have ${count} tools; at most ${maxWorkspaceTools}`);
  if (characters > maxWorkspaceDefinitionCharacters)
    throw tooLarge(`with these the definitions of the workspace are larger than ${maxWorkspaceDefinitionCharacters} characters`);
}

function tooLarge(message: string): Error {
  return invalidRequest([{ path: 'tools', message }]);
}

function sizeOf(pinned: StoredTool['accepted']): number {
  return pinned === null ? 0 : JSON.stringify(pinned).length;
}
