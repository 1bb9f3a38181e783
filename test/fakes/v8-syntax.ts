/** Checks whether code compiles, with this process's own engine, for tests that do not need the sandbox. Runs nothing. */
import type { Sandbox } from '../../src/ports/sandbox.ts';

// The constructor has no global name.
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
