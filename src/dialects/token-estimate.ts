/** The tokens of a request, estimated by its characters, where the provider does not count them. */
import { charactersPerToken } from '../core/limits/units.ts';
import type { Message } from '../core/model/message.ts';
import { callNames, resultMessage } from '../core/turn/pair-calls.ts';
import { messageCharacters } from '../core/turn/transcript.ts';
import type { ConversationBuilder } from './conversation.ts';

/** `instructions`: the text before the request's own system text. */
export function estimateTokens(
  { system, history, results, input }: ConversationBuilder,
  { instructions, tools }: { instructions: string; tools: unknown },
): number {
  const messages: Message[] = [...history, resultMessage(results, callNames(history)), { role: 'user', parts: input }];
  const characters = messages.reduce((sum, message) => sum + messageCharacters(message), 0);
  const ofTools = tools == null ? 0 : JSON.stringify(tools).length;
  return Math.ceil((instructions.length + system.length + characters + ofTools) / charactersPerToken);
}
