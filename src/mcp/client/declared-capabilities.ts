/**
 * What Moniker says of itself to a server: its name, and the capabilities of the caller, restricted by the server's document; and how a
 * request of 2026-07-28 repeats it.
 */
import type { ServerAccess } from '../../core/servers/server.ts';
import { type AskableInput, tasksExtension } from '../../core/tools/mcp-input.ts';
import { version } from '../../core/version.ts';
import { encodeHeader } from '../../engine/mcp/argument-headers.ts';
import { metaNames, nameMember } from '../server/revisions.ts';

export const clientIdentity = { name: 'moniker', version };

/**
 * `modern`: for one request (2026-07-28), where input arrives with the next request. `legacy`: for a session, where input must be available
 * during the call.
 */
export type DeclaredCapabilities = { modern: Record<string, unknown>; legacy: Record<string, unknown> };

/** `isAnswered`: whether input can be given while a call is open. */
export function toCapabilities({ mcp }: Pick<ServerAccess, 'mcp'>, askable: AskableInput, isAnswered: boolean): DeclaredCapabilities {
  const asked = {
    ...(askable.elicitation && { elicitation: askable.elicitation }),
    ...(askable.sampling && mcp?.sampling === true && { sampling: askable.sampling }),
  };
  const isOfClient = mcp?.roots === 'client';
  const hasRoots = !isOfClient && (mcp?.roots?.length ?? 0) > 0;
  const roots = hasRoots ? { roots: {} } : isOfClient && askable.roots !== undefined ? { roots: { listChanged: true } } : {};
  return {
    modern: { ...asked, ...roots, extensions: { ...askable.extensions, [tasksExtension]: {} } },
    legacy: {
      ...(isAnswered && asked),
      ...((hasRoots || isAnswered) && roots),
      ...(askable.extensions && { extensions: askable.extensions }),
    },
  };
}

/** Returns the members of `_meta` with which a request of 2026-07-28 names its revision and its client. */
export function envelopeOf(revision: string, { modern }: DeclaredCapabilities): Record<string, unknown> {
  return { [metaNames.protocolVersion]: revision, [metaNames.clientInfo]: clientIdentity, [metaNames.clientCapabilities]: modern };
}

/** Returns the headers that repeat what the body of such a request says. */
export function modernHeaders(revision: string, method: string, params: Readonly<Record<string, unknown>>): Record<string, string> {
  const member = nameMember(method);
  const name = member === null ? undefined : params[member];
  return { 'mcp-protocol-version': revision, 'mcp-method': method, ...(typeof name === 'string' && { 'mcp-name': encodeHeader(name) }) };
}
