/** What is stored of a long result for `fetch_result`, and how a piece of it is read. Shared by the stores of sessions and in memory. */
import { limits } from '../core/limits/limits.ts';
import { mediaBytes } from '../core/toolset/result-bound.ts';
import { contentText, type ContentBlock } from '../core/tools/tool.ts';
import { cutToBytes, utf8Length } from '../core/text/utf8.ts';
import type { FetchedResult } from '../ports/result-store.ts';

/** A cut result, stored for `fetch_result`; and the size of one fetched piece. */
export const maxStoredResultBytes = limits.maxWholeResultBytes;

/** `media`: the blocks of media that a model can get, with the offset of the line that names each one in the text. */
export type KeptResult = { text: string; media: KeptMedia[]; bytes: number };
type KeptMedia = { at: number; block: ContentBlock };

export function toKeptResult(content: readonly ContentBlock[]): KeptResult {
  const text = bounded(contentText(content).toWellFormed());
  const media = mediaOf(content, text);
  return { text, media, bytes: utf8Length(text) + media.reduce((sum, { block }) => sum + mediaBytes(block), 0) };
}

/** Cuts a text that is too long to store, and says so at its end. */
function bounded(text: string): string {
  const total = utf8Length(text);
  if (total <= maxStoredResultBytes) return text;
  return `${cutToBytes(text, maxStoredResultBytes)}\n[Cut: only the first ${maxStoredResultBytes} of ${total} bytes were stored.]`;
}

function mediaOf(content: readonly ContentBlock[], text: string): KeptMedia[] {
  const found: KeptMedia[] = [];
  let left = maxStoredResultBytes - utf8Length(text);
  let at = 0;
  for (const block of content) {
    const bytes = mediaBytes(block);
    if (bytes > 0 && bytes <= limits.maxResultMediaBytes && bytes <= left && at < text.length) {
      found.push({ at, block });
      left -= bytes;
    }
    at += contentText([block]).toWellFormed().length + 1;
  }
  return found;
}

/**
 * Adds the media that the piece names, in the order of their offsets. A piece with more than a model can get ends before the first block that
 * is too much.
 */
export function withMedia(offset: number, piece: Omit<FetchedResult, 'media'>, named: Iterable<KeptMedia>): FetchedResult {
  const media: ContentBlock[] = [];
  let left: number = limits.maxResultMediaBytes;
  for (const { at, block } of named) {
    left -= mediaBytes(block);
    if (left < 0) return { ...piece, media, text: piece.text.slice(0, at - offset), nextOffset: at };
    media.push(block);
  }
  return { ...piece, media };
}

/** Returns at most so many bytes, but at least one character, so that a caller with a very small limit still makes progress. */
export function firstPiece(rest: string, maxBytes: number): string {
  return cutToBytes(rest, maxBytes) || String.fromCodePoint(rest.codePointAt(0) ?? 0);
}

/** An offset inside a surrogate pair is moved to the beginning of the pair. */
export function characterStart(part: string, index: number): number {
  return index > 0 && (part.charCodeAt(index) & 0xfc00) === 0xdc00 ? index - 1 : index;
}
