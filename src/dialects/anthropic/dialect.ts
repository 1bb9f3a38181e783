/**
 * Writes Anthropic's Messages API: the dialect, its document, and the events around the stream's blocks. Pure.
 * `request.ts` reads requests; `providers/anthropic/reply.ts` is the provider's side of the same wire. Wire: API reference
 * "Create a Message", guides "Streaming messages" and "Stop reasons".
 */
import type { FinishReason, Usage } from '../../core/model/chat-event.ts';
import { overflowCode, reportedIn } from '../../core/model/provider-failure.ts';
import type { ProblemBody } from '../../core/problem.ts';
import type { AnswerMessage, MessageChange } from '../answer-message.ts';
import { readMessagesRequest, sessionOfMessagesCalls, withMessagesInstructions, withoutMessagesTokens } from './request.ts';
import { createBlockWriter, toBlocks, toFrame } from './writer.ts';
import type { AnswerFrame, AnswerIdentity, Dialect } from '../dialect.ts';
import { encodeFrame } from '../native.ts';
import { recordOf } from '../../core/json/wire-value.ts';

export const anthropicMessages: Dialect = {
  name: 'anthropic-messages',
  readRequest: readMessagesRequest,
  sessionOfCalls: ({ messages }) => sessionOfMessagesCalls(messages),
  withInstructions: withMessagesInstructions,
  withoutTokens: withoutMessagesTokens,
  createWriter: createMessageWriter,
  toDocument: toMessage,
  // The guide "Streaming messages": a stream may contain any number of these.
  heartbeat: encodeFrame(toFrame('ping', '')),
  errorBody: anthropicErrorBody,
  failureFrames,
};

function failureFrames(problem: ProblemBody): AnswerFrame[] {
  return [{ event: 'error', data: JSON.stringify(anthropicErrorBody(problem)) }];
}

/**
 * Writes `message_start` and a `ping`, so that the client receives something at once; the blocks; `message_delta` with the stop reason and
 * the total usage, which is not known before; `message_stop`. A failure is a final `error` event.
 */
function createMessageWriter(identity: AnswerIdentity, message: AnswerMessage): (change: MessageChange | null) => AnswerFrame[] {
  const blocks = createBlockWriter(message, identity);
  let begun = false;
  const begin = (): AnswerFrame[] => {
    if (begun) return [];
    begun = true;
    const empty = messageBody(identity, [], stopped(null), message.usage());
    return [toFrame('message_start', `"message":${JSON.stringify(empty)}`), toFrame('ping', '')];
  };
  return (change) => {
    // If the first change is a failure, no message is started.
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
  return messageBody(identity, toBlocks(message, identity), stopped(stopReason(finish, message)), message.usage());
}

function messageBody({ id, model }: AnswerIdentity, content: object[], stop: object, usage: Usage): Record<string, unknown> {
  return { id, type: 'message', role: 'assistant', model, content, ...stop, usage: usageBody(usage) };
}

/** Only one provider reports which stop sequence matched, so the reason is `end_turn`. */
function stopped(reason: string | null): Record<string, unknown> {
  return {
    stop_reason: reason,
    stop_sequence: null,
    stop_details: reason === 'refusal' ? { type: 'refusal', category: null, explanation: null } : null,
  };
}

/** `refusal` requires a refusal that the provider reported in a separate field. */
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

/** On this wire, `input_tokens` excludes tokens that were read from the cache or written to it (guide "Prompt caching"). */
function usageBody(usage: Usage): Record<string, unknown> {
  const { inputTokens, outputTokens, reasoningTokens, cachedInputTokens: read = 0, cacheWriteInputTokens: written = 0 } = usage;
  const forHour = usage.cacheWriteHourInputTokens ?? 0;
  return {
    input_tokens: Math.max(0, inputTokens - read - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    ...(written > 0 && { cache_creation: { ephemeral_5m_input_tokens: written - forHour, ephemeral_1h_input_tokens: forHour } }),
    output_tokens: outputTokens,
    ...(reasoningTokens !== undefined && { output_tokens_details: { thinking_tokens: reasoningTokens } }),
  };
}

type AnthropicError = {
  type: 'error';
  error: { type: string; message: string; details: { error_code: string; [detail: string]: unknown } };
  request_id: string | null;
};

/**
 * Clients branch on `error.type`; our own code is in `details`, where the stock client finds it (`errorCode`). A problem's member
 * `anthropic` contains details for these clients only.
 */
function anthropicErrorBody(problem: ProblemBody, requestId?: string): AnthropicError {
  const reported = reportedIn(problem);
  const details = { error_code: reported?.code ?? problem.code, ...recordOf(problem.anthropic) };
  return { type: 'error', error: { type: errorType(problem), message: messageOf(problem), details }, request_id: requestId ?? null };
}

/** Clients such as Claude Code know by this text that the conversation does not fit the model, and shorten it. */
function messageOf(problem: ProblemBody): string {
  const { message, code } = reportedIn(problem) ?? { message: problem.detail, code: null };
  return code === overflowCode && !/prompt is too long/i.test(message) ? `prompt is too long: ${message}` : message;
}

function errorType({ status, upstreamStatus }: ProblemBody): string {
  if (upstreamStatus === 529 || upstreamStatus === 503) return 'overloaded_error';
  return typesByStatus.get(status) ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}

const typesByStatus = new Map([
  [401, 'authentication_error'],
  [402, 'billing_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [504, 'timeout_error'],
]);
