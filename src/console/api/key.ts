/** The API key of this tab: a signal over `sessionStorage`, under the name that the start page uses too. */
import { effect, signal } from '@preact/signals';

const storageName = 'moniker-key';

export const apiKey = signal('');

/** Reads the stored key, or moves one from the fragment (`#key=…`) to the storage, so that it is not in the URL or the history. */
export function loadKey(): void {
  const given = new URLSearchParams(location.hash.slice(1)).get('key');
  if (given) history.replaceState(null, '', location.pathname + location.search);
  apiKey.value = given || (sessionStorage.getItem(storageName) ?? '');
  effect(() => {
    if (apiKey.value === '') sessionStorage.removeItem(storageName);
    else sessionStorage.setItem(storageName, apiKey.value);
  });
}
