/**
 * Anthropic's Messages API as clients read it: the dialect, its document, and the frame around its stream's blocks. Pure. The
 * request half is `anthropic-messages-request.ts`; the provider's side of the same wire is `providers/anthropic.ts`. Wire: API reference
 * "Create a Message", guides "Streaming messages" and "Stop reasons".
 */
import type { FinishReason, Usage } from '../core/chat-event.ts';
import type { ProblemBody } from '../core/problem.ts';
import type { AnswerMessage, Change } from './answer-message.ts';
import { toBlocks } from './anthropic-blocks.ts';
import { anthropicErrorBody } from './anthropic-error.ts';
import { readMessagesRequest, sessionOfCalls, withInstructions, withoutTokens } from './anthropic-messages-request.ts';
import { createBlockWriter, toFrame } from './anthropic-writer.ts';
import type { AnswerFrame, AnswerIdentity, Dialect } from './dialect.ts';

export const anthropicMessages: Dialect = {
  name: 'anthropic-messages',
  conversationField: 'messages',
  readRequest: readMessagesRequest,
  sessionOfCalls: ({ messages }) => sessionOfCalls(messages),
  withInstructions,
  withoutTokens,
  createWriter: createMessageWriter,
  toDocument: toMessage,
  errorBody: anthropicErrorBody,
  failureFrames,
};

function failureFrames(problem: ProblemBody): AnswerFrame[] {
  return [{ event: 'error', data: JSON.stringify(anthropicErrorBody(problem)) }];
}

/**
 * `message_start` and a `ping`, so that a client sees life; the blocks; `message_delta` with the stop reason and all of the usage, which
 * is not known before; `message_stop`. A failure is an `error` event, and the last.
 */
function createMessageWriter(identity: AnswerIdentity, message: AnswerMessage): (change: Change | null) => AnswerFrame[] {
  const blocks = createBlockWriter(message, identity);
  let begun = false;
  const begin = (): AnswerFrame[] => {
    if (begun) return [];
    begun = true;
    const empty = messageBody(identity, [], stopped(null), message.usage());
    return [toFrame('message_start', `"message":${JSON.stringify(empty)}`), toFrame('ping', '')];
  };
  return (change) => {
    // A failure first of all needs no message.
    if (change?.type === 'failure') return failureFrames(change.problem);
    if (change?.type !== 'end') return [...begin(), ...blocks.write(change)];
    const delta = JSON.stringify(stopped(stopReason(change.finish, message)));
    return [
      ...begin(),
      ...blocks.end(),
      toFrame('message_delta', `"delta":${delta},"usage":${JSON.stringify(usageBody(message.usage()))}`),
      toFrame('message_stop', ''),
    ];
  };
}

function toMessage(finish: FinishReason, identity: AnswerIdentity, message: AnswerMessage): Record<string, unknown> {
  const content = toBlocks(message.parts(), identity);
  return messageBody(identity, content, stopped(stopReason(finish, message)), message.usage());
}

function messageBody({ id, model }: AnswerIdentity, content: object[], stop: object, usage: Usage): Record<string, unknown> {
  return { id, type: 'message', role: 'assistant', model, content, ...stop, usage: usageBody(usage) };
}

/** Which sequence stopped it no provider but one tells, so that it is `end_turn`. */
function stopped(reason: string | null): Record<string, unknown> {
  return {
    stop_reason: reason,
    stop_sequence: null,
    stop_details: reason === 'refusal' ? { type: 'refusal', category: null, explanation: null } : null,
  };
}

/** A model that says no in so many words is refused by itself, where its own wire has a field for that. */
function stopReason(finish: FinishReason, message: AnswerMessage): string {
  const isRefusal = finish === 'stop' && message.parts().some(({ type }) => type === 'refusal');
  return isRefusal ? 'refusal' : stopReasons[finish];
}

const stopReasons = {
  stop: 'end_turn',
  'tool-calls': 'tool_use',
  length: 'max_tokens',
  'content-filter': 'refusal',
  error: 'end_turn',
  unknown: 'end_turn',
} as const satisfies Record<FinishReason, string>;

/** On this wire `input_tokens` are only those that no cache had. What was written to one is among them. */
function usageBody({ inputTokens, outputTokens, cachedInputTokens = 0, reasoningTokens }: Usage): Record<string, unknown> {
  return {
    input_tokens: Math.max(0, inputTokens - cachedInputTokens),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cachedInputTokens,
    output_tokens: outputTokens,
    ...(reasoningTokens !== undefined && { output_tokens_details: { thinking_tokens: reasoningTokens } }),
  };
}
