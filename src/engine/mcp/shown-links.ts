/**
 * The URIs in results, as the client can read them: links, embedded resources, and pages of MCP apps get the names of the lists. What a result
 * links to is stored with its server, since no list may have it.
 */
import { limits } from '../../core/limits/limits.ts';
import { recordOf } from '../../core/json/wire-value.ts';
import type { Principal } from '../../core/people/principal.ts';
import type { ContentBlock, ToolResult } from '../../core/tools/tool.ts';
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import type { Directory } from '../../ports/directory.ts';
import type { LinkStore } from '../../ports/mcp-sessions.ts';
import type { Logger } from '../../ports/runtime.ts';
import { readServedOffers } from './read-offers.ts';
import { shownUri, type ServedOffers } from './serve-offers.ts';
import type { ServedView } from './serve-view.ts';
import { withPages } from './ui-pages.ts';

export type LinkDeps = {
  directory: Directory;
  log: Logger;
  /** The resources that results of these calls linked to. */
  links(principal: Principal, toolset: string | null): LinkStore;
};

export type LinkCaller = {
  principal: Principal;
  view: ServedView;
  /** The links of its MCP session; absent: those of the key and the toolset. */
  links?: LinkStore;
};

/** Returns where the links in the results of the caller's calls are stored. */
export function linksOf(deps: Pick<LinkDeps, 'links'>, { links, principal, view }: LinkCaller): LinkStore {
  return links ?? deps.links(principal, view.pointer?.toolset ?? null);
}

/**
 * Returns the result of a server's tool for the client. `read`: the resource that was requested, which keeps the name that the client used. If
 * what the toolset offers cannot be read, the result is returned unchanged, since its call has been made; the log says so.
 */
export async function withShownUris(
  deps: LinkDeps,
  caller: LinkCaller,
  { kind, server }: EditionTool,
  result: ToolResult,
  read: { own: string; shown: string } | null = null,
): Promise<ToolResult> {
  const uris = new Set(result.content.flatMap((block) => uriOf(block) ?? []));
  if (kind !== 'mcp' || (uris.size === 0 && result.meta === undefined)) return result;
  try {
    const offers = await readServedOffers(deps, caller.principal.workspace, caller.view);
    const names = await nameLinks(
      deps,
      caller,
      offers,
      server,
      [...uris].filter((own) => own !== read?.own).slice(0, limits.maxResourceLinks),
    );
    const shown = (own: string): string => (own === read?.own ? read.shown : (names.get(own) ?? shownUri(offers, server, own)));
    return {
      ...result,
      content: result.content.map((block) => withUri(block, shown)),
      ...(result.meta && { meta: withPages(result.meta, (own) => offers.shown.get(server)?.get(own) ?? own) }),
    };
  } catch (error) {
    deps.log.error('the links of a result could not be named and stored; its client may not be able to read them', {
      server,
      cause: String(error),
    });
    return result;
  }
}

/** Names and stores the links. A URI that is too long cannot be requested. */
async function nameLinks(deps: LinkDeps, caller: LinkCaller, offers: ServedOffers, server: string, uris: readonly string[]) {
  const links = linksOf(deps, caller);
  const kept = uris.filter((uri) => uri.length <= limits.maxUrlLength);
  if (kept.length === 0) return new Map<string, string>();
  const known = offers.servers.size > 1 ? await links.find(kept) : [];
  const names = new Map(kept.map((own) => [own, shownUri(offers, server, own, known)]));
  await links.add([...names.values()].map((uri) => ({ server, uri })));
  return names;
}

/** Blocks of a prompt are foreign JSON. */
function uriOf(block: ContentBlock): string | undefined {
  const uri = block.type === 'resource_link' ? block.uri : block.type === 'resource' ? recordOf(block.resource).uri : undefined;
  return typeof uri === 'string' ? uri : undefined;
}

function withUri(block: ContentBlock, shown: (own: string) => string): ContentBlock {
  const own = uriOf(block);
  if (own === undefined) return block;
  const uri = shown(own);
  if (uri === own) return block;
  return block.type === 'resource' ? { ...block, resource: { ...block.resource, uri } } : ({ ...block, uri } as ContentBlock);
}
