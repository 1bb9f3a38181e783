/**
 * Applies the current state of a tool's server to the tool when it is called: the server's document and holds override the edition, which
 * was compiled earlier. Used by `call-tool.ts` and by dry runs.
 */
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import { Problem } from '../../core/problem.ts';
import { errorResult, isServerKind, type ToolResult } from '../../core/tools/tool.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import type { CallDeps } from './call-scope.ts';

/** `tool`: with its server's current state. `server`: null if the tool has none. */
export type ServedTool = { tool: EditionTool; server: ServerAccess | null };
type ToolWithServer = ({ ok: true } & ServedTool) | { ok: false; result: ToolResult };

/**
 * The server may have been changed, removed or lost its trust since the edition was compiled, and a pinned edition never learns of it. Trust
 * given later does not apply to an edition that was written without it.
 */
export async function withServerState({ server, log }: Pick<CallDeps, 'server' | 'log'>, tool: EditionTool): Promise<ToolWithServer> {
  if (server === undefined || !isServerTool(tool)) return { ok: true, tool, server: null };
  try {
    const access = await server(tool.server, tool.ownName);
    // Whether the server offers a resource or prompt is checked where its name is looked up (`engine/mcp/serve-offers.ts`).
    if (tool.offer !== undefined) return { ok: true, tool: asEndorsed(tool, access), server: access };
    const { ready, held } = access;
    if (held.includes(tool.ownName)) return { ok: false, result: heldResult(tool) };
    if (!ready.includes(tool.ownName)) return notServed(tool, `its server "${tool.server}" no longer lists it; use another tool`);
    return { ok: true, tool: asEndorsed(tool, access), server: access };
  } catch (error) {
    const gone = error instanceof Problem && error.code === 'not_found';
    if (!gone) log.error('looking up a server failed', { server: tool.server, cause: String(error) });
    const why = gone ? `its server "${tool.server}" was removed` : `its server "${tool.server}" could not be looked up; try again later`;
    return notServed(tool, why);
  }
}

/** Removes trust and accepted annotations that were withdrawn since, or that apply to another definition. */
function asEndorsed(tool: EditionTool, { trusted, annotated = [] }: ServerAccess): EditionTool {
  const { trusted: wasTrusted, annotationsAccepted: wasAccepted, ...plain } = tool;
  return {
    ...plain,
    ...(wasTrusted === true && trusted && { trusted: wasTrusted }),
    ...(wasAccepted === true && annotated.includes(tool.pin) && { annotationsAccepted: wasAccepted }),
  };
}

function notServed({ wireName, canonical }: EditionTool, why: string): ToolWithServer {
  return { ok: false, result: errorResult('tool_error', `${wireName} (${canonical}) cannot be called: ${why}.`) };
}

/** Whether a server lists the tool and runs it, at a known address. */
export function isServerTool({ kind }: EditionTool): boolean {
  return isServerKind(kind);
}

/** The result for a tool whose definition an administrator has to accept first, or has rejected. */
export function heldResult(tool: EditionTool): ToolResult {
  const { reason = 'changed' } = tool.held ?? {};
  if (reason === 'revoked') return revokedResult(tool);
  const text =
    reason === 'rejected'
      ? `${tool.wireName} cannot be called: an administrator rejected its definition. Use another tool.`
      : `${tool.wireName} is held: ${whyHeld[reason]}, and an administrator has not accepted it yet. Use another tool.`;
  return errorResult('tool_held', text);
}

/** The result for a tool that was revoked from the toolset. */
export function revokedResult({ wireName, canonical }: EditionTool): ToolResult {
  const text = `Not run: ${wireName} (${canonical}) was revoked from this toolset, in every version of it. Use another tool.`;
  return errorResult('not_allowed', text);
}

const whyHeld = {
  changed: 'its definition changed',
  new: 'its server added it',
  suspicious: 'its definition has findings',
  server: 'its server has changed its name',
} as const;
