/** The sandbox port. Loads the engine on first use, since most isolates never run code. */
import type { ShareOwner } from '../core/limits/fair-share.ts';
import type { Sandbox } from '../ports/sandbox.ts';
import type { MachineMemory } from './run-code.ts';

/** `memory`: of all machines of the isolate, in bytes. `owner`: whose code it runs. */
export function createSandbox(memory: MachineMemory, owner: ShareOwner): Sandbox {
  return {
    run: async (run, signal) => await (await import('./run-code.ts')).runInSandbox(run, { memory, owner }, signal),
    async check(source) {
      const compiled = await (await import('./compile.ts')).compile(source);
      return compiled.ok ? null : compiled.fault;
    },
  };
}
