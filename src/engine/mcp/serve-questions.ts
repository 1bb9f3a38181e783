/**
 * Decides which of a server's questions are passed on to the calling MCP client, and answers the others. A server's question is untrusted
 * text, so it is screened wherever it is passed on (`core/servers/elicitation.ts`).
 */
import type { CallerChannel } from '../../ports/upstream.ts';
import { cancelled, declined, screenElicitation } from '../../core/servers/elicitation.ts';
import { canElicit, type AskableInput, type InputAnswer, type InputRequest } from '../../core/tools/mcp-input.ts';
import { limits } from '../../core/limits/limits.ts';
import { Problem } from '../../core/problem.ts';

export type SortedQuestions = {
  /** Questions for the client, by the server's keys. */
  questions: Record<string, InputRequest>;
  /** Questions that are answered here. */
  answered: Record<string, InputAnswer>;
  /** Why a question can neither be asked nor declined; null: none. */
  fault: string | null;
};

export function screenQuestions(server: string, requests: Readonly<Record<string, InputRequest>>, askable: AskableInput): SortedQuestions {
  const questions = new Map<string, InputRequest>();
  const answered = new Map<string, InputAnswer>();
  const all = Object.entries(requests);
  if (all.length > limits.maxInputRequests)
    return { questions: {}, answered: {}, fault: `it asked more than ${limits.maxInputRequests} questions` };
  for (const [key, request] of all) {
    const sorted = screenServerQuestion(server, request, askable);
    if ('fault' in sorted) return { questions: {}, answered: {}, fault: sorted.fault };
    if ('answer' in sorted) answered.set(key, sorted.answer);
    else questions.set(key, sorted.question);
  }
  return { questions: Object.fromEntries(questions), answered: Object.fromEntries(answered), fault: null };
}

type Question = { question: InputRequest } | { answer: InputAnswer } | { fault: string };

export function screenServerQuestion(server: string, request: InputRequest, askable: AskableInput): Question {
  switch (request.method) {
    case 'elicitation/create': {
      if (!canElicit(askable, request.params.mode === 'url' ? 'url' : 'form')) return { answer: cancelled };
      const screened = screenElicitation(server, request);
      return screened.ok ? { question: screened.request } : { answer: declined };
    }
    // Whether the server's document allows sampling is checked by the code that talks to the server.
    case 'sampling/createMessage':
      return askable.sampling === undefined ? { fault: 'it asked for a completion, which this client cannot give' } : { question: request };
    case 'roots/list':
      return askable.roots === undefined ? { answer: { roots: [] } } : { question: request };
    default:
      return { fault: 'it asked for something that is not supported' };
  }
}

/** Screens questions that arrive while the call is open. Returns undefined if the channel cannot ask. */
export function screenedAsk(server: string, { channel, askable }: { channel: CallerChannel; askable: AskableInput }): CallerChannel['ask'] {
  const { ask } = channel;
  if (ask === undefined) return undefined;
  return async (request, key) => {
    const sorted = screenServerQuestion(server, request, askable);
    if ('answer' in sorted) return sorted.answer;
    if ('fault' in sorted)
      throw new Problem('upstream_error', `The question of the server "${server}" cannot be answered: ${sorted.fault}.`);
    return await ask(sorted.question, key);
  };
}
