/** Many seeds of the simulation of calls that share a budget. */
import { afterEach, describe, it, vi } from 'vitest';
import { simulate } from './spending.ts';

afterEach(() => void vi.restoreAllMocks());

describe('any mixture of bursts, ends, lost reports, killed isolates and time', () => {
  it.each(Array.from({ length: 200 }, (_, index) => index + 100))('spends at most the budget and one call (seed %i)', async (seed) => {
    await simulate(seed);
  });
});
