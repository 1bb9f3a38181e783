/** Combines executors: each kind of tool is run by its own. */
import { errorResult, type ToolKind } from '../../core/tools/tool.ts';
import type { ToolExecutor } from '../../ports/tool-executor.ts';

export function executorByKind(executors: Partial<Record<ToolKind, ToolExecutor>>): ToolExecutor {
  return {
    host: async (tool) => (await executors[tool.kind]?.host?.(tool)) ?? null,
    isSafe: (tool, args) => executors[tool.kind]?.isSafe(tool, args) ?? false,
    renamed: (tool) => executors[tool.kind]?.renamed?.(tool),
    usesFiles: (tool) => executors[tool.kind]?.usesFiles?.(tool) ?? false,
    async execute(tool, args, context) {
      const executor = executors[tool.kind];
      if (executor !== undefined) return await executor.execute(tool, args, context);
      return errorResult(
        'tool_error',
        `${tool.canonical} cannot be run here: tools of kind "${tool.kind}" are not supported. Use another tool.`,
      );
    },
  };
}
