/**
 * What a provider wants back (`native` parts), as one opaque text that a client carries where no session keeps it: in the fields that
 * dialects have for such things (`encrypted_content`, `signature`). It is no secret and proves nothing: adapters look at what they read.
 */
import { fromBase64Url, toBase64Url } from './base64url.ts';
import { isDeeperThan } from './json-depth.ts';
import { limits } from './limits.ts';
import type { NativePart } from './message.ts';
import { isRecord } from './wire-value.ts';

/** What every token begins with, and texts of a provider's own do not. */
export const nativeTokenPrefix = 'moniker.';

/** null for a part too large to be carried. */
export function packNative({ provider, data }: NativePart): string | null {
  const token = nativeTokenPrefix + toBase64Url(new TextEncoder().encode(JSON.stringify({ provider, data })));
  return token.length > limits.maxNativeTokenBytes ? null : token;
}

/** null for a text that is none of ours: a provider's own, or cut. */
export function unpackNative(token: string): NativePart | null {
  if (!token.startsWith(nativeTokenPrefix) || token.length > limits.maxNativeTokenBytes) return null;
  const bytes = fromBase64Url(token.slice(nativeTokenPrefix.length));
  if (bytes === null) return null;
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    // As strict as bodies are, past whose checks it comes: whoever walks it later goes down on the stack.
    if (isDeeperThan(value, limits.maxJsonDepth) || !isRecord(value) || !('data' in value)) return null;
    return typeof value.provider === 'string' ? { type: 'native', provider: value.provider, data: value.data } : null;
  } catch {
    // Cut or changed on its way: the message goes on without it, as one of a provider's own would.
    return null;
  }
}
