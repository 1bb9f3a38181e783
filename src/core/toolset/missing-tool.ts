/** Explains why a tool of a toolset is missing, for error messages and toolset views. The caller adds what to do. */

/** A tool without a pin was unknown when the toolset was compiled: its server had not listed any tools. */
export function whyMissing({ server, pin, canonical }: { server: string; pin: string; canonical: string }): string {
  if (ownServers.has(server)) return `it was deleted; create it again with PUT /v1/tools/${canonical}`;
  return pin === '' ? notListedYet(server) : `its server does not list ${canonical}`;
}

export function notListedYet(server: string): string {
  return `its server "${server}" has listed no tools yet; GET /v1/servers/${server} shows its status and last error`;
}

/** These tools have no server: each one is written directly (`/v1/tools/made.…`, `/v1/tools/ui.…`). */
const ownServers: ReadonlySet<string> = new Set(['made', 'ui']);
