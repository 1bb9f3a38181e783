/** Limits of requests, keys and outbound requests, mainly to providers. Part of `limits` (`core/limits/limits.ts`). */
import { MB, KB } from './units.ts';

export const requestLimits = {
  // Requests (contract §9).
  maxBodyBytes: 1 * MB,
  /** Chat dialects, turns, skills, servers, import: histories with images are this large in practice. */
  maxLargeBodyBytes: 10 * MB,
  /** As in Anthropic's API, whose clients send PDFs inside. */
  maxMessagesBodyBytes: 32 * MB,
  /** Of a request without a key: senders of webhooks give up after 3 to 30 s. */
  strangersBodyTimeoutMs: 20_000,
  /** Of a large response: 16 MB take this long at 0.5 Mbit/s. */
  maxSendMs: 300_000,
  /** Deeper than any tool schema or history needs; keeps recursive walks from overflowing the stack. */
  maxJsonDepth: 64,
  /** Members and items of one body. Checking each one costs a hundred times its byte: 10 MB of `{},` would fill an isolate's memory. */
  maxJsonValues: 200_000,
  /** Reported errors of one request: one for each entry of the largest toolset. */
  maxReportedIssues: 1_000,
  /** A caller's own text when a problem or a log line repeats it. */
  maxQuotedLength: 100,
  maxCursorLength: 1024,
  /** Of a body in the request log; the rest is cut. */
  maxLoggedBodyCharacters: 64 * KB,
  maxPageItems: 200,
  /** For clients that page through all ten thousand tools of a workspace; `listPageBytes` also limits a page. */
  maxToolPageItems: 5_000,

  // Keys and secrets (contract §7, §9).
  /** Longer than any key we issue; checked before anything is hashed. */
  maxKeyBytes: 512,
  /** Replacing shorter secrets would remove ordinary text, so they are not searched for in tool results; storing one gives a warning. */
  minRedactedSecretLength: 4,

  // `/readyz`, which needs no key.
  /** Of each check; probes usually wait 1 to 5 s. */
  readinessTimeoutMs: 2_000,
  /** A result is shared for this long, so that requests cannot multiply the checks. */
  readinessCacheMs: 1_000,

  // WebSockets of `/v1/responses`.
  /** As in OpenAI's API, whose clients open the next one at this end. */
  maxSocketMs: 3_600_000,
  /** Without a message and a reply. Ends the connections of clients that are gone without a word. */
  socketIdleMs: 900_000,
  /** The platform bounds the outgoing requests of one invocation, which a socket is. */
  maxSocketMessages: 200,
  /** Messages that wait for the reply to an earlier one. */
  maxSocketQueue: 8,

  // Outbound HTTP.
  maxUrlLength: 8 * KB,
  maxHeaderNameLength: 100,

  // Providers.
  providerFirstByteTimeoutMs: 120_000,
  /** The longest pause in a reply. */
  providerIdleTimeoutMs: 120_000,
  /** The first byte of a reply that is not streamed arrives after the last token is generated. */
  providerWholeTimeoutMs: 600_000,
  /** Sent with a 429 for which no upstream gave a time. */
  defaultRetryAfterMs: 5_000,
  /** One SSE message of a provider; the largest in the corpus is 0.4 MB. */
  maxSseMessageBytes: 4 * MB,
  maxErrorBodyBytes: 64 * KB,
  /** The shown part of an error message of a server of tools, which may hold the whole output of a program. */
  maxServerMessageLength: 64 * KB,
  /** The part that is stored as the reason why a server could not be read. */
  maxErrorMessageLength: 400,
  /** The same for a provider of models: clients search its text, for example for a delay. */
  maxReportedErrorLength: 2_000,
} as const;
