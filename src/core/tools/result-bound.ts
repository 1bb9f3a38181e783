/**
 * Limits a tool's result to a size that a model can read. The only place where a result is cut; the text says so. Used by the call
 * path for every kind of tool, and by tools that know which end of their output matters.
 */
import { fetchResultName } from './injected-tool.ts';
import { limits } from '../limits.ts';
import { visibleJson } from '../text/visible-text.ts';
import { contentText, type ContentBlock, type ToolResult } from './tool.ts';
import { cutToBytes, utf8Length } from '../text/utf8.ts';

/** Blocks of a result that are cut or left out with a separate note; the rest is counted. */
const maxNotedBlocks = 10;

/**
 * Returns the result with its content limited to `maxBytes` of UTF-8 in total: text is cut at a code point with a note of how much is
 * missing; images and other blocks that do not fit are replaced by a note. `structuredContent` has a separate limit of the same size
 * (as JSON); above it, it is dropped with a note, because half an object is a different object. `keptAs`: id of the call under which
 * the whole text is stored; the notes then say how to read the rest.
 */
export function boundResult(result: ToolResult, maxBytes: number = limits.maxResultBytes, keptAs: string | null = null): ToolResult {
  let left = maxBytes;
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
    const size = blockBytes(block);
    const whole = size + typeBytes(block);
    if (whole <= left) {
      content.push(block);
      left -= whole;
    } else {
      noted += 1;
      content.push(shorten(block, size, left, keptAs === null ? null : { callId: keptAs, offset: start }));
      left = 0;
    }
    if (keptAs !== null) start += contentText([block]).length + 1;
  }
  const structured = result.structuredContent;
  const structuredBytes = structured === undefined ? 0 : utf8Length(JSON.stringify(structured));
  if (noted === 0 && structuredBytes <= maxBytes) return result;
  if (structuredBytes <= maxBytes) return { ...result, content };
  const { structuredContent: _dropped, ...rest } = result;
  const more = keptAs === null || noted > 0 ? '' : ` To read it: ${fetchCall({ callId: keptAs, offset: start })}`;
  const note = `[The structured form of this result (${structuredBytes} bytes) is over the limit of ${maxBytes} bytes and was left out.${more}]`;
  return { ...rest, content: [...content, { type: 'text', text: note }] };
}

/**
 * Returns the content to store for a result that was cut to `shown`: its content, plus the structured form if only that was too long.
 * null: nothing readable was left out.
 */
export function contentToStore(result: ToolResult, shown: ToolResult): ContentBlock[] | null {
  const { content, structuredContent } = result;
  const cut = content.filter((block, index) => shown.content[index] !== block);
  if (cut.some(hasText)) return content;
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

function blockBytes(block: ContentBlock): number {
  switch (block.type) {
    case 'text':
      return utf8Length(block.text);
    case 'image':
    case 'audio':
      return block.data.length;
    case 'resource_link':
      return [block.uri, block.name, block.title, block.description].reduce((sum, text) => sum + utf8Length(text ?? ''), 0);
    case 'resource':
      return utf8Length(block.resource.uri) + utf8Length(block.resource.text ?? '') + (block.resource.blob?.length ?? 0);
    default:
      return block satisfies never;
  }
}

/** The size of the declared type: a few bytes, unless the server hides content there. */
function typeBytes(block: ContentBlock): number {
  if (block.type === 'text') return 0;
  return utf8Length((block.type === 'resource' ? block.resource.mimeType : block.mimeType) ?? '');
}

/** The position in a stored result at which to continue reading. */
export type ResultOffset = { callId: string; offset: number };

function shorten(block: ContentBlock, size: number, left: number, place: ResultOffset | null): ContentBlock {
  if (block.type === 'text') {
    const kept = cutToBytes(block.text, left);
    const more =
      place === null
        ? 'Request less, or a part of it.'
        : `To read the rest: ${fetchCall({ ...place, offset: place.offset + kept.length })}`;
    return { type: 'text', text: `${kept}\n[Cut: ${size - utf8Length(kept)} of ${size} bytes are not shown. ${more}]` };
  }
  const more = place === null || !hasText(block) ? '' : ` To read it: ${fetchCall(place)}`;
  return { type: 'text', text: `[Left out: ${block.type} of ${size} bytes, over the result limit.${more}]` };
}

/** Whether the block is a note that replaces an omitted block. The stored text has other text in its place. */
export function isLeftOutNote(block: ContentBlock): boolean {
  return block.type === 'text' && block.text.startsWith('[Left out: ');
}

/** Whether the stored text of the block is useful; for an image it only says that there was one. */
function hasText(block: ContentBlock): boolean {
  return block.type === 'text' || (block.type === 'resource' && block.resource.text !== undefined);
}

/** Returns the call that reads the rest from there, as shown to a model. */
export function fetchCall(place: ResultOffset): string {
  return `${fetchResultName} ${JSON.stringify(place)}`;
}
