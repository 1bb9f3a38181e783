/**
 * Runs the tools that are defined in code. A `ToolFault` or `Problem` becomes an error result; any other error is rethrown and logged by
 * the caller.
 */
import { failedCall } from '../engine/call/sent-effects.ts';
import { Problem } from '../core/problem.ts';
import { errorResult, type ToolResult } from '../core/tools/tool.ts';
import { withTimeout } from '../engine/timeout.ts';
import { systemClock } from '../platform/clock.ts';
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
    renamed: ({ canonical }) => byName.get(canonical)?.tool.renamed,
    usesFiles: ({ canonical }) => byName.get(canonical)?.tool.usesFiles ?? false,
    async execute({ canonical }, args, context) {
      const entry = byName.get(canonical);
      if (entry === undefined)
        return errorResult('tool_error', `${canonical} does not exist in this version of Moniker. Use another tool.`);
      try {
        return await run(entry, args, context);
      } catch (error) {
        const expected = error instanceof ToolFault || error instanceof FileError;
        if (expected) return errorResult('tool_error', error.message);
        // Refusals of the outbound client and missing secrets: the messages are written for callers.
        if (error instanceof Problem) return failedCall(null, error);
        throw error;
      }
    },
  };
}

/** Applies the tool's own timeout, if it has one: aborts the signal and ends the call even if the tool ignores the signal. */
async function run({ canonical, tool }: CodeTool, args: Record<string, unknown>, context: ToolContext): Promise<ToolResult> {
  const { timeoutMs } = tool;
  if (timeoutMs === undefined) return await execute(tool, args, context);
  const controller = new AbortController();
  const signal = AbortSignal.any([context.signal, controller.signal]);
  const message = `${canonical} did not finish within ${timeoutMs} ms and was stopped. Split the work into smaller calls.`;
  try {
    const work = execute(tool, args, { ...context, signal });
    return await withTimeout(systemClock, work, timeoutMs, () => errorResult('timeout', message));
  } finally {
    controller.abort(new Error(message));
  }
}

/** Counts what the tool computes until it first waits: all of it for a tool that only computes. */
function execute(tool: CodeTool['tool'], args: Record<string, unknown>, context: ToolContext): Promise<ToolResult> {
  const began = performance.now();
  const result = tool.execute(args, context);
  context.compute?.spend((performance.now() - began) / 1_000);
  return result;
}
