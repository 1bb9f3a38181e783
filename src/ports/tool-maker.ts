/**
 * Making tools out of tools, as `create_tool` does it in the name of a key: over what its plan offers, and nothing else (DESIGN §7).
 * `engine/tool-maker.ts` implements it over the Catalog, one for each call.
 */
import type { MadeTool } from '../core/made-tool.ts';

/** `name`: with or without `made.`. `share`: every key may call it. `toolset`: shared and listed there, as a new version of it. */
export type MakeRequest = Omit<MadeTool, 'name' | 'parameters' | 'aliases'> & {
  name: string;
  parameters: readonly unknown[];
  aliases?: readonly string[];
  toolset?: string;
  share?: boolean;
};

/** What storing it changes of the workspace's registry. */
export type RegistryChange = { change: 'create-tool' | 'share-tool' | 'replace-tool' | 'write-toolset'; name: string };

export type Made = {
  canonical: string;
  version: number;
  uses: readonly string[];
  aliases: readonly string[];
  outcome: 'made' | 'replaced' | 'unchanged';
  /** Every key may call it; else the one that made it alone. */
  shared: boolean;
  /** `fault`: the tool is stored, and the toolset could not take it. */
  toolset: { name: string; version: number } | { name: string; fault: string } | null;
  warnings: readonly string[];
};

export interface ToolMaker {
  /** Checks everything and stores nothing. Throws `Problem`s: `invalid_request` with every fault, `forbidden`, `not_found` of the toolset. */
  prepare(request: MakeRequest): Promise<PreparedTool>;
}

/** `changes`: none where all is so already. */
export type PreparedTool = { changes: readonly RegistryChange[]; store(): Promise<Made> };
