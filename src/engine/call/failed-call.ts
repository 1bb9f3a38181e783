/** The result of a call whose request to its tool's server failed: one rule for every kind of server. */
import type { Problem } from '../../core/problem.ts';
import { errorResult, type ToolResult } from '../../core/tools/tool.ts';
import { type EditionTool, isRepeatable, onlyReads } from '../../core/toolset/edition-tool.ts';

/** `error.extra.sent`: as in `ports/outbound.ts`; also true if a reply broke off. */
export function failedCall(tool: EditionTool, { code, detail, extra }: Problem): ToolResult {
  const text = `${tool.canonical} failed: ${detail}`;
  if (code === 'upstream_timeout') return errorResult('timeout', text);
  if (extra.sent !== true || isRepeatable(tool) || onlyReads(tool)) return errorResult('tool_error', text);
  return errorResult('outcome_unknown', `${text} It may or may not have had its effect: check before you repeat it.`);
}
