/** Whether a call may run at all, before anybody is asked: its name, its tool's state, its arguments. Runs nothing. */
import { resolveName, type AliasMap, type Resolution } from '../core/alias-map.ts';
import type { EditionTool } from '../core/edition.ts';
import { checkInput } from '../core/input-schema.ts';
import type { Issue } from '../core/problem.ts';
import { errorResult, type ToolResult } from '../core/tool.ts';
import type { ToolCallRequest } from './tool-call.ts';

/** What `?dryRun=true` shows: everything up to running. */
export function inspectCall(
  names: AliasMap,
  requested: string,
  args: Record<string, unknown>,
): { resolution: Resolution; issues: Issue[] } {
  const resolution = resolveName(names, requested);
  return { resolution, issues: resolution.ok ? checkInput(resolution.tool.inputSchema, args) : [] };
}

/** A result when the call must not run, null when it may. Order: budgets, name, state, arguments. */
export function judge(resolution: Resolution, request: ToolCallRequest): ToolResult | null {
  if (request.refusal) return errorResult(request.refusal.code, request.refusal.message);
  if (request.requested === '' && request.arguments === null) return unreadable(request.fault ?? 'invalid_json');
  if (!resolution.ok) return unresolved(resolution);
  const { tool } = resolution;
  if (tool.kind === 'ui') {
    return errorResult(
      'not_allowed',
      `Not run: ${tool.wireName} is shown to the person, not called. Answer in words, or use another tool.`,
    );
  }
  if (tool.state === 'held')
    return errorResult(
      'tool_held',
      `${tool.wireName} is held: its definition changed and nobody has accepted the change yet. Use another tool.`,
    );
  if (tool.state === 'missing')
    return errorResult(
      'tool_error',
      `${tool.wireName} cannot be called: its server "${tool.server}" has never listed it. Use another tool.`,
    );
  if (request.arguments === null) return unusableArguments(request.fault ?? 'invalid_json');
  if (request.guessed === true && !onlyReads(tool)) {
    return errorResult(
      'invalid_json',
      'Not run: the arguments were not valid JSON and had to be repaired by guessing. Send the call again with valid JSON.',
    );
  }
  const issues = checkInput(tool.inputSchema, request.arguments);
  return issues.length === 0 ? null : invalidArguments(tool, issues);
}

function unresolved(resolution: Exclude<Resolution, { ok: true }>): ToolResult {
  if (resolution.code === 'ambiguous_tool') {
    return errorResult(
      'ambiguous_tool',
      `"${resolution.requested}" fits more than one tool. Call one of: ${resolution.candidates.join(', ')}.`,
    );
  }
  const near = resolution.suggestions;
  const hint = near.length === 0 ? 'Call only tools that you were offered, or answer in words.' : `Did you mean ${near.join(', ')}?`;
  return errorResult('unknown_tool', `There is no tool "${resolution.requested}". ${hint}`);
}

/** Not even a name could be made out: it was written in a model's words, and not as it was told to write calls. */
function unreadable(code: 'truncated' | 'invalid_json'): ToolResult {
  const why = code === 'truncated' ? 'the call was cut off before it was whole' : 'the call could not be read';
  return errorResult(code, `Not run: ${why}. Send it again as one JSON object with "name" and "arguments".`);
}

function unusableArguments(fault: 'truncated' | 'invalid_json'): ToolResult {
  if (fault === 'truncated')
    return errorResult('truncated', 'Not run: the arguments were cut off before they were whole. Send the call again, shorter.');
  return errorResult('invalid_json', 'Not run: the arguments are not a JSON object. Send the call again with valid JSON.');
}

function invalidArguments(tool: EditionTool, issues: Issue[]): ToolResult {
  const lines = issues.map((issue) => `- ${issue.path === '' ? '(arguments)' : issue.path}: ${issue.message}`);
  return errorResult('invalid_arguments', `Not run: the arguments of ${tool.wireName} are not valid.\n${lines.join('\n')}`, issues);
}

/** May run on guessed arguments. Narrower than what may run again: deleting a wrong file is idempotent, too. */
function onlyReads(tool: EditionTool): boolean {
  return isOurs(tool) && tool.annotations?.readOnlyHint === true;
}

function isOurs(tool: EditionTool): boolean {
  return tool.kind === 'builtin' || tool.kind === 'local';
}
