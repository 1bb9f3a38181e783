/** The API key of this tab: a signal over `sessionStorage`. A new tab gets the key of another open tab of this service. */
import { effect, signal } from '@preact/signals';

const storageName = 'moniker-key';

export const apiKey = signal('');

/** Reads the stored key, or moves one from the fragment (`#key=…`) to the storage, so that it is not in the URL or the history. */
export function loadKey(): void {
  const given = new URLSearchParams(location.hash.slice(1)).get('key');
  if (given) history.replaceState(null, '', location.pathname + location.search);
  apiKey.value = given || (sessionStorage.getItem(storageName) ?? '');
  shareKey();
  effect(() => {
    if (apiKey.value === '') sessionStorage.removeItem(storageName);
    else sessionStorage.setItem(storageName, apiKey.value);
  });
}

/** Tabs of the same origin only. A tab that has a key does not take another one. */
function shareKey(): void {
  const channel = new BroadcastChannel(storageName);
  channel.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    if (data === 'ask' && apiKey.value !== '') channel.postMessage({ key: apiKey.value });
    const isAnswer = typeof data === 'object' && data !== null && 'key' in data && typeof data.key === 'string';
    if (isAnswer && apiKey.value === '') apiKey.value = String(data.key);
  });
  if (apiKey.value === '') channel.postMessage('ask');
}
