/** The Catalog does not grow without bound; with more operations in `bounded-sizes.all.workers.test.ts`. */
import { afterEach, it, vi } from 'vitest';
import { kinds, testSizes } from './sizes-room.ts';

afterEach(() => void vi.useRealTimers());

it('the size of the Catalog comes back after operations of all kinds', async () => {
  await testSizes('operations', kinds, { many: 60, some: 10 });
});
