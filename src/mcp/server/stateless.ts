/**
 * Serves one HTTP request to a toolset in the Worker, without stored state: revision 2026-07-28, which has no sessions, and requests of the
 * 2025 eras without a session. Listing uses no Durable Object; a call uses one for its audit row.
 */
import { createMcpHandler } from '@modelcontextprotocol/server';
import { limits } from '../../core/limits.ts';
import type { Principal } from '../../core/principal.ts';
import { isRecord } from '../../core/json/wire-value.ts';
import type { InFlightCallSlot } from '../../engine/mcp/in-flight-call.ts';
import type { ServedView, ServeTarget } from '../../engine/mcp/serve-view.ts';
import { watchServed } from '../../engine/mcp/serve-watch.ts';
import { buildServer } from './build-server.ts';
import { createChangeBus } from './change-bus.ts';
import { heartbeatResponse } from './heartbeat-response.ts';
import { createOpenListeners } from './open-listeners.ts';
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

/** Shared by the isolate. */
const listeners = createOpenListeners();

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
  const handler = createMcpHandler(({ era }) => buildServer(serving(era), view), {
    bus: createChangeBus(
      (tell, signal) => {
        const watched = { principal, target, view, conversation, ...wantedBy(body) };
        return listeners.during(principal, deps.clock.now(), watchServed(deps, watched, tell, signal));
      },
      () => void handler.close(),
    ),
    maxSubscriptions: 1,
    maxRequestBodySize: limits.maxBodyBytes,
    keepAliveMs: limits.mcpAnswerHeartbeatMs,
    onerror: (error) => deps.log.debug('rejected an MCP request', { cause: String(error) }),
  });
  return await heartbeatResponse(request, (asked) => handler.fetch(asked, { ...(body !== undefined && { parsedBody: body }) }));
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
