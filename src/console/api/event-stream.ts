/** What the events of a chat stream add up to. */
import type { ServerSentEvent } from '../../../client/src/sse.ts';
import { recordIn } from '../text/json.ts';

/** Returns the text that a chunk of a chat stream adds, in the formats of OpenAI, Anthropic and our sessions; otherwise ''. */
export function addedText({ data }: Pick<ServerSentEvent, 'data'>): string {
  const value = recordIn(data);
  if (value === null) return '';
  const choice = (value.choices as { delta?: { content?: unknown } }[] | undefined)?.[0]?.delta?.content;
  const delta = value.delta as { text?: unknown } | string | undefined;
  const isText = value.type === 'text-delta' || value.type === 'response.output_text.delta';
  for (const text of [choice, typeof delta === 'object' ? delta.text : undefined, isText ? (value.text ?? delta) : undefined])
    if (typeof text === 'string') return text;
  return '';
}
