/** What a server is told that it may ask for: what whoever called can be asked, as far as the server's document lets it ask. */
import type { ClientCapabilities } from '@modelcontextprotocol/client';
import type { AskableInput } from '../../core/mcp-input.ts';
import type { ServerAccess } from '../../core/servers/server.ts';

const tasksExtension = 'io.modelcontextprotocol/tasks';

/** Of one request (2026-07-28), where the answer to a question comes with the next one; and of a session, where somebody must be there to ask. */
export type DeclaredCapabilities = { modern: ClientCapabilities; legacy: Record<string, unknown> };

/** Told when a list is read: many servers list only what their client could be asked about. */
export const everythingAskable: AskableInput = { elicitation: { form: {}, url: {} }, sampling: {} };

/** `isAnswered`: while a call is open. */
export function toCapabilities({ mcp }: Pick<ServerAccess, 'mcp'>, askable: AskableInput, isAnswered: boolean): DeclaredCapabilities {
  // Data that a client declared, as it declared it: the SDK's type is of the members that it knows.
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
