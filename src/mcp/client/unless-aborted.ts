/** Waiting that ends with a signal, also for work that does not support signals. */

/**
 * Throws the signal's reason when it aborts. The work continues in the background: `late` receives its value, and its failure is ignored.
 */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal, late: (value: T) => unknown = () => {}): Promise<T> {
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => {
      reject(signal.reason);
      work.then(late).catch(() => {
        // A failure after the abort has no receiver.
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
