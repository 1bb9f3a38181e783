/** What the frame of the console shows and reads again and again while the tab is visible. */
import { effect, signal } from '@preact/signals';
import { MonikerError, type MonikerClient } from '../../../client/src/index.ts';
import { moniker } from './moniker.ts';

export function createPoll<Data>(everyMs: number, read: (client: MonikerClient) => Promise<Data>) {
  /** null: not read yet with the key of the tab. */
  const data = signal<Data | null>(null);
  /** Of the newest attempt. */
  const error = signal<unknown>(null);

  async function refresh(): Promise<void> {
    const client = moniker.value;
    try {
      const found = await read(client);
      if (moniker.value !== client) return;
      data.value = found;
      error.value = null;
    } catch (thrown) {
      if (moniker.value === client) error.value = thrown;
    }
  }

  /** Reads until the returned function is called. A key that may not read it is not used again. */
  function start(): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isStopped = false;
    const isForbidden = (): boolean => error.value instanceof MonikerError && [401, 403].includes(error.value.status);
    const run = async (): Promise<void> => {
      clearTimeout(timer);
      if (isStopped || document.hidden) return;
      await refresh();
      clearTimeout(timer);
      if (!isStopped && !isForbidden()) timer = setTimeout(() => void run(), everyMs);
    };
    const stop = effect(() => {
      void moniker.value;
      data.value = null;
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
  return { data, error, refresh, start };
}
