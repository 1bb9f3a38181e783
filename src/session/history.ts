/**
 * A client that resends its whole history, against what the session has: the same, new to an empty session, or another
 * conversation. Pure. Compared are what users said, what the assistant said as one text (clients join steps, and never saw
 * calls of server tools), and which calls the client was given.
 */
import { type AssistantPart, type Message, textOfInput, type ToolCallPart } from '../core/message.ts';
import { splitParagraphs } from '../core/paragraphs.ts';

/** A conversation as far as it is compared. `said`: paragraphs of the assistant. */
export type Told = { users: string[]; said: string[]; calls: ReadonlySet<string> };

/** `same` leaves nothing out. `tail`: number of the tail without which it is the same. */
export type HistoryMatch = { is: 'none' | 'import' | 'same' | 'fork'; tail: number };

/**
 * `tails`: what the session has at its end, and the client may not have seen yet. A history without an assistant's turn is no
 * history: it is all new input.
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

/** `isShown`: whether the client was given this call. `isNote`: whether a paragraph is our own word on what waits. */
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

/** Texts on both sides of a call are two to some clients and one to us. */
function textOf(parts: readonly AssistantPart[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
