/** The sandbox port. Loads the engine on first use, since most isolates never run code. */
import type { Sandbox } from '../ports/sandbox.ts';

export function createSandbox(): Sandbox {
  return {
    run: async (run, signal) => await (await import('./run-code.ts')).runInSandbox(run, signal),
    async check(source) {
      const compiled = await (await import('./compile.ts')).compile(source);
      return compiled.ok ? null : compiled.fault;
    },
  };
}
