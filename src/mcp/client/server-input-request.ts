/**
 * Decides on an input request of a server, in either era: answered from the server's document, passed to the client after a check, or
 * rejected.
 */
import { declined, screenElicitation } from '../../core/tools/elicitation.ts';
import { canElicit, type AskableInput, type InputAnswer, type InputRequest } from '../../core/tools/mcp-input.ts';
import type { ServerAccess } from '../../core/servers/server.ts';

export type ServerInputRequest =
  | { kind: 'ask'; request: InputRequest }
  /** Known here, so that no user is asked. */
  | { kind: 'answer'; answer: InputAnswer }
  | { kind: 'refused'; reason: string };

export function screenQuestion(
  server: Pick<ServerAccess, 'name' | 'mcp'>,
  request: InputRequest,
  askable: AskableInput,
): ServerInputRequest {
  switch (request.method) {
    case 'roots/list': {
      const roots = server.mcp?.roots ?? [];
      return roots.length > 0 ? { kind: 'answer', answer: { roots } } : { kind: 'refused', reason: 'No roots are configured.' };
    }
    case 'elicitation/create':
      return screenElicitationQuestion(server.name, request, askable);
    case 'sampling/createMessage': {
      if (server.mcp?.sampling !== true || askable.sampling === undefined) {
        return { kind: 'refused', reason: 'Sampling is not enabled for this server.' };
      }
      // Context of other servers is never included, whatever the server requests.
      const { includeContext: _context, ...params } = request.params;
      return { kind: 'ask', request: { method: request.method, params } };
    }
    default:
      return { kind: 'refused', reason: 'Method not found' };
  }
}

function screenElicitationQuestion(server: string, request: InputRequest, askable: AskableInput): ServerInputRequest {
  const isUrl = request.params.mode === 'url';
  if (!canElicit(askable, isUrl ? 'url' : 'form'))
    return { kind: 'refused', reason: `No user is available to ${isUrl ? 'open a URL' : 'answer'}.` };
  const screened = screenElicitation(server, request);
  return screened.ok ? { kind: 'ask', request: screened.request } : { kind: 'answer', answer: declined };
}
