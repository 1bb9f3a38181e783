/** Bounds of what a request may hold, and what a key says. Read as a part of `limits` (`core/limits.ts`). */
import { KB, MB } from './units.ts';

export const requestLimits = {
  // Requests (DESIGN §9).
  maxBodyBytes: 1 * MB,
  /** Chat dialects, turns, skills, servers, import: histories with images are this large in practice. */
  maxLargeBodyBytes: 10 * MB,
  maxFileBodyBytes: 16 * MB,
  /** Deeper JSON than any tool schema or history needs; keeps recursive walks off the stack's end. */
  maxJsonDepth: 64,
  /** Of one body, members and items. Each costs a hundred times its byte while it is checked: 10 MB of `{},` are an isolate's memory. */
  maxJsonValues: 200_000,
  /** Faults of one request that are told: one for each entry of the largest toolset. */
  maxToldIssues: 1_000,
  /** A body that trickles in holds a request open; the largest one passes in this time at 1 Mbit/s. */
  requestBodyTimeoutMs: 150_000,
  /** Bodies declared this small come in one packet or two: whoever stops in between holds one idle request, which the platform ends. */
  untimedBodyBytes: 2 * KB,
  /** Of a refused request: taken in and dropped before the answer, because a client that is still sending may not read it. */
  maxDiscardedBodyBytes: 32 * MB,
  discardTimeoutMs: 10_000,
  discardPauseMs: 500,
  /** Of a caller's own text when a problem or a log line repeats it. */
  maxQuotedLength: 100,
  maxHeaderTextLength: 255,
  maxCursorLength: 1024,
  maxPageItems: 200,
  /** Of tools, for whoever walks all ten thousand of a workspace; `listPageBytes` bounds a page as well. */
  maxToolPageItems: 5_000,
  /** Lists that are walked whole (models, one key by its id) stop here. */
  maxListedPages: 50,
  defaultPageItems: 50,

  // What a key says of its caller.
  maxCallerFields: 20,
  maxCallerFieldLength: 256,

  // Keys and secrets (DESIGN §7, §9).
  /** Longer than any key of ours; checked before anything is hashed. */
  maxKeyBytes: 512,
  keyUseIntervalMs: 60_000,
  maxSecretBytes: 64 * KB,
  /** Shorter ones would blot out ordinary text, so they are not looked for in what tools answer; writing one is warned of. */
  minRedactedSecretLength: 4,
  maxSecretHosts: 100,
  maxSecretTools: 100,
} as const;
