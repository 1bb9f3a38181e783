/** Limits of outbound requests, mainly to providers. Part of `limits` (`core/limits.ts`). */
import { KB, MB } from './units.ts';

export const outboundLimits = {
  // Outbound HTTP.
  maxUrlLength: 8 * KB,
  maxHeaderNameLength: 100,

  // Providers.
  providerFirstByteTimeoutMs: 120_000,
  /** The first byte of a reply that is not streamed arrives after the last token is generated. */
  providerWholeTimeoutMs: 600_000,
  maxRetryAfterMs: 20_000,
  /** Sent with a 429 for which no upstream gave a time. */
  defaultRetryAfterMs: 5_000,
  /** One SSE message of a provider; the largest in the corpus is 0.4 MB. */
  maxSseMessageBytes: 4 * MB,
  maxErrorBodyBytes: 64 * KB,
  /** The forwarded part of a provider's error message. */
  maxErrorMessageLength: 400,
} as const;
