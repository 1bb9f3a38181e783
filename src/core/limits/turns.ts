/** Bounds of turns, their calls and streams, and the sessions that they are of. Read as a part of `limits` (`core/limits.ts`). */
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
  /** A running turn keeps its alarm at most this far ahead, so a dead one is noticed. */
  turnAlarmMs: 5_000,
  /** A turn that dies again and again without a finished step or call in between is ended; so is one that dies this often at all. */
  maxRecoveriesWithoutProgress: 3,
  maxRecoveries: 20,
  /** Asked today, answered next week; then it is a no. */
  approvalTtlMs: 7 * 24 * 60 * 60_000,
  /** A link is for somebody who has it in hand. */
  approvalLinkTtlMs: 24 * 60 * 60_000,
  /** Longer than any token of ours; checked before anything is hashed. */
  maxLinkTokenLength: 512,
  /** A decision sent with a link by nobody in particular: one short word. */
  maxLinkBodyBytes: 4 * KB,
  /** Of what is told of a mark of the taint rule: a path or a host with the tool that read it. */
  maxTaintSourceCharacters: 300,
  /** Open at once in a session, direct calls included: each holds its arguments. */
  maxPendingApprovals: 100,
  /** Arguments of all of them together, from which on no direct call is asked for any more: they are listed on one page, and an RPC carries 32 MB. */
  maxPendingArgumentCharacters: 8 * MB,
  /** Effects that a question lists as data, and that its sentence names of each kind. A yes is bound to all effects. */
  maxListedEffects: 100,
  maxNamedEffects: 10,
  /** Effects that require approval in one call; after that the call is refused. */
  maxEffectsToAsk: 10_000,
  /** Files that a script names, to whose content a question before its run is bound, and the size up to which they are searched for further names. */
  maxNamedScriptFiles: 100,
  maxNamedScriptBytes: 64 * KB,
  /** Questions about one call. One that would do something else each time never gets its yes. */
  maxApprovalRounds: 5,
  /** JSON on an approval's page; longer than this it is not indented: nobody reads it for its form, and depth would multiply it. */
  maxIndentedCharacters: 64 * KB,
  /** Links to one approval that are good at the same time. */
  maxLinksPerApproval: 10,
  maxClientTools: 128,
  maxClientToolDescriptionBytes: 16 * KB,
  /** Of a turn's plan, instructions and the caller's tools included: it is one value of the session's storage, which takes 2 MB. */
  maxPlanBytes: 1.5 * MB,
  /** Of one result of a caller's tool; the body's size bounds what they hold. */
  maxClientResultBlocks: 1_000,
  /** What a caller may say while a turn waits. */
  maxInputsWhileWaiting: 20,
  /** Estimated tokens of a conversation from which older turns are summed up; agents may set it lower or higher. */
  maxContextTokens: 120_000,
  /** What is still shown of a tool's old result in a turn that is over that by itself: enough to tell what it was. */
  shortenedResultCharacters: 1_000,
  /** Of the older turns, as a model is given them to sum up: each message, and all together. */
  summarizedMessageBytes: 4 * KB,
  maxSummaryInputBytes: 400 * KB,
  /** Room for a model that thinks before it writes; what it writes is cut at the bytes. */
  maxSummaryTokens: 4_000,
  maxSummaryBytes: 12 * KB,
  /** The turn waits for it; then the oldest turns are left out without a summary. */
  summaryTimeoutMs: 60_000,
  /** A page of the transcript ends after this much; RPC carries 32 MB, and one message may hold 10. */
  messagePageBytes: 4 * MB,
  maxMessagesPerPage: 10_000,
  /** Of a result that was cut, kept for `fetch_result`; and how much one such call shows. */
  maxStoredResultBytes: 16 * MB,
  fetchedResultBytes: 48 * KB,
  /** Of all results of a session that are kept; over it the oldest go. */
  maxSessionResultsBytes: 256 * MB,

  // Streams (DESIGN §5).
  deltaFlushBytes: 4 * KB,
  deltaFlushMs: 50,
  /** On a machine that is behind with its writes: a reader still sees something every second. */
  maxDeltaFlushMs: 1_000,
  heartbeatMs: 15_000,
  idleCloseMs: 60_000,
  /** One page of events read for a stream; bounds what a slow reader holds in memory. */
  eventPageBytes: 256 * KB,
  eventPageRows: 500,
  /** Newest events kept in memory for the readers of a running turn. */
  eventTailBytes: 1 * MB,
  /** A SQLite value holds 2 MB; a character of JSON text takes up to 3 bytes there. */
  maxRowCharacters: 500_000,

  // Tool calls and results.
  maxArgumentBytes: 1 * MB,
  /** jsonrepair is quadratic on two kinds of damage (reference/performance.md): above this it is not tried. */
  maxRepairBytes: 100 * KB,
  maxToolNameBytes: 512,
  /** Characters of a model's words that are held back while it is open whether they only speak of a call (text protocol). */
  maxHeldText: 8 * KB,
  /** Calls that one reply may start; far above what a step may run, so that the refusals can still be told one by one. */
  maxCallsPerReply: 256,
  /** Things of one reply that its provider wants back: each is a row of the log. A long answer with searches and thoughts has some dozens. */
  maxNativePartsPerReply: 2_000,
  /** A provider's own id of a call; the longest seen have some hundred characters. What is longer is cut, and is no id to send back. */
  maxNativeCallIdLength: 1_024,
  /** A tool's result as the model reads it; the rest is cut with a note. */
  maxResultBytes: 64 * KB,
  /** Of a result: empty ones have no bytes to count, and each costs a model's provider, the log and every reader something. */
  maxResultBlocks: 1_000,
  /** Blocks of a result that are cut or left out with a note of their own; the rest is counted. */
  maxNotedBlocks: 10,
  /** Of a call with bad arguments: enough to mend it in one go. */
  maxIssues: 20,
  /** Schema parts deeper than this are not compiled: what they describe is taken as it comes. */
  maxSchemaDepth: 32,
  /** Arrays and objects of one tool's schema, from which on it is not looked at: several times what a provider could be sent. */
  maxSchemaSourceParts: 20_000,
  /** Of one tool's schema as a provider is sent it, references written out: with the fewest words they fill `maxSchemaBytes`. */
  maxSchemaParts: 4_000,
  /** Looked at for all tools of a request, every attempt counted: a second at the worst. Large public toolsets take a tenth of it. */
  maxSchemaPartsPerRequest: 200_000,
  /** Larger ones are simplified. 16,000 tokens for one tool; the largest of 1,472 public ones has 7 KB, and gateways stop here as well. */
  maxSchemaBytes: 64 * KB,
  /** How often a schema that contains itself is written out: models seldom nest deeper, and each time may multiply its size. */
  maxSchemaRecursion: 3,
  /** Alternatives of one part that are told apart; a model does not choose well among more. */
  maxSchemaBranches: 64,
  /** Keywords and fields of one schema that are put together for its alternatives: under 0.1 s at the worst. */
  maxSchemaEffort: 50_000,
  /** Changes of one tool's schema that are told one by one. */
  maxSchemaChanges: 100,
  /** What is added to a part's description for rules that its provider does not take. */
  maxSchemaWords: 400,
  /** Nested checks of one value, references included; keeps a schema that refers to itself off the stack's end. */
  maxCheckDepth: 256,
  /** Values looked at in one check of arguments; bounds unions of unions. */
  maxCheckedValues: 200_000,

  // Session files.
  maxFileBytes: 16 * MB,
  maxSessionFilesBytes: 64 * MB,
  maxSessionFiles: 10_000,
  /** What one script may write: it is held in memory until the script has ended, beside everything else of the object. */
  maxOverlayBytes: 32 * MB,
  maxPathBytes: 1024,
  /** One name of a path, as on common file systems. */
  maxFileNameBytes: 255,
  /** An append shorter than this is joined to the last chunk, so that a loop of appends makes neither rows nor copies. */
  appendMergeBytes: 4 * KB,
  /** Rows of one directory listing that a model reads. */
  maxListedFiles: 1000,
  /** Entries of one listing over HTTP. */
  maxListedTree: 5_000,
  /** Of one call of edit_file; each is a pass over the file. */
  maxFileEdits: 100,
  /** What an edit that does not fit is told of the file: places of a text that stands there more than once, lines like the one looked for. */
  maxShownPlaces: 10,
  maxShownNearLines: 12,
  maxShownLineLength: 400,
  /** Of what an edit took away, and of what it put there. */
  maxShownDiffLines: 60,
  /** A Durable Object's SQLite takes values up to 2 MB; larger ones are stored in chunks of this. */
  storageChunkBytes: 1 * MB,

  // Sessions.
  /** Audit rows handed over in one call to the Catalog. */
  auditBatchRows: 100,
  /** The turn's end waits this long for the Catalog to take the audit rows; then they are sent later. */
  auditWaitMs: 2_000,
  auditRetryMs: 10_000,
  unlistedSessionTtlMs: 60 * 60_000,
  /** Decided approvals, arguments included, after the last moment at which they could be decided: for whoever looks up what was said. */
  decidedApprovalKeptMs: 7 * 24 * 60 * 60_000,
  /** Answers of chat clients that can be asked for again: the newest; a cut stream is read on at once, and an older answer stands in the messages. */
  maxKeptCompletions: 1_000,
  idempotencyTtlMs: 24 * 60 * 60_000,
} as const;
