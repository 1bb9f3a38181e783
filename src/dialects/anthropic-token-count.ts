/** About how many tokens a Messages request has, for models that do not count them: by characters, as sessions count theirs. */
import { parseDocument } from '../core/issues.ts';
import type { Message } from '../core/message.ts';
import { callNames, resultMessage } from '../core/pair-calls.ts';
import { charactersPerToken, messageCharacters } from '../core/transcript.ts';
import { CountTokensRequest, toConversation } from './anthropic-messages-request.ts';

/** `instructions`: what is said before the request's own system text. Throws `invalid_request`. */
export function estimateTokens(body: Readonly<Record<string, unknown>>, instructions: string): number {
  const request = parseDocument(CountTokensRequest, body);
  const { system, history, results, input } = toConversation(request, { inSession: true });
  const messages: Message[] = [...history, resultMessage(results, callNames(history)), { role: 'user', parts: input }];
  const said = messages.reduce((sum, message) => sum + messageCharacters(message), 0);
  const tools = request.tools == null ? 0 : JSON.stringify(request.tools).length;
  return Math.ceil((instructions.length + system.length + said + tools) / charactersPerToken);
}
