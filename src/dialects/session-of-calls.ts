/** Where a chat request belongs that names no session: the ids of its calls tell. For requests that nobody has read yet. */
import { invalidRequest } from '../core/problem.ts';
import { readToolCallId } from '../core/reference.ts';

/** The id of a call as it came: in a result, or in the assistant's own words, which may have none. */
export type CallMention = { by: 'result' | 'assistant'; id: unknown; path: string };

/**
 * The session of the results at the end, else of the newest call; null: no call is one of ours. `mentions`: the newest first. Throws
 * `invalid_request` for results of two sessions.
 */
export function sessionOfMentions(mentions: Iterable<CallMention>): string | null {
  let found: string | null = null;
  for (const { by, id, path } of mentions) {
    const session = typeof id === 'string' ? (readToolCallId(id)?.session ?? null) : null;
    if (by === 'result' && found !== null && session !== null && session !== found)
      throw invalidRequest([{ path, message: 'is of another session than the other results: send the results of one session' }]);
    // Before the assistant's last word are results of the past.
    if (by === 'assistant' && (found ?? session) !== null) return found ?? session;
    found ??= session;
  }
  return found;
}
