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

export const route = signal<DocsRoute>({ page: 'overview', name: '' });

/** Follows links, and the back and forward buttons. */
export function followRoute(): void {
  const read = (): void => {
    route.value = parseRoute(location.hash);
  };
  read();
  addEventListener('hashchange', read);
}
