/**
 * Checks whether a call may run at all, before the policy: its name, its tool's state, its arguments. Runs nothing. The current state of the
 * tool's server is checked in `server-state.ts`.
 */
import { resolveName, type AliasMap, type Resolution } from '../../core/toolset/alias-map.ts';
import { runCodeName } from '../../core/code-mode/run-code.ts';
import { memberOf } from '../../core/code-mode/typescript-text.ts';
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import type { Issue } from '../../core/problem.ts';
import { errorResult, type ToolResult } from '../../core/tools/tool.ts';
import { whyMissing } from '../../core/toolset/missing-tool.ts';
import { readEntryCall } from './entry-call.ts';
import { heldResult } from './server-state.ts';
import type { CallScope, ToolCallRequest } from './tool-call.ts';

/** The checks that `?dryRun=true` shows. `denied`: the call would be refused whatever its arguments. */
export function inspectCall(
  names: AliasMap,
  requested: string,
  args: Record<string, unknown>,
  caller: CallScope['caller'],
): { resolution: Resolution; issues: Issue[]; denied: boolean } {
  const resolution = resolveName(names, requested);
  if (!resolution.ok) return { resolution, issues: [], denied: true };
  const read = readEntryCall(resolution.tool, args, caller);
  return { resolution, issues: read.ok ? [] : read.issues, denied: !read.ok && read.result.code === 'not_allowed' };
}

/** `own`: the arguments the tool is sent. `ignored`: arguments of the call that it cannot set. */
export type CheckedCall =
  | { ok: true; tool: EditionTool; own: Record<string, unknown>; ignored: string[] }
  | { ok: false; result: ToolResult; ignored: string[] };

/** Checks a call, in this order: budgets, name, state, arguments. */
export function checkCall(resolution: Resolution, request: ToolCallRequest, caller: CallScope['caller']): CheckedCall {
  const refuse = (result: ToolResult): CheckedCall => ({ ok: false, result, ignored: [] });
  if (request.refusal) return refuse(errorResult(request.refusal.code, request.refusal.message));
  if (request.requested === '' && request.arguments === null) return refuse(unreadable(request.fault ?? 'invalid_json'));
  if (!resolution.ok) return refuse(unresolved(resolution));
  const { tool } = resolution;
  const unusable = stateFault(tool);
  if (unusable !== null) return refuse(unusable);
  if (request.arguments === null) return refuse(unusableArguments(request.fault ?? 'invalid_json'));
  if (request.guessed === true && !onlyReads(tool)) {
    const text = 'Not run: the arguments were not valid JSON, and repairing them required guessing. Send the call again with valid JSON.';
    return refuse(errorResult('invalid_json', text));
  }
  const read = readEntryCall(tool, request.arguments, caller);
  return read.ok ? { ...read, tool } : { ok: false, result: read.result, ignored: read.ignored };
}

function stateFault(tool: EditionTool): ToolResult | null {
  if (tool.kind === 'ui') {
    const text = `Not run: ${tool.wireName} is shown to the user and cannot be called. Answer in text, or use another tool.`;
    return errorResult('not_allowed', text);
  }
  switch (tool.state) {
    case 'ready':
      return null;
    case 'held':
      return heldResult(tool);
    case 'missing': {
      const now =
        tool.renamedTo === undefined ? '' : ` It is now named ${tool.renamedTo}; an administrator can replace the old name in the toolset.`;
      return errorResult('tool_error', `${tool.wireName} cannot be called: ${whyMissing(tool)}.${now} Use another tool.`);
    }
    default:
      return tool.state satisfies never;
  }
}

function unresolved(resolution: Exclude<Resolution, { ok: true }>): ToolResult {
  if (resolution.code === 'ambiguous_tool') {
    return errorResult(
      'ambiguous_tool',
      `"${resolution.requested}" matches more than one tool. Call one of: ${resolution.candidates.join(', ')}.`,
    );
  }
  if (resolution.inCode !== undefined) {
    const text = `"${resolution.requested}" cannot be called directly. Call it in code: ${runCodeName} with code such as \`return await ${memberOf('tools', resolution.inCode)}({…})\`.`;
    return errorResult('unknown_tool', text);
  }
  const near = resolution.suggestions;
  const hint = near.length === 0 ? 'Call only tools that you were offered, or answer in text.' : `Did you mean ${near.join(', ')}?`;
  return errorResult('unknown_tool', `There is no tool "${resolution.requested}". ${hint}`);
}

/** For a call that a model wrote as text in the wrong format, so that not even its name could be read. */
function unreadable(code: 'truncated' | 'invalid_json'): ToolResult {
  const why = code === 'truncated' ? 'the call was cut off before its end' : 'the call could not be read';
  return errorResult(code, `Not run: ${why}. Send it again as one JSON object with "name" and "arguments".`);
}

function unusableArguments(fault: 'truncated' | 'invalid_json'): ToolResult {
  if (fault === 'truncated')
    return errorResult('truncated', 'Not run: the arguments were cut off before their end. Send the call again with shorter arguments.');
  return errorResult('invalid_json', 'Not run: the arguments are not a JSON object. Send the call again with valid JSON.');
}

/** Whether the tool may run on guessed arguments. Stricter than being safe to retry: deleting the wrong file is idempotent, too. */
function onlyReads({ kind, annotations }: EditionTool): boolean {
  return (kind === 'builtin' || kind === 'local') && annotations?.readOnlyHint === true;
}
