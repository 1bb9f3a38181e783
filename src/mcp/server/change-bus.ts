/**
 * What the SDK's `subscriptions/listen` hears its changes from: watching begins with the stream and ends with it (or after
 * `limits.mcpStreamMs`). One for each request: a stream belongs to the request that opened it, and another request could not write to it.
 */
import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server';
import type { Change } from '../../engine/serve/serve-watch.ts';

/** `watch` ends soon after its signal aborts. */
export function createChangeBus(
  watch: (tell: (change: Change) => void, signal: AbortSignal) => Promise<void>,
  over: () => void,
): ServerEventBus {
  return {
    publish() {
      throw new Error('changes are found by watching; nobody tells them');
    },
    subscribe(listener) {
      const end = new AbortController();
      void watch((change) => listener(toEvent(change)), end.signal).finally(over);
      return () => end.abort(new Error('nobody listens any more'));
    },
  };
}

function toEvent(change: Change): ServerEvent {
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
