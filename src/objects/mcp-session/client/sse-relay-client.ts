/** The client of the objects that hold the streams of HTTP+SSE clients. */
import { unwrap } from '../../../core/problem.ts';
import type { Remote } from '../../../ports/remote.ts';
import type { SseConnection, SseRelays, SseSending, SseStart } from '../../../ports/sse-relays.ts';
import type { Bindings } from '../../../storage/bindings.ts';
import { byName, objectClient } from '../../shared/object-client.ts';
import { objectPlace } from '../../shared/object-place.ts';

/** What the object has besides `fetch`, which opens the stream: a response of `fetch` keeps the object in memory until its end. */
export interface SseRelayPort {
  send(connection: SseConnection, sending: SseSending): Promise<void>;
}

export type SseOpening = { connection: SseConnection; start: SseStart };

export function createSseRelays({ SSE_RELAY }: Pick<Bindings, 'SSE_RELAY'>): SseRelays {
  const placeOf = ({ caller: { workspace, keyId }, target, id }: SseConnection) =>
    objectPlace(SSE_RELAY, workspace, 'sse-relay', JSON.stringify([keyId, target, id]));
  return {
    async open(connection, start) {
      const { namespace, id } = placeOf(connection);
      const opening: SseOpening = { connection, start };
      const request = new Request('https://relay.invalid/', { method: 'POST', body: JSON.stringify(opening) });
      const response = await namespace.get(await id()).fetch(request);
      return response.status === 200 ? response : unwrap<never>(await response.json());
    },
    async send(connection, sending) {
      const binding = { ...placeOf(connection), what: 'The stream', timeoutMs: null, send: byName<SseRelayPort>() };
      await objectClient(binding, { send: { retry: false } }).send(connection, sending);
    },
  };
}

export type SseRelayRpc = Remote<SseRelayPort>;
