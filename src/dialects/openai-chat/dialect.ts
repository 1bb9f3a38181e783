/**
 * Writes OpenAI Chat Completions: chunks and the plain document, from the neutral message. Pure. `answer.ts` derives a session's answers
 * from its log; `request.ts` reads requests; `providers/openai-chat/reply.ts` is the provider's side of the same wire. Wire: OpenAI API
 * reference, "Chat Completions".
 */
import { type Citation, toUrlCitation } from '../../core/model/citation.ts';
import type { FinishReason, Usage } from '../../core/model/chat-event.ts';
import { listOf } from '../../core/json/wire-value.ts';
import type { ProblemBody } from '../../core/problem.ts';
import { answerText, type AnswerCall, type AnswerMessage, type MadeImage, type MessageChange } from '../answer-message.ts';
import type { AnswerFrame, AnswerIdentity, Dialect } from '../dialect.ts';
import { heartbeatFrame } from '../native.ts';
import { openAiErrorBody } from '../openai-error.ts';
import { carriedFields, withoutChatTokens } from './own-fields.ts';
import { readChatRequest, sessionOfChatCalls, withChatInstructions } from './request.ts';

export const openAiChat: Dialect = {
  name: 'openai-chat',
  readRequest: readChatRequest,
  sessionOfCalls: ({ messages }) => sessionOfChatCalls(messages),
  withInstructions: withChatInstructions,
  withoutTokens: withoutChatTokens,
  createWriter: createChunkWriter,
  toDocument: toCompletion,
  heartbeat: heartbeatFrame,
  errorBody: openAiErrorBody,
  failureFrames,
};

function failureFrames(problem: ProblemBody): AnswerFrame[] {
  return [{ data: JSON.stringify(openAiErrorBody(problem)) }, { data: '[DONE]' }];
}

/**
 * Writes the role first; calls in the form that clients rely on (always `index`; id, type and name once, then argument deltas, `{}` for
 * none); one finish reason; usage in a last chunk if requested; `[DONE]`. A failure is a data event with `error`.
 */
function createChunkWriter(identity: AnswerIdentity, message: AnswerMessage): (change: MessageChange | null) => AnswerFrame[] {
  const head = `{"id":${JSON.stringify(identity.id)},"object":"chat.completion.chunk","created":${identity.created},"model":${JSON.stringify(identity.model)}`;
  const nullUsage = identity.includeUsage ? ',"usage":null' : '';
  const chunk = (delta: string, finish: string): AnswerFrame => ({
    data: `${head},"choices":[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}]${nullUsage}}`,
  });
  let begun = false;
  let lastCall: AnswerCall | null = null;

  const write = (change: MessageChange): AnswerFrame[] => {
    switch (change.type) {
      case 'text':
        return [chunk(`{"content":${JSON.stringify(change.text)}}`, 'null')];
      case 'refusal':
        return [chunk(`{"refusal":${JSON.stringify(change.text)}}`, 'null')];
      case 'reasoning':
        return [chunk(`{"reasoning_content":${JSON.stringify(change.text)}}`, 'null')];
      case 'call-start':
        lastCall = change.call;
        return [chunk(JSON.stringify({ tool_calls: [{ index: change.call.index, ...callBody(change.call) }] }), 'null')];
      case 'call-delta': {
        return [chunk(JSON.stringify({ tool_calls: [callPiece(change.call, change.text)] }), 'null')];
      }
      case 'call-end':
      // The sentence before it asks the user.
      case 'approval':
      case 'input':
      case 'server-call':
      case 'server-decision':
      case 'server-result':
      // Answers of this API have its sources alone.
      case 'search':
        return [];
      case 'image':
        return [chunk(JSON.stringify({ images: [toImage(change)] }), 'null')];
      case 'citations':
        return [chunk(JSON.stringify({ annotations: annotationsOf(change.citations, message) }), 'null')];
      case 'native': {
        const { call, fields } = carriedFields(change.part, message.parts().at(-2));
        if (lastCall !== null && hasFields(call)) {
          return [chunk(JSON.stringify({ tool_calls: [{ ...callPiece(lastCall, ''), ...call }] }), 'null')];
        }
        return hasFields(fields) ? [chunk(JSON.stringify(fields), 'null')] : [];
      }
      case 'end': {
        const usage = identity.includeUsage
          ? [{ data: `${head},"choices":[],"usage":${JSON.stringify(usageBody(message.usage()))}}` }]
          : [];
        return [chunk('{}', JSON.stringify(finishReasons[change.finish])), ...usage, { data: '[DONE]' }];
      }
      case 'failure':
        return failureFrames(change.problem);
      default:
        return change satisfies never;
    }
  };
  return (change) => {
    const written = change === null ? [] : write(change);
    if (begun) return written;
    begun = true;
    // If the first change is a failure, no role is written.
    return change?.type === 'failure' ? written : [chunk('{"role":"assistant","content":""}', 'null'), ...written];
  };
}

/** A delta of a call's arguments. Clients (the AI SDK) reject one without `function`, also where it carries only other fields. */
function callPiece({ index, custom }: AnswerCall, text: string): Record<string, unknown> {
  return { index, ...(custom ? { custom: { input: text } } : { function: { arguments: text } }) };
}

function toCompletion(finish: FinishReason, identity: AnswerIdentity, message: AnswerMessage): Record<string, unknown> {
  return {
    id: identity.id,
    object: 'chat.completion',
    created: identity.created,
    model: identity.model,
    choices: [{ index: 0, message: messageBody(message), logprobs: null, finish_reason: finishReasons[finish] }],
    usage: usageBody(message.usage()),
  };
}

const hasFields = (fields: Record<string, unknown> | undefined): boolean => Object.keys(fields ?? {}).length > 0;

function messageBody(message: AnswerMessage): Record<string, unknown> {
  const parts = message.parts();
  const content = answerText(parts, 'text');
  const refusal = answerText(parts, 'refusal');
  const reasoning = answerText(parts, 'reasoning');
  const calls: Record<string, unknown>[] = [];
  const own: Record<string, unknown> = {};
  const annotations: unknown[] = [];
  const images = parts.flatMap((part) => (part.type === 'image' ? [toImage(part)] : []));
  for (const [index, part] of parts.entries()) {
    if (part.type === 'call') calls.push(callBody(part.call));
    if (part.type === 'citations') annotations.push(...annotationsOf(part.citations, message));
    if (part.type !== 'native') continue;
    const { call, fields } = carriedFields(part.part, parts[index - 1]);
    Object.assign(calls.at(-1) ?? {}, call);
    const blocks = [...listOf(own.thinking_blocks), ...listOf(fields?.thinking_blocks)];
    Object.assign(own, fields, blocks.length > 0 && { thinking_blocks: blocks });
  }
  return {
    role: 'assistant',
    content: content === '' && (calls.length > 0 || refusal !== '') ? null : content,
    refusal: refusal === '' ? null : refusal,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(annotations.length > 0 && { annotations }),
    ...(images.length > 0 && { images }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...own,
  };
}

/** OpenAI's API has no images in answers; this is the form of OpenRouter and of Google's compatible clients. */
function toImage({ index, mediaType, data }: MadeImage): Record<string, unknown> {
  return { type: 'image_url', index, image_url: { url: `data:${mediaType};base64,${data}` } };
}

/** As OpenAI's models with web search send them. */
function annotationsOf(citations: readonly Citation[], message: AnswerMessage): unknown[] {
  const { length } = answerText(message.parts(), 'text');
  return citations.map((citation) => ({ type: 'url_citation', url_citation: toUrlCitation(citation, length) }));
}

function callBody(call: AnswerCall): Record<string, unknown> {
  return call.custom
    ? { id: call.id, type: 'custom', custom: { name: call.name, input: call.text } }
    : { id: call.id, type: 'function', function: { name: call.name, arguments: call.text } };
}

const finishReasons = {
  stop: 'stop',
  'tool-calls': 'tool_calls',
  length: 'length',
  'content-filter': 'content_filter',
  error: 'stop',
  unknown: 'stop',
} as const satisfies Record<FinishReason, string>;

/** `cache_write_tokens` and `cost` are fields of OpenRouter ("Usage accounting"); the first also of OpenAI's Responses API. */
function usageBody({ inputTokens, outputTokens, reasoningTokens, cost, ...input }: Usage): Record<string, unknown> {
  const { cachedInputTokens: read, cacheWriteInputTokens: written } = input;
  const cached = { ...(read !== undefined && { cached_tokens: read }), ...(written !== undefined && { cache_write_tokens: written }) };
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    ...(Object.keys(cached).length > 0 && { prompt_tokens_details: cached }),
    ...(reasoningTokens !== undefined && { completion_tokens_details: { reasoning_tokens: reasoningTokens } }),
    ...(cost !== undefined && { cost }),
  };
}
