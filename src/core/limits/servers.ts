/** Bounds of servers, their definitions and documents, and toolsets served over MCP. Read as a part of `limits` (`core/limits.ts`). */
import { KB, MB } from './units.ts';

export const serverLimits = {
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
  /** As YAML: its commas, colons, brackets and line ends, each of which may cost 200 bytes; large public ones of 5 MB have some 300,000. */
  maxOpenApiYamlSeparators: 400_000,
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
  /** Streams of one key that listen at the same time in an isolate: one for each client that shares it. */
  maxMcpListeners: 256,
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
} as const;
