/** What the sender of a request accepts, for paths that return a page to browsers and JSON to programs. */
import type { AppContext } from './middleware/request-context.ts';

export function wantsJson(c: AppContext): boolean {
  const accept = c.req.header('accept') ?? '';
  return accept.includes('application/json') && !accept.includes('text/html');
}
