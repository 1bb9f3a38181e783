/** The stream on which the client of an MCP session listens: watches for changes while it is open, and notifies the client of them. */
import type { Server } from '@modelcontextprotocol/server';
import type { Principal } from '../core/principal.ts';
import { readView, type ServeTarget } from '../engine/mcp/serve-view.ts';
import { watchServed, type ServedChange } from '../engine/mcp/serve-watch.ts';
import type { MetaStore } from './session-meta.ts';
import type { ServeDeps } from '../mcp/server/serve-context.ts';

export type WatchHost = { deps: ServeDeps; id: string; target: ServeTarget; meta: Pick<MetaStore, 'subscriptions'> };

/** `stream`: identifies the response that changes are sent on. */
type Watch = { abort: AbortController; caller: Principal; stream: object };

export class StreamWatch {
  readonly #host: WatchHost;
  readonly #server: Server;
  readonly #closeStream: () => void;
  #watch: Watch | null = null;

  constructor(host: WatchHost, server: Server, closeStream: () => void) {
    this.#host = host;
    this.#server = server;
    this.#closeStream = closeStream;
  }

  begin(caller: Principal, stream: object): void {
    const before = this.#watch;
    const abort = new AbortController();
    const watch: Watch = { abort, caller, stream };
    this.#watch = watch;
    before?.abort.abort(new Error('a newer watch has started'));
    const { deps, target, id, meta } = this.#host;
    const run = async (): Promise<void> => {
      const view = await readView(deps, caller, target);
      const watched = { principal: caller, target, view, conversation: id, lists: true, uris: () => meta.subscriptions() };
      await watchServed(deps, watched, (change) => this.notify(change), abort.signal);
    };
    run()
      .catch((error: unknown) => deps.log.debug('a session cannot watch for changes', { cause: String(error) }))
      .finally(() => {
        // The watch has reached its time limit: the client reconnects with the last event id that it received.
        if (this.#watch === watch) this.#closeStream();
      });
  }

  /** Restarts the watch with the current subscriptions. */
  restart(): void {
    if (this.#watch !== null) this.begin(this.#watch.caller, this.#watch.stream);
  }

  end(reason: Error): void {
    this.#watch?.abort.abort(reason);
  }

  /** Ends the watch of this stream, unless a later stream has started its own. */
  endFor(stream: object): void {
    if (this.#watch?.stream !== stream) return;
    this.end(new Error('the stream was closed'));
    this.#watch = null;
  }

  notify(change: ServedChange): void {
    const { meta, deps } = this.#host;
    if (change.kind === 'resource' && !meta.subscriptions().includes(change.uri)) return;
    notifyOf(this.#server, change).catch((error: unknown) =>
      deps.log.debug('an MCP client could not be notified', { cause: String(error) }),
    );
  }
}

async function notifyOf(server: Server, change: ServedChange): Promise<void> {
  switch (change.kind) {
    case 'tools':
      return await server.sendToolListChanged();
    case 'prompts':
      return await (server.getCapabilities().prompts === undefined ? undefined : server.sendPromptListChanged());
    case 'resources':
      return await (server.getCapabilities().resources === undefined ? undefined : server.sendResourceListChanged());
    case 'resource':
      return await server.sendResourceUpdated({ uri: change.uri });
    default:
      return change satisfies never;
  }
}

/** Passes a stream through and calls `onEnd` once when it ends, fails or is cancelled by its reader. */
export function onBodyEnd(body: ReadableStream<Uint8Array> | null, onEnd: () => void): ReadableStream<Uint8Array> | null {
  if (body === null) return null;
  const reader = body.getReader();
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    onEnd();
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        end();
        controller.close();
      } catch (error) {
        end();
        controller.error(error);
      }
    },
    async cancel(reason) {
      end();
      await reader.cancel(reason);
    },
  });
}
