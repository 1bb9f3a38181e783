/** The tools of a workspace, as the toolset compiler needs them. The Catalog implements it; tests use in-memory ones. */
import type { SecretBinding } from '../policy/secret.ts';
import type { ToolDefinition } from '../tools/tool.ts';

export type KnownTools = {
  /** Looks a tool up by its exact canonical name. */
  get(canonical: string): ToolDefinition | undefined;
  all(): Iterable<ToolDefinition>;
  /** True also for servers that have not listed their tools yet. */
  hasServer(server: string): boolean;
  /** Absent: secrets are not known here and are checked at the call. undefined: there is no secret with this name. */
  secret?(name: string): SecretBinding | undefined;
  /** The host that a server's calls go to, as returned by `secretHostOf`; undefined: unknown. */
  host?(server: string): string | undefined;
};

/** Returns `known` with these tools in place of those with the same canonical names. */
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
