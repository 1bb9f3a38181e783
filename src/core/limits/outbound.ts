/** Limits of outbound requests, mainly to providers. Part of `limits` (`core/limits.ts`). */
import { KB, MB } from './units.ts';

export const outboundLimits = {
  // Outbound HTTP.
  maxUrlLength: 8 * KB,
  /** For one header that a model sets; servers refuse larger ones in practice. */
  maxHeaderValueLength: 8 * KB,
  maxHeaderNameLength: 100,
  maxModelHeaders: 32,
  maxRedirects: 5,
  outboundTimeoutMs: 30_000,
  /** After decompression. */
  maxOutboundBodyBytes: 1 * MB,

  // Providers.
  providerFirstByteTimeoutMs: 120_000,
  /** The first byte of a reply that is not streamed arrives after the last token is generated. */
  providerWholeTimeoutMs: 600_000,
  providerIdleTimeoutMs: 120_000,
  /** After a finish reason only usage and the end marker are missing; some servers never close the stream. */
  providerTailTimeoutMs: 5_000,
  maxProviderRetries: 2,
  /** The number of retries of a reply that breaks off, for each model of the plan. */
  maxStepRestarts: 1,
  providerRetryMs: 500,
  maxRetryAfterMs: 20_000,
  /** Maximum forwarded `Retry-After` of a provider: a larger value is a wrong date, and an endless one has no meaning. */
  maxForwardedRetryAfterMs: 24 * 60 * 60_000,
  /** Sent with a 429 for which no upstream gave a time. */
  defaultRetryAfterMs: 5_000,
  /** One SSE message of a provider; the largest in the corpus is 0.4 MB. */
  maxSseMessageBytes: 4 * MB,
  /** A provider's native data as a text that a client carries: the reasoning items of a long step have some tens of kilobytes. */
  maxNativeTokenBytes: 512 * KB,
  /** The part of a request that a response of the Responses dialect repeats three times, and that is stored with it. */
  maxEchoCharacters: 32 * KB,
  /** The part of invalid call arguments that the model sees later: enough to recognize them. */
  maxReplayedRawLength: 2_000,
  maxErrorBodyBytes: 64 * KB,
  /** The forwarded part of a provider's error message. */
  maxErrorMessageLength: 400,
  /** One reply, streamed or not. */
  maxPlainReplyBytes: 32 * MB,
  /** Data buffered for a slow reader of a rewritten stream before reading from the provider pauses. */
  maxRewriteBufferBytes: 256 * KB,
} as const;
