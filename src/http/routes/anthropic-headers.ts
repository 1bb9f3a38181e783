/** Headers of Anthropic's clients that are for the provider: the routes of that dialect pass them on where it is of this kind. */
import type { AppContext } from '../context.ts';

/** What says how the provider is to read the request; not the key, which is ours. */
export function anthropicHeaders(c: AppContext): Record<string, string> {
  const version = c.req.header('anthropic-version');
  const beta = c.req.header('anthropic-beta');
  return { ...(version !== undefined && { 'anthropic-version': version }), ...(beta !== undefined && { 'anthropic-beta': beta }) };
}
