/**
 * Writes OpenAI Responses: events and the plain document, from the neutral message. Pure. `answer.ts` derives a session's answers from its
 * log; `request.ts` reads requests; `providers/openai-responses/reply.ts` is the provider's side of the same wire. Wire: OpenAI
 * API reference, "Responses" and "Responses: streaming events" (SDK 7.57).
 */
import type { FinishReason, Usage } from '../../core/model/chat-event.ts';
import { reportedIn } from '../../core/model/provider-failure.ts';
import type { ProblemBody } from '../../core/problem.ts';
import { uniqueOfAnswer } from '../../core/text/reference.ts';
import type { AnswerMessage, AnswerPart, MessageChange } from '../answer-message.ts';
import type { AnswerFrame, AnswerIdentity, Dialect } from '../dialect.ts';
import { heartbeatFrame } from '../native.ts';
import { openAiErrorBody } from '../openai-error.ts';
import { createOutput, type EmitEvent, type ItemStatus, type OutputItem } from './output.ts';
import { sessionOfItems } from './input.ts';
import { readEcho } from './echo.ts';
import { readResponsesRequest, withResponsesInstructions, withoutResponsesTokens } from './request.ts';

export const openAiResponses: Dialect = {
  name: 'openai-responses',
  readRequest: readResponsesRequest,
  sessionOfCalls: ({ input }) => sessionOfItems(input),
  withInstructions: withResponsesInstructions,
  withoutTokens: withoutResponsesTokens,
  createWriter: createEventWriter,
  toDocument: toResponse,
  toBackground(state, identity, message) {
    if (readEcho(identity.echo).echo.background !== true) return null;
    const outcome: Outcome = typeof state === 'string' ? { status: state } : { status: 'failed', error: responseError(state) };
    return responseBody(identity, outcome, itemsOf('incomplete', identity, message), message);
  },
  heartbeat: heartbeatFrame,
  errorBody: openAiErrorBody,
  failureFrames: (problem, place) => [toFrame('error', place, errorFields(problem))],
};

/**
 * Writes created and in-progress events, the items, and one final event. Sequence numbers count from 0 without gaps, one per frame, so a
 * stream can be resumed by number. A failure is reported twice, as OpenAI does: by `error`, which the stock client throws, and by
 * `response.failed`.
 */
function createEventWriter(identity: AnswerIdentity, message: AnswerMessage): (change: MessageChange | null) => AnswerFrame[] {
  let frames: AnswerFrame[] = [];
  let next = 0;
  const emit: EmitEvent = (type, fields) => {
    frames.push(toFrame(type, next, fields));
    next += 1;
  };
  const output = createOutput({ ...outputOptions(identity), emit });
  let begun = false;
  const begin = (): void => {
    begun = true;
    const response = `"response":${JSON.stringify(responseBody(identity, { status: 'in_progress' }, [], message))}`;
    emit('response.created', response);
    emit('response.in_progress', response);
  };
  const end = (type: string, outcome: Outcome): void => {
    const response = responseBody(identity, outcome, output.items(), message);
    emit(type, `"response":${JSON.stringify(response)}`);
  };

  return (change) => {
    frames = [];
    if (!begun) begin();
    if (change?.type === 'end') {
      const outcome = outcomeOf(change.finish, message);
      output.close(outcome.status === 'completed' ? 'completed' : 'incomplete');
      // Clients know no event for a cancelled response.
      end(outcome.status === 'completed' ? 'response.completed' : 'response.incomplete', outcome);
    } else if (change?.type === 'failure') {
      emit('error', errorFields(change.problem));
      end('response.failed', { status: 'failed', error: responseError(change.problem) });
    } else if (change !== null) output.take(change);
    return frames;
  };
}

function toResponse(finish: FinishReason, identity: AnswerIdentity, message: AnswerMessage): Record<string, unknown> {
  const outcome = outcomeOf(finish, message);
  const items = itemsOf(outcome.status === 'completed' ? 'completed' : 'incomplete', identity, message);
  return responseBody(identity, outcome, items, message);
}

function itemsOf(status: ItemStatus, identity: AnswerIdentity, message: AnswerMessage): OutputItem[] {
  const output = createOutput({ ...outputOptions(identity), emit: () => undefined });
  for (const part of message.parts()) for (const change of changesOf(part)) output.take(change);
  output.close(status);
  return output.items();
}

/** Returns the changes that produce a complete part. */
function changesOf(part: AnswerPart): Exclude<MessageChange, { type: 'end' | 'failure' }>[] {
  if (part.type !== 'call') return [part];
  const { call } = part;
  return [
    { type: 'call-start', call: { ...call, text: '' } },
    ...(call.text === '' ? [] : [{ type: 'call-delta', call, text: call.text } as const]),
    { type: 'call-end', call },
  ];
}

type Outcome = {
  status: 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'cancelled' | 'failed';
  error?: { code: string; message: string };
  incomplete?: { reason: 'max_output_tokens' | 'content_filter' };
};

function outcomeOf(finish: FinishReason, message: AnswerMessage): Outcome {
  if (message.isCancelled()) return { status: 'cancelled' };
  if (finish === 'length') return { status: 'incomplete', incomplete: { reason: 'max_output_tokens' } };
  if (finish === 'content-filter') return { status: 'incomplete', incomplete: { reason: 'content_filter' } };
  return { status: 'completed' };
}

/**
 * Contains every field that the SDK's types and Open Responses (`ResponseResource`, 2026-04-24) require, and the request's values of the
 * others. The usage is known at the end.
 */
function responseBody(
  identity: AnswerIdentity,
  { status, error, incomplete }: Outcome,
  output: readonly OutputItem[],
  message: AnswerMessage,
): Record<string, unknown> {
  const { echo } = readEcho(identity.echo);
  const hasEnded = status !== 'queued' && status !== 'in_progress';
  const at = message.lastAt() ?? identity.now?.();
  return {
    id: identity.id,
    object: 'response',
    created_at: identity.created,
    status,
    background: false,
    completed_at: status === 'completed' && at !== undefined ? Math.floor(at / 1000) : null,
    error: error ?? null,
    frequency_penalty: 0,
    incomplete_details: incomplete ?? null,
    access_programs: null,
    instructions: null,
    max_output_tokens: null,
    max_tool_calls: null,
    metadata: {},
    parallel_tool_calls: true,
    presence_penalty: 0,
    previous_response_id: null,
    prompt_cache_key: null,
    reasoning: { effort: null, summary: null },
    safety_identifier: null,
    service_tier: 'default',
    store: true,
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_logprobs: 0,
    top_p: 1,
    truncation: 'disabled',
    ...echo,
    model: identity.model,
    output,
    usage: hasEnded ? usageBody(message.usage()) : null,
  };
}

/** The details are required. */
function usageBody({ inputTokens, outputTokens, reasoningTokens = 0, ...input }: Usage): Record<string, unknown> {
  const { cachedInputTokens: read = 0, cacheWriteInputTokens: written = 0, cost } = input;
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: read, cache_write_tokens: written },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
    ...(cost !== undefined && { cost }),
  };
}

/** Flat as in the reference, and nested as OpenAI sends it: clients read one or the other. */
function errorFields(problem: ProblemBody): string {
  const { error } = openAiErrorBody(problem);
  const { code, message, param } = error;
  return JSON.stringify({ code, message, param, error }).slice(1, -1);
}

/** Clients branch on the provider's code, such as `context_length_exceeded`. Otherwise one of a closed list; `server_error` is the general one. */
function responseError(problem: ProblemBody): { code: string; message: string } {
  const { status } = problem;
  const { message, code } = reportedIn(problem) ?? { message: problem.detail, code: null };
  const ours = status === 429 ? 'rate_limit_exceeded' : status === 400 || status === 422 ? 'invalid_prompt' : 'server_error';
  return { code: code ?? ours, message };
}

function outputOptions({ id, echo, isOwnWire }: AnswerIdentity) {
  const { custom, items, spaces } = readEcho(echo);
  // Without the session, because item ids have at most 64 characters.
  return { unique: uniqueOfAnswer('openai-responses', id).slice(0, 48), custom, items, spaces, isOwnWire: isOwnWire === true };
}

function toFrame(type: string, number: number, fields: string): AnswerFrame {
  return { event: type, data: `{"type":"${type}","sequence_number":${number},${fields}}` };
}
