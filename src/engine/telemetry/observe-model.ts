/** A span for each model call, with the attributes of OpenTelemetry's GenAI conventions. */
import type { ChatEvent } from '../../core/model/chat-event.ts';
import type { ProviderAccess } from '../../core/model/provider.ts';
import type { SpanStart, OpenSpan, Telemetry } from '../../ports/telemetry.ts';
import type { ChatModel } from '../../ports/chat-model.ts';

/** Returns the model with a span around each reply. Without telemetry it is the same model. */
export function observeModel(telemetry: Telemetry | null | undefined, model: ChatModel): ChatModel {
  if (telemetry == null) return model;
  return {
    async *stream(request, signal) {
      const span = telemetry.start(modelSpan(request.access, request.model));
      span.setContent('gen_ai.input.messages', () => request.messages);
      const note = createReplyNote(span);
      try {
        // Each read runs within the span, so that the request to the provider belongs to it.
        const batches = telemetry.within(span, () => model.stream(request, signal)[Symbol.asyncIterator]());
        try {
          for (;;) {
            const { done, value } = await telemetry.within(span, () => batches.next());
            if (done === true) break;
            note(value);
            yield value;
          }
        } finally {
          await batches.return?.();
        }
      } catch (error) {
        span.fail(typeOf(error));
        throw error;
      } finally {
        span.end();
      }
    },
  };
}

export function modelSpan(access: Pick<ProviderAccess, 'kind' | 'name' | 'baseUrl'>, model: string): SpanStart {
  return {
    name: `chat ${model}`,
    kind: 'client',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': providerName(access),
      'gen_ai.request.model': model,
      'server.address': URL.parse(access.baseUrl)?.hostname,
    },
  };
}

/** Returns a function that writes what a reply reports to the span. */
export function createReplyNote(span: OpenSpan): (events: readonly ChatEvent[]) => void {
  let text = '';
  return (events) => {
    for (const event of events) {
      if (event.type === 'text' && text.length < maxNotedText) text += event.text;
      else if (event.type === 'usage') {
        span.set('gen_ai.usage.input_tokens', event.usage.inputTokens);
        span.set('gen_ai.usage.output_tokens', event.usage.outputTokens);
        span.set('gen_ai.usage.cache_read.input_tokens', event.usage.cachedInputTokens);
      } else if (event.type === 'finish') {
        span.set('gen_ai.response.finish_reasons', [event.reason]);
        span.setContent('gen_ai.output.messages', () => text);
      } else if (event.type === 'error') span.fail(event.problem.code);
    }
  };
}

const maxNotedText = 8_192;

/** The names of the conventions; a provider under another name is named as in its document. */
function providerName({ kind, name, baseUrl }: Pick<ProviderAccess, 'kind' | 'name' | 'baseUrl'>): string {
  if (kind === 'gemini') return /aiplatform\.googleapis\.com/.test(baseUrl) ? 'gcp.vertex_ai' : 'gcp.gemini';
  if (kind === 'openai-responses') return 'openai';
  if (kind === 'azure-openai') return 'azure.ai.openai';
  if (kind === 'bedrock') return 'aws.bedrock';
  if (kind === 'vertex') return 'gcp.vertex_ai';
  return kind === 'openai-compatible' ? (knownNames[name] ?? name) : kind;
}

const knownNames: Readonly<Record<string, string>> = Object.assign(Object.create(null) as Record<string, string>, {
  mistral: 'mistral_ai',
  xai: 'x_ai',
});

function typeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return error instanceof Error ? error.name : 'error';
}
