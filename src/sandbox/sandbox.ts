/** The sandbox as the rest of the house has it. The engine is loaded by the first who uses it: most isolates never run code of others. */
import type { Sandbox } from '../ports/sandbox.ts';

export function createSandbox(): Sandbox {
  return {
    run: async (run, signal) => await (await import('./run-code.ts')).runCode(run, signal),
    async check(source) {
      const compiled = await (await import('./compile.ts')).compile(source);
      return compiled.ok ? null : compiled.fault;
    },
  };
}
