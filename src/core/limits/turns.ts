/** Limits of turns, their calls and streams, and of sessions. Part of `limits` (`core/limits/limits.ts`). */
import { KB, MB } from './units.ts';

export const turnLimits = {
  // Turns (contract §5).
  maxStepsPerTurn: 16,
  maxCallsPerTurn: 64,
  maxParallelCalls: 6,
  toolTimeoutMs: 30_000,
  turnTimeoutMs: 10 * 60_000,
  /** A running turn keeps its alarm at most this far ahead, so that a dead one is noticed. */
  turnAlarmMs: 5_000,
  /** A week; then the call is denied. */
  approvalTtlMs: 7 * 24 * 60 * 60_000,
  /** Links are meant to be used soon. */
  approvalLinkTtlMs: 24 * 60 * 60_000,
  /** Longer than any token we issue; checked before anything is hashed. */
  maxLinkTokenLength: 512,
  /** Clients with many MCP servers send up to 300 (musistudio/claude-code-router#495). */
  maxClientTools: 1_000,
  /** Estimated tokens of a conversation above which older turns are summarized; agents may set it lower or higher. */
  maxContextTokens: 120_000,
  maxSummaryBytes: 12 * KB,
  maxMessagesPerPage: 10_000,
  maxEventsPerPage: 500,

  // Streams (contract §5).
  heartbeatMs: 15_000,
  idleCloseMs: 60_000,
  /** A SQLite value holds 2 MB; a character of JSON text takes up to 3 bytes there. */
  maxRowCharacters: 500_000,

  // Tool calls and results.
  maxArgumentBytes: 1 * MB,
  maxToolNameLength: 512,
  /** `<server>.<name>`: a server has 32 characters, its tool 256. */
  maxCanonicalNameLength: 320,
  /** Characters of a model's text that are held back until it is certain whether they are a call (text protocol). */
  maxHeldText: 8 * KB,
  /** Calls that one reply may start; far above what a step may run, so that each refusal can still be reported. */
  maxCallsPerReply: 256,
  /** Native parts of one reply: each is a row of the log. A long answer with searches and reasoning has some dozens. */
  maxNativePartsPerReply: 2_000,
  /** The text of a tool result as the model reads it; the rest is cut with a note. */
  maxResultBytes: 64 * KB,
  /** Images, audio and files of a tool result (base64) as the model gets them: the largest image that providers accept. */
  maxResultMediaBytes: 5 * MB,
  /** Images, audio and files of the results that a conversation holds in memory and sends to the model; older ones are left out. */
  maxConversationMediaBytes: 24 * MB,
  /** A tool result as REST and MCP clients get it, and as it is stored for `fetch_result`. */
  maxWholeResultBytes: 16 * MB,
  /** Blocks of a result: empty ones have no bytes to count, but each one costs the provider, the log and every reader something. */
  maxResultBlocks: 1_000,
  /** Schema parts deeper than this are not compiled: their values are accepted unchecked. */
  maxSchemaDepth: 32,
  /** Arrays and objects of one tool's schema, above which it is not processed: several times what a provider accepts. */
  maxSchemaSourceParts: 20_000,
  /** Parts of one tool's schema as sent to a provider, with references expanded: with the shortest texts they fill `maxSchemaBytes`. */
  maxSchemaParts: 4_000,
  /** Alternatives of one part that are distinguished; models do not choose well among more. */
  maxSchemaBranches: 64,

  // Guards.
  /** The longest timeout of a guard: a call waits twice for it, before and after. */
  maxGuardTimeoutMs: 10_000,
  /** An answer of a guard, which may contain a whole result. */
  maxGuardAnswerBytes: 4 * MB,

  // Session files.
  maxFileBytes: 16 * MB,
  maxSessionFilesBytes: 64 * MB,
  maxSessionFiles: 10_000,
  maxPathBytes: 1024,
  /** Rows of one directory listing that a model reads. */
  maxListedFiles: 1000,
  /** Entries of one listing over HTTP. */
  maxListedTree: 5_000,
  /** A Durable Object's SQLite accepts values up to 2 MB; larger files are stored in chunks of this size. */
  storageChunkBytes: 1 * MB,

  // Sessions.
  /** A larger session accepts no more turns, and no more calls whose answers are stored: an object has 10 GB at most. */
  maxSessionBytes: 1024 * MB,
  /** The end of a turn waits this long until the Catalog has stored the audit rows; then they are sent later. */
  auditWaitMs: 2_000,
  auditRetryMs: 10_000,
  unlistedSessionTtlMs: 60 * 60_000,
  /** Retention of a replay. */
  replayTtlMs: 90 * 24 * 60 * 60_000,
  /** Retention of answered questions (approvals with their arguments, requests for input, calls of the client) after their expiry or end. */
  endedWaitTtlMs: 7 * 24 * 60 * 60_000,
  idempotencyTtlMs: 24 * 60 * 60_000,
} as const;
