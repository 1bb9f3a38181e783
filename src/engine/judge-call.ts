/** Whether a call may run at all, before anybody is asked: its name, its tool's state, its arguments. Runs nothing. */
import { resolveName, type AliasMap, type Resolution } from '../core/alias-map.ts';
import type { EditionTool } from '../core/edition.ts';
import { Problem, type Issue } from '../core/problem.ts';
import { errorResult, type ToolResult } from '../core/tool.ts';
import { readEntryCall } from './entry-call.ts';
import type { CallDeps, CallScope, ToolCallRequest } from './tool-call.ts';

/** What `?dryRun=true` shows: everything up to running. `denied`: whatever its arguments say. */
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

/** `own`: the arguments that the tool is sent. `ignored`: those of the call that it cannot set. */
export type Judged =
  | { ok: true; tool: EditionTool; own: Record<string, unknown>; ignored: string[] }
  | { ok: false; result: ToolResult; ignored: string[] };

/** Whether the call may run. Order: budgets, name, state, arguments. */
export function judge(resolution: Resolution, request: ToolCallRequest, caller: CallScope['caller']): Judged {
  const refuse = (result: ToolResult): Judged => ({ ok: false, result, ignored: [] });
  if (request.refusal) return refuse(errorResult(request.refusal.code, request.refusal.message));
  if (request.requested === '' && request.arguments === null) return refuse(unreadable(request.fault ?? 'invalid_json'));
  if (!resolution.ok) return refuse(unresolved(resolution));
  const { tool } = resolution;
  const unusable = stateFault(tool);
  if (unusable !== null) return refuse(unusable);
  if (request.arguments === null) return refuse(unusableArguments(request.fault ?? 'invalid_json'));
  if (request.guessed === true && !onlyReads(tool)) {
    const text = 'Not run: the arguments were not valid JSON and had to be repaired by guessing. Send the call again with valid JSON.';
    return refuse(errorResult('invalid_json', text));
  }
  const read = readEntryCall(tool, request.arguments, caller);
  return read.ok ? { ...read, tool } : { ok: false, result: read.result, ignored: read.ignored };
}

function stateFault(tool: EditionTool): ToolResult | null {
  if (tool.kind === 'ui') {
    const text = `Not run: ${tool.wireName} is shown to the person, not called. Answer in words, or use another tool.`;
    return errorResult('not_allowed', text);
  }
  switch (tool.state) {
    case 'ready':
      return null;
    case 'held':
      return heldResult(tool);
    case 'missing': {
      const now = tool.renamedTo === undefined ? '' : ` It is named ${tool.renamedTo} now; an administrator can put that in its place.`;
      return errorResult(
        'tool_error',
        `${tool.wireName} cannot be called: its server does not list ${tool.canonical}.${now} Use another tool.`,
      );
    }
    default:
      return tool.state satisfies never;
  }
}

/** `tool`: as its server stands now. */
export type ServedCall = { ok: true; tool: EditionTool } | { ok: false; result: ToolResult };

/**
 * Whatever the edition says: a server may have been changed or removed since, or trusted no longer, and an edition that is pinned, or
 * that would not compile any more, knows nothing of that. Trust that came later is none that this edition was written with.
 */
export async function asServed({ server, log }: Pick<CallDeps, 'server' | 'log'>, tool: EditionTool): Promise<ServedCall> {
  if (server === undefined || !isServed(tool)) return { ok: true, tool };
  try {
    const { held, trusted } = await server(tool.server);
    if (held.includes(tool.ownName)) return { ok: false, result: heldResult(tool) };
    const { trusted: _trusted, ...untrusted } = tool;
    return { ok: true, tool: trusted ? tool : untrusted };
  } catch (error) {
    const gone = error instanceof Problem && error.code === 'not_found';
    if (!gone) log.error('a server could not be looked up', { server: tool.server, cause: String(error) });
    const why = gone ? `its server "${tool.server}" is gone` : `its server "${tool.server}" could not be looked up; try again later`;
    return { ok: false, result: errorResult('tool_error', `${tool.wireName} (${tool.canonical}) cannot be called: ${why}.`) };
  }
}

/** Listed and answered by somebody else, by an address that is known. */
export function isServed({ kind }: EditionTool): boolean {
  return kind === 'static' || kind === 'mcp' || kind === 'openapi';
}

function heldResult(tool: EditionTool): ToolResult {
  const why = tool.held === undefined || tool.held.reason === 'changed' ? 'its definition changed' : whyHeld[tool.held.reason];
  return errorResult('tool_held', `${tool.wireName} is held: ${why} and nobody has accepted it yet. Use another tool.`);
}

const whyHeld = { new: 'its server added it', suspicious: 'its definition speaks of more than the tool' } as const;

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

/** May run on guessed arguments. Narrower than what may run again: deleting a wrong file is idempotent, too. */
function onlyReads(tool: EditionTool): boolean {
  return isOurs(tool) && tool.annotations?.readOnlyHint === true;
}

function isOurs(tool: EditionTool): boolean {
  return tool.kind === 'builtin' || tool.kind === 'local';
}
