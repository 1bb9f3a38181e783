/**
 * What a model wants back as it came (signatures, reasoning items, tool plans): `native` parts, which an adapter emits in the order
 * of its stream and finds again between the other parts of the message. They go to the model that made them and to no other.
 */
import type { AssistantPart, Message, NativePart, ToolCallPart } from '../core/message.ts';
import type { ChatRequest } from '../ports/chat-model.ts';

type Assistant = Extract<Message, { role: 'assistant' }>;

/** True when this model said it. A message that does not tell (a client's history) is judged by its parts alone. */
export function isOwnMessage(message: Assistant, { access, model }: Pick<ChatRequest, 'access' | 'model'>): boolean {
  return message.model === undefined || message.model === `${access.name}/${model}`;
}

/** Whether the part may go back with its message. Its `data` is what the adapter of this provider wrote. */
export function isOwnPart(part: NativePart, message: Assistant, request: Pick<ChatRequest, 'access' | 'model'>): boolean {
  return part.provider === request.access.name && isOwnMessage(message, request);
}

/**
 * The conversation with the signed calls of the turn at hand under the names by which this model called them: what it signed must
 * come back unchanged. In turns before, which may have had other names, those of today stay, and their signatures fit no longer.
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

/** Whether a signature behind the call still fits: it was given to the call under the name that the model said. */
export function isAsSaid(call: ToolCallPart): boolean {
  return call.said === undefined;
}

function isSigned(message: Assistant, index: number, request: Pick<ChatRequest, 'access' | 'model'>): boolean {
  const next = message.parts[index + 1];
  return next?.type === 'native' && isOwnPart(next, message, request);
}
