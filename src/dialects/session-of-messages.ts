/** Finds the session of a client that sends the whole conversation: the ids of our messages name it. */
import { recordOf } from '../core/json/wire-value.ts';
import { type DialectName, readCompletionId } from '../core/text/reference.ts';

/** Returns the session of the newest assistant message that has one. Takes unvalidated messages. */
export function sessionOfMessages(dialect: DialectName, messages: unknown): string | null {
  const list = Array.isArray(messages) ? messages : [];
  for (const message of list.toReversed()) {
    const { role, id } = recordOf(message);
    const session = role === 'assistant' && typeof id === 'string' ? readCompletionId(dialect, id)?.session : undefined;
    if (session !== undefined) return session;
  }
  return null;
}
