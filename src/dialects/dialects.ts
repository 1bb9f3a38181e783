/** The dialects that clients may speak: a line each. */
import type { DialectName } from '../core/reference.ts';
import type { Dialect } from './dialect.ts';
import { openAiChat } from './openai-chat.ts';

const dialects: Readonly<Record<DialectName, Dialect>> = {
  'openai-chat': openAiChat,
  'openai-responses': openAiChat,
  'anthropic-messages': openAiChat,
};

export function dialectOf(name: DialectName): Dialect {
  return dialects[name];
}
