/** A workspace's tools, as those who compile a toolset ask for them. The Catalog keeps them; tests make them up. */
import type { ToolDefinition } from './tool.ts';

export type KnownTools = {
  /** By exact canonical name. */
  get(canonical: string): ToolDefinition | undefined;
  all(): Iterable<ToolDefinition>;
  /** Also of servers that have not listed their tools yet. */
  hasServer(server: string): boolean;
};
