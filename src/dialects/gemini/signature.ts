/**
 * What models need back of a message, as a `thoughtSignature`: clients return it unread on the part that had it, often as the only thing of the
 * model's thinking. It holds the reasoning and the data before the part, and the data behind a call. A token of `core/model/native-token.ts` in
 * the alphabet of base64, with padding: the field is bytes, which some clients decode and encode again in either alphabet.
 */
import { isRecord, type Json, listOf, mapItems, recordOf } from '../../core/json/wire-value.ts';
import type { NativePart } from '../../core/model/message.ts';
import { packNative, unpackNative } from '../../core/model/native-token.ts';

export type ThoughtPart = { type: 'reasoning'; text: string } | NativePart;
export type CarriedThoughts = { before: ThoughtPart[]; after: NativePart[] };

/** The token's own prefix without the characters that base64 does not have. */
const prefix = 'moniker/';

/** Returns null if no model needs anything back, or too much of it. */
export function packThoughts({ before, after }: CarriedThoughts): string | null {
  if (![...before, ...after].some(({ type }) => type === 'native')) return null;
  const token = packNative({ type: 'native', provider: '', data: { before, after } });
  if (token === null) return null;
  const signature = prefix + token.slice(prefix.length).replaceAll('-', '+').replaceAll('_', '/');
  return signature.padEnd(Math.ceil(signature.length / 4) * 4, '=');
}

/** Returns null for a signature of a provider. */
export function unpackThoughts(signature: unknown): CarriedThoughts | null {
  if (!isIssued(signature)) return null;
  const token = signature.slice(prefix.length).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  const { before, after } = recordOf(unpackNative(`moniker.${token}`)?.data);
  return { before: listOf(before).flatMap(readThought), after: listOf(after).flatMap(readNative) };
}

function isIssued(signature: unknown): signature is string {
  return typeof signature === 'string' && /^moniker[/_]/.test(signature);
}

function readThought(part: unknown): ThoughtPart[] {
  const { type, text } = recordOf(part);
  return type === 'reasoning' && typeof text === 'string' ? [{ type, text }] : readNative(part);
}

function readNative(part: unknown): NativePart[] {
  const { type, provider, data } = recordOf(part);
  return type === 'native' && typeof provider === 'string' && data !== undefined ? [{ type, provider, data }] : [];
}

/** What Gemini accepts in place of a signature that it did not make (guide "Thought signatures"). */
const unsigned = 'skip_thought_signature_validator';

/** Returns the request without these signatures, which its provider would not understand; the same object if it has none. */
export function withoutThoughts(body: Readonly<Json>): Readonly<Json> {
  const bare = (part: unknown): unknown => {
    const name = ['thoughtSignature', 'thought_signature'].find((one) => isIssued(recordOf(part)[one]));
    if (name === undefined) return part;
    const { [name]: _signature, ...rest } = recordOf(part);
    const isCall = rest.functionCall !== undefined || rest.function_call !== undefined;
    return isCall ? { ...rest, thoughtSignature: unsigned } : rest.text === '' ? undefined : rest;
  };
  const bareContent = (content: unknown): unknown => {
    if (!isRecord(content) || !Array.isArray(content.parts)) return content;
    const parts = mapItems(content.parts, bare);
    if (parts === content.parts) return content;
    return parts.length === 0 ? undefined : { ...content, parts };
  };
  const contents = listOf(body.contents);
  const own = mapItems(contents, bareContent);
  return own === contents ? body : { ...body, contents: own };
}
