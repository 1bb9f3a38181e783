/** What a principal is offered at an MCP endpoint, by the names that clients see: for the page on which a person allows a client. */
import type { Principal } from '../../core/people/principal.ts';
import type { Directory } from '../../ports/directory.ts';
import { readServedOffers } from './read-offers.ts';
import { readView, toolsBehind, type ViewDeps } from './serve-view.ts';

/** `resources`: URIs, and URI templates. */
export type ServedNames = { tools: string[]; resources: string[]; prompts: string[] };

/** Throws `not_found` and `forbidden`. */
export async function readServedNames(
  deps: ViewDeps & { directory: Directory },
  principal: Principal,
  toolset: string,
): Promise<ServedNames> {
  const view = await readView(deps, principal, toolset);
  const { resources, templates, prompts } = await readServedOffers(deps, principal.workspace, view);
  return {
    tools: toolsBehind(view).tools.map(({ wireName }) => wireName),
    resources: [...resources.keys(), ...templates.keys()],
    prompts: [...prompts.keys()],
  };
}
