/** `streamChat`: a streamed Chat Completion, for programs that do not use the SDK of OpenAI. */
import { newIdempotencyKey, type MonikerClient } from './client.ts';
import { MonikerError } from './error.ts';
import type { components } from './schema.ts';
import { parseEventStream } from './sse.ts';

export type ChatRequest = Omit<components['schemas']['ChatCompletionRequest'], 'stream'>;

/** A chunk in the shape of OpenAI's API. The list of choices is empty in the chunk with the usage. */
export type ChatChunk = {
  id: string;
  object: 'chat.completion.chunk';
  created: number;
  model: string;
  choices: {
    index: number;
    delta: {
      role?: 'assistant';
      content?: string | null;
      tool_calls?: { index: number; id?: string; type?: 'function'; function?: { name?: string; arguments?: string } }[];
    };
    finish_reason: string | null;
  }[];
  usage?: { prompt_tokens: number; completion_tokens: number; total_tokens: number } | null;
};

export type ChatOptions = { headers?: Record<string, string>; signal?: AbortSignal };

/** Yields the chunks until `[DONE]`. Throws `MonikerError` for an error in the stream, and for a stream that ends before `[DONE]`. */
export async function* streamChat(
  client: MonikerClient,
  request: ChatRequest,
  { headers, signal }: ChatOptions = {},
): AsyncGenerator<ChatChunk, void, undefined> {
  const { body } = await client.open('POST', '/v1/chat/completions', {
    body: { ...request, stream: true },
    headers: { 'idempotency-key': newIdempotencyKey(), ...headers },
    signal,
  });
  for await (const { data } of parseEventStream(body)) {
    if (data === '[DONE]') return;
    if (data === '') continue;
    const chunk = JSON.parse(data) as ChatChunk | { error: unknown };
    if ('error' in chunk) throw new MonikerError(chunk, { status: 0, requestId: null });
    yield chunk;
  }
  throw new MonikerError('The stream ended before [DONE].', { status: 0, requestId: null });
}
