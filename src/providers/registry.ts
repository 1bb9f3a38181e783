/** Maps provider kinds to adapters, one per line. Callers use a `ChatModel` and know no adapter. */
import type { ChatEvent } from '../core/model/chat-event.ts';
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problem.ts';
import type { ProviderAccess } from '../core/model/provider.ts';
import type { ChatModel, ChatRequest } from '../ports/chat-model.ts';
import type { OutboundHttp } from '../ports/outbound.ts';
import type { Clock, Logger } from '../ports/runtime.ts';
import type { Adapter } from './adapter.ts';
import { anthropic } from './anthropic/reply.ts';
import { cohere } from './cohere/reply.ts';
import { gemini } from './gemini/reply.ts';
import { chatCompletions } from './openai-chat/reply.ts';
import { openaiResponses } from './openai-responses/reply.ts';
import { withRetries } from './retry.ts';
import { withTextProtocol } from './text-protocol.ts';
import { logSkippedTools } from './tool-definitions.ts';
import { countNatives, type ProviderExchange, tooManyNatives, openReply, openUnstreamed, ReplyCursor } from './transport.ts';

/** `rehearsal` is the outbound client of the built-in rehearsal model, which uses the same wire (`rehearsal.ts`). */
export type ModelDeps = { http: OutboundHttp; clock: Clock; rehearsal: OutboundHttp; log?: Logger };

const adapters: Readonly<Record<ProviderAccess['kind'], Adapter>> = {
  openai: chatCompletions,
  'openai-compatible': chatCompletions,
  'openai-responses': openaiResponses,
  anthropic,
  gemini,
  cohere,
  rehearsal: chatCompletions,
};

export function adapterFor(kind: ProviderAccess['kind']): Adapter {
  return adapters[kind];
}

/** Creates a chat model for any provider; `access.kind` of a request selects the adapter. Failures before the first batch are retried. */
export function createChatModel(deps: ModelDeps): ChatModel {
  return withTextProtocol({
    stream(request, signal) {
      logSkippedTools(deps.log, request);
      return request.whole ? readWhole(deps, request) : readStream(deps, request, signal);
    },
  });
}

/** Returns the outbound client of a provider: the network, or the rehearsal. */
function httpFor(deps: Pick<ModelDeps, 'http' | 'rehearsal'>, access: ProviderAccess): OutboundHttp {
  return access.kind === 'rehearsal' ? deps.rehearsal : deps.http;
}

type Reply = AsyncIterableIterator<readonly ChatEvent[]>;

/** Not a generator, because each batch would cost a turn of the event loop per generator. */
function readStream(deps: ModelDeps, request: ChatRequest, signal: AbortSignal): Reply {
  let cursor: ReplyCursor | null = null;
  const end = (): { done: true; value: undefined } => {
    cursor?.close();
    return { done: true, value: undefined };
  };
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      if (cursor === null) {
        const begun = await withRetries(deps.clock, signal, () => begin(deps, request, signal));
        cursor = begun.cursor;
        return { done: false, value: begun.first };
      }
      const batch = await cursor.next();
      return batch === null ? end() : { done: false, value: batch };
    },
    async return() {
      return end();
    },
  };
}

async function begin(deps: ModelDeps, request: ChatRequest, signal: AbortSignal): Promise<{ first: ChatEvent[]; cursor: ReplyCursor }> {
  const { access } = request;
  const adapter = adapters[access.kind];
  const open = await openReply({ http: httpFor(deps, access), clock: deps.clock }, toExchange(adapter, request), signal);
  const cursor = new ReplyCursor(open, access, adapter.createReply(request), signal);
  try {
    return { first: refuseFailure(await cursor.next()), cursor };
  } catch (error) {
    cursor.close();
    throw error;
  }
}

/**
 * Returns the reply as one batch. When the client disconnects, the runtime drops the request and all its fetches, so no signal is needed,
 * which in workerd would cost more than everything else.
 */
async function* readWhole(deps: ModelDeps, request: ChatRequest): Reply {
  const { access } = request;
  const adapter = adapters[access.kind];
  const exchange = toExchange(adapter, request);
  yield await withRetries(deps.clock, undefined, async () => {
    const body = await openUnstreamed({ http: httpFor(deps, access), clock: deps.clock }, exchange);
    const events = refuseFailure(adapter.createReply(request).takeWhole(body));
    if (countNatives(events) > limits.maxNativePartsPerReply) throw tooManyNatives(access);
    return events;
  });
}

function toExchange(adapter: Adapter, request: ChatRequest): ProviderExchange {
  return { access: request.access, path: adapter.path(request), headers: adapter.headers, body: adapter.toBody(request) };
}

/** An error before any output is like an error status: the request may be retried, and this exchange has ended. */
function refuseFailure(first: ChatEvent[] | null): ChatEvent[] {
  if (first === null) throw new Error('a reply ended without an end');
  if (first[0]?.type === 'error') throw Problem.fromBody(first[0].problem);
  return first;
}
