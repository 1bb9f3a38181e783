/** `cloudflare:workers` in Node (`test/vitest.node.ts`): the base class of an object has its state and bindings, and nothing waits for background work. */

export class DurableObject<Env> {
  readonly ctx: DurableObjectState;
  readonly env: Env;

  constructor(ctx: DurableObjectState, env: Env) {
    this.ctx = ctx;
    this.env = env;
  }
}

export function waitUntil(work: Promise<unknown>): void {
  work.catch(() => undefined);
}
