/**
 * Limits a tool's result to a size that a model can read. The only place where a result is cut; the text says so. Used by the call
 * path for every kind of tool, and by tools that know which end of their output matters.
 */
import { fetchResultSpec } from './injected-tool.ts';
import { limits } from '../limits/limits.ts';
import { visibleJson } from '../text/visible-text.ts';
import { contentText, type ContentBlock, type ToolResult } from '../tools/tool.ts';
import { cutToBytes, utf8Length } from '../text/utf8.ts';

/** Blocks of a result that are cut or left out with a separate note; the rest is counted. */
const maxNotedBlocks = 10;

/** `text`: bytes of text, and of the structured form as JSON. `media`: bytes of images, audio and files as base64. */
export type ResultBounds = { text: number; media: number };

/** What a model gets of a result. */
export const modelBounds: ResultBounds = { text: limits.maxResultBytes, media: limits.maxResultMediaBytes };
/** What a REST or MCP client gets of a result. */
export const clientBounds: ResultBounds = { text: limits.maxWholeResultBytes, media: limits.maxWholeResultBytes };
/** What code that calls tools gets of a result. */
export const codeBounds: ResultBounds = { text: limits.maxInnerResultBytes, media: limits.maxInnerResultBytes };

/**
 * Returns the result with its content limited to `bounds` in total: text is cut at a code point with a note of how much is missing;
 * images and other blocks that do not fit are replaced by a note. `structuredContent` has a separate limit of the size of the text
 * (as JSON); above it, it is dropped with a note, because half an object is a different object. `keptAs`: id of the call under which
 * the whole result is stored; the notes then say how to read the rest. A cut is never an error.
 */
export function boundResult(result: ToolResult, bounds: ResultBounds = modelBounds, keptAs: string | null = null): ToolResult {
  const left = { ...bounds };
  let noted = 0;
  /** The offset of the block in the concatenated text of all blocks. */
  let start = 0;
  const content: ContentBlock[] = [];
  for (const [index, block] of result.content.entries()) {
    // Notes count towards the limit, and so do empty blocks: a tool may return a hundred thousand of them.
    if (noted === maxNotedBlocks || index === limits.maxResultBlocks) {
      noted += 1;
      const more = keptAs === null ? '' : ` To read them: ${fetchCall({ callId: keptAs, offset: start })}`;
      content.push({ type: 'text', text: `[Left out: ${result.content.length - index} more blocks, over the result limit.${more}]` });
      break;
    }
    const text = textBytes(block);
    const media = mediaBytes(block);
    if (text <= left.text && media <= left.media) {
      content.push(block);
      left.text -= text;
      left.media -= media;
    } else {
      noted += 1;
      content.push(shorten(block, left.text, keptAs === null ? null : { callId: keptAs, offset: start }));
      // A later image still fits, but the text after a cut is left out.
      if (media === 0) left.text = 0;
    }
    if (keptAs !== null) start += contentText([block]).length + 1;
  }
  const structured = result.structuredContent;
  const structuredBytes = structured === undefined ? 0 : utf8Length(JSON.stringify(structured));
  if (noted === 0 && structuredBytes <= bounds.text) return result;
  if (structuredBytes <= bounds.text) return { ...result, content };
  const { structuredContent: _dropped, ...rest } = result;
  const more = keptAs === null || noted > 0 ? '' : ` To read it: ${fetchCall({ callId: keptAs, offset: start })}`;
  const note = `[The structured form of this result (${structuredBytes} bytes) is over the limit of ${bounds.text} bytes and was left out.${more}]`;
  return { ...rest, content: [...content, { type: 'text', text: note }] };
}

/**
 * Returns the content to store for a result that was cut to `shown`: its content, plus the structured form if only that was too long.
 * null: nothing that can be fetched was left out.
 */
export function contentToStore(result: ToolResult, shown: ToolResult): ContentBlock[] | null {
  const { content, structuredContent } = result;
  const cut = content.filter((block, index) => shown.content[index] !== block);
  if (cut.some(isFetchable)) return content;
  if (cut.length > 0 || structuredContent === shown.structuredContent) return null;
  return [...content, { type: 'text', text: visibleJson(structuredContent) }];
}

/** Returns the head and tail of a long text within about `maxBytes`, in a ratio of three to one, with a note about the missing part. */
export function cutMiddle(text: string, maxBytes: number): string {
  const total = utf8Length(text);
  if (total <= maxBytes) return text;
  const tailBytes = Math.floor(maxBytes / 4);
  const head = cutToBytes(text, maxBytes - tailBytes);
  // A UTF-16 unit is at most 3 bytes of UTF-8, so this many units cover the tail.
  let tail = text.slice(-tailBytes);
  while (utf8Length(tail) > tailBytes) tail = tail.slice(Math.max(1, Math.ceil((utf8Length(tail) - tailBytes) / 3)));
  if (isLowSurrogate(tail)) tail = tail.slice(1);
  const missing = total - utf8Length(head) - utf8Length(tail);
  return `${head}\n[… ${missing} of ${total} bytes left out …]\n${tail}`;
}

function isLowSurrogate(text: string): boolean {
  const code = text.charCodeAt(0);
  return code >= 0xdc00 && code <= 0xdfff;
}

/** Bytes of an image, audio or file: its base64 and its type, where a server could hide content. 0 for other blocks. */
export function mediaBytes(block: ContentBlock): number {
  if (block.type === 'image' || block.type === 'audio') return block.data.length + utf8Length(block.mimeType);
  if (block.type !== 'resource' || block.resource.blob === undefined) return 0;
  return block.resource.blob.length + utf8Length(block.resource.uri) + utf8Length(block.resource.mimeType ?? '');
}

/** Returns a note for an image, audio or file that the model was shown before; other blocks unchanged. `place`: where it is stored. */
export function withoutMedia(block: ContentBlock, place: ResultOffset | null): ContentBlock {
  if (mediaBytes(block) === 0) return block;
  const what = block.type === 'image' || block.type === 'audio' ? block.mimeType : block.type === 'resource' ? block.resource.uri : '';
  const again = place === null ? 'call the tool again.' : `call ${fetchCall(place)}`;
  return { type: 'text', text: `[${block.type}: ${what}, not shown again. To see it, ${again}]` };
}

type ShownResult = { callId: string; canonical: string | null; content: ContentBlock[] };

/**
 * Returns a function that takes each result, and replaces the media of the oldest ones by a note when all together have more than
 * `limits.maxConversationMediaBytes`: a session with many screenshots would not fit in memory, nor in a request. `store`: stores the
 * result, so that the note can say how to fetch it; returns whether it did.
 */
export function createMediaWindow(store: (result: ShownResult) => boolean): (result: ShownResult | undefined) => void {
  const held: { result: ShownResult; bytes: number }[] = [];
  let total = 0;
  return (result) => {
    const bytes = result?.content.reduce((sum, block) => sum + mediaBytes(block), 0) ?? 0;
    if (result === undefined || bytes === 0) return;
    held.push({ result, bytes });
    total += bytes;
    while (total > limits.maxConversationMediaBytes && held.length > 1) {
      const oldest = held.shift();
      if (oldest === undefined) return;
      total -= oldest.bytes;
      const place = store(oldest.result) ? { callId: oldest.result.callId, offset: 0 } : null;
      oldest.result.content = oldest.result.content.map((block) => withoutMedia(block, place));
    }
  };
}

/** Bytes of what a model reads as text. */
function textBytes(block: ContentBlock): number {
  const bytes = (...texts: readonly (string | undefined)[]): number => texts.reduce((sum, text) => sum + utf8Length(text ?? ''), 0);
  switch (block.type) {
    case 'text':
      return bytes(block.text);
    case 'image':
    case 'audio':
      return 0;
    case 'resource_link':
      return bytes(block.uri, block.name, block.title, block.description, block.mimeType);
    case 'resource': {
      const { uri, mimeType, text, blob } = block.resource;
      return blob === undefined ? bytes(uri, mimeType, text) : bytes(text);
    }
    case 'other':
      return utf8Length(JSON.stringify(block.block));
    default:
      // Messages of a prompt may have blocks of another type, which MCP clients get unchanged.
      return bytes(JSON.stringify(block satisfies never));
  }
}

/** The position in a stored result at which to continue reading. */
export type ResultOffset = { callId: string; offset: number };

function shorten(block: ContentBlock, left: number, place: ResultOffset | null): ContentBlock {
  if (block.type === 'text') return { ...block, text: cutText(block.text, left, place) };
  const { resource } = block.type === 'resource' ? block : {};
  // The text of a resource is cut like other text, as long as its other members are short.
  const room =
    resource?.text === undefined || resource.blob !== undefined ? 0 : left - utf8Length(resource.uri + (resource.mimeType ?? ''));
  if (resource?.text !== undefined && room > 0)
    return { type: 'resource', resource: { ...resource, text: cutText(resource.text, room, place) } };
  const more = place === null || !isFetchable(block) ? '' : ` To read it: ${fetchCall(place)}`;
  return {
    type: 'text',
    text: `[Left out: ${block.type} of ${textBytes(block) + mediaBytes(block)} bytes, over the result limit.${more}]`,
  };
}

function cutText(text: string, left: number, place: ResultOffset | null): string {
  const kept = cutToBytes(text, left);
  const more =
    place === null ? 'Request less, or a part of it.' : `To read the rest: ${fetchCall({ ...place, offset: place.offset + kept.length })}`;
  const size = utf8Length(text);
  return `${kept}\n[Cut: ${size - utf8Length(kept)} of ${size} bytes are not shown. ${more}]`;
}

/** Whether the block is a note that replaces an omitted block. The stored text has other text in its place. */
export function isLeftOutNote(block: ContentBlock): boolean {
  return block.type === 'text' && block.text.startsWith('[Left out: ');
}

/** Whether `fetch_result` can return the block: its text, or its image, audio or file if a model can get that at all. */
function isFetchable(block: ContentBlock): boolean {
  if (block.type === 'text' || (block.type === 'resource' && block.resource.text !== undefined)) return true;
  const media = mediaBytes(block);
  return media > 0 && media <= limits.maxResultMediaBytes;
}

/** Returns the call that reads the rest from there, as shown to a model. */
export function fetchCall(place: ResultOffset): string {
  return `${fetchResultSpec.name} ${JSON.stringify(place)}`;
}
