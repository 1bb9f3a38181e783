/**
 * Every bound of the product in one place, with its unit in the name and its reason beside it. A wait, a buffer or a
 * loop elsewhere names its limit from here.
 */

const KB = 1024;
const MB = 1024 * KB;

export const limits = {
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

  // Toolsets and editions (DESIGN §4).
  maxToolsetEntries: 1000,
  maxAliasesPerEntry: 32,
  maxDescriptionBytes: 2 * KB,
  maxToolsetBytes: 1 * MB,
  maxEditionBytes: 10 * MB,
  maxNotesPerEntry: 20,
  /** Of what a configuration tool tells, as bytes of its JSON: below `maxResultBytes`, so that half of an answer is never dropped. */
  maxConfigurationAnswerBytes: 40 * KB,
  /** Faults of one request to build or change a toolset that are told one by one. */
  maxConfigurationFaults: 20,
  /** A change that can be made again upon what somebody else has stored meanwhile is tried this often. */
  maxLostWrites: 8,
  maxNoteBytes: 500,
  maxSuggestions: 5,
  /** Old names that are told of beneath one text: a model that reads of more has other worries. */
  maxNamesTold: 20,
  /** Characters that a text may grow by when tools are named in it as they are today; beyond that the line beneath must do. */
  maxRewrittenGrowth: 8 * KB,
  /** Differences of two versions of a toolset that are told, all entries together: nobody reads more, and each may be of some kB. */
  maxToldDifferences: 1_000,
  /** Of one kind of advice about a toolset's tools, said one by one; the rest is counted. */
  maxToldAdvice: 20,
  /** What providers are sent of one edition, kept for whoever asks again: each is about as large as the edition. */
  maxKeptReports: 4,
  /** Of one result: more is a result of its own. */
  maxPicks: 50,
  /** Tools above which a toolset's definitions are given on demand: models choose worse among more, and clients stop at 40 or 128. */
  defaultOnDemandAbove: 64,
  /** Answers of one `find_tools`. */
  maxFoundTools: 20,
  defaultFoundTools: 5,
  /**
   * Definitions that a conversation may gather by it. The strictest provider takes 128 tools (`Profile.maxTools`) and would not be sent the
   * last of them, of which nobody would be told: beside these there is room for those always offered, ours and the caller's own.
   */
  maxGatheredTools: 100,
  /** Remembered by a conversation, those included that its plan has no more: as many as a toolset has entries. */
  maxRememberedTools: 1_000,
  /** What `find_tools` is asked, and words of it that are looked for: a sentence or two. */
  maxFindQueryLength: 1_000,
  maxFindQueryWords: 64,
  /** Of one tool as it is found: its description, and how its arguments are told. Those found are sent whole as soon as they can be called. */
  maxFoundDescriptionLength: 300,
  maxFoundArgumentsLength: 600,
  /** Of one tool's description, as far as it is looked through; and of its schema, arguments whose names are. */
  maxIndexedDescriptionLength: 4_000,
  maxIndexedArguments: 100,

  // Servers and their definitions.
  maxServerTools: 2_000,
  maxServerHeaders: 20,
  maxServerInstructionBytes: 4 * KB,
  /** Characters of all servers' instructions in one system prompt: those that do not fit are left out whole. */
  maxInstructionsInPrompt: 32 * KB,
  /** Of one listed definition, as JSON. The largest of 1,472 public ones has 12 KB. */
  maxDefinitionBytes: 128 * KB,
  /** Of a listed description, from which on it is cut: attention is paid for by the token. */
  maxListedDescriptionBytes: 16 * KB,
  /** Told of one listed definition: enough to see what kind of definition it is. */
  maxDefinitionFindings: 20,
  /** Parts of a listed schema with its references written out, each cycle once: over it references multiply on purpose. */
  maxSchemaExpandedParts: 1_000_000,
  /** Known to a workspace, all servers together: they are walked when a toolset is written. */
  maxWorkspaceTools: 10_000,
  /** Of their definitions, as JSON: the Catalog keeps them parsed, which takes some times as much of its 128 MB. */
  maxWorkspaceDefinitionCharacters: 16 * MB,
  /** Differences of two definitions that are shown one by one, and characters of each value. */
  maxDefinitionChanges: 50,
  maxChangeValueLength: 2_000,
  /** Of one tool's hold in an edition, which carries one for each of a thousand tools; the whole of it is with the server's tools. */
  maxEditionHoldCharacters: 4_000,
  /** How long a server's address and holds are remembered: a hold counts everywhere after this. */
  serverTtlMs: 5_000,
  /** For one answer of a server, where its document says so. */
  minServerTimeoutMs: 1_000,
  maxServerTimeoutMs: 5 * 60_000,
  /** For one call altogether, however much progress it tells of. */
  maxServerCallMs: 10 * 60_000,
  /** Reading the listing of a server altogether, pages and offers included. */
  discoveryTimeoutMs: 30_000,
  /** Pages of one list of an MCP server. */
  maxListingPages: 64,
  /** All pages of one listing, as bytes on the wire. */
  maxListingBytes: 16 * MB,
  /** Prompts, resources and templates of one server: each, and as JSON altogether. */
  maxServerOffers: 1_000,
  maxServerOffersBytes: 1 * MB,
  /** A listing is read again after this, unless the server says how long it holds (`ttlMs`), within these bounds. */
  listingTtlMs: 5 * 60_000,
  minListingTtlMs: 10_000,
  maxListingTtlMs: 24 * 60 * 60_000,
  /** One reader at a time, and the next not before this; a server that failed is asked again later and later. */
  refreshLeaseMs: 45_000,
  minRefreshIntervalMs: 10_000,
  /** By one request that meets many whose time is over. */
  maxServersReadAtOnce: 4,
  maxRefreshBackoffMs: 15 * 60_000,
  /** An OpenAPI document. */
  maxOpenApiBytes: 5 * MB,
  /** As YAML, whose reader takes some 30 times as much memory; the same as JSON is read up to `maxOpenApiBytes`. */
  maxOpenApiYamlBytes: 2.5 * MB,
  /** Anchors (&name) and aliases (*name) of YAML: each pair costs a comparison. Documents that were written by hand have some dozens. */
  maxOpenApiYamlNames: 4_000,
  /** It is read again after this: it changes with releases of its API, and reading it takes up to a second. */
  openApiTtlMs: 60 * 60_000,
  /** Its objects and arrays, with aliases of YAML written out: large public ones of 5 MB have some 300,000. */
  maxOpenApiParts: 1_000_000,
  maxOpenApiDepth: 200,
  /** Of an operation's summary and description, as models are given it. */
  maxOperationDescriptionBytes: 2 * KB,
  /** Of what an operation answers, as a schema: a larger one is left out, because it would cost more than it tells. */
  maxOperationOutputCharacters: 8 * KB,
  /** A default, an example or a list of values in an imported schema that nests deeper is left out. */
  maxOpenApiDataDepth: 8,
  /** In an isolate's memory: how tools of OpenAPI servers are called. */
  maxCachedOperations: 1_000,
  operationTtlMs: 5_000,
  /** OAuth: one answer of an authorization server. Metadata of large ones has some 10 kB, a token of theirs less. */
  maxOAuthResponseBytes: 64 * KB,
  /** A token is a header of each request. */
  maxTokenLength: 16 * KB,
  /** One step of it, such as reading the metadata; and how long others leave new tokens, which take two, to who has begun. */
  oauthTimeoutMs: 25_000,
  tokenLeaseMs: 60_000,
  /** Between two looks whether they are there. */
  tokenWaitMs: 200,
  /** A token is renewed this long before its end, or a fifth of its life where that is shorter. */
  tokenRenewalMs: 60_000,
  /** In an isolate's memory: what was taken back elsewhere is sent no longer after this. */
  tokenTtlMs: 60_000,
  /** A server that refuses a token younger than this will refuse the next one, too. */
  minTokenAgeMs: 3_000,
  /** From the address that a person opens to their coming back. */
  signInTtlMs: 10 * 60_000,
  /** Clients that are registered for one server, one for each issuer; of what an authorization server says of itself, items of a list. */
  maxRegistrations: 5,
  maxMetadataItems: 200,
  /** Of an authorization server's own words, as they are shown. */
  maxOAuthWords: 300,
  /** Of an `Mcp-Session-Id` that a server gives. */
  maxMcpSessionIdLength: 1_024,
  /** Messages of a server during one call or one subscription: a talkative call has some hundred, and each is work. */
  maxServerMessages: 10_000,
  /** Hearing of a server's changes, after which whoever still wants to begins again. */
  maxListeningMs: 60 * 60_000,
  /** An event stream that breaks off is read on this often, waiting longer each time, whatever the server says. */
  maxStreamResumptions: 3,
  maxStreamResumptionWaitMs: 10_000,
  /** What a server is told at the end (a call is cancelled, a session is over) holds nobody up longer than this. */
  serverFarewellMs: 1_000,
  /** For the stream on which a server asks by itself, before a call that it may ask about is sent without it. */
  serverStreamWaitMs: 1_000,
  /** In an isolate's memory: how servers are spoken with, each for one conversation. */
  maxKeptConnections: 2_000,
  /** Between two looks at a task of a server, whatever it says. */
  minTaskPollMs: 100,
  maxTaskPollMs: 10_000,
  /** Of a task's id, of what a server wants back, and of its capabilities as JSON. */
  maxTaskIdLength: 1_024,
  maxInputStateLength: 64 * KB,
  maxCapabilitiesLength: 16 * KB,
  /** Progress of one call that becomes events, and how far apart. */
  maxProgressEvents: 200,
  progressIntervalMs: 250,
  maxProgressMessageLength: 500,
  /** Questions of a server during one call, and rounds of `input_required`. */
  maxInputRequests: 10,
  maxInputRounds: 10,
  /** What a call asked for, as JSON, with what its server wants back. */
  maxInputBytes: 512 * KB,
  /** Of one question of a server to a person: characters of its message and of each text of a field, fields, and choices of one. */
  maxElicitationMessageLength: 2_000,
  maxElicitationTextLength: 500,
  maxElicitationFields: 50,
  maxElicitationChoices: 200,
  /** An answer of a tool's endpoint. */
  maxToolReplyBytes: 4 * MB,
  maxUiTriggers: 50,
  maxProposals: 5,
  /** Of each message that proposals are made from. */
  maxProposalCharacters: 10_000,

  // Skills (DESIGN §8).
  maxSkillFileBytes: 100 * KB,
  maxSkillBytes: 500 * KB,
  maxSkillResources: 200,
  maxSkillPathBytes: 200,
  /** YAML between the two `---` of a `SKILL.md`; a description has 1,024 characters. */
  maxFrontmatterBytes: 16 * KB,
  maxSkillLicenseLength: 500,
  /** Named in `allowed-tools`, and in `requires`. */
  maxSkillTools: 100,
  /** Of a skill's archive, folders and what is left out included. */
  maxZipEntries: 1_000,
  maxAgentSkills: 50,
  skillTtlMs: 5_000,
  /** In an isolate's memory, each up to `maxSkillBytes`: more than one agent can have, or its turns would read all of them each time. */
  maxCachedSkills: 64,

  // What a key says of its caller.
  maxCallerFields: 20,
  maxCallerFieldLength: 256,

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
  /** Open at once in a session, direct calls included: each holds its arguments. */
  maxPendingApprovals: 100,
  /** Arguments of all of them together, from which on no direct call is asked for any more: they are listed on one page, and an RPC carries 32 MB. */
  maxPendingArgumentCharacters: 8 * MB,
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
  maxSessionFilesBytes: 256 * MB,
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
  /** A Durable Object's SQLite takes values up to 2 MB; larger ones are stored in chunks of this. */
  storageChunkBytes: 1 * MB,

  // The shell. Counts, because a busy script never yields: neither a timer nor a signal stops it.
  maxShellCommands: 10_000,
  maxShellLoops: 10_000,
  maxShellOutputBytes: 1 * MB,
  /** What the model reads of each stream: head and tail, the middle left out. */
  shownStdoutBytes: 40 * KB,
  shownStderrBytes: 8 * KB,

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

  // Toolsets served over MCP (DESIGN §9).
  /** Of one page of a list: one item costs a model some hundred tokens, so that most toolsets are one page. */
  maxMcpPageItems: 500,
  maxMcpPageBytes: 1 * MB,
  /** How long a client may keep a list of ours: a change is seen elsewhere within 90 s. */
  mcpListTtlMs: 30_000,
  /** A question of ours on its way through a client (`requestState`); a person answers it, or does not. */
  requestStateTtlMs: 10 * 60_000,
  maxRequestStateLength: 64 * KB,
  /** How often who listens for changes is looked after, how long one stream stays open, and when a server that ended one is heard again. */
  mcpWatchIntervalMs: 4_000,
  mcpStreamMs: 10 * 60_000,
  /** And how often its key is, so that it ends within `principalTtlMs` of it. */
  mcpKeyCheckMs: 20_000,
  mcpListenRetryMs: 30_000,
  /** Resources that one stream or session hears of. */
  maxMcpSubscriptions: 100,
  /** Servers that one stream hears of changes from: each is a connection. */
  maxMcpListenedServers: 10,
  /** A session that nobody has used for so long, and one that never was. */
  mcpSessionIdleMs: 24 * 60 * 60_000,
  mcpSessionUnusedMs: 60 * 60_000,
  /** The alarm is moved at most this often. */
  mcpSessionTouchMs: 5 * 60_000,
  /** How long a client whose stream ended waits before it comes back. */
  mcpRetryMs: 1_000,
  /** Requests of one session that are not answered yet, and its streams that are open. */
  maxMcpRequestsInFlight: 64,
  maxMcpSessionStreams: 32,
  /** Messages of a session kept for clients that come back (`Last-Event-ID`). */
  maxMcpSessionEvents: 1_000,
  maxMcpSessionEventCharacters: 4 * MB,
  /** A person is asked while the call is open (2025 eras). */
  mcpQuestionTimeoutMs: 10 * 60_000,
  /** The same where the call is held open for a client of 2026-07-28, which may never come back; then its server is told `cancel`. */
  heldQuestionMs: 5 * 60_000,
  /** After its end: an answer that comes twice is told the same for so long. */
  heldResultMs: 60_000,
  /** An answer that takes longer becomes a stream, with so much between its signs of life: only by them is it seen that a client has left. */
  mcpQuietAnswerMs: 1_000,
  mcpAnswerHeartbeatMs: 5_000,

  // Isolate caches (DESIGN §4, §9).
  pointerTtlMs: 5_000,
  pointerCacheTtlSeconds: 30,
  editionCacheTtlSeconds: 86_400,
  editionCacheBytes: 32 * MB,
  /** Tables narrowed by agents' lists that are kept for one edition. */
  maxNarrowedViews: 64,
  principalTtlMs: 30_000,
  maxCachedPrincipals: 10_000,
  providerTtlMs: 5_000,
  rulesTtlMs: 5_000,
  maxPolicyRules: 1_000,

  // The Catalog and the read side (DESIGN §4, §9, §11).
  /** One RPC to the Catalog; it works from its own SQLite, so a longer silence is a fault. */
  catalogTimeoutMs: 10_000,
  /** What a turn reads of the Catalog, or the stores beside it, is asked for again this often: with the waits, for 8 s. */
  maxCatalogRetries: 4,
  /** Before the first; each wait is twice the one before. */
  catalogRetryMs: 500,
  /** KV answers in tens of milliseconds; what it has not said by then is asked of the Catalog. */
  kvReadTimeoutMs: 3_000,
  /** A name that was not found is asked again after this. */
  missTtlMs: 5_000,
  /** The isolate that wrote asks the Catalog, not KV, for this long: KV may show the old pointer until then. */
  freshReadMs: 90_000,
  /** `toolset@version`: the pointer can only change by a revision, which may be this late. */
  pinnedPointerTtlMs: 60_000,
  maxCachedNames: 10_000,
  /** Of what a session was made with, as an isolate remembers it: with `maxCachedNames` of them 40 MB. */
  maxRememberedSetupCharacters: 4_000,
  /** A parsed edition with its tables weighs about this many times its bytes. */
  parsedEditionWeight: 3,
  /** Bodies on one page of a list: keeps a page far from the 32 MB that an RPC may carry. */
  listPageBytes: 4 * MB,
  /** A write waits this long for its publishing before it answers; the outbox goes on without it. */
  publishWaitMs: 2_000,
  publishTimeoutMs: 15_000,
  /** Writes that wait for their turn; each may hold a document of 1 MB. */
  maxQueuedWrites: 50,
  /** KV may show an old value, or none, for about this long after a write. A miss later than that is a loss. */
  publishSettleMs: 5 * 60_000,
  /** KV takes one write a second to a key. */
  publishIntervalMs: 1_000,
  maxPublishBackoffMs: 60_000,
  maxPublishesPerAlarm: 50,
  /** A tombstone spares readers of a deleted name the Catalog; a miss after it costs one question. */
  tombstoneTtlSeconds: 86_400,
  maxAuditRowsPerAppend: 200,

  // Keys and secrets (DESIGN §7, §9).
  /** Longer than any key of ours; checked before anything is hashed. */
  maxKeyBytes: 512,
  keyUseIntervalMs: 60_000,
  maxSecretBytes: 64 * KB,
  /** Shorter ones would blot out ordinary text, so they are not looked for in what tools answer; writing one is warned of. */
  minRedactedSecretLength: 4,
  maxSecretHosts: 100,
  maxSecretTools: 100,

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
