/** The place in the reference that the fragment of the URL names: `#operation/<id>`, `#schema/<name>`, `#tag/<name>`. */
import { signal } from '@preact/signals';

export type DocsRoute = { page: 'overview' | 'operation' | 'schema' | 'tag'; name: string };

export function parseRoute(hash: string): DocsRoute {
  const [, page, name = ''] = /^#(operation|schema|tag)\/(.+)$/.exec(hash) ?? [];
  if (page === undefined) return { page: 'overview', name: '' };
  // The pattern lists the pages.
  return { page: page as DocsRoute['page'], name: decode(name) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A stray percent sign: there is no such name.
    return text;
  }
}

/** `scrollY`: where the page was left, for the back and forward buttons; 0 after a link. */
export const route = signal<DocsRoute & { scrollY: number }>({ page: 'overview', name: '', scrollY: 0 });

const positions = new Map<string, number>();
let isLink = false;

/** Follows links, and the back and forward buttons. */
export function followRoute(): void {
  // The browser would restore the position before the content is rendered.
  history.scrollRestoration = 'manual';
  const read = (): void => {
    route.value = { ...parseRoute(location.hash), scrollY: isLink ? 0 : (positions.get(location.hash) ?? 0) };
    isLink = false;
  };
  read();
  addEventListener('hashchange', read);
  addEventListener('scroll', () => positions.set(location.hash, scrollY), { passive: true });
  addEventListener('click', ({ target }) => {
    const link = target instanceof Element ? target.closest('a[href^="#"]') : null;
    if (link !== null && link.getAttribute('href') !== location.hash) isLink = true;
  });
}

export function openRoute(hash: string): void {
  isLink = hash !== location.hash;
  location.hash = hash;
}
