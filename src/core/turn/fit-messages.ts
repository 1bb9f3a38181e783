/**
 * The messages sent to a model for a turn that exceeds its budget by itself: old tool results are cut to their beginning, with a note
 * on how to read them again. `compaction.ts` summarizes the turns before it. Pure: the log stores everything, and the same log gives
 * the same messages. `engine/turn/run-step.ts` calls it and stores the results that were shortened.
 */
import type { CompactableConversation } from './compaction.ts';
import { fetchResultTool } from '../toolset/injected-tool.ts';
import type { Message, ToolCallPart, ToolResultPart } from '../model/message.ts';
import { fetchCall, isLeftOutNote, withoutMedia, type ResultOffset } from '../toolset/result-bound.ts';
import { contentText, type ContentBlock } from '../tools/tool.ts';
import { joinMessages, messageCharacters } from './transcript.ts';
import { charactersPerToken } from '../limits/units.ts';

/** The part of an old tool result that is still shown in a turn over its budget: enough to recognize it. */
export const shortenedResultCharacters = 1_000;

export type FittedMessages = {
  messages: Message[];
  /** Results whose note says that they can be fetched. The caller stores them in full, unless they already are. */
  toKeep: { callId: string; content: readonly ContentBlock[] }[];
};

/** `keeps`: results can be stored; otherwise the notes say to call the tool again. */
export function fitMessages(conversation: CompactableConversation, currentTurn: string, maxTokens: number, keeps: boolean): FittedMessages {
  const all = conversation.turns();
  const summary = conversation.summary();
  const own = all.flatMap(({ turn, messages }) => (turn === currentTurn ? messages : []));
  const before = all.filter(({ turn }) => turn !== currentTurn);
  const taken = (summary?.length ?? 0) + before.reduce((sum, { characters }) => sum + characters, 0);
  const shown = fitTurn(own, maxTokens * charactersPerToken, taken, keeps);
  const messages = own.map((message) =>
    message.role === 'tool' ? { ...message, parts: message.parts.map((part) => shown.get(part)?.part ?? part) } : message,
  );
  return {
    messages: joinMessages(summary, [...before.flatMap((turn) => turn.messages), ...messages]),
    toKeep: [...shown].flatMap(([{ callId, content }, { keep }]) => (keep ? [{ callId, content }] : [])),
  };
}

/** A result as it is currently shown. `characters`: of its text. */
type Shown = { whole: ToolResultPart; call: ToolCallPart | undefined; part: ToolResultPart; characters: number; keep: boolean };

/**
 * Walks through the turn in order. Each time the messages exceed the budget, shortens the older results, oldest first, until a
 * quarter of the budget is free. A result shortened for one step stays shortened for the following ones, so most steps send the same
 * prefix as the step before, which providers have cached.
 */
function fitTurn(messages: readonly Message[], budget: number, taken: number, keeps: boolean): Map<ToolResultPart, Shown> {
  const calls = new Map<string, ToolCallPart>();
  const queue: Shown[] = [];
  let total = taken;
  /**
   * Indexes in `queue`: the oldest result that is still shown in full, and the first result of the step that the model has not read
   * yet.
   */
  let oldest = 0;
  let fresh = 0;

  const cut = (entry: Shown, toCharacters: number): void => {
    const before = entry.characters;
    shorten(entry, toCharacters, keeps);
    total -= before - entry.characters;
  };
  const fit = (): void => {
    if (total <= budget) return;
    for (; oldest < fresh && total > budget * roomierShare; oldest += 1) {
      const entry = queue[oldest];
      if (entry !== undefined) cut(entry, shortenedResultCharacters);
    }
    if (total <= budget) return;
    // The current step still does not fit: shorten its new results, the largest first, only as far as necessary.
    const largest = queue.slice(fresh).sort((one, other) => other.characters - one.characters);
    for (const entry of largest) {
      // An image that the model has not seen yet stays while dropping it would not help.
      if (total <= budget || entry.characters <= shortenedResultCharacters + noteCharacters) return;
      cut(entry, Math.max(shortenedResultCharacters, entry.characters - (total - budget) - noteCharacters));
    }
  };

  for (const message of messages) {
    // The points at which the model was called; the last one is now.
    if (message.role === 'assistant') {
      fit();
      fresh = queue.length;
      for (const part of message.parts) if (part.type === 'tool-call') calls.set(part.callId, part);
    }
    total += messageCharacters(message);
    if (message.role !== 'tool') continue;
    for (const part of message.parts)
      queue.push({ whole: part, call: calls.get(part.callId), part, characters: contentText(part.content).length, keep: false });
  }
  fit();
  return new Map(queue.filter(({ whole, part }) => part !== whole).map((entry) => [entry.whole, entry]));
}

const roomierShare = 3 / 4;
/** More than the length of a note, so that a result cut to the exact size still fits with its note. */
const noteCharacters = 400;

/** A result is left unchanged if a note would not make it much shorter; images are always replaced. */
function shorten(entry: Shown, toCharacters: number, keeps: boolean): void {
  const { whole, call } = entry;
  const text = contentText(whole.content);
  if (text.length <= toCharacters + noteCharacters) {
    const place = placeOf(whole, call, 0, keeps);
    const content = whole.content.map((block) => withoutMedia(block, place));
    if (entry.part !== whole || content.every((block, index) => block === whole.content[index])) return;
    entry.part = { ...whole, content };
    entry.keep = place?.callId === whole.callId;
  } else {
    const head = beginning(headText(whole.content), toCharacters);
    const place = placeOf(whole, call, head.length, keeps);
    const more = place === null ? 'To read it, call the tool again.' : `To read the rest: ${fetchCall(place)}`;
    const note = `[Shortened, because the conversation is long: ${text.length - head.length} of ${text.length} characters are not shown. ${more}]`;
    // Ids and names in the note come from the caller and can have any length.
    if (head.length + 1 + note.length >= entry.characters) return;
    entry.part = { ...whole, content: [{ type: 'text', text: `${head}\n${note}` }] };
    entry.keep = place?.callId === whole.callId;
  }
  entry.characters = contentText(entry.part.content).length;
}

/** Where the rest can be read. For a piece that was itself fetched: in the original result, which is already stored. */
function placeOf(result: ToolResultPart, call: ToolCallPart | undefined, read: number, keeps: boolean): ResultOffset | null {
  if (!keeps) return null;
  const { callId, offset = 0 } = call?.arguments ?? {};
  if (result.canonical === fetchResultTool.canonical && !result.isError && typeof callId === 'string' && typeof offset === 'number')
    return { callId, offset: offset + read };
  return { callId: result.callId, offset: read };
}

/**
 * Only as far as it matches the text of the whole result, so that its length is an offset there. Notes about omitted content are not
 * part of it.
 */
function headText(content: readonly ContentBlock[]): string {
  const noted = content.findIndex(isLeftOutNote);
  return contentText(noted === -1 ? content : content.slice(0, noted));
}

function beginning(text: string, characters: number): string {
  // Do not split a surrogate pair.
  const high = (text.charCodeAt(characters - 1) & 0xfc00) === 0xd800;
  return text.slice(0, high ? characters - 1 : characters);
}
