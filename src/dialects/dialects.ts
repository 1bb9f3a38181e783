/** The supported client dialects, one per line. */
import { once } from '../core/memoize.ts';
import type { ApiDialectName, DialectName, UiDialectName } from '../core/text/reference.ts';
import { anthropicMessages } from './anthropic/dialect.ts';
import type { Dialect } from './dialect.ts';
import { openAiChat } from './openai-chat/dialect.ts';
import { openAiResponses } from './openai-responses/dialect.ts';

const dialects: Readonly<Record<ApiDialectName, Dialect>> = {
  'openai-chat': openAiChat,
  'openai-responses': openAiResponses,
  'anthropic-messages': anthropicMessages,
};

/** Not part of the eager start. */
const uiDialects: Readonly<Record<UiDialectName, () => Promise<Dialect>>> = {
  'ai-sdk': once(async () => (await import('./ai-sdk/dialect.ts')).aiSdk),
  'ag-ui': once(async () => (await import('./ag-ui/dialect.ts')).agUi),
};

export function dialectOf(name: ApiDialectName): Dialect {
  return dialects[name];
}

export async function loadDialect(name: DialectName): Promise<Dialect> {
  return name === 'ai-sdk' || name === 'ag-ui' ? await uiDialects[name]() : dialects[name];
}
