/** A workspace's tools, as those who compile a toolset ask for them. The Catalog keeps them; tests make them up. */
import type { SecretBinding } from './secret.ts';
import type { ToolDefinition } from './tool.ts';

export type KnownTools = {
  /** By exact canonical name. */
  get(canonical: string): ToolDefinition | undefined;
  all(): Iterable<ToolDefinition>;
  /** Also of servers that have not listed their tools yet. */
  hasServer(server: string): boolean;
  /** Absent: secrets are not known here, and are left to the call. undefined: there is none of this name. */
  secret?(name: string): SecretBinding | undefined;
  /** Where a server's calls go, as `secretHostOf` has it; undefined: that is not known. */
  host?(server: string): string | undefined;
};

/** With these tools in the place of those of the same canonical names. */
export function withTools(known: KnownTools, tools: readonly ToolDefinition[]): KnownTools {
  const own = new Map<string, ToolDefinition>(tools.map((tool) => [tool.canonical, tool]));
  return {
    ...known,
    get: (canonical) => own.get(canonical) ?? known.get(canonical),
    *all() {
      for (const tool of known.all()) if (!own.has(tool.canonical)) yield tool;
      yield* own.values();
    },
  };
}
