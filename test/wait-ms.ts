/** How long a test waits for an event, here and in `expect.poll`. Only a test that fails waits this long. */
export const waitMs = 60_000;

/** Retries of tests of limits that are times: where other work takes most of the processor, the limit can end what should go well. */
export const onBusyMachine = 2;
