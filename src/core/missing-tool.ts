/** Why a toolset's tool is missing, in words for whoever calls it or looks at the toolset. What follows from it is theirs to say. */

/** One without a pin was unknown when the toolset was compiled: its server had listed nothing at all. */
export function whyMissing({ server, pin, canonical }: { server: string; pin: string; canonical: string }): string {
  return pin === '' ? notListedYet(server) : `its server does not list ${canonical}`;
}

export function notListedYet(server: string): string {
  return `its server "${server}" has listed no tools yet; GET /v1/servers/${server} says whether it could be read, and why not`;
}
