/** A span for each model call, with the attributes of OpenTelemetry's GenAI conventions. */
import type { ChatEvent, FinishReason } from '../../core/model/chat-event.ts';
import type { ProviderAccess } from '../../core/model/provider.ts';
import type { SpanStart, OpenSpan, Telemetry } from '../../ports/telemetry.ts';
import type { ChatModel, ChatRequest } from '../../ports/chat-model.ts';
import { telemetryMessages } from './content-messages.ts';
import type { Attributes } from '../../core/telemetry/span.ts';

/** Returns the model with a span around each reply. */
export function observeModel(telemetry: Telemetry, model: ChatModel): ChatModel {
  return {
    async *stream(request, signal) {
      const span = telemetry.start(modelSpan(request.access, request.model, settingsOf(request)));
      span.setContent('gen_ai.input.messages', () => telemetryMessages(request.messages));
      const note = createReplyNote(span, request.whole !== true);
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

/** `settings`: further attributes of the request. */
export function modelSpan(access: Pick<ProviderAccess, 'kind' | 'name' | 'baseUrl'>, model: string, settings: Attributes): SpanStart {
  const url = URL.parse(access.baseUrl);
  return {
    name: `chat ${model}`,
    kind: 'client',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': providerName(access),
      'gen_ai.request.model': model,
      'server.address': url?.hostname,
      'server.port': url === null ? undefined : Number(url.port) || (url.protocol === 'http:' ? 80 : 443),
      ...settings,
    },
  };
}

function settingsOf({ settings, whole, target }: ChatRequest): Attributes {
  return {
    'moniker.target': target,
    'gen_ai.request.stream': whole === true ? undefined : true,
    'gen_ai.request.max_tokens': settings.maxOutputTokens,
    'gen_ai.request.temperature': settings.temperature,
    'gen_ai.request.top_p': settings.topP,
    'gen_ai.request.top_k': settings.topK,
    'gen_ai.request.seed': settings.seed,
    'gen_ai.request.stop_sequences': settings.stop,
    'gen_ai.request.frequency_penalty': settings.frequencyPenalty,
    'gen_ai.request.presence_penalty': settings.presencePenalty,
    'gen_ai.request.reasoning.level': settings.reasoningEffort,
  };
}

/** Returns a function that writes what a reply reports to the span. */
export function createReplyNote(span: OpenSpan, isStreamed: boolean): (events: readonly ChatEvent[]) => void {
  let text = '';
  let hasBegun = false;
  return (events) => {
    if (!hasBegun && isStreamed) span.set('gen_ai.response.time_to_first_chunk', span.elapsedMs() / 1000);
    hasBegun = true;
    for (const event of events) {
      if (event.type === 'text' && text.length < maxNotedText) text += event.text;
      else if (event.type === 'usage') {
        span.set('gen_ai.usage.input_tokens', event.usage.inputTokens);
        span.set('gen_ai.usage.output_tokens', event.usage.outputTokens);
        span.set('gen_ai.usage.cache_read.input_tokens', event.usage.cachedInputTokens);
        span.set('gen_ai.usage.cache_write.input_tokens', event.usage.cacheWriteInputTokens);
        span.set('gen_ai.usage.reasoning.output_tokens', event.usage.reasoningTokens);
      } else if (event.type === 'finish') {
        const reason = finishReasons[event.reason];
        span.set('gen_ai.response.finish_reasons', [reason]);
        span.setContent('gen_ai.output.messages', () => [
          { role: 'assistant', parts: [{ type: 'text', content: text }], finish_reason: reason },
        ]);
      } else if (event.type === 'error') {
        span.set('gen_ai.response.finish_reasons', ['error']);
        span.fail(event.problem.code);
      }
    }
  };
}

const maxNotedText = 8_192;

/** The names of the conventions' schema of output messages. */
const finishReasons = {
  stop: 'stop',
  length: 'length',
  error: 'error',
  'tool-calls': 'tool_call',
  'content-filter': 'content_filter',
  unknown: 'unknown',
} as const satisfies Record<FinishReason, string>;

/** The names of the conventions; a provider under another name is named as in its document. */
function providerName({ kind, name, baseUrl }: Pick<ProviderAccess, 'kind' | 'name' | 'baseUrl'>): string {
  if (kind === 'gemini') return /aiplatform\.googleapis\.com/.test(baseUrl) ? 'gcp.vertex_ai' : 'gcp.gemini';
  if (kind === 'openai-responses') return 'openai';
  if (kind === 'azure-openai' || /\.openai\.azure\.com\b/.test(baseUrl)) return 'azure.ai.openai';
  if (kind === 'bedrock') return 'aws.bedrock';
  if (kind === 'vertex') return 'gcp.vertex_ai';
  return kind === 'openai-compatible' ? (knownNames[name] ?? name) : kind;
}

const knownNames: Readonly<Record<string, string>> = Object.assign(Object.create(null) as Record<string, string>, {
  mistral: 'mistral_ai',
  moonshot: 'moonshot_ai',
  xai: 'x_ai',
});

function typeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return error instanceof Error ? error.name : 'error';
}
