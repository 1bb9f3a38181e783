/** Running a tool, whatever its kind. Only `engine/execute-call.ts` does; `call-tool.ts` has resolved, authorised and checked before. */
import type { EditionTool } from '../core/edition.ts';
import type { ToolResult } from '../core/tool.ts';
import type { FileSystem } from './file-system.ts';
import type { ResultStore } from './result-store.ts';
import type { Logger } from './runtime.ts';

/** What a running tool may touch. Never messages, the registry or other tools. */
export type ToolContext = {
  signal: AbortSignal;
  log: Logger;
  files: FileSystem;
  /** Values of the workspace's secrets that this tool may read; a missing one is an error that names it. */
  secret(name: string): Promise<string>;
  /** The guarded way out (`net/outbound.ts`). */
  fetch(request: Request): Promise<Response>;
  now(): number;
  /** The same for every try of one call: sent upstream as `Idempotency-Key`. */
  idempotencyKey: string;
  /** Long results of this session, kept whole; null without a session. */
  results: ResultStore | null;
};

export interface ToolExecutor {
  /** True: running it a second time with the same arguments and idempotency key does no harm. */
  isSafe(tool: EditionTool, args: Record<string, unknown>): boolean;
  /** Answers with a result, errors included; what it throws becomes `tool_error`. Must end soon after `signal` aborts. */
  execute(tool: EditionTool, args: Record<string, unknown>, context: ToolContext): Promise<ToolResult>;
}
