/** How long a test waits for an event, here and in `expect.poll`. Only a test that fails waits this long. */
export const waitMs = 60_000;
