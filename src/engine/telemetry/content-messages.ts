/**
 * Messages in the format of `gen_ai.input.messages` (semantic-conventions-genai 0.1.0, `gen-ai-input-messages.json`): a role and parts. Parts that
 * are neither text nor calls keep their own members, which the schema allows.
 */
import { isRecord, recordOf } from '../../core/json/wire-value.ts';

/** `messages`: of the neutral conversation, or of a request on its wire: a list, or a text. */
export function telemetryMessages(messages: unknown): { role: string; parts: object[] }[] {
  const list = Array.isArray(messages) ? messages : [{ role: 'user', content: messages }];
  return list.map((message) => {
    const { role, content, parts = content } = recordOf(message);
    const all = Array.isArray(parts) ? parts : parts === undefined || parts === null ? [message] : [parts];
    return { role: typeof role === 'string' ? role : 'user', parts: all.map(toPart) };
  });
}

function toPart(part: unknown): object {
  if (!isRecord(part)) return { type: 'text', content: typeof part === 'string' ? part : (JSON.stringify(part) ?? '') };
  const { type = 'other', text, ...more } = part;
  if (type === 'tool-call') return { type: 'tool_call', id: part.callId, name: part.requested, arguments: part.arguments };
  return typeof text === 'string' ? { type: type === 'reasoning' ? type : 'text', content: text, ...more } : { type, ...more };
}
