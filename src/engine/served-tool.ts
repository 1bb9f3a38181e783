/**
 * A server's tool at the moment of its call: what the server's document and holds say by now goes before the edition, which was
 * compiled earlier. Used by the call door and by dry runs.
 */
import type { EditionTool } from '../core/edition-tool.ts';
import { Problem } from '../core/problem.ts';
import { errorResult, type ToolResult } from '../core/tool.ts';
import type { ServerAccess } from '../core/servers/server.ts';
import type { CallDeps } from './tool-call.ts';

/** `tool`: as its server stands now. `server`: null where it has none. */
export type ServedCall = { ok: true; tool: EditionTool; server: ServerAccess | null } | { ok: false; result: ToolResult };

/**
 * Whatever the edition says: a server may have been changed or removed since, or trusted no longer, and an edition that is pinned, or
 * that would not compile any more, knows nothing of that. Trust that came later is none that this edition was written with.
 */
export async function asServed({ server, log }: Pick<CallDeps, 'server' | 'log'>, tool: EditionTool): Promise<ServedCall> {
  if (server === undefined || !isServed(tool)) return { ok: true, tool, server: null };
  try {
    const access = await server(tool.server, tool.ownName);
    const { ready, held } = access;
    if (held.includes(tool.ownName)) return { ok: false, result: heldResult(tool) };
    if (!ready.includes(tool.ownName)) return notServed(tool, `its server "${tool.server}" does not list it any more; use another tool`);
    return { ok: true, tool: asEndorsed(tool, access), server: access };
  } catch (error) {
    const gone = error instanceof Problem && error.code === 'not_found';
    if (!gone) log.error('a server could not be looked up', { server: tool.server, cause: String(error) });
    const why = gone ? `its server "${tool.server}" is gone` : `its server "${tool.server}" could not be looked up; try again later`;
    return notServed(tool, why);
  }
}

/** Without the trust and the acceptance that were withdrawn since, or that were given to another definition. */
function asEndorsed(tool: EditionTool, { trusted, annotated = [] }: ServerAccess): EditionTool {
  const { trusted: wasTrusted, annotationsAccepted: wasAccepted, ...plain } = tool;
  return {
    ...plain,
    ...(wasTrusted === true && trusted && { trusted: wasTrusted }),
    ...(wasAccepted === true && annotated.includes(tool.pin) && { annotationsAccepted: wasAccepted }),
  };
}

function notServed({ wireName, canonical }: EditionTool, why: string): ServedCall {
  return { ok: false, result: errorResult('tool_error', `${wireName} (${canonical}) cannot be called: ${why}.`) };
}

/** Listed and answered by somebody else, by an address that is known. */
export function isServed({ kind }: EditionTool): boolean {
  return kind === 'static' || kind === 'mcp' || kind === 'openapi';
}

/** For the model, of a tool that somebody has to accept first. */
export function heldResult(tool: EditionTool): ToolResult {
  const why = tool.held === undefined || tool.held.reason === 'changed' ? 'its definition changed' : whyHeld[tool.held.reason];
  return errorResult('tool_held', `${tool.wireName} is held: ${why} and nobody has accepted it yet. Use another tool.`);
}

const whyHeld = {
  new: 'its server added it',
  suspicious: 'its definition speaks of more than the tool',
  server: 'its server calls itself something else now',
} as const;
