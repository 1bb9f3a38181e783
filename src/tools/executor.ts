/** Runs the tools of this code base. Their faults become results here; what nobody expected is thrown on and logged above. */
import { Problem } from '../core/problem.ts';
import { errorResult, type ToolResult } from '../core/tool.ts';
import { FileError } from '../ports/file-system.ts';
import type { ToolContext, ToolExecutor } from '../ports/tool-executor.ts';
import { ToolFault } from './define-tool.ts';
import type { CodeTool } from './registry.ts';

export function createCodeExecutor(tools: readonly CodeTool[]): ToolExecutor {
  const byName = new Map<string, CodeTool>(tools.map((entry) => [entry.canonical, entry]));
  return {
    isSafe({ canonical }, args) {
      const tool = byName.get(canonical)?.tool;
      const { annotations } = tool ?? {};
      return tool?.isSafe?.(args) ?? (annotations?.readOnlyHint === true || annotations?.idempotentHint === true);
    },
    async execute({ canonical }, args, context) {
      const entry = byName.get(canonical);
      if (entry === undefined) return errorResult('tool_error', `${canonical} is not part of this version of Moniker. Use another tool.`);
      try {
        return await withTimeout(entry, args, context);
      } catch (error) {
        const expected = error instanceof ToolFault || error instanceof FileError;
        if (expected) return errorResult('tool_error', error.message);
        // Refusals of the way out, missing secrets: written for callers.
        if (error instanceof Problem) return errorResult(error.code === 'upstream_timeout' ? 'timeout' : 'tool_error', error.detail);
        throw error;
      }
    },
  };
}

/** The tool's own time, where it has one: the signal aborts, and the call ends even if the tool does not listen. */
async function withTimeout({ canonical, tool }: CodeTool, args: Record<string, unknown>, context: ToolContext): Promise<ToolResult> {
  const { timeoutMs } = tool;
  if (timeoutMs === undefined) return await tool.execute(args, context);
  const controller = new AbortController();
  const signal = AbortSignal.any([context.signal, controller.signal]);
  const message = `${canonical} did not finish within ${timeoutMs} ms and was stopped. Try a smaller piece of work.`;
  const { promise, resolve } = Promise.withResolvers<ToolResult>();
  const timer = setTimeout(() => {
    resolve(errorResult('timeout', message));
    controller.abort(new Error(message));
  }, timeoutMs);
  const work = tool.execute(args, { ...context, signal });
  // After the time-out nobody waits for it any more.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
