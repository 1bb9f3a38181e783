/**
 * The resources to which results in one session of an MCP client linked: it may read them although no list names them. Kept as long as the
 * session; without one, as long as the files of the key with the toolset. `engine/mcp/serve-resources.ts` reads them.
 */

/** A URI as the client got it, and the server whose result linked to it. */
export type ResourceLink = { server: string; uri: string };

export interface LinkStore {
  /** Returns the links to any of these URIs. */
  find(uris: readonly string[]): Promise<ResourceLink[]>;
  /** The newest `limits.maxResourceLinks` are kept. */
  add(links: readonly ResourceLink[]): Promise<void>;
}
