/** Finds the session of a chat request that names none, from its call ids. Works on unvalidated requests. */
import { invalidRequest } from '../core/problem.ts';
import { readToolCallId } from '../core/reference.ts';

/** The unvalidated id of a call: in a result, or in an assistant message, which may have none. */
export type CallMention = { by: 'result' | 'assistant'; id: unknown; path: string };

/**
 * Returns the session of the results at the end, or of the latest call; null: no call is ours. `mentions`: the latest first. Throws
 * `invalid_request` for results of two sessions.
 */
export function sessionOfMentions(mentions: Iterable<CallMention>): string | null {
  let found: string | null = null;
  for (const { by, id, path } of mentions) {
    const session = typeof id === 'string' ? (readToolCallId(id)?.session ?? null) : null;
    if (by === 'result' && found !== null && session !== null && session !== found)
      throw invalidRequest([{ path, message: 'belongs to another session than the other results: send results of one session only' }]);
    // Results before the last assistant message belong to the past.
    if (by === 'assistant' && (found ?? session) !== null) return found ?? session;
    found ??= session;
  }
  return found;
}
