/**
 * A server document that a client read with GET and sends back with PUT. GET shows the definition in force, cleaned; treated as a new
 * listing it would change half the tools. An item that equals what GET showed therefore stands for the currently listed tool.
 */
import { canonicalJson } from '../hash.ts';
import { canonicalOf, rawOf, shownDefinition, toServerTool } from './stored-tool.ts';
import type { StoredTool } from './stored-tool.ts';
import type { PinnedItem } from './apply-listing.ts';

/** `paths`: the position of each of `tools` in the document. `refused`: the items that are still not valid definitions. */
export type SubmittedListing = { tools: Record<string, unknown>[]; paths: string[]; refused: PinnedItem[] };

export function readEchoedListing(
  server: string,
  given: readonly Record<string, unknown>[],
  kept: readonly StoredTool[],
): SubmittedListing {
  const byName = new Map(kept.map((tool) => [tool.name, tool]));
  const listing: SubmittedListing = { tools: [], paths: [], refused: [] };
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
    // Otherwise the tool is missing and remains so.
  }
  return listing;
}

function isAsShown(server: string, item: Record<string, unknown>, known: StoredTool): boolean {
  // Only items that GET returned have canonical names, states and pins.
  if (item.canonical !== canonicalOf(server, known.name) || typeof item.state !== 'string' || typeof item.refId !== 'string') return false;
  if (item.refId !== (shownDefinition(known)?.pin ?? '')) return false;
  return definitionText(item) === definitionText(toServerTool(server, known));
}

function definitionText({ name, description, inputSchema, outputSchema, annotations }: Record<string, unknown>): string {
  return canonicalJson({ name, description, inputSchema, outputSchema, annotations });
}
