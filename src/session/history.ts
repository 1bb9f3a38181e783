/**
 * Compares the history that a client resends with the session's own: the same, new to an empty session, or another conversation.
 * Pure. Compared are the user's texts, the assistant's paragraphs (clients join steps and do not see calls of server tools), and
 * the ids of the calls that the client was sent.
 */
import { type AssistantPart, type Message, textOfInput, type ToolCallPart } from '../core/message.ts';
import { splitParagraphs } from '../core/paragraphs.ts';

/** The parts of a conversation that are compared. `said`: paragraphs of the assistant. */
export type Told = { users: string[]; said: string[]; calls: ReadonlySet<string> };

/** `tail`: index of the tail that the client's history lacks; -1 when it lacks none. */
export type HistoryMatch = { is: 'none' | 'import' | 'same' | 'fork'; tail: number };

/**
 * Compares a client's history (`sent`, null without an assistant message) with the session's. `tails`: parts at the end of the
 * session's conversation that the client may not have received.
 */
export function matchHistory(stored: Told, sent: Told | null, tails: readonly Pick<Told, 'said' | 'calls'>[] = []): HistoryMatch {
  const no = -1;
  if (sent === null) return { is: 'none', tail: no };
  if (stored.users.length === 0 && stored.said.length === 0 && stored.calls.size === 0) return { is: 'import', tail: no };
  if (isSame(stored, sent)) return { is: 'same', tail: no };
  const tail = tails.findIndex(({ said, calls }) =>
    isSame(stored, { users: sent.users, said: [...sent.said, ...said], calls: new Set([...sent.calls, ...calls]) }),
  );
  return { is: tail === no ? 'fork' : 'same', tail };
}

/** `isShown`: whether the client was sent this call. `isNote`: whether a paragraph is a note of this service about a pending question. */
export function toTold(
  messages: readonly Message[],
  { isShown, isNote }: { isShown(call: ToolCallPart): boolean; isNote(paragraph: string): boolean },
): Told {
  const users: string[] = [];
  const said: string[] = [];
  const calls = new Set<string>();
  for (const message of messages) {
    if (message.role === 'user') users.push(...message.parts.map(textOfInput).filter((text) => text !== ''));
    if (message.role !== 'assistant') continue;
    said.push(...splitParagraphs(textOf(message.parts)).filter((paragraph) => !isNote(paragraph)));
    for (const part of message.parts) if (part.type === 'tool-call' && isShown(part)) calls.add(part.callId);
  }
  return { users, said, calls };
}

function isSame(one: Told, other: Told): boolean {
  return (
    areEqual(one.users, other.users) &&
    areEqual(one.said, other.said) &&
    one.calls.size === other.calls.size &&
    [...one.calls].every((id) => other.calls.has(id))
  );
}

function areEqual(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((text, index) => text === other[index]);
}

/** Joined, since some clients split the text around a call into two parts. */
function textOf(parts: readonly AssistantPart[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
