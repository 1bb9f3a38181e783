/** Estimates the tokens of a Messages request for models that cannot count them: from characters, as sessions do. */
import { parseDocument } from '../../core/issues.ts';
import type { Message } from '../../core/turn/message.ts';
import { callNames, resultMessage } from '../../core/turn/pair-calls.ts';
import { charactersPerToken, messageCharacters } from '../../core/turn/transcript.ts';
import { CountTokensRequest, toMessagesConversation } from './request.ts';

/** `instructions`: the text before the request's own system text. Throws `invalid_request`. */
export function estimateTokens(body: Readonly<Record<string, unknown>>, instructions: string): number {
  const request = parseDocument(CountTokensRequest, body);
  const { system, history, results, input } = toMessagesConversation(request, { inSession: true });
  const messages: Message[] = [...history, resultMessage(results, callNames(history)), { role: 'user', parts: input }];
  const messageCharactersTotal = messages.reduce((sum, message) => sum + messageCharacters(message), 0);
  const tools = request.tools == null ? 0 : JSON.stringify(request.tools).length;
  return Math.ceil((instructions.length + system.length + messageCharactersTotal + tools) / charactersPerToken);
}
