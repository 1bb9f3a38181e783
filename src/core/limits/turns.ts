/** Limits of turns, their calls and streams, and of sessions. Part of `limits` (`core/limits.ts`). */
import { KB, MB } from './units.ts';

export const turnLimits = {
  // Turns (DESIGN §5).
  maxStepsPerTurn: 16,
  maxCallsPerStep: 32,
  maxCallsPerTurn: 64,
  maxIdenticalCalls: 3,
  maxParallelCalls: 6,
  maxQueuedTurns: 100,
  toolTimeoutMs: 30_000,
  turnTimeoutMs: 10 * 60_000,
  /** A running turn keeps its alarm at most this far ahead, so that a dead one is noticed. */
  turnAlarmMs: 5_000,
  /**
   * A turn whose process dies this often without a finished step or call in between is ended; so is one that dies this often in
   * total.
   */
  maxRecoveriesWithoutProgress: 3,
  maxRecoveries: 20,
  /** A week; then the call is denied. */
  approvalTtlMs: 7 * 24 * 60 * 60_000,
  /** Links are meant to be used soon. */
  approvalLinkTtlMs: 24 * 60 * 60_000,
  /** Longer than any token we issue; checked before anything is hashed. */
  maxLinkTokenLength: 512,
  /** An unauthenticated decision by link: one short word. */
  maxLinkBodyBytes: 4 * KB,
  /** The source of a taint mark: a path or a host with the tool that read it. */
  maxTaintSourceCharacters: 300,
  /** Open approvals of a session, including those of direct calls: each stores its arguments. */
  maxPendingApprovals: 100,
  /**
   * Total arguments of open approvals, above which direct calls are no longer asked about: they are listed on one page, and an RPC
   * carries 32 MB.
   */
  maxPendingArgumentCharacters: 8 * MB,
  /** Effects that a question lists as data, and that its sentence names of each kind. An approval is bound to all effects. */
  maxListedEffects: 100,
  maxNamedEffects: 10,
  /** Effects that require approval in one call; above that the call is refused. */
  maxEffectsToAsk: 10_000,
  /**
   * Files named in a script to whose content a question before its run is bound, and the size up to which they are searched for
   * further names.
   */
  maxNamedScriptFiles: 100,
  maxNamedScriptBytes: 64 * KB,
  /** Questions about one call. A call whose effects change each time is refused after these. */
  maxApprovalRounds: 5,
  /**
   * JSON on the approval page; longer JSON is not indented, since nobody reads it for its form and depth would multiply its size.
   */
  maxIndentedCharacters: 64 * KB,
  /** Links to one approval that are valid at the same time. */
  maxLinksPerApproval: 10,
  maxClientTools: 128,
  maxClientToolDescriptionBytes: 16 * KB,
  /**
   * The plan of a turn, including instructions and the caller's tools: it is one value in the session's storage, which accepts 2 MB.
   */
  maxPlanBytes: 1.5 * MB,
  /** Blocks of one result of a client tool; the size of the body limits their content. */
  maxClientResultBlocks: 1_000,
  /** Inputs that a caller may send while a turn waits. */
  maxInputsWhileWaiting: 20,
  /** Estimated tokens of a conversation above which older turns are summarized; agents may set it lower or higher. */
  maxContextTokens: 120_000,
  /** The part of an old tool result that is still shown in a turn over its budget: enough to recognize it. */
  shortenedResultCharacters: 1_000,
  /** Older turns as given to the summarizing model: each message, and the total. */
  summarizedMessageBytes: 4 * KB,
  maxSummaryInputBytes: 400 * KB,
  /** Leaves room for reasoning before the summary; the summary itself is cut by bytes. */
  maxSummaryTokens: 4_000,
  maxSummaryBytes: 12 * KB,
  /** The turn waits this long for a summary; then the oldest turns are left out without one. */
  summaryTimeoutMs: 60_000,
  /** A page of the transcript ends after this much; an RPC carries 32 MB, and one message may have 10. */
  messagePageBytes: 4 * MB,
  maxMessagesPerPage: 10_000,
  /** A cut result, stored for `fetch_result`; and the size of one fetched piece. */
  maxStoredResultBytes: 16 * MB,
  fetchedResultBytes: 48 * KB,
  /** All stored results of a session; above this the oldest are deleted. */
  maxSessionResultsBytes: 256 * MB,

  // Streams (DESIGN §5).
  deltaFlushBytes: 4 * KB,
  deltaFlushMs: 50,
  /** On a machine with delayed writes: a reader still gets something every second. */
  maxDeltaFlushMs: 1_000,
  heartbeatMs: 15_000,
  idleCloseMs: 60_000,
  /** One page of events read for a stream; bounds what a slow reader holds in memory. */
  eventPageBytes: 256 * KB,
  eventPageRows: 500,
  /** Newest events cached in memory for the readers of a running turn. */
  eventTailBytes: 1 * MB,
  /** A SQLite value holds 2 MB; a character of JSON text takes up to 3 bytes there. */
  maxRowCharacters: 500_000,

  // Tool calls and results.
  maxArgumentBytes: 1 * MB,
  /** jsonrepair is quadratic on two kinds of damage (reference/performance.md): above this size it is not tried. */
  maxRepairBytes: 100 * KB,
  maxToolNameBytes: 512,
  /** Characters of a model's text that are held back until it is certain whether they are a call (text protocol). */
  maxHeldText: 8 * KB,
  /** Calls that one reply may start; far above what a step may run, so that each refusal can still be reported. */
  maxCallsPerReply: 256,
  /** Native parts of one reply: each is a row of the log. A long answer with searches and reasoning has some dozens. */
  maxNativePartsPerReply: 2_000,
  /** A provider's own id of a call; the longest known ones have some hundred characters. A longer id is cut and not sent back. */
  maxNativeCallIdLength: 1_024,
  /** A tool result as the model reads it; the rest is cut with a note. */
  maxResultBytes: 64 * KB,
  /** Blocks of a result: empty ones have no bytes to count, but each one costs the provider, the log and every reader something. */
  maxResultBlocks: 1_000,
  /** Blocks of a result that are cut or left out with a separate note; the rest is counted. */
  maxNotedBlocks: 10,
  /** Reported errors of a call with invalid arguments: enough to fix them all at once. */
  maxIssues: 20,
  /** Schema parts deeper than this are not compiled: their values are accepted unchecked. */
  maxSchemaDepth: 32,
  /** Arrays and objects of one tool's schema, above which it is not processed: several times what a provider accepts. */
  maxSchemaSourceParts: 20_000,
  /**
   * Parts of one tool's schema as sent to a provider, with references expanded: with the shortest texts they fill `maxSchemaBytes`.
   */
  maxSchemaParts: 4_000,
  /**
   * Parts visited for all tools of a request, including every attempt: a second in the worst case. Large public toolsets need a tenth
   * of it.
   */
  maxSchemaPartsPerRequest: 200_000,
  /**
   * Larger schemas are simplified. 16,000 tokens for one tool; the largest of 1,472 public ones has 7 KB, and gateways have the same
   * limit.
   */
  maxSchemaBytes: 64 * KB,
  /** How often a recursive schema is expanded: models rarely nest deeper, and each level may multiply its size. */
  maxSchemaRecursion: 3,
  /** Alternatives of one part that are distinguished; models do not choose well among more. */
  maxSchemaBranches: 64,
  /** Keywords and fields of one schema that are combined for its alternatives: under 0.1 s in the worst case. */
  maxSchemaEffort: 50_000,
  /** Reported changes of one tool's schema. */
  maxSchemaChanges: 100,
  /** Text added to a part's description for rules that its provider does not accept. */
  maxSchemaWords: 400,
  /** Nested checks of one value, including references; keeps recursive schemas from overflowing the stack. */
  maxCheckDepth: 256,
  /** Values visited in one check of arguments; bounds unions of unions. */
  maxCheckedValues: 200_000,

  // Session files.
  maxFileBytes: 16 * MB,
  maxSessionFilesBytes: 64 * MB,
  maxSessionFiles: 10_000,
  /** Data that one script may write: it is held in memory until the script ends, in addition to the rest of the object. */
  maxOverlayBytes: 32 * MB,
  maxPathBytes: 1024,
  /** One segment of a path, as on common file systems. */
  maxFileNameBytes: 255,
  /** A shorter append is merged into the last chunk, so that a loop of appends creates neither rows nor copies. */
  appendMergeBytes: 4 * KB,
  /** Rows of one directory listing that a model reads. */
  maxListedFiles: 1000,
  /** Entries of one listing over HTTP. */
  maxListedTree: 5_000,
  /** Edits of one call of edit_file; each is a pass over the file. */
  maxFileEdits: 100,
  /** The file content shown for an edit that does not match: positions of a text that occurs more than once, and similar lines. */
  maxShownPlaces: 10,
  maxShownNearLines: 12,
  maxShownLineLength: 400,
  /** Lines of a diff that are shown, removed and added. */
  maxShownDiffLines: 60,
  /** A Durable Object's SQLite accepts values up to 2 MB; larger files are stored in chunks of this size. */
  storageChunkBytes: 1 * MB,

  // Sessions.
  /** Audit rows sent in one call to the Catalog. */
  auditBatchRows: 100,
  /** The end of a turn waits this long until the Catalog has stored the audit rows; then they are sent later. */
  auditWaitMs: 2_000,
  auditRetryMs: 10_000,
  unlistedSessionTtlMs: 60 * 60_000,
  /** Retention of decided approvals, including arguments, after the last moment at which they could be decided. */
  decidedApprovalTtlMs: 7 * 24 * 60 * 60_000,
  /**
   * Newest answers of chat clients that can be requested again: a cut stream is resumed at once, and older answers are in the
   * messages.
   */
  maxStoredCompletions: 1_000,
  idempotencyTtlMs: 24 * 60 * 60_000,
} as const;
