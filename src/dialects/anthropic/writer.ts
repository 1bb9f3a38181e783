/**
 * Writes an assistant message as content blocks of the Messages API, in the order in which they began, one open at a time: as events of the
 * stream, numbered from 0, or as a list. Wire: guide "Streaming messages".
 * A provider may interleave its calls. Output of a block that is not open yet waits in the message, which contains all of it anyway, so
 * nothing is buffered twice.
 */
import { listOf } from '../../core/json/wire-value.ts';
import type { AnswerMessage, AnswerPart, MessageChange } from '../answer-message.ts';
import { inputOf, readNative, toSearchBlocks, toWebCitation, unsignedSignature, type AnswerBlock } from './blocks.ts';
import type { AnswerFrame, AnswerIdentity } from '../dialect.ts';

type Words = 'text' | 'refusal' | 'reasoning';
type Piece = 'text' | 'thinking' | 'partial_json';

/** Receives the blocks: the start of each, deltas of its fields, and its end. */
type BlockSink = {
  start(block: AnswerBlock, part: AnswerPart): void;
  delta(type: string, field: string, value: unknown): void;
  stop(): void;
};

/** Writes the stream: `write` returns the frames that a change allows (null: nothing was added), `end` the rest, also for incomplete calls. */
export function createBlockWriter(message: AnswerMessage, identity: Pick<AnswerIdentity, 'id' | 'isOwnWire'>) {
  let frames: AnswerFrame[] = [];
  /** The number of the open block, or of the last one. */
  let index = -1;
  const blocks = walkBlocks(message, identity, {
    start(block) {
      index += 1;
      frames.push(toFrame('content_block_start', `"index":${index},"content_block":${JSON.stringify(block)}`));
    },
    delta(type, field, value) {
      frames.push(toFrame('content_block_delta', `"index":${index},"delta":{"type":"${type}","${field}":${JSON.stringify(value)}}`));
    },
    stop: () => frames.push(toFrame('content_block_stop', `"index":${index}`)),
  });
  const written = (write: () => void): AnswerFrame[] => {
    frames = [];
    write();
    return frames;
  };
  return { write: (change: MessageChange | null) => written(() => blocks.write(change)), end: () => written(blocks.end) };
}

/** Returns the blocks of a message that has ended. */
export function toBlocks(message: AnswerMessage, identity: Pick<AnswerIdentity, 'id' | 'isOwnWire'>): AnswerBlock[] {
  const blocks: AnswerBlock[] = [];
  let block: AnswerBlock = { type: '' };
  walkBlocks(message, identity, {
    start(begun, part) {
      block = part.type === 'call' ? { ...begun, input: inputOf(part.call) } : { ...begun };
      blocks.push(block);
    },
    delta(_type, field, value) {
      if (field === 'text' || field === 'thinking') block[field] = `${String(block[field])}${String(value)}`;
      else if (field === 'signature') block.signature = value;
      else if (field === 'citation') block.citations = [...listOf(block.citations), value];
    },
    stop: () => undefined,
  }).end();
  return blocks;
}

function walkBlocks(message: AnswerMessage, identity: Pick<AnswerIdentity, 'id' | 'isOwnWire'>, sink: BlockSink) {
  const ended = new Set<number>();
  /** The index of the current part; `part` once its block has begun, with `sent` characters written. */
  let at = 0;
  let part: AnswerPart | null = null;
  let sent = 0;
  let open: Piece | null = null;
  let over = false;

  const start = (next: AnswerPart, block: AnswerBlock, piece: Piece | null): void => {
    stop();
    open = piece;
    sink.start(block, next);
    if (piece === null) sink.stop();
  };
  const sign = (signature: string): void => sink.delta('signature_delta', 'signature', signature);
  const stop = (): void => {
    if (open === null) return;
    if (open === 'thinking') sign(unsignedSignature);
    close();
  };
  const close = (): void => {
    open = null;
    sink.stop();
  };

  const begin = (next: AnswerPart): void => {
    part = next;
    sent = 0;
    switch (next.type) {
      case 'text':
      case 'refusal':
        if (open !== 'text') start(next, { type: 'text', text: '' }, 'text');
        return;
      case 'reasoning':
        start(next, thinkingBlock, 'thinking');
        return;
      case 'call':
        start(next, { type: 'tool_use', id: next.call.id, name: next.call.name, input: {} }, 'partial_json');
        return;
      case 'native':
        addNative(next);
        return;
      case 'image':
        // Answers of this API have no images.
        start(next, { type: 'text', text: `[image: ${next.mediaType}]` }, null);
        return;
      case 'search':
        // On its own wire, the provider's blocks are the search.
        if (identity.isOwnWire !== true) for (const block of toSearchBlocks(next, identity.id)) start(next, block, null);
        return;
      case 'approval':
        // The sentence before it asks the user.
        return;
      case 'citations':
        // On its own wire, provider data has them with everything that the provider needs back.
        if (identity.isOwnWire !== true) cite(next.citations.map(toWebCitation));
        return;
      default:
        next satisfies never;
    }
  };
  /** Citations end the text block that they belong to. */
  const cite = (citations: readonly unknown[]): void => {
    if (open !== 'text') return;
    for (const citation of citations) sink.delta('citations_delta', 'citation', citation);
    close();
  };
  const addNative = (next: Extract<AnswerPart, { type: 'native' }>): void => {
    const native = readNative(next.part, identity);
    switch (native.is) {
      case 'signature':
      case 'token':
        // Data that does not follow thinking becomes a separate block.
        if (open !== 'thinking' && native.is === 'token') {
          start(next, { type: 'redacted_thinking', data: native.text }, null);
          return;
        }
        if (open !== 'thinking') start(next, thinkingBlock, 'thinking');
        sign(native.text);
        close();
        return;
      case 'citations':
        cite(native.citations);
        return;
      case 'block':
        start(next, native.block, null);
        return;
      case 'nothing':
        return;
      default:
        native satisfies never;
    }
  };

  const feed = (now: AnswerPart, change: MessageChange | null): void => {
    const said = textOfPart(now);
    if (said === null || said.length === sent || (isFree(now) && !isWhole(now))) return;
    const piece = isFree(now) ? JSON.stringify({ input: said }) : newIn(said, sent, now, change);
    sent = said.length;
    sink.delta(deltaNames[open ?? 'text'], open ?? 'text', piece);
  };
  const isWhole = (now: AnswerPart): boolean => {
    if (over || isAtOnce(now)) return true;
    return now.type === 'call' ? ended.has(now.call.index) : message.parts().length > at + 1;
  };
  /** The restart of a step drops incomplete parts. */
  const forget = (parts: readonly AnswerPart[]): void => {
    if (at < parts.length ? part === null || parts[at] === part : at === parts.length && part === null) return;
    stop();
    at = Math.min(at, parts.length);
    part = null;
  };

  const walk = (change: MessageChange | null): void => {
    const parts = message.parts();
    forget(parts);
    for (let now = parts[at]; now !== undefined; now = parts[at]) {
      if (part === null) begin(now);
      feed(now, change);
      if (!isWhole(now)) break;
      if (now.type === 'call') close();
      at += 1;
      part = null;
    }
  };

  return {
    write(change: MessageChange | null): void {
      if (change?.type === 'call-end') ended.add(change.call.index);
      walk(change);
    },
    end(): void {
      over = true;
      walk(null);
      stop();
    },
  };
}

/** One event of the stream. On this wire, its name is repeated in the data. */
export function toFrame(event: string, fields: string): AnswerFrame {
  return { event, data: `{"type":"${event}"${fields === '' ? '' : `,${fields}`}}` };
}

const thinkingBlock: AnswerBlock = { type: 'thinking', thinking: '', signature: '' };
const deltaNames = { text: 'text_delta', thinking: 'thinking_delta', partial_json: 'input_json_delta' } as const;

function isAtOnce(part: AnswerPart): part is Exclude<AnswerPart, { type: Words | 'call' }> {
  return part.type !== 'call' && part.type !== 'text' && part.type !== 'refusal' && part.type !== 'reasoning';
}

/** null for a part that is written at once. */
function textOfPart(part: AnswerPart): string | null {
  if (isAtOnce(part)) return null;
  return part.type === 'call' ? part.call.text : part.text;
}

/** Free text becomes JSON once it is complete. */
function isFree(part: AnswerPart): boolean {
  return part.type === 'call' && part.call.custom;
}

/** Usually the new text is the change's. Slicing it from the whole text would copy that text each time. */
function newIn(said: string, sent: number, part: AnswerPart, change: MessageChange | null): string {
  if (sent === 0) return said;
  if (change !== null && 'text' in change && sent + change.text.length === said.length) {
    const isOfPart = change.type === 'call-delta' ? part.type === 'call' && part.call === change.call : part.type === change.type;
    if (isOfPart) return change.text;
  }
  return said.slice(sent);
}
