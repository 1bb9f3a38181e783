/** What becomes of a question of a server, in either era: answered from its document, passed on as it was screened, or refused. */
import { declined, screenElicitation } from '../../core/elicitation.ts';
import { canElicit, type AskableInput, type InputAnswer, type InputRequest } from '../../core/mcp-input.ts';
import type { ServerAccess } from '../../core/servers/server.ts';

export type Question =
  | { kind: 'ask'; request: InputRequest }
  /** We know the answer; nobody is asked. */
  | { kind: 'answer'; answer: InputAnswer }
  | { kind: 'refused'; reason: string };

export function screenQuestion(server: Pick<ServerAccess, 'name' | 'mcp'>, request: InputRequest, askable: AskableInput): Question {
  switch (request.method) {
    case 'roots/list': {
      const roots = server.mcp?.roots ?? [];
      return roots.length > 0 ? { kind: 'answer', answer: { roots } } : { kind: 'refused', reason: 'There are no roots.' };
    }
    case 'elicitation/create':
      return screenElicitationQuestion(server.name, request, askable);
    case 'sampling/createMessage': {
      if (server.mcp?.sampling !== true || askable.sampling === undefined) {
        return { kind: 'refused', reason: 'Completions are not made for this server.' };
      }
      // Nothing of other servers is given away, whatever it asks for.
      const { includeContext: _context, ...params } = request.params;
      return { kind: 'ask', request: { method: request.method, params } };
    }
    default:
      return { kind: 'refused', reason: 'Method not found' };
  }
}

function screenElicitationQuestion(server: string, request: InputRequest, askable: AskableInput): Question {
  const isUrl = request.params.mode === 'url';
  if (!canElicit(askable, isUrl ? 'url' : 'form'))
    return { kind: 'refused', reason: `Nobody is there to be asked${isUrl ? ' to open an address' : ''}.` };
  const screened = screenElicitation(server, request);
  return screened.ok ? { kind: 'ask', request: screened.request } : { kind: 'answer', answer: declined };
}
