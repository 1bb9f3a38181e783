/** Which adapter speaks to which kind of provider: a line each. Everything above asks for a `ChatModel` and knows none. */
import type { ChatEvent } from '../core/chat-event.ts';
import { Problem } from '../core/problem.ts';
import type { ProviderAccess } from '../core/provider.ts';
import type { ChatModel, ChatRequest } from '../ports/chat-model.ts';
import type { OutboundHttp } from '../ports/outbound.ts';
import type { Clock } from '../ports/runtime.ts';
import type { Adapter } from './adapter.ts';
import { anthropic } from './anthropic.ts';
import { cohere } from './cohere.ts';
import { gemini } from './gemini.ts';
import { chatCompletions } from './openai.ts';
import { openaiResponses } from './openai-responses.ts';
import { withRetries } from './retry.ts';
import { withTextProtocol } from './text-protocol.ts';
import { openReply, readReply } from './transport.ts';

/** `rehearsal` answers for the built-in stand-in, over the same wire (`rehearsal.ts`). */
export type ModelDeps = { http: OutboundHttp; clock: Clock; rehearsal: OutboundHttp };

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

/** A model behind any provider, chosen by the request's `access.kind`; failures before the first batch are retried. */
export function createChatModel(deps: ModelDeps): ChatModel {
  return withTextProtocol({
    async *stream(request, signal) {
      const { first, rest } = await withRetries(deps.clock, signal, () => begin(deps, request, signal));
      try {
        yield first;
        yield* rest;
      } finally {
        // The consumer may leave at the first batch, before `rest` is its business.
        await rest.return(undefined);
      }
    },
  });
}

/** The way to a provider: the network, or the stand-in. */
function httpFor(deps: Pick<ModelDeps, 'http' | 'rehearsal'>, access: ProviderAccess): OutboundHttp {
  return access.kind === 'rehearsal' ? deps.rehearsal : deps.http;
}

async function begin(
  deps: ModelDeps,
  request: ChatRequest,
  signal: AbortSignal,
): Promise<{ first: ChatEvent[]; rest: AsyncGenerator<ChatEvent[]> }> {
  const { access, model } = request;
  const adapter = adapters[access.kind];
  const http = httpFor(deps, access);
  const exchange = { access, path: adapter.path(model), headers: adapter.headers, body: adapter.toBody(request) };
  const open = await openReply({ http, clock: deps.clock }, exchange, signal);
  const rest = readReply(open, access, adapter.createReply(request), signal);
  const { done, value: first } = await rest.next();
  if (done) throw new Error('a reply ended without an end');
  const only = first[0];
  if (only?.type !== 'error') return { first, rest };
  // An error before anything was said is like an error status: it may be tried again, and this exchange is over.
  await rest.return(undefined);
  throw Problem.fromBody(only.problem);
}
