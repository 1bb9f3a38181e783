/** Whether code compiles, as this process's own engine says: for tests of what is made of that, and not of the sandbox. Nothing is run. */
import type { Sandbox } from '../../src/ports/sandbox.ts';

// There is no global of its name.
const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor as new (body: string) => unknown;

export const v8Syntax: Pick<Sandbox, 'check'> = {
  check: async (source) => {
    try {
      new AsyncFunction(source);
      return null;
    } catch (error) {
      return { message: error instanceof Error ? error.message : String(error), line: null };
    }
  },
};
