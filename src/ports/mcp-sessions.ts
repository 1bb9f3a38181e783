/**
 * State of MCP clients that outlives a request. Sessions of the 2025 revisions: each is an object that stores the `initialize` parameters and
 * the messages of its streams. Its id contains its owner; for other keys it does not exist. Calls of 2026-07-28 that stay in flight between
 * requests (`engine/mcp/in-flight-call.ts`): each in such an object too, whose name is only in the signed state.
 */
import type { Principal } from '../core/people/principal.ts';
import type { FileChange, StoredFile } from './file-space.ts';

/** An HTTP request; the response is MCP's own. `body`: JSON text, for POST. */
export type McpSessionRequest = { method: string; headers: readonly (readonly [name: string, value: string])[]; body: string | null };

/** The text of an event stream that is complete. */
export type McpEvents = { events: string };

/** null: this key has no such session at this endpoint. */
export type McpSessionAnswer = Response | McpEvents | null;

/** `stream`: a name for the stream on which the client listens. `resume`: it continues an earlier stream, and takes its place. `check`: there is no stream. */
export type ListenRequest = { stream: string; mode: ListenMode };
export type ListenMode = 'check' | 'open' | 'resume' | 'renew' | 'close';

/** A resource of whose changes a client is notified: the URI as the client has it, and as its server has it. */
export type ResourceSubscription = { uri: string; server: string; own: string };

/**
 * What the stream of the client depends on: its subscriptions, and the level of log messages that it has set (null: none). `conflict`: it listens
 * on another stream; null: this key has no such session at this endpoint.
 */
export type ListenAnswer = ListenState | 'conflict' | null;
export type ListenState = { subscriptions: readonly ResourceSubscription[]; logLevel: string | null };

/** The session with this id, or the tool call in flight with this name; null: a new one, which the request starts. */
export type McpRecipient = { session: string | null } | { call: string | null };

export interface McpSessions {
  /** `target`: a toolset reference, or null for what the key has equipped. */
  send(caller: Principal, target: string | null, to: McpRecipient, request: McpSessionRequest): Promise<McpSessionAnswer>;
  /** Called by the holder of a stream on which the client listens: when it opens, regularly meanwhile, and when it ends. */
  listen(caller: Principal, target: string | null, id: string, request: ListenRequest): Promise<ListenAnswer>;
}

/** One session, as its Durable Object implements it. */
export interface McpSessionPort {
  begin(caller: Principal, target: string | null, id: string, request: McpSessionRequest): Promise<Response>;
  /** Returns null if it was never started or has ended. */
  resume(caller: Principal, target: string | null, request: McpSessionRequest): Promise<McpSessionAnswer>;
  listen(caller: Principal, target: string | null, request: ListenRequest): Promise<ListenAnswer>;
  hold(caller: Principal, target: string | null, name: string, request: McpSessionRequest): Promise<Response>;
}

/** The files of an object that has nothing else but links. */
export interface FilesPort {
  loadFiles(): Promise<StoredFile[]>;
  applyFiles(changes: readonly FileChange[]): Promise<void>;
  findLinks(uris: readonly string[]): Promise<ResourceLink[]>;
  addLinks(links: readonly ResourceLink[]): Promise<void>;
}

/** A URI as the client got it, and the server whose result linked to it. */
export type ResourceLink = { server: string; uri: string };

/**
 * The resources to which results in one session of an MCP client linked: it may read them although no list names them. Kept as long as the
 * session; without one, as long as the files of the key with the toolset. `engine/mcp/serve-resources.ts` reads them.
 */
export interface LinkStore {
  /** Returns the links to any of these URIs. */
  find(uris: readonly string[]): Promise<ResourceLink[]>;
  /** The newest `limits.maxResourceLinks` are kept. */
  add(links: readonly ResourceLink[]): Promise<void>;
}
