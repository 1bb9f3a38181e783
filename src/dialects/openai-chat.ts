/**
 * OpenAI Chat Completions as clients read it: chunks, the plain document, and problems in its error shape. Pure. A session's
 * answers are cut out of its log in `openai-answer.ts`; the request half is in `openai-chat-request.ts`; the provider's side
 * of the same wire is in `providers/openai.ts`.
 */
import type { ChatEvent, Usage } from '../core/chat-event.ts';
import { Problem, type ProblemBody } from '../core/problem.ts';
import { createMessage, type AssistantMessage, type Change } from './openai-message.ts';

/** What every chunk of an answer repeats. `created` in seconds. */
export type CompletionIdentity = { id: string; model: string; created: number; includeUsage?: boolean };

export type ChunkEncoder = {
  /** SSE text for one event, '' where it shows nothing. Deterministic: the same events give the same bytes. */
  encode(event: ChatEvent): string;
};

/**
 * A provider's reply: role first, calls in the form that clients can rely on (`index` always, id, type and name once, then
 * argument deltas, `{}` for none), one finish reason, usage in a last chunk where asked for, then `[DONE]`. A failure is a
 * data event with `error`, then `[DONE]`; after that every event encodes as ''.
 */
export function createChunkEncoder(identity: CompletionIdentity): ChunkEncoder {
  const message = createMessage();
  const write = createChunkWriter(identity, message);
  let over = false;
  return {
    encode(event) {
      if (over) return '';
      const change = message.take(event);
      over = message.isOver();
      if (change === null) return '';
      let text = '';
      for (const data of write(change)) text += `data: ${data}\n\n`;
      return text;
    },
  };
}

/** The `data` of each chunk that a change is written as; null: the message begins, so that a client sees life before the first word. */
export function createChunkWriter(identity: CompletionIdentity, message: AssistantMessage): (change: Change | null) => string[] {
  const head = `{"id":${JSON.stringify(identity.id)},"object":"chat.completion.chunk","created":${identity.created},"model":${JSON.stringify(identity.model)}`;
  const nullUsage = identity.includeUsage ? ',"usage":null' : '';
  const chunk = (delta: string, finish: string): string =>
    `${head},"choices":[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}]${nullUsage}}`;
  let begun = false;

  const write = (change: Change): string[] => {
    switch (change.type) {
      case 'delta':
        return [chunk(JSON.stringify(change.delta), 'null')];
      case 'end': {
        const usage = identity.includeUsage ? [`${head},"choices":[],"usage":${JSON.stringify(usageBody(message.usage()))}}`] : [];
        return [chunk('{}', JSON.stringify(change.finish)), ...usage, '[DONE]'];
      }
      case 'failure':
        return [JSON.stringify(openAiErrorBody(change.problem)), '[DONE]'];
      default:
        return change satisfies never;
    }
  };
  return (change) => {
    const written = change === null ? [] : write(change);
    if (begun) return written;
    begun = true;
    // A failure first of all needs no role.
    return change?.type === 'failure' ? written : [chunk('{"role":"assistant","content":""}', 'null'), ...written];
  };
}

/** The `chat.completion` document of a provider's whole reply. Throws the `Problem` that ended it, if one did. */
export function toCompletion(events: Iterable<ChatEvent>, identity: CompletionIdentity): Record<string, unknown> {
  const message = createMessage({ restarts: 'silently' });
  const changes: Change[] = [];
  for (const event of events) {
    const change = message.take(event);
    if (change !== null && change.type !== 'delta') changes.push(change);
  }
  return toDocument(changes.at(-1), identity, message);
}

/** `end`: the change that ended the message. Throws the `Problem` of a failure. */
export function toDocument(end: Change | undefined, identity: CompletionIdentity, message: AssistantMessage): Record<string, unknown> {
  if (end?.type === 'failure') throw Problem.fromBody(end.problem);
  if (end?.type !== 'end') throw new Problem('internal', 'The answer has no end.');
  return {
    id: identity.id,
    object: 'chat.completion',
    created: identity.created,
    model: identity.model,
    choices: [{ index: 0, message: message.body(), logprobs: null, finish_reason: end.finish }],
    usage: usageBody(message.usage()),
  };
}

export type OpenAiError = { error: { message: string; type: string; param: string | null; code: string } };

/** A problem in OpenAI's error shape; `code` is ours, `type` is what its clients branch on. */
export function openAiErrorBody(problem: Problem | ProblemBody): OpenAiError {
  const body = problem instanceof Problem ? problem.toBody() : problem;
  const issues = Array.isArray(body.issues) ? (body.issues as { path?: unknown }[]) : [];
  const path = body.param ?? issues[0]?.path;
  return {
    error: {
      message: body.detail,
      type: errorType(body.status),
      param: typeof path === 'string' && path !== '' ? path : null,
      code: body.code,
    },
  };
}

function errorType(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}

function usageBody(usage: Usage): Record<string, unknown> {
  const body: Record<string, unknown> = {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
  };
  if (usage.cachedInputTokens !== undefined) body.prompt_tokens_details = { cached_tokens: usage.cachedInputTokens };
  if (usage.reasoningTokens !== undefined) body.completion_tokens_details = { reasoning_tokens: usage.reasoningTokens };
  return body;
}
