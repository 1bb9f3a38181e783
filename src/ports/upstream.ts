/**
 * Requests to servers. `ServerSource` reads what a server of any kind lists; `McpUpstream` is everything else that an MCP server offers. Both
 * know nothing of workspaces, names or rights. Errors are thrown as `Problem`s: `upstream_error` (`extra.unauthorized: true` if the server
 * requires credentials), `upstream_timeout`, `not_configured`.
 */
import type {
  AskableInput,
  GivenInput,
  InputAnswer,
  InputRequest,
  InputRequired,
  ProgressUpdate,
  ServerNotice,
} from '../core/tools/mcp-input.ts';
import type { ServerAccess } from '../core/servers/server.ts';
import type { OfferMethod } from '../core/tools/upstream-method.ts';
import type { UserConnection } from '../core/servers/user-connection.ts';
import type { ServerProcess, StdioRequest } from '../core/servers/stdio.ts';
import type { Discovery } from '../core/servers/server-state.ts';
import type { JsonSchema, ToolResult } from '../core/tools/tool.ts';
import type { Logger } from './runtime.ts';

/** What requests to a server need from outside. */
export type UpstreamContext = {
  /** The guarded outbound client for this server; it follows no redirect to another origin. */
  fetch(request: Request): Promise<Response>;
  secret(name: string, host?: string): Promise<string>;
  /** Returns the text of an OpenAPI document that was stored in full; null, or absent: it is at the server’s `url`. */
  document?(): Promise<string | null>;
  /** Tokens of a server with `oauth`; absent: it has none. */
  tokens?: ServerTokens;
  /** For a server that is a command; null, or absent: commands cannot be run here. */
  stdio?: StdioBridge | null;
  signal: AbortSignal;
  now(): number;
  log: Logger;
  /** The owner of state at the server (a session, or a key): two of them never share a session id. */
  conversation: string;
  /** The API key of the caller. Absent: the tool list is read. */
  owner?: string;
};

/** The launcher's bridge to commands on this machine. `fetch` throws `upstream_error` for a command that cannot be run. */
export type StdioBridge = {
  url: string;
  fetch(request: Request, run: Omit<StdioRequest, 'workspace'>): Promise<Response>;
  /** Returns the processes of the workspace that run. */
  processes(): Promise<ServerProcess[]>;
};

/** `text`: a sentence for administrators. */
export type SignInOffer = { isOffered: boolean; text?: string };

export interface ServerTokens {
  /** Returns a token, refreshed if it expired; null: no user has signed in yet. */
  token(): Promise<string | null>;
  /** Called when the server rejected `token`: returns true if there is another one to try. `challenge`: its `WWW-Authenticate`. */
  refreshAfterRejection(token: string | null, challenge: string | null): Promise<boolean>;
  /** Of a listing that the server refused: whether a user can sign in, and how, or why not. */
  signInOffer?(): SignInOffer;
  /** For a server that each user connects to; absent: the tokens are the workspace's. */
  readonly connection?: UserConnection;
}

export interface ServerSource {
  /** Returns everything the server lists, within `limits`. */
  discover(server: ServerAccess, context: UpstreamContext): Promise<Discovery>;
}

/** What the caller can be sent and asked before there is a result. An absent member is not available. */
export type CallerChannel = {
  /** The tool gives another sign of life than progress, which restarts its timeout: a log message, the state of a task. */
  alive?(): void;
  progress?(update: ProgressUpdate): void;
  notice?(notice: ServerNotice): void;
  /** The least severe log messages that the caller has asked for; absent: it has not. */
  logLevel?: string;
  /** Answers while the call is open. `key`: the asker's name for the question. */
  ask?(request: InputRequest, key: string): Promise<InputAnswer>;
  askable?: AskableInput;
  /** How often the caller has reported that its roots have changed; absent: never. */
  rootsChanges?: number;
  /** The server reports that the user has completed a page that it asked for; `id`: the `elicitationId` of the question. */
  elicitationComplete?(id: string): void;
  /** `_meta` of the caller's request, such as its trace context. */
  meta?: Record<string, unknown>;
};

/** Called while a server works, at most as often as `limits` allow. Without `ask`, the server is answered that no user can be asked. */
export type UpstreamHooks = CallerChannel & {
  /** Whether `ask` reaches a client that waits for the answer; absent: nobody is asked before the call has ended. */
  isLive?: boolean;
  /** The call is about to be sent; before, the server was only connected to. */
  onSend?(): void;
  /** The server reports that a list has changed. */
  onListChanged?(list: 'tools' | 'prompts' | 'resources'): void;
  /** The server reports that a subscribed resource has changed. */
  onResourceUpdated?(uri: string): void;
};

export type UpstreamCall = {
  /** The server's own name of the tool. */
  name: string;
  arguments: Record<string, unknown>;
  /** As the server lists it, with every keyword: `Mcp-Param-*` headers are built from it, and the result is validated. */
  inputSchema: JsonSchema;
  outputSchema?: JsonSchema;
  given?: GivenInput;
  /** The same in every attempt of one call. */
  idempotencyKey: string;
};

export type UpstreamAnswer<T> = { kind: 'result'; result: T } | { kind: 'input-required'; input: InputRequired };

export interface McpUpstream extends ServerSource {
  callTool(server: ServerAccess, call: UpstreamCall, hooks: UpstreamHooks, context: UpstreamContext): Promise<UpstreamAnswer<ToolResult>>;
  /** Requests a resource, a prompt or a completion. `params` and results as in MCP, bounded. */
  request(
    server: ServerAccess,
    asked: { method: Exclude<OfferMethod, 'resources/subscribe'>; params: Record<string, unknown>; given?: GivenInput },
    hooks: UpstreamHooks,
    context: UpstreamContext,
  ): Promise<UpstreamAnswer<Record<string, unknown>>>;
  /** Listens for changes until `context.signal` aborts or the server ends the stream. `uris`: the resources to subscribe to. */
  listen(server: ServerAccess, uris: readonly string[], hooks: UpstreamHooks, context: UpstreamContext): Promise<void>;
}
