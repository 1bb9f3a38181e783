/** Bounds of requests of ours, to providers above all. Read as a part of `limits` (`core/limits.ts`). */
import { KB, MB } from './units.ts';

export const outboundLimits = {
  // Outbound HTTP.
  maxUrlLength: 8 * KB,
  /** Of one header that a model sets; servers refuse more in practice. */
  maxHeaderValueLength: 8 * KB,
  maxHeaderNameLength: 100,
  maxModelHeaders: 32,
  maxRedirects: 5,
  outboundTimeoutMs: 30_000,
  /** After decompression. */
  maxOutboundBodyBytes: 1 * MB,

  // Providers.
  providerFirstByteTimeoutMs: 120_000,
  /** A reply that is not streamed has no first byte before its last word is thought. */
  providerWholeTimeoutMs: 600_000,
  providerIdleTimeoutMs: 120_000,
  /** After a finish reason only usage and the end mark are missing; some servers never close. */
  providerTailTimeoutMs: 5_000,
  maxProviderRetries: 2,
  /** A reply that breaks off in the middle is asked for again this often, for each model of the plan. */
  maxStepRestarts: 1,
  providerRetryMs: 500,
  maxRetryAfterMs: 20_000,
  /** Of a provider's `Retry-After`, as it is passed on: more is a date gone wrong, and a number without end is none at all. */
  maxToldRetryAfterMs: 24 * 60 * 60_000,
  /** Told with a 429 for which nobody named a time. */
  defaultRetryAfterMs: 5_000,
  /** One SSE message of a provider; the largest seen in the corpus is 0.4 MB. */
  maxSseMessageBytes: 4 * MB,
  /** What a provider wants back, as a text that a client carries: reasoning items of a long step are some tens of kilobytes. */
  maxNativeTokenBytes: 512 * KB,
  /** Of a request, in what an answer of the Responses dialect shows again three times, and is stored with it. */
  maxEchoCharacters: 32 * KB,
  /** Of the arguments of a call that nobody could read, in what its model is told of them later: enough to know them again. */
  maxReplayedRawLength: 2_000,
  maxErrorBodyBytes: 64 * KB,
  /** Of a provider's own error message, as it is passed on. */
  maxErrorMessageLength: 400,
  /** One reply, plain or streamed. */
  maxPlainReplyBytes: 32 * MB,
  /** What waits for a slow reader of a rewritten stream before the provider is read on. */
  maxRewriteBufferBytes: 256 * KB,
} as const;
