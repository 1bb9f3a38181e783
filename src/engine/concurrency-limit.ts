/** Limits concurrency: runs at most `most` pieces of work at once; the others wait in order of arrival. */
export function createConcurrencyLimit(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  let resumed = 0;
  return async (work) => {
    if (running < most) running += 1;
    // Finished work hands its slot directly to the next in line, so a slot is never free in between.
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting[resumed];
      if (next === undefined) running -= 1;
      else {
        resumed += 1;
        next();
      }
    }
  };
}
