/** The supported client dialects, one per line. */
import type { DialectName } from '../core/text/reference.ts';
import { anthropicMessages } from './anthropic/dialect.ts';
import type { Dialect } from './dialect.ts';
import { openAiChat } from './openai-chat/dialect.ts';
import { openAiResponses } from './openai-responses/dialect.ts';

const dialects: Readonly<Record<DialectName, Dialect>> = {
  'openai-chat': openAiChat,
  'openai-responses': openAiResponses,
  'anthropic-messages': anthropicMessages,
};

export function dialectOf(name: DialectName): Dialect {
  return dialects[name];
}
