/** The supported client dialects, one per line. */
import type { DialectName } from '../core/reference.ts';
import { anthropicMessages } from './anthropic/anthropic-messages.ts';
import type { Dialect } from './dialect.ts';
import { openAiChat } from './openai-chat/openai-chat.ts';
import { openAiResponses } from './openai-responses/openai-responses.ts';

const dialects: Readonly<Record<DialectName, Dialect>> = {
  'openai-chat': openAiChat,
  'openai-responses': openAiResponses,
  'anthropic-messages': anthropicMessages,
};

export function dialectOf(name: DialectName): Dialect {
  return dialects[name];
}
