/** Why a toolset's tool is missing, in words for whoever calls it or looks at the toolset. What follows from it is theirs to say. */

/** One without a pin was unknown when the toolset was compiled: its server had listed nothing at all. */
export function whyMissing({ server, pin, canonical }: { server: string; pin: string; canonical: string }): string {
  if (ownServers.has(server)) return `it was deleted; PUT /v1/tools/${canonical} makes it again`;
  return pin === '' ? notListedYet(server) : `its server does not list ${canonical}`;
}

export function notListedYet(server: string): string {
  return `its server "${server}" has listed no tools yet; GET /v1/servers/${server} says whether it could be read, and why not`;
}

/** Behind their tools there is no server that could be asked: each was written by itself (`/v1/tools/made.…`, `/v1/tools/ui.…`). */
const ownServers: ReadonlySet<string> = new Set(['made', 'ui']);
