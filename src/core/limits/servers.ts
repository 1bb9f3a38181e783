/** Limits of servers, their definitions and documents, and of toolsets served over MCP. Part of `limits` (`core/limits/limits.ts`). */
import { KB, MB } from './units.ts';

export const serverLimits = {
  // Servers and their definitions.
  maxServerTools: 2_000,
  maxServerInstructionBytes: 4 * KB,
  /** One listed definition, as JSON. The largest of 1,472 public ones has 12 KB. */
  maxDefinitionBytes: 128 * KB,
  /** One response of a server without a sign of life, unless its document says otherwise: the default of the MCP SDKs. */
  serverTimeoutMs: 60_000,
  /** The most that a document may set: as long as a quiet build or a test run takes. */
  maxServerTimeoutMs: 60 * 60_000,
  /** One call in total, however many signs of life it gives: it ends those that nothing else ends. Turns and clients have their own limits. */
  maxServerCallMs: 24 * 60 * 60_000,
  /** Reading the listing of a server in total, pages and offers included. */
  discoveryTimeoutMs: 30_000,
  /** All pages of one listing, as bytes on the wire. */
  maxListingBytes: 16 * MB,
  /** Prompts, resources and templates of one server: the number of each, and the total as JSON. */
  maxServerOffers: 1_000,
  maxServerOffersBytes: 1 * MB,
  /** One reader at a time, and the next one not before this; a failing server is retried at increasing intervals. */
  refreshClaimMs: 45_000,
  minRefreshIntervalMs: 10_000,
  /** An OpenAPI document. */
  maxOpenApiBytes: 5 * MB,
  maxOpenApiDepth: 200,
  /** Summary and description of an operation, as sent to models. */
  maxOperationDescriptionBytes: 2 * KB,
  /** A token is sent as a header of each request. */
  maxTokenLength: 16 * KB,
  tokenRenewalMs: 60_000,
  /** Registered clients of one server, one per issuer; also list items in the metadata of an authorization server. */
  maxRegistrations: 5,
  /** Sign-ins of users and keys at servers with `oauth.per: "user"`, in one workspace. */
  maxConnections: 20_000,
  /** One subscription to a server's changes; a client that still needs it subscribes again. */
  maxServerStreamMs: 60 * 60_000,
  /** Questions of a server during one call, and rounds of `input_required`. */
  maxInputRequests: 10,
  maxInputRounds: 10,
  /** URL of an icon, which may be a data URL. */
  maxIconLength: 16 * KB,
  /** A response of a tool's endpoint. */
  maxToolReplyBytes: 16 * MB,

  // Toolsets served over MCP (contract §9).
  /** One page of a list: one item costs a model some hundred tokens, so most toolsets are one page. */
  maxMcpPageItems: 500,
  maxRequestStateLength: 64 * KB,
  mcpStreamMs: 10 * 60_000,
  mcpListenRetryMs: 30_000,
  /** Resources to which one stream or session is subscribed. */
  maxMcpSubscriptions: 100,
  /** Resources that results in one session linked to, and that its client may read; and those of one result. */
  maxResourceLinks: 1_000,
  /** Requests of one session without a response, and its open streams. */
  maxMcpRequestsInFlight: 64,
  maxMcpSessionStreams: 32,
  /** A question to a person while the call is open (2025 protocol versions). */
  mcpQuestionTimeoutMs: 10 * 60_000,
  mcpAnswerHeartbeatMs: 5_000,
} as const;
