/**
 * Native parts: data that a model requires back unchanged (signatures, reasoning items, tool plans). An adapter emits them in stream order
 * and finds them between the other parts of the message. They are only sent to the model that produced them.
 */
import type { AssistantPart, Message, NativePart, ToolCallPart } from '../core/model/message.ts';
import { type ProviderWire, wireSettings } from '../core/model/wire-settings.ts';
import { recordOf, stringOf } from '../core/json/wire-value.ts';
import { readChatNative, signatureIn } from '../dialects/openai-chat/own-fields.ts';
import type { ChatRequest } from '../ports/chat-model.ts';

export type Assistant = Extract<Message, { role: 'assistant' }>;

/** Returns whether this model wrote the message. A message without a model (a client's history) is judged by its parts alone. */
export function isNativeMessage(message: Assistant, { access, model }: Pick<ChatRequest, 'access' | 'model'>): boolean {
  return message.model === undefined || message.model === `${access.name}/${model}`;
}

/** Returns whether the part may be returned with its message. This provider's adapter wrote its `data`. */
export function isNativePart(part: NativePart, message: Assistant, request: Pick<ChatRequest, 'access' | 'model'>): boolean {
  return part.provider === request.access.name && isNativeMessage(message, request);
}

/** Reports that the model is not sent the reasoning of a client's message. A message of a session is not the client's. */
export function reportReasoning(message: Assistant, { dropped }: Pick<ChatRequest, 'dropped'>, isSent: boolean): void {
  if (isSent || message.model !== undefined || !message.parts.some(({ type }) => type === 'reasoning')) return;
  dropped?.setting('reasoning', 'the model takes only its own, most models only with its signature');
}

/** Reports what a client's history has for providers of Chat Completions alone, in a request of another API. */
export function reportChatFields({ messages, access, dropped }: Pick<ChatRequest, 'messages' | 'access' | 'dropped'>): void {
  for (const { role, parts, model } of messages.filter((message) => message.role === 'assistant')) {
    if (role !== 'assistant' || model !== undefined) continue;
    for (const part of parts) {
      const data = part.type === 'native' ? readChatNative(part.data) : null;
      const isTaken = access.kind === 'gemini' && data !== null && signatureIn(data.callFields) !== null;
      const ofCall = isTaken ? [] : Object.keys(data?.callFields ?? {});
      // Of a dialect without messages.
      if (ofCall.length > 0 && dropped?.names.callSignature !== undefined) {
        dropped.setting('callSignature', 'only the provider that created it understands it');
        continue;
      }
      const names = [...Object.keys(data?.fields ?? {}), ...ofCall.map((name) => `tool_calls[].${name}`)];
      for (const name of names) dropped?.add(`messages[].${name}`, 'only providers of Chat Completions have it');
    }
  }
}

/** Reports what a client's messages have for Anthropic's models alone, in a request of another API: blocks, signatures, and cited files. */
export function reportUnsent({ messages, dropped }: Pick<ChatRequest, 'messages' | 'dropped'>, wire: ProviderWire): void {
  if (dropped === undefined || wire === 'anthropic') return;
  for (const message of messages) {
    if (message.role === 'user' && message.parts.some((part) => part.type === 'file' && part.citations === true))
      dropped.setting('citations', 'the API does not cite files');
    if (message.role !== 'assistant' || message.model !== undefined) continue;
    for (const part of message.parts) {
      const { api, type, block, inChat } = recordOf(part.type === 'native' ? part.data : null);
      const kind = type === 'thinking' ? 'signature' : stringOf(recordOf(block).type);
      if (api !== 'anthropic' || (wireSettings[wire].has('signature') && /^(signature|redacted_thinking)$/.test(kind))) continue;
      if (inChat === true && kind === 'signature') continue;
      if (inChat === true) dropped.setting('reasoning', 'only the provider that created it understands it');
      else dropped.add(`messages[].content[].${kind}`, 'only the provider that created it understands it');
    }
  }
}

/**
 * Returns the conversation with the signed calls of the current turn under the names that the model used, because signed content must be
 * returned unchanged. Calls of earlier turns keep their current names, and their signatures are dropped.
 */
export function withSignedNames(messages: readonly Message[], request: Pick<ChatRequest, 'access' | 'model'>): readonly Message[] {
  const from = messages.findLastIndex(({ role }) => role === 'user') + 1;
  const names = new Map<string, string>();
  for (const message of messages.slice(from)) {
    if (message.role !== 'assistant') continue;
    for (const [index, part] of message.parts.entries())
      if (part.type === 'tool-call' && part.said !== undefined && isSigned(message, index, request)) names.set(part.callId, part.said);
  }
  if (names.size === 0) return messages;
  const restore = (part: AssistantPart): AssistantPart => {
    if (part.type !== 'tool-call' || !names.has(part.callId)) return part;
    const { said, ...call } = part;
    return { ...call, requested: said ?? call.requested };
  };
  return messages.map((message, index): Message => {
    if (index < from) return message;
    if (message.role === 'assistant') return { ...message, parts: message.parts.map(restore) };
    if (message.role !== 'tool') return message;
    return { ...message, parts: message.parts.map((part) => ({ ...part, requested: names.get(part.callId) ?? part.requested })) };
  });
}

/** Returns whether a signature after the call still matches: it covers the name that the model used. */
export function isUnchangedCall(call: ToolCallPart): boolean {
  return call.said === undefined;
}

function isSigned(message: Assistant, index: number, request: Pick<ChatRequest, 'access' | 'model'>): boolean {
  const next = message.parts[index + 1];
  return next?.type === 'native' && isNativePart(next, message, request);
}
