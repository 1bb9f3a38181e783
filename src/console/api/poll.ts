/** Repeats a request while the tab is visible, for what the frame of the console shows. */
import { effect, type ReadonlySignal } from '@preact/signals';
import { MonikerError } from '../../../client/src/index.ts';
import { moniker } from './moniker.ts';

/** `error`: of the newest attempt. `forget`: called when the key of the tab changes. */
type Polling = { everyMs: number; error: ReadonlySignal<unknown>; forget(): void };

/** Repeats `read` until the returned function is called. A key that may not read it is not used again. */
export function poll(read: () => Promise<void>, { everyMs, error, forget }: Polling): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;
  const isForbidden = (): boolean => error.value instanceof MonikerError && [401, 403].includes(error.value.status);
  const run = async (): Promise<void> => {
    clearTimeout(timer);
    if (isStopped || document.hidden) return;
    await read();
    clearTimeout(timer);
    if (!isStopped && !isForbidden()) timer = setTimeout(() => void run(), everyMs);
  };
  const stop = effect(() => {
    void moniker.value;
    forget();
    void run();
  });
  const show = (): void => void run();
  document.addEventListener('visibilitychange', show);
  return () => {
    isStopped = true;
    clearTimeout(timer);
    stop();
    document.removeEventListener('visibilitychange', show);
  };
}
