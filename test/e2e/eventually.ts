/** Polling for effects that happen in the background. */
import { waitMs } from '../busy-machine.ts';

/** Polls `look` until it returns a value; throws `what` after the timeout. */
export async function eventually<Found>(what: string, look: () => Promise<Found | undefined> | Found | undefined): Promise<Found> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`timed out: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
