/**
 * Writes an assistant message as the event stream of the Messages API: blocks in the order in which they began, numbered from 0, one open
 * at a time. Wire: guide "Streaming messages". The blocks are those of `blocks.ts`.
 * A provider may interleave its calls. Output of a block that is not open yet waits in the message, which contains all of it anyway, so
 * nothing is buffered twice.
 */
import type { AnswerMessage, AnswerPart, MessageChange } from '../answer-message.ts';
import { blockOf, readNative, unsignedSignature, type AnswerBlock } from './blocks.ts';
import type { AnswerFrame, AnswerIdentity } from '../dialect.ts';

export type BlockWriter = {
  /** Returns the frames that the change allows; null: nothing was added. */
  write(change: MessageChange | null): AnswerFrame[];
  /** Returns the remaining frames, also for incomplete calls. */
  end(): AnswerFrame[];
};

type Piece = 'text' | 'thinking' | 'partial_json';

export function createBlockWriter(message: AnswerMessage, identity: Pick<AnswerIdentity, 'isOwnWire'>): BlockWriter {
  const ended = new Set<number>();
  /** The index of the current part; `part` once its block has begun, with `sent` characters written. */
  let at = 0;
  let part: AnswerPart | null = null;
  let sent = 0;
  /** The number of the open block, or of the last one. */
  let index = -1;
  let open: Piece | null = null;
  let over = false;
  let frames: AnswerFrame[] = [];

  const start = (block: AnswerBlock, piece: Piece | null): void => {
    stop();
    index += 1;
    open = piece;
    frames.push(toFrame('content_block_start', `"index":${index},"content_block":${JSON.stringify(block)}`));
    if (piece === null) frames.push(toFrame('content_block_stop', `"index":${index}`));
  };
  const delta = (fields: string): void => {
    frames.push(toFrame('content_block_delta', `"index":${index},"delta":{${fields}}`));
  };
  const sign = (signature: string): void => delta(`"type":"signature_delta","signature":${JSON.stringify(signature)}`);
  const stop = (): void => {
    if (open === null) return;
    if (open === 'thinking') sign(unsignedSignature);
    close();
  };
  const close = (): void => {
    open = null;
    frames.push(toFrame('content_block_stop', `"index":${index}`));
  };

  const begin = (next: AnswerPart): void => {
    part = next;
    sent = 0;
    switch (next.type) {
      case 'text':
      case 'refusal':
        if (open !== 'text') start({ type: 'text', text: '' }, 'text');
        return;
      case 'reasoning':
        start({ type: 'thinking', thinking: '', signature: '' }, 'thinking');
        return;
      case 'call':
        start({ type: 'tool_use', id: next.call.id, name: next.call.name, input: {} }, 'partial_json');
        return;
      case 'native':
        addNative(next);
        return;
      default:
        next satisfies never;
    }
  };
  const addNative = (next: Extract<AnswerPart, { type: 'native' }>): void => {
    const native = readNative(next.part, identity);
    switch (native.is) {
      case 'signature':
      case 'token':
        if (open === 'thinking') {
          sign(native.text);
          close();
        } else if (native.is === 'signature') {
          start({ ...blockOf(native), signature: '' }, 'thinking');
          sign(native.text);
          close();
        } else start(blockOf(native), null);
        return;
      case 'citations':
        if (open !== 'text') return;
        for (const citation of native.citations) delta(`"type":"citations_delta","citation":${JSON.stringify(citation)}`);
        close();
        return;
      case 'block':
        start(native.block, null);
        return;
      case 'nothing':
        return;
      default:
        native satisfies never;
    }
  };

  const feed = (now: AnswerPart, change: MessageChange | null): void => {
    const said = saidIn(now);
    if (said === null || said.length === sent || (isFree(now) && !isWhole(now))) return;
    const piece = isFree(now) ? JSON.stringify({ input: said }) : newIn(said, sent, now, change);
    sent = said.length;
    const name = deltaNames[open ?? 'text'];
    delta(`"type":"${name}","${open ?? 'text'}":${JSON.stringify(piece)}`);
  };
  const isWhole = (now: AnswerPart): boolean => {
    if (over || now.type === 'native') return true;
    return now.type === 'call' ? ended.has(now.call.index) : message.parts().length > at + 1;
  };
  /** The restart of a step drops incomplete parts. */
  const forget = (parts: readonly AnswerPart[]): void => {
    if (at < parts.length ? part === null || parts[at] === part : at === parts.length && part === null) return;
    stop();
    at = Math.min(at, parts.length);
    part = null;
  };

  const walk = (change: MessageChange | null): AnswerFrame[] => {
    frames = [];
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
    return frames;
  };

  return {
    write(change) {
      if (change?.type === 'call-end') ended.add(change.call.index);
      return walk(change);
    },
    end() {
      over = true;
      walk(null);
      stop();
      return frames;
    },
  };
}

/** One event of the stream. On this wire, its name is repeated in the data. */
export function toFrame(event: string, fields: string): AnswerFrame {
  return { event, data: `{"type":"${event}"${fields === '' ? '' : `,${fields}`}}` };
}

const deltaNames = { text: 'text_delta', thinking: 'thinking_delta', partial_json: 'input_json_delta' } as const;

/** null for a part that is written at once. */
function saidIn(part: AnswerPart): string | null {
  if (part.type === 'native') return null;
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
