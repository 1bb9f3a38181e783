/** The Catalog does not grow without bound, by thousands of operations of each kind. */
import { afterEach, it, vi } from 'vitest';
import { kinds, testSizes } from './sizes-room.ts';

afterEach(() => void vi.useRealTimers());

it.each(kinds)('the size of the Catalog comes back after many %s', { timeout: 1_800_000 }, async (...kind) => {
  await testSizes(kind[0], [kind], { many: 10_000, some: 1_000 });
});
