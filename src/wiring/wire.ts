/** The wiring of an isolate of Cloudflare Workers, for the Worker and its Durable Objects. Other runtimes call `createWiring` (`edge.ts`). */
import { runInBackground } from '../platform/background.ts';
import type { Bindings } from '../storage/bindings.ts';
import { createWiring } from './create-wiring.ts';

let wired: ReturnType<typeof createWiring> | null = null;

/** Returns one instance per isolate, so that the Worker and its objects share the caches. */
export function wire(bindings: Bindings) {
  wired ??= createWiring(bindings, { background: runInBackground });
  return wired;
}
