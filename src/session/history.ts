/**
 * A client that resends its whole history, against what the session has: the same, new to an empty session, or another
 * conversation. Compared by role and visible text: clients do not send back tool calls they never saw.
 */
import type { Message } from '../core/message.ts';
import { messageText } from '../core/transcript.ts';

export type HistoryMatch = 'none' | 'same' | 'import' | 'fork';

export function matchHistory(stored: readonly Message[], sent: readonly Message[]): HistoryMatch {
  if (sent.length === 0) return 'none';
  const theirs = visible(sent);
  // Without an assistant's turn there is nothing to compare: it is all new input.
  if (stored.length === 0) return 'import';
  const ours = visible(stored);
  return ours.length === theirs.length && ours.every((line, index) => line === theirs[index]) ? 'same' : 'fork';
}

/** One line a visible message. Neighbours of one role are one message, joined as the chat dialects join steps. */
function visible(messages: readonly Message[]): string[] {
  const lines: { role: string; texts: string[] }[] = [];
  for (const message of messages) {
    if (message.role === 'tool' || message.role === 'system') continue;
    const text = messageText(message);
    const last = lines.at(-1);
    if (last?.role === message.role) last.texts.push(text);
    else lines.push({ role: message.role, texts: [text] });
  }
  return lines.map(
    ({ role, texts }) =>
      `${role}\n${texts
        .filter((text) => text !== '')
        .join('\n\n')
        .trim()}`,
  );
}
