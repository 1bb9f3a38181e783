/**
 * Applies the current state of a toolset to its tool when it is called: a turn and a pinned session use an edition that was compiled earlier, and
 * never learn what was taken from the toolset since. Used by `call-tool.ts` and by dry runs.
 */
import { canonicalJson } from '../../core/hash.ts';
import { type EditionPointer, type EditionTool, targetTools } from '../../core/toolset/edition-tool.ts';
import { Problem } from '../../core/problem.ts';
import { errorResult, type ToolResult } from '../../core/tools/tool.ts';
import type { CallDeps } from './call-scope.ts';
import { revokedResult } from './server-state.ts';

type CurrentTool = { ok: true; tool: EditionTool } | { ok: false; result: ToolResult };

/** `edition`: that of the turn or call; null: the tools are of no toolset. Returns the tool with the approval that it requires now. */
export async function withToolsetState(
  { toolset, log }: Pick<CallDeps, 'toolset' | 'log'>,
  edition: EditionPointer | null,
  tool: EditionTool,
): Promise<CurrentTool> {
  if (toolset === undefined || edition === null || tool.kind === 'client') return { ok: true, tool };
  try {
    const { pointer, names, standing: { retired = [], revoked = [] } = {} } = await toolset(edition.toolset);
    if (retired.includes(edition.version)) return notRun(tool, `version ${edition.version} of the toolset ${edition.toolset} was retired`);
    if (revoked.includes(tool.canonical)) return { ok: false, result: revokedResult(tool) };
    return { ok: true, tool: pointer.version > edition.version ? withApproval(tool, names.edition.tools) : tool };
  } catch (error) {
    if (error instanceof Problem && error.code === 'not_found') return notRun(tool, `the toolset ${edition.toolset} was deleted`);
    log.error('looking up a toolset failed', { toolset: edition.toolset, cause: String(error) });
    const text = `${tool.wireName} cannot be called: its toolset could not be looked up; try again later.`;
    return { ok: false, result: errorResult('tool_error', text) };
  }
}

function notRun({ wireName }: EditionTool, why: string): CurrentTool {
  const todo =
    'None of its tools can be called here any more. Tell the user: an administrator or a new session has to name another version.';
  return { ok: false, result: errorResult('not_allowed', `Not run: ${wireName} cannot be called, since ${why}. ${todo}`) };
}

/**
 * The newest version decides whether calls need approval, as far as it is stricter: `never` applies while it still says so, `always` at once.
 * `current`: its entries. Of several entries of the tool the one with the same arguments counts, else the strictest.
 */
function withApproval(tool: EditionTool, current: readonly EditionTool[]): EditionTool {
  const entries = current.flatMap(targetTools).filter(({ canonical }) => canonical === tool.canonical);
  const same = entries.filter((entry) => argumentsOf(entry) === argumentsOf(tool));
  const approvals = (same.length > 0 ? same : entries).map((entry) => entry.approval);
  const { approval, ...plain } = tool;
  if (approval === 'always' || approvals.includes('always')) return { ...plain, approval: 'always' };
  const isWaived = approvals.length > 0 && approvals.every((one) => one === 'never');
  return approval === 'never' && !isWaived ? plain : tool;
}

function argumentsOf({ arguments: rules }: EditionTool): string {
  return canonicalJson(rules ?? null);
}
