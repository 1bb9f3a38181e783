/**
 * Servers as the engine speaks with them. `ServerSource` reads what a server lists, whatever its kind; `McpUpstream` is everything else
 * that an MCP server can be asked. Both know nothing of workspaces, names or rights. Faults are thrown as `Problem`s: `upstream_error`
 * (`extra.unauthorized: true` where it wants credentials), `upstream_timeout`, `not_configured`.
 */
import type {
  AskableInput,
  GivenInput,
  InputAnswer,
  InputRequest,
  InputRequired,
  ProgressUpdate,
  ServerNotice,
} from '../core/mcp-input.ts';
import type { ServerAccess } from '../core/servers/server.ts';
import type { Discovery } from '../core/servers/server-state.ts';
import type { JsonSchema, ToolResult } from '../core/tool.ts';
import type { Logger } from './runtime.ts';

/** What speaking with a server needs from outside. */
export type UpstreamContext = {
  /** The guarded way out, for this server: it follows no redirect to another origin. */
  fetch(request: Request): Promise<Response>;
  secret(name: string, host?: string): Promise<string>;
  /** The text of an OpenAPI document that was given whole; null, or absent: it is at the server’s `url`. */
  document?(): Promise<string | null>;
  /** Tokens of a server with `oauth`; absent: it has none. */
  tokens?: ServerTokens;
  signal: AbortSignal;
  now(): number;
  log: Logger;
  /** Whose state at the server this is (a session, or a key): two of them never share a session id. */
  conversation: string;
};

export interface ServerTokens {
  /** null: nobody has signed in yet. Refreshed where it has run out. */
  token(): Promise<string | null>;
  /** The server did not take `token`: true when there is another one to try. `challenge`: its `WWW-Authenticate`. */
  renew(token: string | null, challenge: string | null): Promise<boolean>;
}

export interface ServerSource {
  /** Everything it lists, within `limits`. */
  discover(server: ServerAccess, context: UpstreamContext): Promise<Discovery>;
}

/** What may happen while a server works. Each is called at most as often as `limits` say. */
export type UpstreamHooks = {
  progress?(update: ProgressUpdate): void;
  notice?(notice: ServerNotice): void;
  /** Answers a question of the server while the call is open (2025 eras). Absent: nobody can be asked, and it is told so. */
  ask?(request: InputRequest, key: string): Promise<InputAnswer>;
  /** What the caller can be asked for: told to the server. */
  askable?: AskableInput;
  /** Its list is another one now. */
  changed?(list: 'tools' | 'prompts' | 'resources'): void;
  /** A resource that was subscribed to. */
  updated?(uri: string): void;
};

export type UpstreamCall = {
  /** The server's own name of the tool. */
  name: string;
  arguments: Record<string, unknown>;
  /** As the server lists it, with every keyword: `Mcp-Param-*` headers are made from it, and the answer is checked. */
  inputSchema: JsonSchema;
  outputSchema?: JsonSchema;
  given?: GivenInput;
  /** The same for every try of one call. */
  idempotencyKey: string;
};

export type UpstreamAnswer<T> = { kind: 'result'; result: T } | { kind: 'input-required'; input: InputRequired };

export interface McpUpstream extends ServerSource {
  callTool(server: ServerAccess, call: UpstreamCall, hooks: UpstreamHooks, context: UpstreamContext): Promise<UpstreamAnswer<ToolResult>>;
  /** `params` and results as MCP has them, bounded. */
  readResource(
    server: ServerAccess,
    params: { uri: string; given?: GivenInput },
    hooks: UpstreamHooks,
    context: UpstreamContext,
  ): Promise<UpstreamAnswer<Record<string, unknown>>>;
  getPrompt(
    server: ServerAccess,
    params: { name: string; arguments?: Record<string, string>; given?: GivenInput },
    hooks: UpstreamHooks,
    context: UpstreamContext,
  ): Promise<UpstreamAnswer<Record<string, unknown>>>;
  complete(server: ServerAccess, params: Record<string, unknown>, context: UpstreamContext): Promise<Record<string, unknown>>;
  /** Hears of changes until `context.signal` aborts or the server ends it. `uris`: resources to hear of. */
  listen(server: ServerAccess, uris: readonly string[], hooks: UpstreamHooks, context: UpstreamContext): Promise<void>;
}
