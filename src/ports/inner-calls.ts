/**
 * Calls that a tool makes of other tools: what made tools, code mode and the shell's `tool` command have in place of the registry. Each goes
 * through the one door like any call, and has its own audit row. Done by `engine/inner/inner-calls.ts`.
 */
import type { JsonSchema, ToolAnnotations, ToolResult } from '../core/tool.ts';
import type { FileSystem } from './file-system.ts';

/** A tool that may be called, as whoever writes code over it is told of it. */
export type InnerTool = {
  /** Unique among them; the canonical name, aliases and other spellings of the toolset mean it too. */
  name: string;
  canonical: string;
  aliases: readonly string[];
  description: string;
  inputSchema: JsonSchema;
  outputSchema?: JsonSchema;
  annotations?: ToolAnnotations;
};

/** `waits`: somebody outside has to act first. Whoever called ends with `suspended`, and is run again from its beginning once that is done. */
export type InnerAnswer = { waits: false; result: ToolResult } | { waits: true };

export interface InnerCalls {
  readonly tools: readonly InnerTool[];
  /**
   * What stands still from one run of the call to the next, so that code which goes by nothing else goes the same way again: milliseconds
   * since the epoch of the first run, and a seed.
   */
  readonly replay: { now: number; seed: string };
  /**
   * Answers in the order in which the calls were answered in an earlier run, where there was one: what had finished there is not run
   * again. Never throws for a fault of the call or its tool. `files`: those of a script that has not ended; a call that does no more than work
   * on files works on these, and does so again in the next run.
   */
  call(name: string, args: unknown, options?: { files?: FileSystem }): Promise<InnerAnswer>;
}
