/** The dependencies of a simulated process: a model, tools and an outside, controlled by the seed. */
import type { TurnDeps } from '../../src/engine/turn/run-turn.ts';
import type { Directory } from '../../src/ports/directory.ts';
import type { Logger } from '../../src/ports/runtime.ts';
import { createModel } from './model.ts';
import { createExecutor, type Upstream } from './upstream.ts';
import type { Life, World } from './world.ts';

const answered = new Response('ok');

export const silentLog: Logger = { error: () => undefined, info: () => undefined, debug: () => undefined };

/** `sending`: a request leaves the process, so everything that it wrote is durable. */
export function processDeps(world: World, life: Life, upstream: Upstream, sending: () => void): TurnDeps {
  const provider = { name: 'a', kind: 'rehearsal', baseUrl: '', headers: {}, models: [], profile: {} };
  return {
    clock: life.clock,
    ids: { next: (prefix) => world.id(prefix) },
    log: silentLog,
    // A turn uses nothing else of it.
    directory: { provider: async () => provider } as unknown as Directory,
    model: createModel(world, life, () => {
      sending();
      upstream.requests += 1;
    }),
    executor: createExecutor(world, life, upstream, sending),
    fetch: async (request, signal, onHop) => {
      await life.pause('a request leaves');
      signal.throwIfAborted();
      onHop?.(new URL(request.url), 0);
      return answered;
    },
    secret: async () => 'hunter2',
  };
}
