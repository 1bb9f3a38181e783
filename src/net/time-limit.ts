/**
 * Waiting, but not for ever: what the work gives, or after `ms` what `late` gives or throws. The work itself goes on; a
 * failure of it that comes later is nobody's. Used around RPC, KV, publishing and request bodies.
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
