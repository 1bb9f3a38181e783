/**
 * Makes tools from tools, as `create_tool` does on behalf of a key, using only what its plan offers (contract §7). Implemented by
 * `engine/configuration/tool-maker.ts` over the Catalog; one instance per call.
 */
import type { MadeTool } from '../core/tools/made-tool.ts';

/** `name`: with or without `made.`. `share`: all keys may call it. `toolset`: shared, and listed there in a new version of the toolset. */
export type MakeRequest = Omit<MadeTool, 'name' | 'parameters' | 'aliases'> & {
  name: string;
  parameters: readonly unknown[];
  aliases?: readonly string[];
  toolset?: string;
  share?: boolean;
};

/** A change of the workspace's registry that storing the tool makes. */
export type RegistryChange = { change: 'create-tool' | 'share-tool' | 'replace-tool' | 'write-toolset'; name: string };

export type MadeToolOutcome = {
  canonical: string;
  version: number;
  uses: readonly string[];
  aliases: readonly string[];
  outcome: 'made' | 'replaced' | 'unchanged';
  /** Whether all keys may call it; otherwise only the key that made it. */
  shared: boolean;
  /** `fault`: the tool is stored, but adding it to the toolset failed. */
  toolset: { name: string; version: number } | { name: string; fault: string } | null;
  warnings: readonly string[];
};

export interface ToolMaker {
  /** Checks everything and stores nothing. Throws `invalid_request` with every fault, `forbidden`, or `not_found` for the toolset. */
  prepare(request: MakeRequest): Promise<PreparedTool>;
}

/** `changes`: empty if nothing would change. */
export type PreparedTool = { changes: readonly RegistryChange[]; store(): Promise<MadeToolOutcome> };
