/** Limits of servers, their definitions and documents, and of toolsets served over MCP. Part of `limits` (`core/limits.ts`). */
import { KB, MB } from './units.ts';

export const serverLimits = {
  // Servers and their definitions.
  maxServerTools: 2_000,
  maxServerHeaders: 20,
  maxServerInstructionBytes: 4 * KB,
  /** Total characters of server instructions in one system prompt: those that do not fit are left out completely. */
  maxInstructionsInPrompt: 32 * KB,
  /** One listed definition, as JSON. The largest of 1,472 public ones has 12 KB. */
  maxDefinitionBytes: 128 * KB,
  /** Longer listed descriptions are cut, since every token of them is paid for. */
  maxListedDescriptionBytes: 16 * KB,
  /** Reported findings of one listed definition: enough to judge it. */
  maxDefinitionFindings: 20,
  /**
   * Parts of a listed schema with its references expanded, each cycle once: a larger count means references that multiply on purpose.
   */
  maxSchemaExpandedParts: 1_000_000,
  /** Tools of a workspace, all servers together: all of them are walked when a toolset is written. */
  maxWorkspaceTools: 10_000,
  /** Their definitions, as JSON: the Catalog caches them parsed, which takes several times as much of its 128 MB. */
  maxWorkspaceDefinitionCharacters: 16 * MB,
  /** Reported differences of two definitions, and characters of each value. */
  maxDefinitionChanges: 50,
  maxChangeValueLength: 2_000,
  /**
   * The hold of one tool in an edition, which has one for each of a thousand tools; the server's tool list has the complete hold.
   */
  maxEditionHoldCharacters: 4_000,
  /** Cache time of a server's URL and holds: a hold applies everywhere after this. */
  serverTtlMs: 5_000,
  /** One response of a server, if its document sets a timeout. */
  minServerTimeoutMs: 1_000,
  maxServerTimeoutMs: 5 * 60_000,
  /** One call in total, however much progress it reports. */
  maxServerCallMs: 10 * 60_000,
  /** Reading the listing of a server in total, pages and offers included. */
  discoveryTimeoutMs: 30_000,
  /** Pages of one list of an MCP server. */
  maxListingPages: 64,
  /** All pages of one listing, as bytes on the wire. */
  maxListingBytes: 16 * MB,
  /** Prompts, resources and templates of one server: the number of each, and the total as JSON. */
  maxServerOffers: 1_000,
  maxServerOffersBytes: 1 * MB,
  /** A listing is refreshed after this, unless the server sets a TTL (`ttlMs`), within these bounds. */
  listingTtlMs: 5 * 60_000,
  minListingTtlMs: 10_000,
  maxListingTtlMs: 24 * 60 * 60_000,
  /** One reader at a time, and the next one not before this; a failing server is retried at increasing intervals. */
  refreshLeaseMs: 45_000,
  minRefreshIntervalMs: 10_000,
  /** Servers with expired listings that one request refreshes. */
  maxServersReadAtOnce: 4,
  maxRefreshBackoffMs: 15 * 60_000,
  /** An OpenAPI document. */
  maxOpenApiBytes: 5 * MB,
  /**
   * An OpenAPI document in YAML: its commas, colons, brackets and line ends, each of which may cost 200 bytes; large public documents
   * of 5 MB have some 300,000.
   */
  maxOpenApiYamlSeparators: 400_000,
  /** Refresh interval of an OpenAPI document: it changes with releases of its API, and parsing takes up to a second. */
  openApiTtlMs: 60 * 60_000,
  /** Objects and arrays of an OpenAPI document, with YAML aliases expanded: large public documents of 5 MB have some 300,000. */
  maxOpenApiParts: 1_000_000,
  maxOpenApiDepth: 200,
  /** Summary and description of an operation, as sent to models. */
  maxOperationDescriptionBytes: 2 * KB,
  /** The output schema of an operation: a larger one is left out, because it would cost more than it is worth. */
  maxOperationOutputCharacters: 8 * KB,
  /** A default, an example or a list of values in an imported schema that nests deeper is left out. */
  maxOpenApiDataDepth: 8,
  /** Call information of OpenAPI tools cached in an isolate. */
  maxCachedOperations: 1_000,
  operationTtlMs: 5_000,
  /** OAuth: one response of an authorization server. Metadata of large servers has some 10 kB, their tokens less. */
  maxOAuthResponseBytes: 64 * KB,
  /** A token is sent as a header of each request. */
  maxTokenLength: 16 * KB,
  /**
   * One step of OAuth, such as reading the metadata; also how long other isolates wait for the one that is fetching new tokens, which
   * takes two steps.
   */
  oauthTimeoutMs: 25_000,
  tokenLeaseMs: 60_000,
  /** Poll interval while waiting for these tokens. */
  tokenWaitMs: 200,
  /** A token is renewed this long before it expires, or after four fifths of its lifetime if that is shorter. */
  tokenRenewalMs: 60_000,
  /** Cache time in an isolate: a token revoked elsewhere is no longer sent after this. */
  tokenTtlMs: 60_000,
  /** A server that refuses a token younger than this would refuse a new one as well. */
  minTokenAgeMs: 3_000,
  /** From the sign-in link to the return of the user. */
  signInTtlMs: 10 * 60_000,
  /** Registered clients of one server, one per issuer; also list items in the metadata of an authorization server. */
  maxRegistrations: 5,
  maxMetadataItems: 200,
  /** The shown part of an authorization server's error text. */
  maxOAuthErrorLength: 300,
  /** An `Mcp-Session-Id` that a server sets. */
  maxMcpSessionIdLength: 1_024,
  /** Messages of a server during one call or one subscription: a talkative call has some hundred, and each costs work. */
  maxServerMessages: 10_000,
  /** One subscription to a server's changes; a client that still needs it subscribes again. */
  maxServerStreamMs: 60 * 60_000,
  /** Retries of an interrupted event stream, with increasing waits, whatever the server requests. */
  maxStreamResumptions: 3,
  maxStreamResumptionWaitMs: 10_000,
  /** Notifications to a server at the end (a call is canceled, a session is over) take at most this long. */
  cancellationNoticeMs: 1_000,
  /** Wait for the stream on which a server sends its own requests; then a call that may need it is sent without it. */
  serverStreamWaitMs: 1_000,
  /** Connection state cached in an isolate, one per conversation with a server. */
  maxCachedConnections: 2_000,
  /** Minimum poll interval for a task of a server, whatever the server requests. */
  minTaskPollMs: 100,
  maxTaskPollMs: 10_000,
  /** A task id, a server's opaque state, and its capabilities as JSON. */
  maxTaskIdLength: 1_024,
  maxInputStateLength: 64 * KB,
  maxCapabilitiesLength: 16 * KB,
  /** Progress updates of one call that become events, and their minimum interval. */
  maxProgressEvents: 200,
  progressIntervalMs: 250,
  maxProgressMessageLength: 500,
  /** Questions of a server during one call, and rounds of `input_required`. */
  maxInputRequests: 10,
  maxInputRounds: 10,
  /** The input requests of a call, as JSON, with the state that its server expects back. */
  maxInputBytes: 512 * KB,
  /**
   * One question of a server to a person: characters of its message and of each text of a field, number of fields, and choices of one
   * field.
   */
  maxElicitationMessageLength: 2_000,
  maxElicitationTextLength: 500,
  maxElicitationFields: 50,
  maxElicitationChoices: 200,
  /** A response of a tool's endpoint. */
  maxToolReplyBytes: 4 * MB,
  maxUiTriggers: 50,
  maxProposals: 5,
  /** Characters of each message that proposals are made from. */
  maxProposalCharacters: 10_000,

  // Toolsets served over MCP (DESIGN §9).
  /** One page of a list: one item costs a model some hundred tokens, so most toolsets are one page. */
  maxMcpPageItems: 500,
  maxMcpPageBytes: 1 * MB,
  /** Cache time of our lists for clients: a change is visible elsewhere within 90 s. */
  mcpListTtlMs: 30_000,
  /** Lifetime of a question of ours that a client carries (`requestState`) until a person answers it. */
  requestStateTtlMs: 10 * 60_000,
  maxRequestStateLength: 64 * KB,
  /**
   * Poll interval for clients that listen for changes, maximum duration of one stream, and wait before reconnecting to a server that
   * ended one.
   */
  mcpWatchIntervalMs: 4_000,
  mcpStreamMs: 10 * 60_000,
  /** Check interval of the key of a stream, so that the stream ends within `principalTtlMs` of its revocation. */
  mcpKeyCheckMs: 20_000,
  mcpListenRetryMs: 30_000,
  /** Resources to which one stream or session is subscribed. */
  maxMcpSubscriptions: 100,
  /** Servers whose changes one stream receives: each is a connection. */
  maxMcpListenedServers: 10,
  /** Concurrent listening streams of one key in an isolate: one for each client that shares it. */
  maxMcpListeners: 256,
  /** Lifetime of an idle session, and of one that was never used. */
  mcpSessionIdleMs: 24 * 60 * 60_000,
  mcpSessionUnusedMs: 60 * 60_000,
  /** Minimum interval at which the alarm is moved. */
  mcpSessionTouchMs: 5 * 60_000,
  /** Reconnect delay for a client whose stream ended. */
  mcpRetryMs: 1_000,
  /** Requests of one session without a response, and its open streams. */
  maxMcpRequestsInFlight: 64,
  maxMcpSessionStreams: 32,
  /** Messages of a session stored for clients that reconnect (`Last-Event-ID`). */
  maxMcpSessionEvents: 1_000,
  maxMcpSessionEventCharacters: 4 * MB,
  /** A question to a person while the call is open (2025 protocol versions). */
  mcpQuestionTimeoutMs: 10 * 60_000,
  /** The same if the call is held open for a client of 2026-07-28, which may never return; then its server receives `cancel`. */
  heldQuestionMs: 5 * 60_000,
  /** How long the result is kept after the end of the call, so that a repeated answer gets the same result. */
  heldResultMs: 60_000,
  /**
   * A slower response becomes a stream with heartbeats at this interval: they are the only way to detect that a client has
   * disconnected.
   */
  mcpHeartbeatMs: 1_000,
  mcpAnswerHeartbeatMs: 5_000,
} as const;
