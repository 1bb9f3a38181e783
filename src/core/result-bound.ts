/**
 * Keeps a tool's result within what a model can read. The one place where a result is cut, and it says so in the text.
 * Used by the call door for every kind of tool, and by tools that know better which end of their output matters.
 */
import { fetchResultName } from './fetch-result.ts';
import { limits } from './limits.ts';
import { seenJson } from './seen-json.ts';
import { contentText, type ContentBlock, type ToolResult } from './tool.ts';
import { utf8Length } from './utf8.ts';

const encoder = new TextEncoder();

/**
 * The result with its content within `maxBytes` of UTF-8 together: text is cut at a code point with a note of how much is
 * missing; images and other blocks that do not fit become a note. `structuredContent` has the same bound of its own
 * (its JSON); over it, it is dropped with a note, because half of an object is another object. `keptAs`: id of the call under
 * which the whole text is kept: the note then says how to read on.
 */
export function boundResult(result: ToolResult, maxBytes: number = limits.maxResultBytes, keptAs: string | null = null): ToolResult {
  let left = maxBytes;
  let noted = 0;
  /** Where the block begins in the text of all of them. */
  let start = 0;
  const content: ContentBlock[] = [];
  for (const [index, block] of result.content.entries()) {
    // Notes count, and so does what weighs nothing: a tool may answer with a hundred thousand blocks.
    if (noted === limits.maxNotedBlocks || index === limits.maxResultBlocks) {
      noted += 1;
      const more = keptAs === null ? '' : ` To read them: ${fetchCall({ callId: keptAs, offset: start })}`;
      content.push({ type: 'text', text: `[Left out: ${result.content.length - index} more blocks, over the limit of a result.${more}]` });
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
 * What to keep of a result that was cut to `shown`: its content, or with it the structured form where only that was too long.
 * null: nothing was left out that could be read as text.
 */
export function keptContent(result: ToolResult, shown: ToolResult): ContentBlock[] | null {
  const { content, structuredContent } = result;
  const cut = content.filter((block, index) => shown.content[index] !== block);
  if (cut.some(hasText)) return content;
  if (cut.length > 0 || structuredContent === shown.structuredContent) return null;
  return [...content, { type: 'text', text: seenJson(structuredContent) }];
}

/** The longest prefix of whole code points that fits in `maxBytes` of UTF-8. */
export function cutUtf8(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  // encodeInto stops before a code point that does not fit, and says how many UTF-16 units it read.
  const { read } = encoder.encodeInto(text, new Uint8Array(maxBytes));
  return text.slice(0, read);
}

/** Head and tail of a long text within about `maxBytes`, three to one, with a note of what is missing between. */
export function cutMiddle(text: string, maxBytes: number): string {
  const total = utf8Length(text);
  if (total <= maxBytes) return text;
  const tailBytes = Math.floor(maxBytes / 4);
  const head = cutUtf8(text, maxBytes - tailBytes);
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

/** What it says of its type, which is a few bytes unless somebody hides more there. */
function typeBytes(block: ContentBlock): number {
  if (block.type === 'text') return 0;
  return utf8Length((block.type === 'resource' ? block.resource.mimeType : block.mimeType) ?? '');
}

/** Where in a kept result to read on. */
export type Place = { callId: string; offset: number };

function shorten(block: ContentBlock, size: number, left: number, place: Place | null): ContentBlock {
  if (block.type === 'text') {
    const kept = cutUtf8(block.text, left);
    const more =
      place === null ? 'Ask for less, or for a part of it.' : `To read on: ${fetchCall({ ...place, offset: place.offset + kept.length })}`;
    return { type: 'text', text: `${kept}\n[Cut: ${size - utf8Length(kept)} of ${size} bytes are not shown. ${more}]` };
  }
  const more = place === null || !hasText(block) ? '' : ` To read it: ${fetchCall(place)}`;
  return { type: 'text', text: `[Left out: ${block.type} of ${size} bytes, over the limit of a result.${more}]` };
}

/** One of the blocks that stand here for what did not fit: in the kept text there is something else in its place. */
export function isLeftOutNote(block: ContentBlock): boolean {
  return block.type === 'text' && block.text.startsWith('[Left out: ');
}

/** Something of it would be read in the kept text; of an image only that it was there. */
function hasText(block: ContentBlock): boolean {
  return block.type === 'text' || (block.type === 'resource' && block.resource.text !== undefined);
}

/** The call that reads on there, as a model is told of it. */
export function fetchCall(place: Place): string {
  return `${fetchResultName} ${JSON.stringify(place)}`;
}
