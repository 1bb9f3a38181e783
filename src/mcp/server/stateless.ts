/**
 * Serves one HTTP request to a toolset in the Worker, without stored state: revision 2026-07-28, which has no sessions, and requests of the
 * 2025 revisions without a session. Listing uses no Durable Object; a call uses one for its audit row.
 */
import { recordOf } from '../../core/json/wire-value.ts';
import type { InFlightCallSlot } from '../../engine/mcp/in-flight-call.ts';
import type { Exchange, ServedRequest, ServeDeps } from './exchange.ts';
import { idOf, type InboundPost, readInbound } from './inbound.ts';
import { listen } from './listen.ts';
import { notificationText, type RpcRequest } from './messages.ts';
import { answerRequest } from './methods.ts';
import { reply, type ReplyTo } from './reply.ts';
import { metaNames } from './revisions.ts';
import { refuse, RpcFault, rpcCodes, toRpcFault } from './rpc-fault.ts';
import { refusedHeaders } from './session-responses.ts';

/** `inbound`: what the POST contains; null: another method. `hold`: where its call may stay open. */
type StatelessRequest = ServedRequest & { inbound: InboundPost | null; hold?: InFlightCallSlot };

/** `body`: of a POST, parsed. */
export async function serveBody(deps: ServeDeps, served: Omit<StatelessRequest, 'inbound'>, body: unknown): Promise<Response> {
  const inbound = inboundOf(deps, served.request, body);
  return inbound instanceof Response ? inbound : await serveStateless(deps, { ...served, inbound });
}

/** Returns what a POST contains, or its refusal; null: another method. */
export function inboundOf({ log }: Pick<ServeDeps, 'log'>, { method, headers }: Request, body: unknown): InboundPost | Response | null {
  try {
    return method === 'POST' ? readInbound(headers, body) : null;
  } catch (thrown) {
    return refuse(toRpcFault(thrown, log), idOf(body));
  }
}

export async function serveStateless(deps: ServeDeps, served: StatelessRequest): Promise<Response> {
  const { inbound, request } = served;
  if (inbound === null) return refuse(new RpcFault(rpcCodes.server, 'Method not allowed.', undefined, 405), null, { allow: 'POST' });
  if (inbound.era === 'modern') {
    const { message } = inbound;
    if (message.kind === 'notification') return accepted();
    const exchange = exchangeOf(deps, served, message);
    if (message.method === 'subscriptions/listen')
      return await listen(exchange({ signal: request.signal, send: () => undefined }), message);
    return await reply(request.signal, false, (to) => answerRequest(exchange(to), message));
  }
  const refused = refusedHeaders(request.headers);
  if (refused !== null) return refused;
  const requests = inbound.messages.filter((message) => message.kind === 'request');
  const [only] = requests;
  if (only === undefined) return accepted();
  if (requests.length === 1) return await reply(request.signal, true, (to) => answerRequest(exchangeOf(deps, served, only)(to), only));
  return await reply(request.signal, true, async (to) => {
    await Promise.all(requests.map(async (message) => to.send((await answerRequest(exchangeOf(deps, served, message)(to), message)).text)));
    return null;
  });
}

export function accepted(): Response {
  return new Response(null, { status: 202 });
}

function exchangeOf(deps: ServeDeps, { inbound, principal, target, view, request, hold }: StatelessRequest, { params }: RpcRequest) {
  const isModern = inbound?.era === 'modern';
  const { [metaNames.clientCapabilities]: capabilities, [metaNames.logLevel]: level } = recordOf(params._meta);
  return ({ signal, send }: ReplyTo): Exchange => ({
    ...{ deps, principal, target, signal },
    era: isModern ? 'modern' : 'stateless',
    viewOf: async () => view,
    conversation: principal.keyId,
    headers: request.headers,
    capabilities: isModern ? recordOf(capabilities) : null,
    // Of the 2025 revisions a client gets all messages until it says otherwise, which it cannot without a session.
    logLevel: isModern && typeof level === 'string' ? level : null,
    notify: (method, parameters) => send(notificationText(method, parameters)),
    ...(hold && { hold }),
  });
}
