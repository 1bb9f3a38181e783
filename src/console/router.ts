/**
 * The place in the console that the address names: `/console/<view>/<id>`, with the filters of the view in its query. Links within the console
 * do not load a document.
 */
import { batch, computed, signal } from '@preact/signals';

export type ViewProps = { id: string | null };
export type ConsolePlace = { view: string; id: string | null };

const prefix = '/console';

export const place = signal<ConsolePlace>({ view: 'chat', id: null });

const search = signal('');
/** The query of the address. To change it: `setQuery`. */
export const query = computed(() => new URLSearchParams(search.value));

/** `/` and `/console` are the chat. A stray percent sign is kept. */
export function parsePlace(path: string): ConsolePlace {
  const [view = '', id = ''] = path
    .replace(/^\/console\/?/, '')
    .replace(/^\//, '')
    .split('/');
  return { view: view || 'chat', id: id === '' ? null : decode(id) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function pathOf(view: string, id?: string | null, parameters: Readonly<Record<string, string>> = {}): string {
  const text = new URLSearchParams(parameters).toString();
  return `${prefix}/${view}${id ? `/${encodeURIComponent(id)}` : ''}${text === '' ? '' : `?${text}`}`;
}

export function navigate(path: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', path);
  else history.pushState(null, '', path);
  readAddress();
}

/** Sets parameters of the query, or removes those that are null or empty. Replaces the entry of the history unless `push`. */
export function setQuery(changes: Readonly<Record<string, string | null>>, { push = false } = {}): void {
  const next = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes))
    if (value) next.set(name, value);
    else next.delete(name);
  const text = next.toString();
  navigate(`${location.pathname}${text === '' ? '' : `?${text}`}`, { replace: !push });
}

function readAddress(): void {
  const next = parsePlace(location.pathname);
  batch(() => {
    search.value = location.search;
    if (next.view !== place.value.view || next.id !== place.value.id) place.value = next;
  });
}

/** Follows links and the back and forward buttons. */
export function followPlace(): void {
  if (location.pathname === '/' || location.pathname === prefix) history.replaceState(null, '', pathOf('chat'));
  readAddress();
  addEventListener('popstate', readAddress);
  addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (link === null || !isPlain || event.defaultPrevented || link.target !== '' || link.origin !== location.origin) return;
    if (!link.pathname.startsWith(`${prefix}/`)) return;
    event.preventDefault();
    navigate(link.pathname + link.search);
  });
}
