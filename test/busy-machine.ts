/** What tests allow for a machine that other work keeps busy. */

/** How long a test waits for an event, here and in `expect.poll`. Only a test that fails waits this long. */
export const waitMs = 60_000;

/** Retries of tests of limits that are times: where other work takes most of the processor, the limit can end what should go well. */
export const onBusyMachine = 2;

/**
 * In CI, where other work can take most of the processor for a while, a test that fails is repeated once, and `test/run.ts` names
 * it. Not if a property failed: it would be tried with other inputs, and the ones that found a fault would be lost.
 */
export const repeatInCi = process.env.CI ? { count: 1, condition: /^(?!Property failed)/ } : 0;
