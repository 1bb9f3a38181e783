/**
 * What a model wants back as it came (signatures, reasoning items, tool plans): `native` parts, which an adapter emits in the order
 * of its stream and finds again between the other parts of the message. They go to the model that made them and to no other.
 */
import type { Message, NativePart } from '../core/message.ts';
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
