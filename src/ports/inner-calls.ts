/**
 * Nested calls: how made tools, code mode and the shell's `tool` command call other tools. Each goes through `callTool` like any other call
 * and has its own audit row. Implemented by `engine/call/inner/inner-calls.ts`.
 */
import type { JsonSchema, ToolAnnotations, ToolResult } from '../core/tools/tool.ts';
import type { FileSystem } from './file-system.ts';

/** A callable tool as code is shown it. */
export type InnerTool = {
  /** Unique among the tools; the canonical name, aliases and other spellings in the toolset resolve to it too. */
  name: string;
  canonical: string;
  aliases: readonly string[];
  description: string;
  inputSchema: JsonSchema;
  outputSchema?: JsonSchema;
  annotations?: ToolAnnotations;
};

/**
 * `output`: what code reads as the output, if it is not the text of the result (the stdout of the shell). `waits`: an external answer is
 * needed first. The caller then ends with `suspended`, and is rerun from its beginning after the answer.
 */
export type InnerOutcome = { waits: false; result: ToolResult; output?: string } | { waits: true };

export interface InnerCalls {
  readonly tools: readonly InnerTool[];
  /**
   * Constants of the call across its runs, so that deterministic code takes the same path again: the start of the first run in milliseconds
   * since the epoch, and a seed.
   */
  readonly replay: { now: number; seed: string };
  /**
   * Delivers results in the order of an earlier run, if there was one; calls that finished there are not repeated. Never throws for an error of
   * the call or its tool. `files`: those of a running script; a call that only works on files uses these, and is repeated in the next run.
   */
  call(name: string, args: unknown, options?: { files?: FileSystem }): Promise<InnerOutcome>;
}
