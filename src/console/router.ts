/** The place in the console that the path names: `/console/<view>/<id>`. Links within the console do not load a document. */
import { signal } from '@preact/signals';

export type ViewProps = { id: string | null };
export type ConsolePlace = { view: string; id: string | null };

const prefix = '/console';

export const place = signal<ConsolePlace>({ view: 'chat', id: null });

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

export function pathOf(view: string, id?: string | null): string {
  return `${prefix}/${view}${id ? `/${encodeURIComponent(id)}` : ''}`;
}

export function navigate(path: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', path);
  else history.pushState(null, '', path);
  place.value = parsePlace(path);
}

/** Follows links and the back and forward buttons. */
export function followPlace(): void {
  if (location.pathname === '/' || location.pathname === prefix) history.replaceState(null, '', pathOf('chat'));
  place.value = parsePlace(location.pathname);
  addEventListener('popstate', () => {
    place.value = parsePlace(location.pathname);
  });
  addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (link === null || !isPlain || event.defaultPrevented || link.target !== '' || link.origin !== location.origin) return;
    if (!link.pathname.startsWith(`${prefix}/`)) return;
    event.preventDefault();
    navigate(link.pathname);
  });
}
