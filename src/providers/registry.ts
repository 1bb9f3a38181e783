/** The adapter of each provider kind, one per line. */
import type { ProviderAccess } from '../core/model/provider.ts';
import type { Adapter } from './adapter.ts';
import { anthropic } from './anthropic/reply.ts';
import { bedrock } from './clouds/converse-adapter.ts';
import { cohere } from './cohere/reply.ts';
import { gemini } from './gemini/reply.ts';
import { ollama } from './ollama/reply.ts';
import { chatCompletions } from './openai-chat/reply.ts';
import { openaiResponses } from './openai-responses/reply.ts';

export const adapters: Readonly<Record<ProviderAccess['kind'], Adapter>> = {
  openai: chatCompletions,
  'openai-compatible': chatCompletions,
  'openai-responses': openaiResponses,
  anthropic,
  gemini,
  cohere,
  ollama,
  bedrock,
  // A model of these has the adapter of its wire (`wire-access.ts`).
  'azure-openai': chatCompletions,
  vertex: gemini,
  rehearsal: chatCompletions,
};
