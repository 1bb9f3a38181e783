/**
 * Compares the history that a client resends with the session's own: the same, new to an empty session, or another conversation.
 * Pure. Compared are the user's texts, the assistant's paragraphs (clients join steps and do not see calls of server tools), and
 * the ids of the calls that the client was sent.
 */
import { type AssistantPart, type Message, textOfInput, type ToolCallPart } from '../../../core/model/message.ts';
import { splitParagraphs } from '../../../core/text/paragraphs.ts';

/** The parts of a conversation that are compared. `said`: paragraphs of the assistant. */
export type ComparableHistory = { userTexts: string[]; assistantTexts: string[]; callIds: ReadonlySet<string> };

/** `tail`: index of the tail that the client's history lacks; -1 when it lacks none. */
export type HistoryMatch = { kind: 'none' | 'import' | 'same' | 'fork'; missingTail: number };

/**
 * Compares a client's history (`sent`, null without an assistant message) with the session's. `tails`: parts at the end of the
 * session's conversation that the client may not have received.
 */
export function matchHistory(
  stored: ComparableHistory,
  sent: ComparableHistory | null,
  tails: readonly Pick<ComparableHistory, 'assistantTexts' | 'callIds'>[] = [],
): HistoryMatch {
  const no = -1;
  if (sent === null) return { kind: 'none', missingTail: no };
  if (stored.userTexts.length === 0 && stored.assistantTexts.length === 0 && stored.callIds.size === 0)
    return { kind: 'import', missingTail: no };
  if (isSame(stored, sent)) return { kind: 'same', missingTail: no };
  const tail = tails.findIndex(({ assistantTexts: said, callIds: calls }) =>
    isSame(stored, {
      userTexts: sent.userTexts,
      assistantTexts: [...sent.assistantTexts, ...said],
      callIds: new Set([...sent.callIds, ...calls]),
    }),
  );
  return { kind: tail === no ? 'fork' : 'same', missingTail: tail };
}

/** `isShown`: whether the client was sent this call. `isNote`: whether a paragraph is a note of this service about a pending question. */
export function toComparableHistory(
  messages: readonly Message[],
  { isShown, isNote }: { isShown(call: ToolCallPart): boolean; isNote(paragraph: string): boolean },
): ComparableHistory {
  const users: string[] = [];
  const said: string[] = [];
  const calls = new Set<string>();
  for (const message of messages) {
    if (message.role === 'user') users.push(...message.parts.map(textOfInput).filter((text) => text !== ''));
    if (message.role !== 'assistant') continue;
    said.push(...splitParagraphs(textOf(message.parts)).filter((paragraph) => !isNote(paragraph)));
    for (const part of message.parts) if (part.type === 'tool-call' && isShown(part)) calls.add(part.callId);
  }
  return { userTexts: users, assistantTexts: said, callIds: calls };
}

function isSame(one: ComparableHistory, other: ComparableHistory): boolean {
  return (
    areEqual(one.userTexts, other.userTexts) &&
    areEqual(one.assistantTexts, other.assistantTexts) &&
    one.callIds.size === other.callIds.size &&
    [...one.callIds].every((id) => other.callIds.has(id))
  );
}

function areEqual(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((text, index) => text === other[index]);
}

/** Joined, since some clients split the text around a call into two parts. */
function textOf(parts: readonly AssistantPart[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
