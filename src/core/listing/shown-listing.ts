/**
 * A server as GET showed it, sent back by PUT. What was shown of a tool is what is in force, without what was hidden in it; taken as
 * a listing it would change half the tools. So a tool that comes back as it was shown stands for what is listed now.
 */
import { canonicalJson } from '../hash.ts';
import { canonicalOf, rawOf, shownDefinition, toServerTool } from './kept-tool.ts';
import type { KeptTool } from './kept-tool.ts';
import type { PinnedItem } from './take-listing.ts';

/** `paths`: where each of `tools` stands in the document. `refused`: those that are no definitions, as before. */
export type GivenListing = { tools: Record<string, unknown>[]; paths: string[]; refused: PinnedItem[] };

export function readShown(server: string, given: readonly Record<string, unknown>[], kept: readonly KeptTool[]): GivenListing {
  const byName = new Map(kept.map((tool) => [tool.name, tool]));
  const listing: GivenListing = { tools: [], paths: [], refused: [] };
  for (const [index, item] of given.entries()) {
    const path = `tools[${index}]`;
    const known = typeof item.name === 'string' ? byName.get(item.name) : undefined;
    if (known === undefined || !isAsShown(server, item, known)) {
      listing.tools.push(item);
      listing.paths.push(path);
    } else if (known.listed !== null) {
      listing.tools.push(rawOf(known.listed));
      listing.paths.push(path);
    } else if (known.refused !== null) {
      const { name, refused, findings } = known;
      listing.refused.push({ path, name, listed: null, refused, findings, isSuspicious: false });
    }
    // Else it is missing, and stays so.
  }
  return listing;
}

function isAsShown(server: string, item: Record<string, unknown>, known: KeptTool): boolean {
  // A listing of a server's own does not speak of our names and states; only what we showed does.
  if (item.canonical !== canonicalOf(server, known.name) || typeof item.state !== 'string' || typeof item.refId !== 'string') return false;
  if (item.refId !== (shownDefinition(known)?.pin ?? '')) return false;
  return definitionText(item) === definitionText(toServerTool(server, known));
}

function definitionText({ name, description, inputSchema, outputSchema, annotations }: Record<string, unknown>): string {
  return canonicalJson({ name, description, inputSchema, outputSchema, annotations });
}
