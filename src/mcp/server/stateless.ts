/**
 * Serves one HTTP request to a toolset in the Worker, without stored state: revision 2026-07-28, which has no sessions, and requests of the
 * 2025 eras without a session. Listing uses no Durable Object; a call uses one for its audit row.
 */
import { createMcpHandler, type ServerEvent, type ServerEventBus } from '@modelcontextprotocol/server';
import { limits } from '../../core/limits.ts';
import type { Principal } from '../../core/principal.ts';
import { isRecord } from '../../core/json/wire-value.ts';
import type { InFlightCallSlot } from '../../engine/mcp/in-flight-call.ts';
import { readServerInstructions } from '../../engine/mcp/serve-resources.ts';
import type { ServedView, ServeTarget } from '../../engine/mcp/serve-view.ts';
import { watchServed, type ServedChange } from '../../engine/mcp/serve-watch.ts';
import { buildServer } from './build-server.ts';
import { heartbeatResponse } from './heartbeat-response.ts';
import { listeners } from './open-listeners.ts';
import type { ServeDeps, ServeContext } from './serve-context.ts';

/** `body`: the parsed body of a POST. `view`: read for this request. `hold`: where its call may stay open. */
export type StatelessRequest = {
  request: Request;
  body: unknown;
  principal: Principal;
  target: ServeTarget;
  view: ServedView;
  hold?: InFlightCallSlot;
};

export async function serveStateless(
  deps: ServeDeps,
  { request, body, principal, target, view, hold }: StatelessRequest,
): Promise<Response> {
  const conversation = principal.keyId;
  if (isRecord(body) && body.method === 'subscriptions/listen') listeners.requireCapacity(principal, deps.clock.now());
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
        const watched = { principal, target, view, conversation, ...wantedBy(body) };
        return listeners.during(principal, deps.clock.now(), watchServed(deps, watched, notify, signal));
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
    handler.fetch(new Request(url, { method, headers, signal }), { ...(body !== undefined && { parsedBody: body }) }),
  );
}

/** Returns what `subscriptions/listen` requests; the SDK checks the form. */
function wantedBy(body: unknown): { lists: boolean; uris(): readonly string[] } {
  const params = isRecord(body) && isRecord(body.params) ? body.params : {};
  const filter = isRecord(params.notifications) ? params.notifications : {};
  const named = Array.isArray(filter.resourceSubscriptions) ? filter.resourceSubscriptions.filter((uri) => typeof uri === 'string') : [];
  const uris = named.slice(0, limits.maxMcpSubscriptions);
  const lists = ['toolsListChanged', 'promptsListChanged', 'resourcesListChanged'].some((name) => filter[name] === true);
  return { lists, uris: () => uris };
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
