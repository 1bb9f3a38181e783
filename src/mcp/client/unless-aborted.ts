/** Waiting that ends with a signal, also where what is waited for knows none. */

/** Throws the signal's reason once it aborts. The work itself goes on: `late` gets what comes of it, and a failure of it is nobody's. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal, late: (value: T) => unknown = () => {}): Promise<T> {
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => {
      reject(signal.reason);
      work.then(late).catch(() => {
        // Nobody waits for it any more.
      });
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    await unlessAborted(new Promise<void>((resolve) => (timer = setTimeout(resolve, ms))), signal);
  } finally {
    clearTimeout(timer);
  }
}
