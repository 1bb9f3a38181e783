/** Types of the Workers runtime that are missing from the generated ones (`npm run types`). Only the worker's tsconfig.json uses them. */

/** The standard accepts undefined, as the runtime does; the generated types only accept a number or null. */
declare function clearTimeout(id: number | null | undefined): void;
declare function clearInterval(id: number | null | undefined): void;

// The parts of Node's modules that the worker uses; the runtime has them by default since 2026-08-04.
declare module 'node:crypto' {
  export function createHash(algorithm: 'sha256'): { update(data: string | Uint8Array): { digest(encoding: 'hex'): string } };
}
declare module 'node:async_hooks' {
  export class AsyncLocalStorage<Store> {
    getStore(): Store | undefined;
    run<Result>(store: Store, callback: () => Result): Result;
  }
}
