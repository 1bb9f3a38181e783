/**
 * A span for a chat that is forwarded to its provider. The reply's bytes reach the client unchanged; a copy is parsed for usage and the end,
 * which is only done while telemetry is on.
 */
import type { ProviderAccess } from '../core/model/provider.ts';
import { createReplyNote, modelSpan } from '../engine/telemetry/observe-model.ts';
import type { Attributes } from '../core/telemetry/span.ts';
import { telemetryMessages } from '../engine/telemetry/content-messages.ts';
import type { OpenSpan, Telemetry } from '../ports/telemetry.ts';
import { adapters } from './registry.ts';
import { readerFor, type ReplyBytes } from './transport.ts';

type ForwardedChat = { access: ProviderAccess; model: string; body: Readonly<Record<string, unknown>> };

/** Longer replies are not parsed further. */
const maxParsedBytes = 4_194_304;

/** `target`: of a route, as in `ChatRequest`. */
export async function observeForward<Chat extends ForwardedChat>(
  telemetry: Telemetry,
  request: Chat,
  forward: (request: Chat) => Promise<Response>,
  target: string | undefined,
): Promise<Response> {
  const { access, model, body } = request;
  const span = telemetry.start(modelSpan(access, model, { ...forwardedSettings(body), 'moniker.target': target }));
  span.setContent('gen_ai.input.messages', () => telemetryMessages(body.messages ?? body.input));
  try {
    const response = await telemetry.within(span, () => forward(request));
    if (response.body === null) {
      span.end();
      return response;
    }
    const bytes = readerFor(access, adapters[access.kind].createReply(access));
    return new Response(copied(response.body, createReplyNote(span, body.stream === true), span, bytes), response);
  } catch (error) {
    span.fail(error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'error');
    span.end();
    throw error;
  }
}

/** Of the request as it is on its wire: members that several APIs name alike. */
function forwardedSettings(body: ForwardedChat['body']): Attributes {
  const numberAt = (...names: string[]): number | undefined =>
    names.map((name) => body[name]).find((value): value is number => typeof value === 'number');
  return {
    'gen_ai.request.stream': body.stream === true ? true : undefined,
    'gen_ai.request.max_tokens': numberAt('max_completion_tokens', 'max_tokens', 'max_output_tokens'),
    'gen_ai.request.temperature': numberAt('temperature'),
    'gen_ai.request.top_p': numberAt('top_p'),
    'gen_ai.request.top_k': numberAt('top_k'),
    'gen_ai.request.seed': numberAt('seed'),
  };
}

function copied(
  body: ReadableStream<Uint8Array>,
  note: ReturnType<typeof createReplyNote>,
  span: OpenSpan,
  bytes: ReplyBytes,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let left = maxParsedBytes;
  const read = (take: () => ReturnType<ReplyBytes['end']>): void => {
    if (left < 0) return;
    try {
      note(take());
    } catch {
      // The client gets the bytes in any case; a reply that cannot be parsed has no usage.
      left = -1;
    }
  };
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          read(() => bytes.end());
          span.end();
          controller.close();
          return;
        }
        controller.enqueue(value);
        left -= value.byteLength;
        read(() => bytes.bytes(value));
      } catch (error) {
        span.fail('upstream_error');
        span.end();
        controller.error(error);
      }
    },
    async cancel(reason) {
      span.fail('cancelled');
      span.end();
      await reader.cancel(reason);
    },
  });
}
