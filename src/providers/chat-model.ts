/** The chat model of all providers: one request through the adapter of its provider's kind, with retries before the first event. */
import { once } from '../core/memoize.ts';
import type { ChatEvent } from '../core/model/chat-event.ts';
import type { Json } from '../core/json/wire-value.ts';
import type { ProviderAccess } from '../core/model/provider.ts';
import { wireOf } from '../core/model/wire-settings.ts';
import type { ChatModel, ChatRequest } from '../ports/chat-model.ts';
import type { OutboundHttp } from '../ports/outbound.ts';
import type { Clock, Logger } from '../ports/runtime.ts';
import type { Telemetry, WithTelemetry } from '../ports/telemetry.ts';
import type { Adapter } from './adapter.ts';
import { withApiChoice } from './api-choice.ts';
import { reportChatFields, reportUnsent } from './native-parts.ts';
import type { ProviderExchange } from './provider-exchange.ts';
import { profileFor } from './profiles.ts';
import { adapters } from './registry.ts';
import { withRetries } from './retry.ts';
import { withAskedFormat } from './supported-settings.ts';
import { wireAccess } from './wire-access.ts';
import { withTextProtocol } from './text-protocol.ts';
import { defineTools, type ToolDefinitions } from './tool-definitions.ts';
import { beginReply, openHead, openReply, readUnstreamed, type ReplyCursor } from './transport.ts';
import { requestBound } from './request-bound.ts';

/** `rehearsal` is the outbound client of the built-in rehearsal model, which uses the same wire (`rehearsal.ts`). */
export type ModelDeps = { http: OutboundHttp; clock: Clock; rehearsal: OutboundHttp; log?: Logger } & WithTelemetry;

/** Creates a chat model for any provider; `access.kind` of a request and its API (`api-choice.ts`) select the adapter. Failures before the first batch are retried. */
export function createChatModel(deps: ModelDeps): ChatModel {
  const model: ChatModel = {
    stream(request, signal) {
      logSkippedTools(deps.log, request);
      return request.whole ? readWhole(deps, request) : readStream(deps, request, signal);
    },
  };
  const chosen = withTextProtocol(withApiChoice(model, deps.clock));
  const onWire: ChatModel = {
    stream: (request, signal) => chosen.stream({ ...request, access: wireAccess(request.access, request.model) }, signal),
  };
  return deps.telemetry == null ? onWire : observedLate(deps.telemetry, onWire);
}

const loadObserved = once(() => import('../engine/telemetry/observe-model.ts'));

/** With a span around each reply; only services with telemetry load the code for it. */
function observedLate(telemetry: Telemetry, model: ChatModel): ChatModel {
  return {
    async *stream(request, signal) {
      const { observeModel } = await loadObserved();
      yield* observeModel(telemetry, model).stream(request, signal);
    },
  };
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
        await reserve(request);
        const begun = await withRetries({ clock: deps.clock, signal, timeouts: request.timeouts }, () => begin(deps, request, signal));
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
  const open = await openReply({ ...deps, http: httpFor(deps, access) }, toExchange(adapter, request), signal);
  return await beginReply(open, { access, reply: adapter.createReply(access) }, signal);
}

/**
 * Returns the reply as one batch. When the client disconnects, the runtime drops the request and all its fetches, so no signal is needed,
 * which in workerd would cost more than everything else.
 */
async function* readWhole(deps: ModelDeps, request: ChatRequest): Reply {
  const { access } = request;
  const adapter = adapters[access.kind];
  const exchange = toExchange(adapter, request);
  await reserve(request);
  yield await withRetries({ clock: deps.clock, timeouts: request.timeouts }, async () => {
    const response = await openHead({ ...deps, http: httpFor(deps, access) }, exchange, { isWhole: true });
    return (await readUnstreamed(response, access)).events;
  });
}

async function reserve(request: ChatRequest): Promise<void> {
  if (request.reserve === undefined) return;
  await request.reserve(requestBound(request, toRequestBody(request)));
}

function toExchange(adapter: Adapter, request: ChatRequest): ProviderExchange {
  return {
    access: request.access,
    model: request.model,
    path: adapter.path(request),
    headers: adapter.headers,
    body: toRequestBody(request),
    timeouts: request.timeouts,
  };
}

/** Returns the body of the request in its provider's wire format. */
export function toRequestBody(request: ChatRequest): Json {
  const profile = profileFor(request.access, request.model);
  const adapter = adapters[request.access.kind];
  if (adapter.dialect !== 'openai-chat') reportChatFields(request);
  reportUnsent(request, wireOf(request.access.kind));
  return adapter.toBody(withAskedFormat(request, profile), profile);
}

/** Logs which tools of a request cannot be sent to its provider, and why; once per list of tools. */
export function logSkippedTools(log: Logger | undefined, { access, model, tools }: Pick<ChatRequest, 'access' | 'model' | 'tools'>): void {
  if (log === undefined || tools.length === 0) return;
  const definitions = defineTools(tools, profileFor(access, model));
  if (definitions.left.size === 0 || logged.has(definitions)) return;
  logged.add(definitions);
  log.info('tools were not sent', {
    provider: access.name,
    model,
    tools: Object.fromEntries([...definitions.left].slice(0, maxLoggedTools)),
  });
}

const logged = new WeakSet<ToolDefinitions>();
const maxLoggedTools = 20;
