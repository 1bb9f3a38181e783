/** Waits for effects in the background, for as long as a busy machine may need. */
import { vi } from 'vitest';
import { waitMs } from './busy-machine.ts';

/** Repeats `look` until it does not throw, and returns its result. */
export function waitFor<Found>(look: () => Found | Promise<Found>): Promise<Found> {
  return vi.waitFor(look, { timeout: waitMs });
}

/** Lets work that is ready run, so many times: what has only to be scheduled has run then. */
export async function otherTasks(rounds = 1): Promise<void> {
  for (let round = 0; round < rounds; round += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Repeats `look` until it returns something truthy, and returns that. */
export function waitUntil<Found>(look: () => Found | Promise<Found>) {
  return vi.waitUntil(look, { timeout: waitMs });
}
