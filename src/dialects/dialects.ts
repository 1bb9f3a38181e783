/** The supported client dialects, one per line. */
import { once } from '../core/memoize.ts';
import type { ApiDialectName, DialectName, UiDialectName } from '../core/text/reference.ts';
import { anthropicMessages } from './anthropic/dialect.ts';
import type { Dialect } from './dialect.ts';
import { openAiChat } from './openai-chat/dialect.ts';
import { openAiResponses } from './openai-responses/dialect.ts';

type LateDialectName = UiDialectName | 'gemini';
type EagerDialectName = Exclude<ApiDialectName, LateDialectName>;

const dialects: Readonly<Record<EagerDialectName, Dialect>> = {
  'openai-chat': openAiChat,
  'openai-responses': openAiResponses,
  'anthropic-messages': anthropicMessages,
};

/** Not part of the eager start. */
const lateDialects: Readonly<Record<LateDialectName, () => Promise<Dialect>>> = {
  gemini: once(async () => (await import('./gemini/dialect.ts')).geminiDialect),
  'ai-sdk': once(async () => (await import('./ai-sdk/dialect.ts')).aiSdk),
  'ag-ui': once(async () => (await import('./ag-ui/dialect.ts')).agUi),
};

export function dialectOf(name: EagerDialectName): Dialect {
  return dialects[name];
}

export async function loadDialect(name: DialectName): Promise<Dialect> {
  return name in dialects ? dialects[name as EagerDialectName] : await lateDialects[name as LateDialectName]();
}
