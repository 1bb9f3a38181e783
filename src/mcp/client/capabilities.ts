/** The client capabilities declared to a server: those of the caller, restricted by the server's document. */
import type { ClientCapabilities } from '@modelcontextprotocol/client';
import type { AskableInput } from '../../core/tools/mcp-input.ts';
import type { ServerAccess } from '../../core/servers/server.ts';

const tasksExtension = 'io.modelcontextprotocol/tasks';

/**
 * `modern`: for one request (2026-07-28), where input arrives with the next request. `legacy`: for a session, where input must be available
 * during the call.
 */
export type DeclaredCapabilities = { modern: ClientCapabilities; legacy: Record<string, unknown> };

/** Declared when tools are listed: many servers list only tools that their client can support. */
export const allAskableInput: AskableInput = { elicitation: { form: {}, url: {} }, sampling: {} };

/** `isAnswered`: whether input can be given while a call is open. */
export function toCapabilities({ mcp }: Pick<ServerAccess, 'mcp'>, askable: AskableInput, isAnswered: boolean): DeclaredCapabilities {
  // The caller's declaration unchanged; the SDK's type has only the known members.
  const asked = {
    ...(askable.elicitation && { elicitation: askable.elicitation }),
    ...(askable.sampling && mcp?.sampling === true && { sampling: askable.sampling }),
  } as ClientCapabilities;
  const roots = (mcp?.roots?.length ?? 0) > 0 ? { roots: {} } : {};
  return {
    modern: { ...asked, ...roots, extensions: { [tasksExtension]: {} } },
    legacy: { ...(isAnswered && asked), ...roots },
  };
}
