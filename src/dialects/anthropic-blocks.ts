/**
 * The parts of an assistant message as content blocks of the Messages API, and back from the blocks what is nobody's but a
 * provider's. The whole message is made here; `anthropic-writer.ts` says the same piece by piece. Wire: API reference "Create a
 * Message"; guides "Extended thinking" (signatures, redacted thinking) and "Fine-grained tool streaming" (`INVALID_JSON`).
 *
 * What a provider wants back travels in the fields that clients return unread: behind reasoning as its `signature`, elsewhere as a
 * `redacted_thinking` block: as a token of `core/native-token.ts`, and as it came where the request goes back as it comes (`isOwnWire`).
 */
import { readArguments } from '../core/json-repair.ts';
import type { NativePart } from '../core/message.ts';
import { nativeTokenPrefix, packNative, unpackNative } from '../core/native-token.ts';
import { isRecord, listOf, recordOf, textOf } from '../core/wire-value.ts';
import type { AnswerCall, AnswerPart } from './answer-message.ts';
import type { AnswerIdentity } from './dialect.ts';

export type Block = Record<string, unknown> & { type: string };

/** The signature of thinking that nobody signed: the field is required, and ours are known by how they begin. */
export const unsigned = `${nativeTokenPrefix}unsigned`;

export function toBlocks(parts: readonly AnswerPart[], identity: Pick<AnswerIdentity, 'isOwnWire'>): Block[] {
  const blocks: Block[] = [];
  /** The last one, while more may belong to it. */
  let open: Block | null = null;
  const add = (block: Block): Block => {
    blocks.push(block);
    return block;
  };
  for (const part of parts) {
    switch (part.type) {
      case 'text':
      case 'refusal':
        // Texts of steps are one block: what joins them stands in them.
        if (open?.type === 'text') open.text = String(open.text) + part.text;
        else open = add({ type: 'text', text: part.text });
        break;
      case 'reasoning':
        open = add({ type: 'thinking', thinking: part.text, signature: unsigned });
        break;
      case 'call':
        add({ type: 'tool_use', id: part.call.id, name: part.call.name, input: inputOf(part.call) });
        open = null;
        break;
      case 'native':
        open = addNative(readNative(part.part, identity), open, add);
        break;
      default:
        part satisfies never;
    }
  }
  return blocks;
}

function addNative(native: NativeMeaning, open: Block | null, add: (block: Block) => Block): Block | null {
  switch (native.is) {
    case 'signature':
    case 'token':
      if (open?.type === 'thinking') open.signature = native.text;
      else add(blockOf(native));
      return null;
    case 'citations':
      if (open?.type === 'text' && native.citations.length > 0) open.citations = native.citations;
      return null;
    case 'block':
      add(native.block);
      return null;
    case 'nothing':
      return open;
    default:
      return native satisfies never;
  }
}

/** What stands behind no thinking is a block of its own. */
export function blockOf(native: Extract<NativeMeaning, { is: 'signature' | 'token' }>): Block {
  return native.is === 'signature'
    ? { type: 'thinking', thinking: '', signature: native.text }
    : { type: 'redacted_thinking', data: native.text };
}

/** An object in any case. What is none never looks like arguments that could be used: an empty object would. */
function inputOf({ text, custom, isCut }: AnswerCall): Record<string, unknown> {
  if (custom) return { input: text };
  return readArguments(text, { ended: true, length: isCut === true }).arguments ?? { INVALID_JSON: text };
}

export type NativeMeaning =
  /** Of the thinking before it, or of one that shows nothing. */
  | { is: 'signature'; text: string }
  /** The text before it ends here. */
  | { is: 'citations'; citations: readonly unknown[] }
  | { is: 'block'; block: Block }
  | { is: 'token'; text: string }
  /** Nothing that a block could say. */
  | { is: 'nothing' };

/** On its own wire `data` is what `providers/anthropic.ts` notes. */
export function readNative(part: NativePart, { isOwnWire }: Pick<AnswerIdentity, 'isOwnWire'>): NativeMeaning {
  const data = recordOf(part.data);
  if (!isOwnWire || data.api !== 'anthropic') {
    const token = packNative(part);
    return token === null ? { is: 'nothing' } : { is: 'token', text: token };
  }
  if (data.type === 'thinking') return { is: 'signature', text: textOf(data.signature) };
  if (data.type === 'text') return { is: 'citations', citations: listOf(data.citations) };
  if (data.type === 'block' && isBlock(data.block)) return { is: 'block', block: data.block };
  return { is: 'nothing' };
}

/** `provider`: whose the block is, as far as the request tells; null where it names an agent. */
export function fromSignature(signature: unknown, provider: string | null): NativePart | null {
  if (typeof signature !== 'string' || signature === '') return null;
  if (isOwnText(signature)) return unpackNative(signature);
  return provider === null ? null : { type: 'native', provider, data: { api: 'anthropic', type: 'thinking', signature } };
}

/** A block that only a provider of this API can read: redacted thinking, and what its own tools did. */
export function fromBlock(block: Block, provider: string | null): NativePart | null {
  if (isOwnText(block.data)) return unpackNative(block.data);
  return provider === null ? null : { type: 'native', provider, data: { api: 'anthropic', type: 'block', block } };
}

/** True for a block that means nothing to anybody but us. */
export function isOwnBlock(block: unknown): boolean {
  if (!isRecord(block)) return false;
  return (block.type === 'thinking' && isOwnText(block.signature)) || (block.type === 'redacted_thinking' && isOwnText(block.data));
}

function isOwnText(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith(nativeTokenPrefix);
}

function isBlock(value: unknown): value is Block {
  return isRecord(value) && typeof value.type === 'string';
}
