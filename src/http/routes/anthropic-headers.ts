/** Headers of Anthropic's clients that are passed on to providers of this kind. */
import type { AppContext } from '../context.ts';

/** Headers that control how the provider reads the request; not the key, which is Moniker's. */
export function anthropicHeaders(c: AppContext): Record<string, string> {
  const version = c.req.header('anthropic-version');
  const beta = c.req.header('anthropic-beta');
  return { ...(version !== undefined && { 'anthropic-version': version }), ...(beta !== undefined && { 'anthropic-beta': beta }) };
}
