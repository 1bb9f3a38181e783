/**
 * The change source of the SDK's `subscriptions/listen`: watching starts and ends with the stream (or after `limits.mcpStreamMs`). One per
 * request: a stream belongs to the request that opened it, and another request could not write to it.
 */
import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server';
import type { ServedChange } from '../../engine/mcp/serve-watch.ts';

/** `watch` ends soon after its signal aborts. */
export function createChangeBus(
  watch: (tell: (change: ServedChange) => void, signal: AbortSignal) => Promise<void>,
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
