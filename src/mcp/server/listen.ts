/** `subscriptions/listen` (2026-07-28): a stream of changes, which ends with its client, its key, or after `limits.mcpStreamMs`. */
import { isRecord, listOf } from '../../core/json/wire-value.ts';
import { limits } from '../../core/limits/limits.ts';
import { subscribe } from '../../engine/mcp/serve-resources.ts';
import { type ServedChange, watchServed } from '../../engine/mcp/serve-watch.ts';
import type { ResourceSubscription } from '../../ports/mcp-sessions.ts';
import { hasOffers, serverIdentity } from './discovery.ts';
import { servedCallerOf, type Exchange } from './exchange.ts';
import { errorText, notificationText, resultText, type RpcRequest } from './messages.ts';
import { createEventStream, eventOf, streamHeaders } from './reply.ts';
import { metaNames } from './revisions.ts';
import { invalidParams } from './rpc-fault.ts';

/** What the client is notified of: the lists by their names in the filter, and resources. */
type Honored = { lists: ReadonlySet<string>; subscriptions: readonly ResourceSubscription[] };

export async function listen(exchange: Exchange, { id, params }: RpcRequest): Promise<Response> {
  const { deps, signal, principal, target, conversation } = exchange;
  const filter = params.notifications;
  if (!isRecord(filter) || !(filter.resourceSubscriptions === undefined || Array.isArray(filter.resourceSubscriptions))) {
    const message = "Invalid params: 'notifications' is required and must be a valid SubscriptionFilter";
    return new Response(errorText(id, invalidParams(message)), { headers: { 'content-type': 'application/json' } });
  }
  const honored = await honor(exchange, params, filter);
  const end = new AbortController();
  const leave = (): void => end.abort(new Error('the client has disconnected'));
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  const stream = createEventStream(leave);
  const body = stream.open();
  const _meta = { [metaNames.subscriptionId]: id };
  const notify = (method: string, more: object): void => stream.write(eventOf(notificationText(method, { ...more, _meta })));
  const names = { ...Object.fromEntries([...honored.lists].map((name) => [name, true])), ...subscriptionsOf(honored) };
  notify('notifications/subscriptions/acknowledged', { notifications: names });
  const view = await exchange.viewOf();
  const watched = { principal, target, view, conversation, lists: honored.lists.size > 0, subscriptions: honored.subscriptions };
  const onChange = (change: ServedChange): void => {
    if (change.kind === 'resource') notify('notifications/resources/updated', { uri: change.uri });
    else if (honored.lists.has(`${change.kind}ListChanged`)) notify(`notifications/${change.kind}/list_changed`, {});
  };
  const run = async (): Promise<void> => {
    try {
      if (Object.keys(names).length > 0) await watchServed(deps, watched, onChange, end.signal);
    } catch (error) {
      // The client listens again when its stream ends.
      deps.log.error('a client cannot be notified of changes', { cause: String(error) });
    }
    signal.removeEventListener('abort', leave);
    const result = { resultType: 'complete', _meta: { ..._meta, [metaNames.serverInfo]: serverIdentity(target) } };
    stream.write(eventOf(resultText(id, JSON.stringify(result))));
    stream.close();
  };
  deps.background(run());
  return new Response(body, { headers: streamHeaders });
}

function subscriptionsOf({ subscriptions }: Honored): { resourceSubscriptions?: string[] } {
  return subscriptions.length === 0 ? {} : { resourceSubscriptions: subscriptions.map(({ uri }) => uri) };
}

/** Each resource is authorized. One that is refused is not in the acknowledgement, which names what is honored. */
async function honor(exchange: Exchange, params: RpcRequest['params'], filter: Record<string, unknown>): Promise<Honored> {
  const { deps, target, signal } = exchange;
  const caller = await servedCallerOf(exchange, params);
  const offers = hasOffers(target, caller.view);
  const known = offers ? ['toolsListChanged', 'promptsListChanged', 'resourcesListChanged'] : ['toolsListChanged'];
  const named = offers ? listOf(filter.resourceSubscriptions).filter((uri) => typeof uri === 'string') : [];
  const asked = named.slice(0, limits.maxMcpSubscriptions);
  const answers = await Promise.allSettled(asked.map((uri) => subscribe(deps, { ...caller, channel: {}, askable: {} }, uri, signal)));
  const subscriptions = answers.flatMap((answer) => {
    if (answer.status === 'fulfilled') return [answer.value];
    deps.log.info('a subscription was refused', { cause: String(answer.reason) });
    return [];
  });
  return { lists: new Set(known.filter((name) => filter[name] === true)), subscriptions };
}
