/** A content block of a reply of the Messages API while it is read, for `reply.ts`. */
import { GrowingText } from '../../core/model/growing-text.ts';
import { argumentsOf, isRecord, type Json, listOf, recordOf, stringOf, tryParse } from '../../core/json/wire-value.ts';
import type { RequestBlock } from './messages.ts';

export type OpenBlock = {
  /** Counts the reply's blocks, since the wire's index may be missing or reused. */
  serial: number;
  kind: 'text' | 'thinking' | 'call' | 'other';
  closed: boolean;
  /** The block as its start event had it. */
  start: Json;
  /** Whether deltas followed the start. */
  fed: boolean;
  signature: string | null;
  citations: unknown[];
  /** The length of the reply's text before the block's. */
  textStart?: number;
  /** The input of a call that the provider runs itself. null: it cannot be returned unchanged. */
  input: GrowingText | null;
  inputBytes: number;
};

export function openBlock(start: Json, serial: number): OpenBlock {
  return {
    serial,
    kind: kindOf(start),
    closed: false,
    start,
    fed: false,
    signature: typeof start.signature === 'string' ? start.signature : null,
    citations: [...listOf(start.citations)],
    input: new GrowingText(),
    inputBytes: 0,
  };
}

export function kindOf({ type, name }: Json): OpenBlock['kind'] {
  if (type === 'text' || type === 'thinking') return type;
  if (type === 'tool_use' || (type === undefined && typeof name === 'string')) return 'call';
  return type === undefined ? 'text' : 'other';
}

/** Returns whether a start event repeats that of an open block. */
export function isRepeatedStart(before: OpenBlock, kind: OpenBlock['kind'], start: Json): boolean {
  const id = stringOf(start.id);
  return !before.closed && before.kind === kind && stringOf(before.start.id) === id && (id !== '' || !before.fed);
}

/** null for the empty object with which every streamed input begins. */
export function blockInputOf({ input }: Json): string | object | null {
  return isRecord(input) && Object.keys(input).length === 0 ? null : argumentsOf(input);
}

/** Returns the optional fields of a call, such as `caller`; null: none. */
export function unknownFields({ type: _type, id, name: _name, input: _input, ...fields }: Json): Json | null {
  if (recordOf(fields.caller).type === 'direct') delete fields.caller;
  return stringOf(id) === '' || Object.keys(fields).length === 0 ? null : fields;
}

/** Returns the block as an unstreamed reply would contain it; null if that is unknown. */
export function completeBlock({ start, input }: OpenBlock): RequestBlock | null {
  if (input === null || typeof start.type !== 'string') return null;
  const block = { ...start, type: start.type };
  if (input.length === 0) return block;
  const whole = tryParse(input.read());
  return isRecord(whole) ? { ...block, input: whole } : null;
}
