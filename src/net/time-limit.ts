/**
 * Returns the value of `work`, or after `ms` what `late` returns or throws. The work itself continues, and a later failure of it is
 * ignored. Used for RPC, KV, publishing and request bodies.
 */
export async function withTimeLimit<T>(work: Promise<T>, ms: number, late: () => T): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<T>((resolve, reject) => {
    timer = setTimeout(() => {
      try {
        resolve(late());
      } catch (error) {
        reject(error);
      }
    }, ms);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}
