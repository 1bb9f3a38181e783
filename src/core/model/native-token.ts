/**
 * Packs `native` parts, which a provider expects back, into one opaque string that a client carries when no session stores them: in
 * the dialect's own fields for such data (`encrypted_content`, `signature`). The token is neither secret nor authenticated, so
 * adapters validate what they read.
 */
import { fromBase64Url, toBase64Url } from '../text/bytes.ts';
import { isDeeperThan, isRecord } from '../json/wire-value.ts';
import { limits } from '../limits/limits.ts';
import type { NativePart } from './message.ts';
import { KB } from '../limits/units.ts';

/** A provider's native data as a text that a client carries: the reasoning items of a long step have some tens of kilobytes. */
const maxNativeTokenBytes = 512 * KB;

/** In every token, and in the ids of what this service only shows: a body without it has neither. */
export const issuedMark = 'moniker';

/** Every token begins with this prefix; a provider's own values do not. */
export const nativeTokenPrefix = `${issuedMark}.`;

/** Returns null for a part that is too large to carry. */
export function packNative({ provider, data }: NativePart): string | null {
  const token = nativeTokenPrefix + toBase64Url(new TextEncoder().encode(JSON.stringify({ provider, data })));
  return token.length > maxNativeTokenBytes ? null : token;
}

/** Returns null for a text that is not one of our tokens: a provider's own value, or a truncated token. */
export function unpackNative(token: string): NativePart | null {
  if (!token.startsWith(nativeTokenPrefix) || token.length > maxNativeTokenBytes) return null;
  const bytes = fromBase64Url(token.slice(nativeTokenPrefix.length));
  if (bytes === null) return null;
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    // Applies the same depth limit as to request bodies, which this data bypasses: deeper values would overflow the stack later.
    if (isDeeperThan(value, limits.maxJsonDepth) || !isRecord(value) || !('data' in value)) return null;
    return typeof value.provider === 'string' ? { type: 'native', provider: value.provider, data: value.data } : null;
  } catch {
    // Truncated or modified in transit: the message continues without it, as with a provider's own value.
    return null;
  }
}
