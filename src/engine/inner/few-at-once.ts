/** So many pieces of work at once; the others wait in the order in which they came. */
export function createFewAtOnce(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let taken = 0;
  let begun = 0;
  return async (work) => {
    if (taken < most) taken += 1;
    // Whoever ends gives its place on: it is never free in between.
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting[begun];
      if (next === undefined) taken -= 1;
      else {
        begun += 1;
        next();
      }
    }
  };
}
