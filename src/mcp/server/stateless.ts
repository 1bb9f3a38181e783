/**
 * Serves one HTTP request to a toolset in the Worker, without stored state: revision 2026-07-28, which has no sessions, and requests of the
 * 2025 eras without a session. Listing uses no Durable Object; a call uses one for its audit row.
 */
import { createMcpHandler, type ServerEvent, type ServerEventBus } from '@modelcontextprotocol/server';
import { limits } from '../../core/limits/limits.ts';
import { isRecord, listOf, recordOf } from '../../core/json/wire-value.ts';
import type { InFlightCallSlot } from '../../engine/mcp/in-flight-call.ts';
import type { ServedCaller } from '../../engine/mcp/serve-call.ts';
import { readServerInstructions, subscribe } from '../../engine/mcp/serve-resources.ts';
import { watchServed, type ServedChange } from '../../engine/mcp/serve-watch.ts';
import type { ResourceSubscription } from '../../ports/mcp-sessions.ts';
import { buildServer } from './build-server.ts';
import { heartbeatResponse } from './heartbeat-response.ts';
import type { ServedRequest, ServeDeps, ServeContext } from './serve-context.ts';

/** `body`: the parsed body of a POST. `hold`: where its call may stay open. */
export type StatelessRequest = ServedRequest & { body: unknown; hold?: InFlightCallSlot };

export async function serveStateless(
  deps: ServeDeps,
  { request, body, principal, target, view, hold }: StatelessRequest,
): Promise<Response> {
  const conversation = principal.keyId;
  const caller = { principal, target, view, conversation, channel: {}, askable: {} };
  const isListening = isRecord(body) && body.method === 'subscriptions/listen';
  const listening = isListening ? await readListening(deps, caller, body, request.signal) : null;
  const serving = (era: 'modern' | 'legacy'): ServeContext => ({
    deps,
    era: era === 'modern' ? 'modern' : 'stateless',
    target,
    conversation,
    principalOf: () => principal,
    viewOf: async () => view,
    ...(hold && { hold }),
  });
  const isStart = isRecord(body) && (body.method === 'server/discover' || body.method === 'initialize');
  const own = isStart ? await readServerInstructions(deps, principal.workspace, view) : [];
  const handler = createMcpHandler(({ era }) => buildServer(serving(era), view, own), {
    bus: createChangeBus(
      (notify, signal) => {
        const watched = { ...caller, lists: listening?.lists === true, subscriptions: listening?.subscriptions ?? [] };
        return watchServed(deps, watched, notify, signal);
      },
      () => void handler.close(),
    ),
    maxSubscriptions: 1,
    maxRequestBodySize: limits.maxBodyBytes,
    keepAliveMs: limits.mcpAnswerHeartbeatMs,
    onerror: (error) => deps.log.debug('rejected an MCP request', { cause: String(error) }),
  });
  // The body has already been read; only the rest of the request is used.
  const { url, method, headers } = request;
  return await heartbeatResponse(request.signal, (signal) =>
    handler.fetch(new Request(url, { method, headers, signal }), { ...(body !== undefined && { parsedBody: listening?.body ?? body }) }),
  );
}

type Listening = { lists: boolean; subscriptions: readonly ResourceSubscription[]; body: unknown };

/**
 * Returns what `subscriptions/listen` requests; the SDK checks the form. Each resource is authorized. One that is refused is left out of the
 * request, so that the acknowledgement, which names what is honored, is without it.
 */
async function readListening(
  deps: ServeDeps,
  caller: ServedCaller,
  body: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Listening> {
  const params = recordOf(body.params);
  const filter = recordOf(params.notifications);
  const lists = ['toolsListChanged', 'promptsListChanged', 'resourcesListChanged'].some((name) => filter[name] === true);
  const named = listOf(filter.resourceSubscriptions).filter((uri) => typeof uri === 'string');
  if (named.length === 0) return { lists, subscriptions: [], body };
  const asked = named.slice(0, limits.maxMcpSubscriptions);
  const answers = await Promise.allSettled(asked.map((uri) => subscribe(deps, caller, uri, signal)));
  const subscriptions = answers.flatMap((answer) => {
    if (answer.status === 'fulfilled') return [answer.value];
    deps.log.info('a subscription was refused', { cause: String(answer.reason) });
    return [];
  });
  const honored = { ...filter, resourceSubscriptions: subscriptions.map(({ uri }) => uri) };
  return { lists, subscriptions, body: { ...body, params: { ...params, notifications: honored } } };
}

/**
 * The change source of the SDK's `subscriptions/listen`: watching starts and ends with the stream (or after `limits.mcpStreamMs`). One per
 * request: a stream belongs to the request that opened it, and another request could not write to it. `watch` ends soon after its signal
 * aborts.
 */
export function createChangeBus(
  watch: (notify: (change: ServedChange) => void, signal: AbortSignal) => Promise<void>,
  over: () => void,
): ServerEventBus {
  return {
    publish() {
      throw new Error('changes are detected by watching and cannot be published');
    },
    subscribe(listener) {
      const end = new AbortController();
      void watch((change) => listener(toEvent(change)), end.signal).finally(over);
      return () => end.abort(new Error('the listener has disconnected'));
    },
  };
}

function toEvent(change: ServedChange): ServerEvent {
  switch (change.kind) {
    case 'tools':
      return { kind: 'tools_list_changed' };
    case 'prompts':
      return { kind: 'prompts_list_changed' };
    case 'resources':
      return { kind: 'resources_list_changed' };
    case 'resource':
      return { kind: 'resource_updated', uri: change.uri };
    default:
      return change satisfies never;
  }
}
