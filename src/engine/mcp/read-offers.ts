/** Reads which prompts and resources a toolset offers: its selection, and what is stored about its servers. Calls no server. */
import { nullIfNotFound } from '../../core/problem.ts';
import { serverOfOffer } from '../../core/names/offer-pattern.ts';
import { noOffers } from '../../core/servers/server-state.ts';
import { type Edition, isForModels } from '../../core/toolset/edition-tool.ts';
import { toOfferEntry } from '../../core/toolset/offer-entry.ts';
import type { Directory } from '../../ports/directory.ts';
import { nameOffers, type OffersOfServer, type ServedOffers } from './serve-offers.ts';
import { servedSkills } from './serve-skills.ts';
import { type ServedView, toolsBehind } from './serve-view.ts';
import { pageNamesOf } from './ui-pages.ts';

/**
 * Returns the servers whose resources and prompts the toolset may offer: those with a callable tool in it, in the document's order, and those
 * that its entries name, unless a list of an agent narrows it.
 */
export function servedServers({ names, isNarrowed }: Pick<ServedView, 'names' | 'isNarrowed'>): string[] {
  const { edition, tools } = toolsBehind({ names });
  const { resources = [], prompts = [] } = isNarrowed ? {} : edition;
  const selected = [...resources, ...prompts].map((entry) => serverOfOffer(toOfferEntry(entry).pattern));
  const listed = tools.flatMap((tool) => (tool.kind === 'mcp' && isForModels(tool) ? [tool.server] : []));
  return [...new Set([...listed, ...selected])];
}

type Named = { of: readonly unknown[]; offers: ServedOffers };
/** The last result for each edition. What is read of servers has the same identity while it is cached. */
const named = new WeakMap<Edition, Named>();

export async function readServedOffers(
  { directory }: { directory: Directory },
  workspace: string,
  view: ServedView,
): Promise<ServedOffers> {
  const names = toolsBehind(view);
  const { edition, aliases } = names;
  const read = await Promise.all(servedServers(view).map((server) => readOffers(directory, workspace, server)));
  const found = read.filter((one) => one !== null);
  const pages = pageNamesOf(names);
  const of = [aliases, pages, ...found.flatMap(({ server, trusted, offers }) => [server, trusted, offers])];
  const last = named.get(edition);
  if (last !== undefined && last.of.length === of.length && last.of.every((part, index) => part === of[index])) return last.offers;
  const offers = nameOffers(found, edition, { aliases, pages, taken: edition.skills ? servedSkills(view).files.keys() : [] });
  named.set(edition, { of, offers });
  return offers;
}

async function readOffers(directory: Directory, workspace: string, server: string): Promise<OffersOfServer | null> {
  const [access, offers] = await Promise.all([
    nullIfNotFound(directory.server(workspace, server)),
    nullIfNotFound(directory.serverOffers(workspace, server)),
  ]);
  return access?.kind === 'mcp' ? { server, trusted: access.trusted, offers: offers ?? noOffers } : null;
}
