/**
 * The workspace's documents: written through one Durable Object (`catalog/`), read from there by document routes. Reads on
 * the way of a call go through `Directory` instead, which never waits for the Catalog while warm.
 */
import type { Agent } from '../core/agent.ts';
import type { AliasMap } from '../core/alias-map.ts';
import type { AuditEntry, AuditRow } from '../core/audit.ts';
import type { EditionPointer } from '../core/edition-tool.ts';
import type { KeyRequest, Principal, Scope } from '../core/principal.ts';
import type { PolicyRule } from '../core/policy/rule.ts';
import type { ProviderAccess } from '../core/provider.ts';
import type { AcceptedTool, ListingReport, ServerAccess, ServerTool } from '../core/servers/server.ts';
import type { RefreshReason } from '../core/servers/server-life.ts';
import type { Discovery, Operation, ServerOffers } from '../core/servers/server-state.ts';
import type { Skill } from '../core/skills/skill.ts';
import type { Taint } from '../core/taint.ts';
import type { ToolDefinition } from '../core/tool.ts';
import type { CompiledHook } from '../core/triggers/compiled-hook.ts';
import type { SubscriptionHead } from '../core/triggers/callbacks/subscription.ts';
import type { Warning } from '../core/warning.ts';

/**
 * `tool-aliases`: default aliases of one tool, `{aliases: string[]}`, named by its canonical name. `ui-tool`: named by `ui.<name>`, `made-tool` by `made.<name>`,
 * `private-tool` by the key that it is private to as well (`privateToolName`). `server`:
 * its tools are beside it (`serverTools`); when it is read, its body also has `toolCount` and `held`: how many it lists, and how many of them are held.
 */
export type DocumentKind =
  | 'toolset'
  | 'agent'
  | 'provider'
  | 'secret'
  | 'tool-aliases'
  | 'policy'
  | 'server'
  | 'skill'
  | 'ui-tool'
  | 'made-tool'
  | 'private-tool'
  | 'webhook'
  | 'schedule'
  | 'subscription';

/** A workspace has one document of kind `policy`, `{rules: PolicyRule[]}`, under this name. */
export const policyDocument = 'workspace';

/**
 * `body` is what GET shows: secret values and provider keys are never in it (`hasApiKey: true` instead). `warnings`: of an agent that was
 * asked for by itself, what is to be said of it as the workspace is now.
 */
export type StoredDocument = {
  name: string;
  version: number;
  body: Record<string, unknown>;
  createdAt: string;
  updatedAt: string;
  warnings?: Warning[];
};

export type WriteOptions = {
  /** `If-Match`: the version it must have, or `*` for "must exist". Lost: `precondition_failed`. */
  ifMatch?: number | '*';
  /** `If-None-Match: *`: must not exist. */
  ifNoneMatch?: boolean;
  /** Check and compile, store nothing. */
  dryRun?: boolean;
};

export type PutAnswer = { document: StoredDocument; created: boolean; changed: boolean; warnings: Warning[] };

export type Page<T> = { items: T[]; nextCursor: string | null };
export type PageRequest = { cursor?: string; limit: number };

/** `removed`: a DELETE; its number is never used again. */
export type ToolsetVersion = { version: number; createdAt: string; removed: boolean };

export type KeyRecord = {
  id: string;
  name: string;
  scopes: Scope[];
  toolsets?: string[];
  agents?: string[];
  caller?: Record<string, string>;
  createdAt: string;
  expiresAt: string | null;
  revokedAt: string | null;
  lastUsedAt: string | null;
};

/** What a key that was made before may do by now. */
export type KeyRights = Pick<Principal, 'scopes' | 'toolsets' | 'agents'>;

/** `isDone`: all sessions of the key were gone through once; what it sent since is cancelled later. */
export type KeyCancellation = { cancelledTurns: number; isDone: boolean };

export type SessionIndexRow = { id: string; keyId: string; agent?: string; model?: string; toolset?: string; createdAt: string };

/** `server`: as it is to be read. A `static` one needs no leave, and is always given it. */
export type RefreshClaim = { claimed: true; server: ServerAccess; leave: ReadLeave } | { claimed: false; retryAfterMs: number };

/** Whose reading it is. `version`: of the document that it is read by; `until`: tells the leave from those that were given after it. */
export type ReadLeave = { version: number; until: number };

/** Why a server could not be read. */
export type RefreshFailure = { status: 'failing' | 'unauthorized'; reason: string };

/** What is kept of signing in to a server with `oauth`, sealed where it is stored. `revision` counts writes, so that of two at once one finds out. */
export type ServerGrant = { value: string | null; revision: number };

/** What a key has equipped over MCP (DESIGN §10). `mode` null: never set, so it follows from whether something is equipped. */
export type Equipment = { toolset: string | null; mode: 'configuration' | 'normal' };

/** `expiresAt`: milliseconds since the epoch. */
export type StoredMarks = { taint: Taint; expiresAt: number };
/** `answersOf`: the key whose answer they are of; of those the newest `limits.maxAnswerMarks` are stored. Absent: of direct calls. */
export type NewMarks = { names: readonly string[]; taint: Taint; ttlMs: number; answersOf?: string };

export type AuditQuery = PageRequest & { session?: string; tool?: string; kind?: AuditEntry['kind'] };

/** The workspace, with the id of the key that asks, for the audit of changes. The workspace alone: the service asks itself. */
export type CatalogCaller = string | { workspace: string; keyId: string };

/** Faults are thrown as `Problem`s: `not_found`, `precondition_failed`, `name_conflict`, `invalid_request`, `conflict`. */
export interface Catalog {
  put(kind: DocumentKind, name: string, body: Record<string, unknown>, options?: WriteOptions): Promise<PutAnswer>;
  /** `version`: an older one (toolsets keep every version; the others only the newest). */
  get(kind: DocumentKind, name: string, version?: number): Promise<StoredDocument>;
  list(kind: DocumentKind, page: PageRequest): Promise<Page<StoredDocument>>;
  /** The kept versions of a toolset, newest first. `not_found` when there never was one. */
  versions(toolset: string, page: PageRequest): Promise<Page<ToolsetVersion>>;
  remove(kind: DocumentKind, name: string, options?: WriteOptions): Promise<void>;

  /**
   * The newest document under another name, which must be free, with those who have it equipped; its versions stay under the old one.
   * `version`: the one that was read. What else names the toolset (agents, keys) is left as it is.
   */
  renameToolset(from: string, to: string, version: number): Promise<PutAnswer>;

  /**
   * Every tool known to the workspace, default aliases applied, sorted by canonical name. `owner`: with the private tools of that key; where a
   * shared tool has the same name, the shared one alone.
   */
  tools(page: PageRequest, owner?: string): Promise<Page<ToolDefinition>>;
  /** The private tools of a key or a trigger, sorted by canonical name. */
  privateTools(owner: string): Promise<ToolDefinition[]>;
  tool(canonical: string): Promise<ToolDefinition>;

  /** Of one server, sorted by name, those that it lists no more included. */
  serverTools(server: string, page: PageRequest): Promise<Page<ServerTool>>;
  serverTool(server: string, tool: string): Promise<ServerTool>;
  /** Reads the definitions of a `static` server again, which stand in its document. The others are read by `engine/refresh-server.ts`. */
  refreshServer(server: string): Promise<ListingReport>;
  /** The text of an OpenAPI document that was given whole; null: the server has none. */
  serverDocument(server: string): Promise<string | null>;
  /** Leave to read what the server lists: one has it at a time, for `limits.refreshLeaseMs`. */
  claimRefresh(server: string, reason: RefreshReason): Promise<RefreshClaim>;
  /** Takes what was read, and gives the leave back. `conflict`: the document is another by now, or somebody else was given leave since. */
  takeDiscovery(server: string, leave: ReadLeave, discovery: Discovery): Promise<ListingReport>;
  /** It could not be read: what was read before stays, and the server is asked again later. Gives the leave back. */
  takeFailure(server: string, leave: ReadLeave, failure: RefreshFailure): Promise<void>;

  serverGrant(server: string): Promise<ServerGrant>;
  /** False: somebody else wrote since `revision`. */
  saveServerGrant(server: string, grant: ServerGrant): Promise<boolean>;

  equipment(keyId: string): Promise<Equipment>;
  /** Absent members stay as they are. */
  setEquipment(keyId: string, change: Partial<Equipment>): Promise<Equipment>;

  /** Marks of the taint rule that were stored under these names and have not expired, in their order; null: none are. */
  taintMarks(names: readonly string[]): Promise<(StoredMarks | null)[]>;
  /** Adds to the marks under each name, and to their time. Durable when it resolves. */
  addTaintMarks(marks: NewMarks): Promise<void>;

  /** True the first time: what is used once (`nonce`) is used. Forgotten after `expiresAt` (milliseconds since the epoch). */
  spend(nonce: string, expiresAt: number): Promise<boolean>;

  /**
   * Takes the definition that is held into force, in every toolset, and with `annotations` its annotations. `refId`: the one that was
   * reviewed; `conflict` when it is another by now, or when there is nothing to accept.
   */
  acceptTool(server: string, tool: string, refId?: string, annotations?: boolean): Promise<AcceptedTool>;
  /** Puts `to` in the place of `from`, which its server lists no more, in every toolset, under the names it had. */
  rebindTool(server: string, from: string, to: string): Promise<{ toolsets: string[] }>;

  /** The whole key is in the answer, this once. */
  createKey(request: KeyRequest): Promise<{ key: string; record: KeyRecord }>;
  keys(page: PageRequest): Promise<Page<KeyRecord>>;
  revokeKey(id: string): Promise<void>;
  /** Revokes the key, if it is not revoked yet, and ends all turns in its sessions: those that are not done yet end in the background. */
  cancelKey(id: string): Promise<KeyCancellation>;
  keyIsCancelled(id: string): Promise<boolean>;
  /** False once it was revoked or has expired, and where it has not the scope or was never made. `root` always stands. */
  keyStands(id: string, scope: Scope): Promise<boolean>;
  /** What a key may do as it stands now; null once it was revoked or has expired, and where it was never made. */
  keyRights(id: string): Promise<KeyRights | null>;

  /** Adds a remembered rule; the same rule twice is one. */
  allow(rule: PolicyRule): Promise<void>;

  indexSession(row: SessionIndexRow): Promise<void>;
  forgetSession(id: string): Promise<void>;
  /** `keyId` null: every key's (admin). Newest first. */
  sessions(keyId: string | null, page: PageRequest): Promise<Page<SessionIndexRow>>;

  /** Idempotent by (session, sequence), and without a session by call id. The outcome of a call replaces its intent. */
  appendAudit(rows: readonly AuditRow[]): Promise<void>;
  audit(query: AuditQuery): Promise<Page<AuditEntry>>;
}

/** A toolset as a call needs it: parsed once an isolate, tables built. `names` has every tool of the edition. */
export type CompiledToolset = { pointer: EditionPointer; names: AliasMap };

/** The warm read side: isolate memory, then KV, then one question to the Catalog. Throws `Problem`s. */
export interface Directory {
  /** The principal of the root key or of a created key. `unauthenticated` with the reason; `not_configured` without a root key. `maxAgeMs`: how old the verdict may be. */
  principal(key: string, maxAgeMs?: number): Promise<Principal>;
  /** Newest edition, or of a pinned version. `not_found`. */
  toolset(workspace: string, name: string, version?: number): Promise<CompiledToolset>;
  /** By the hash that a plan carries. */
  edition(workspace: string, pointer: EditionPointer): Promise<CompiledToolset>;
  /**
   * All shared made tools, as a toolset that is named nowhere; null: there have never been any. The newest there is, so that a tool is there in the turn
   * after the one that made it, wherever that runs; only without an answer from the Catalog it may be older.
   */
  made(workspace: string): Promise<CompiledToolset | null>;
  /** The same of the tools that are private to a key or a trigger. */
  privateMade(workspace: string, keyId: string): Promise<CompiledToolset | null>;
  agent(workspace: string, name: string): Promise<Agent>;
  /** Secrets resolved. `model_not_found` when there is no such provider. */
  provider(workspace: string, name: string): Promise<ProviderAccess>;
  /** Names of the configured providers, `rehearsal` included, with their listed models. */
  providers(workspace: string): Promise<{ name: string; models: readonly string[] }[]>;
  /** What the workspace has allowed; may be `limits.rulesTtlMs` old. */
  rules(workspace: string): Promise<readonly PolicyRule[]>;
  /**
   * `not_found` when there is no such server (any more). May be `limits.serverTtlMs` old, but not when `tool` (an own name) would be refused
   * for it: a tool that was listed or accepted just now is called by who has heard of it.
   */
  server(workspace: string, name: string, tool?: string): Promise<ServerAccess>;
  /** What an MCP server offers besides tools, as it was last read. */
  serverOffers(workspace: string, name: string): Promise<ServerOffers>;
  /** How a tool of an OpenAPI server is called. `not_found`. */
  operation(workspace: string, server: string, tool: string): Promise<Operation>;
  /** `not_found`. */
  skill(workspace: string, name: string): Promise<Skill>;
  /**
   * A webhook, ready to judge what is sent to it; null: there is none. From KV, never from the Catalog but in the isolate that wrote it: a stranger
   * can ask for any name. `notOlderThan` (milliseconds since the epoch): one that was read before that is read again. Whatever there is, a
   * look costs the same: one read of KV, or none.
   */
  hook(workspace: string, name: string, notOlderThan?: number): Promise<CompiledHook | null>;
  /** Who wants to hear of turns; may be `limits.subscriptionsTtlMs` old. */
  subscriptions(workspace: string): Promise<readonly SubscriptionHead[]>;
  /** A secret's value if `host` (or `tool`) is among those it is bound to; else `forbidden`. */
  secret(workspace: string, name: string, use: { host?: string; tool?: string }): Promise<string>;
}
