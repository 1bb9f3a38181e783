/**
 * What becomes of what an MCP server asks in the middle of a call: said by its document, refused, or passed on to whoever called. Roots
 * and completions only as far as the document of the server allows.
 */
import { sortQuestion } from '../engine/serve-questions.ts';
import { screenElicitation } from '../core/elicitation.ts';
import { limits } from '../core/limits.ts';
import type { AskableInput, InputAnswer, InputRequest, InputRequired } from '../core/mcp-input.ts';
import type { ServerAccess } from '../core/server.ts';

type Server = Pick<ServerAccess, 'name' | 'mcp'>;

export type SortedQuestion = { question: InputRequest } | { answer: InputAnswer } | { fault: string };

/** `fault`: it cannot be answered, and cannot be declined either. */
export type SortedInput = { input: InputRequired; fault: string | null };

export function sortInput(server: Server, { requests, settled, state }: InputRequired, askable: AskableInput): SortedInput {
  const passedOn = new Map<string, InputRequest>();
  const answers = new Map<string, InputAnswer>(Object.entries(settled ?? {}));
  const all = Object.entries(requests);
  let fault = all.length > limits.maxInputRequests ? `it asked more than ${limits.maxInputRequests} questions at once` : null;
  for (const [key, request] of fault === null ? all : []) {
    // Nobody is there: the result says what was asked.
    const sorted = askable.elicitation === undefined ? sortUnheard(server, request) : sortAsked(server, request, askable);
    if ('fault' in sorted) fault ??= sorted.fault;
    else if ('answer' in sorted) answers.set(key, sorted.answer);
    else passedOn.set(key, sorted.question);
  }
  const input = { requests: Object.fromEntries(passedOn), settled: Object.fromEntries(answers), ...(state !== undefined && { state }) };
  return { input, fault };
}

/** One question, by itself. */
export function sortAsked({ name, mcp }: Server, request: InputRequest, askable: AskableInput): SortedQuestion {
  switch (request.method) {
    case 'roots/list':
      return { answer: { roots: mcp?.roots ?? [] } };
    case 'sampling/createMessage': {
      if (mcp?.sampling !== true) return { fault: 'its server asked for a completion of a model, which it may not' };
      // Nothing of other servers is given away, whatever it asks for.
      const { includeContext: _context, ...params } = request.params;
      return sortQuestion(name, { method: request.method, params }, askable);
    }
    default:
      return sortQuestion(name, request, askable);
  }
}

function sortUnheard(server: Server, request: InputRequest): SortedQuestion {
  if (request.method !== 'elicitation/create') return sortAsked(server, request, {});
  const screened = screenElicitation(server.name, request);
  return screened.ok ? { question: screened.request } : { fault: screened.reason };
}
