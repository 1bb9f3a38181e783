/**
 * The workspace's documents: written through one Durable Object (`catalog/`), and read from it by document routes. Reads during a call go
 * through `Directory` (`directory.ts`) instead, which never waits for the Catalog while its cache is warm.
 */
import type { ItemState, NotedItem, ProviderItem, ProviderItemQuery } from '../core/records/provider-item.ts';
import type { RejectRequest, UndoRequest } from '../core/listing/decide-definition.ts';
import type { ToolAcceptance } from '../core/listing/decide-tool.ts';
import type { OfferDecision } from '../core/listing/decide-offer.ts';
import type { ReviewedOffer } from '../core/listing/stored-offer.ts';
import type { MemberRights } from '../core/people/member.ts';
import type { KeyRecord } from '../core/people/key-view.ts';
import type { KeyRequest, Origin, Principal } from '../core/people/principal.ts';
import type { PolicyRule } from '../core/policy/rule.ts';
import type { Server, ServerAccess, CompleteServer } from '../core/servers/server.ts';
import type { ReviewedDefinitions } from '../core/listing/stored-tool.ts';
import type { BulkDecision, DecidedTool, ListingReport, ServerTool, DecidedTools } from '../core/servers/server-tool.ts';
import type { RefreshReason } from '../core/servers/refresh-state.ts';
import type { Discovery, ServerStatuses } from '../core/servers/server-state.ts';
import type { ShareShortage } from '../core/limits/fair-share.ts';
import type { ListedReplay } from '../core/replay/replay.ts';
import type { ListedWait, OpenWorkRequest, SessionFilter, SessionUpdate, WaitFilter } from '../core/turn/session-summary.ts';
import type { Taint } from '../core/policy/taint.ts';
import type { ToolDefinition } from '../core/tools/tool.ts';
import type { ToolFilter } from '../core/toolset/tool-filter.ts';
import type { ToolsetUses } from '../core/toolset/toolset-uses.ts';
import type { Warning } from '../core/problem.ts';
import type { CompiledDraft } from '../core/toolset/compile-draft.ts';
import type { Toolset } from '../core/toolset/toolset.ts';
import type { LimitedHolder } from '../core/usage-limits.ts';
import type { ListedSession } from './session.ts';
import type { LogCheck, LogCheckRequest, LogHead, LogPage, LogRequest } from './audit-log.ts';

/**
 * `tool-aliases`: default aliases of one tool, `{aliases: string[]}`, named by its canonical name. `ui-tool`: named `ui.<name>`, `made-tool`:
 * `made.<name>`, `private-tool`: also has the key it is private to in its name (`privateToolName`). `server`: its tools are stored separately
 * (`serverTools`); when read, its body also has `toolCount` and `held`: how many tools it lists, and how many of them are held.
 */
export type DocumentKind =
  | 'toolset'
  | 'agent'
  | 'provider'
  | 'secret'
  | 'tool-aliases'
  | 'policy'
  | 'known-host'
  | 'server'
  | 'skill'
  | 'ui-tool'
  | 'made-tool'
  | 'private-tool'
  | 'webhook'
  | 'schedule'
  | 'subscription'
  | 'model-alias'
  | 'suite'
  | 'member'
  | 'workspace';

/** A workspace has one document of kind `workspace`, its settings, under this name. */
export const workspaceDocument = 'settings';

/** A workspace has one document of kind `policy`, `{rules: PolicyRule[]}`, under this name. */
export const policyDocument = 'workspace';

/**
 * `body` is what GET shows; it never contains secret values or provider keys (`hasApiKey: true` instead). `warnings`: for an agent read by
 * itself, its warnings in the current state of the workspace.
 */
export type StoredDocument = {
  name: string;
  version: number;
  body: Record<string, unknown>;
  createdAt: string;
  updatedAt: string;
  warnings?: Warning[];
  /** For a version of a toolset: it is retired. */
  retired?: true;
};

export type WriteOptions = {
  /** `If-Match`: the required version, or `*` for "must exist". If it does not match: `precondition_failed`. */
  ifMatch?: number | '*';
  /** `If-None-Match: *`: must not exist. */
  ifNoneMatch?: boolean;
  /** Check and compile, store nothing. */
  dryRun?: boolean;
  /** Members that are not kept from the stored document although the new one lacks them. */
  removed?: readonly string[];
  /** The caller may set what the programs of this machine are given (`core/servers/launched-settings.ts`). */
  mayRunCommands?: true;
  /** For a toolset: revokes the tools that the write removes. */
  revoke?: true;
};

export type PutAnswer = { document: StoredDocument; created: boolean; changed: boolean; warnings: Warning[] };

export type Page<T> = { items: T[]; nextCursor: string | null };
export type PageRequest = { cursor?: string; limit: number };

/** `removed`: a DELETE of a toolset, whose version number is never reused. `retired`: of a toolset's version that cannot be used any more. */
export type DocumentVersion = { version: number; createdAt: string; removed: boolean; retired?: { at: string; by: string } };

/** What an existing key may currently do. */
export type KeyRights = Pick<Principal, 'scopes' | 'toolsets' | 'agents' | 'role' | 'egressHosts'>;

/** `workspaces`: in which the person is a member, in the order of joining. `isEnded`: signed out. */
export type SignedInState = { isEnded: boolean; workspaces: string[] };

/** `isDone`: all sessions of the key were visited once. Turns that it submitted since are cancelled later. */
export type KeyCancellation = { cancelledTurns: number; isDone: boolean };

/** `keyId`: only those of this key; null: of all keys. */
export type ReplayFilter = { keyId: string | null; suite?: string };

export type SessionIndexRow = Pick<SessionUpdate, 'id' | 'keyId' | 'agent' | 'model' | 'toolset' | 'createdAt'>;

/** `server`: the server to read. A `static` one needs no claim, and always has one. */
export type RefreshAnswer = { claimed: true; server: ServerAccess; claim: RefreshClaim } | { claimed: false; retryAfterMs: number };

/** Identifies the holder of a refresh claim. `version`: the version of the document being read; `until`: distinguishes this claim from later ones. */
export type RefreshClaim = { version: number; until: number };

/** Why a server could not be read. */
export type RefreshFailure = { status: 'failing' | 'unauthorized'; reason: string; signIn?: true };

/** The stored OAuth grant of a server, sealed by the storage. `revision` counts writes, so that of two concurrent writes one fails. */
export type ServerGrant = {
  value: string | null;
  revision: number;
  /** For the grant of a user or key: it has tokens. */
  isConnected?: boolean;
};

/** A user or key that has connected to a server with `oauth.per: "user"`. `name`: of the key. */
export type ConnectedUser = { keyId: string; name?: string; connectedAt: string };

/** What a key has equipped over MCP (contract §10). While `mode` was never set, it depends on whether a toolset is equipped. */
export type Equipment = { toolset: string | null; mode: 'configuration' | 'normal' };

/** `expiresAt`: milliseconds since the epoch. `session`: where the answer was given; absent if several sessions gave it, or it is long ago. */
export type StoredMarks = { taint: Taint; expiresAt: number; session?: string };
/**
 * `answersOf`: the key whose chat answers these are; the newest `limits.maxAnswerMarks` of them are stored. Absent: marks of direct calls.
 * `session`: where the answer was given.
 */
export type NewMarks = { names: readonly string[]; taint: Taint; ttlMs: number; answersOf?: string; session?: string };

/** The workspace, with the id of the calling key for the audit of changes; only the workspace for calls by the service itself. */
export type CatalogCaller = string | { workspace: string; keyId: string };

export type PublicationCheck = {
  checked: number;
  isPart: boolean;
  waiting: { kind: string; name: string; attempts: number }[];
  different: { kind: DocumentKind; name: string; published: number | null; stored: number }[];
};

/** Errors are thrown as `Problem`s: `not_found`, `precondition_failed`, `name_conflict`, `invalid_request`, `conflict`. */
export interface CatalogPort {
  put(kind: DocumentKind, name: string, body: Record<string, unknown>, options?: WriteOptions): Promise<PutAnswer>;
  /** `version`: an older version, of toolsets, agents, suites, the policy and shared made tools. */
  get(kind: DocumentKind, name: string, version?: number): Promise<StoredDocument>;
  list(kind: DocumentKind, page: PageRequest): Promise<Page<StoredDocument>>;
  /**
   * Returns the stored versions of a document, newest first. Throws `not_found` if it does not exist; for a toolset, if it never existed.
   */
  versions(kind: DocumentKind, name: string, page: PageRequest): Promise<Page<DocumentVersion>>;
  /** `warnings`: what still names it. */
  remove(kind: DocumentKind, name: string, options?: WriteOptions): Promise<{ warnings: Warning[] }>;

  /**
   * Stores the newest document under another name, which must be free, and changes the equipment that names it; its versions stay under the
   * old name. `version`: the one that was read. Agents and keys that name the toolset are unchanged.
   */
  renameToolset(from: string, to: string, version: number): Promise<PutAnswer>;

  /**
   * Retires a version of a toolset, or undoes that: a retired one cannot be used, in running turns and pinned sessions either. Returns warnings about
   * agents and keys that name it. Throws `conflict` for the current version, and if it is in that state already.
   */
  retireVersion(toolset: string, version: number, isRetired: boolean): Promise<{ warnings: Warning[] }>;

  /**
   * Compiles a draft without storing anything; nothing is thrown for its faults. `places`: of each entry, its index in the draft. `tools`:
   * definitions in place of those with the same canonical names.
   */
  previewToolset(name: string, toolset: Toolset, places: readonly number[], tools?: readonly ToolDefinition[]): Promise<CompiledDraft>;

  /** Returns what depends on a toolset, also on a removed one. Throws `not_found` if it neither exists nor is named. */
  toolsetUses(toolset: string): Promise<ToolsetUses>;

  /**
   * Returns how many toolsets are compiled with the tools of another build than the one that the Catalog runs. It compiles them again in the
   * background, those that can be.
   */
  staleToolsets(): Promise<number>;
  /** Compares published copies of documents with these, and publishes again what differs. `different`: by version, null without a copy. */
  checkPublications(): Promise<PublicationCheck>;
  /** Returns how many servers have each health; servers of kind `static` have none. */
  serverStatuses(): Promise<ServerStatuses>;

  /**
   * Returns every tool of the workspace, default aliases applied, sorted by canonical name. `owner`: includes the private tools of that key;
   * where a shared tool has the same name, only the shared one. `filter`: only tools that match it.
   */
  tools(page: PageRequest, owner?: string, filter?: ToolFilter): Promise<Page<ToolDefinition>>;
  /** Returns the private tools of a key or a trigger, sorted by canonical name. */
  privateTools(owner: string): Promise<ToolDefinition[]>;
  /** `version`: an earlier version of a shared made tool. */
  tool(canonical: string, version?: number): Promise<ToolDefinition>;

  /** Returns the tools of one server, sorted by name, including those it no longer lists. */
  serverTools(server: string, page: PageRequest): Promise<Page<ServerTool>>;
  serverTool(server: string, tool: string): Promise<ServerTool>;
  /** Throws `conflict` if the server lists no valid definition of the tool. */
  reviewedDefinitions(server: string, tool: string): Promise<ReviewedDefinitions>;
  /** Reads the definitions of a `static` server again from its document. Other kinds are read by `engine/servers/refresh-server.ts`. */
  refreshServer(server: string): Promise<ListingReport>;
  /** Returns the text of an OpenAPI document that was stored in full; null: the server has none. */
  serverDocument(server: string): Promise<string | null>;
  /**
   * Returns a document to test, which need not be stored, with the values that GET hides. Throws `forbidden` for what only the launcher may give
   * to a program, and `invalid_request` for a hidden value that is not stored.
   */
  completeServer(server: string, document: Server, options?: Pick<WriteOptions, 'mayRunCommands'>): Promise<CompleteServer>;
  /** Returns the keys of the programs that these servers run; none for a server without a command, or whose secrets cannot be used. */
  programKeys(servers: readonly string[]): Promise<Record<string, string>>;
  /**
   * Grants a claim for reading what the server lists; one reader has it at a time, for `limits.refreshClaimMs`. `fault`: why a call of the
   * server failed, which is stored in any case.
   */
  claimRefresh(server: string, reason: RefreshReason, fault?: string): Promise<RefreshAnswer>;
  /** Stores what was read and releases the claim. Throws `conflict` if the document has changed or another claim was granted since. */
  takeDiscovery(server: string, claim: RefreshClaim, discovery: Discovery): Promise<ListingReport>;
  /** Records a failed reading and releases the claim: the stored listing stays, and the server is retried later. */
  takeFailure(server: string, claim: RefreshClaim, failure: RefreshFailure): Promise<void>;

  /** `keyId`: the grant of this user or key; absent: that of the workspace. */
  serverGrant(server: string, keyId?: string): Promise<ServerGrant>;
  /** Returns false if the grant was written since `revision`. */
  saveServerGrant(server: string, grant: ServerGrant, keyId?: string): Promise<boolean>;
  connections(server: string, page: PageRequest): Promise<Page<ConnectedUser>>;

  equipment(keyId: string): Promise<Equipment>;
  /** Absent members are unchanged. */
  setEquipment(keyId: string, change: Partial<Equipment>): Promise<Equipment>;

  /** Returns the taint marks stored under these names, in the order of the names; null for those missing or expired. */
  taintMarks(names: readonly string[]): Promise<(StoredMarks | null)[]>;
  /** Adds to the marks under each name and extends their lifetime. Durable when it resolves. */
  addTaintMarks(marks: NewMarks): Promise<void>;

  /** Consumes a nonce; returns true the first time only. Forgotten after `expiresAt` (milliseconds since the epoch). */
  consumeNonce(nonce: string, expiresAt: number): Promise<boolean>;

  /**
   * Accepts a held definition for every toolset, and with `annotations` its annotations too. `refId`: the definition that was reviewed.
   * Throws `conflict` if it has changed since, or if nothing is held, and `acknowledgement_required` for findings.
   */
  acceptTool(server: string, tool: string, acceptance?: ToolAcceptance): Promise<DecidedTool>;
  /** Rejects the listed definition: calls are refused until the server lists another one that is accepted, or the rejection is undone. */
  rejectTool(server: string, tool: string, request?: RejectRequest): Promise<DecidedTool>;
  /** Accepts or rejects held tools of a server, except those that only a request of their own can accept. */
  decideTools(server: string, decision: BulkDecision): Promise<DecidedTools>;
  /** Takes back the newest decision about a tool, or that about one definition. Throws `conflict` if there is none. */
  undoTool(server: string, tool: string, request?: UndoRequest): Promise<DecidedTool>;
  /** The prompts, resources and templates of an MCP server, with their reviews. */
  reviewedOffers(server: string, page: PageRequest): Promise<Page<ReviewedOffer>>;
  /** Decides about one of them as about a tool. Throws `not_found` for one that the server never listed. */
  decideOffer(server: string, decision: OfferDecision): Promise<ReviewedOffer>;
  /** Replaces `from`, which its server no longer lists, by `to` in every toolset, keeping the names it had. */
  rebindTool(server: string, from: string, to: string): Promise<{ toolsets: string[] }>;

  /** Returns the full key, which is not retrievable later. */
  createKey(request: KeyRequest): Promise<{ key: string; record: KeyRecord }>;
  /** Replaces the secret, and returns the full key. Earlier secrets work for `overlapMs` at most. */
  rotateKey(id: string, overlapMs: number): Promise<{ key: string; record: KeyRecord }>;
  /** Applies a merge patch to the fields of `KeyRequest`. `expiresAt: null`: the key never expires. */
  patchKey(id: string, patch: Readonly<Record<string, unknown>>): Promise<KeyRecord>;
  keys(page: PageRequest): Promise<Page<KeyRecord>>;
  key(id: string): Promise<KeyRecord>;
  /** `cancel`: also ends all turns in the key's sessions, in the background. Revoking twice has no effect. */
  revokeKey(id: string, options?: { cancel: boolean }): Promise<void>;
  /** Waits for a short time for the turns that `revokeKey` ends, and returns its progress. */
  keyCancellation(id: string): Promise<KeyCancellation>;
  isKeyCancelled(id: string): Promise<boolean>;
  /** Returns the workspace, the keys and the agents that have limits. */
  limitedHolders(): Promise<LimitedHolder[]>;
  /** Returns what the credential may do now that something was made with; null if it has ended. */
  originRights(origin: Origin): Promise<KeyRights | null>;
  /** Returns the key's current rights; null if it is unknown, revoked or expired. */
  keyRights(id: string): Promise<KeyRights | null>;

  /** Returns what the person may do in this workspace; null: not a member. */
  memberRights(user: string): Promise<MemberRights | null>;
  /** For the workspace `default`, which knows the members of all. `session`: null if only the workspaces matter. */
  signedInState(user: string, session: string | null): Promise<SignedInState>;
  /** For the workspace `default`: replaces the people who are members of a workspace. */
  setMembersOf(workspace: string, users: readonly string[]): Promise<void>;

  /** Stores remembered rules, all or none; an identical rule is not stored twice. */
  addRule(...rules: PolicyRule[]): Promise<void>;
  /** Makes hosts known to the workspace (`known-host`), all at once. Those that are known already are unchanged. */
  knowHosts(hosts: readonly string[]): Promise<void>;

  indexSession(row: SessionIndexRow): Promise<void>;
  /** Stores the newest state of a session and of its questions, for lists. Idempotent; an older revision has no effect. */
  updateSession(update: SessionUpdate): Promise<void>;
  /** Returns why a session may not have more questions or queued turns; null: it may, and is counted with them until its next update. */
  admitOpenWork(request: OpenWorkRequest): Promise<ShareShortage | null>;
  /** Returns how many questions wait in the sessions of each key that has any. */
  questionsByKey(): Promise<ReadonlyMap<string, number>>;
  /** Returns whether it was listed. `by`: the key that deleted it, for the audit; null: none. */
  forgetSession(id: string, by: string | null): Promise<boolean>;
  /** Newest first. */
  sessions(filter: SessionFilter, page: PageRequest): Promise<Page<ListedSession>>;
  /** Newest first. */
  replays(filter: ReplayFilter, page: PageRequest): Promise<Page<ListedReplay>>;
  /**
   * Returns the id of the newest running replay if the key has as many as it may; null: it may have another, and `replay` is listed and counted.
   * Repeating it has no effect.
   */
  admitReplay(replay: ListedReplay | null): Promise<string | null>;
  /** Returns those of these ids that are of sessions. */
  knownSessions(ids: readonly string[]): Promise<string[]>;
  /** Stores what the calling key made at providers; an item that is known is completed. Returns the known state of each. Idempotent. */
  noteProviderItems(items: readonly NotedItem[]): Promise<readonly ItemState[]>;
  /** Lists what the calling key made. null: it made no item `after`. */
  providerItems(query: ProviderItemQuery): Promise<{ items: readonly ProviderItem[]; hasMore: boolean } | null>;
  /** Returns questions of calls, newest first: pending ones by when they were asked, decided ones by when they were decided. */
  waits(filter: WaitFilter, page: PageRequest): Promise<Page<ListedWait>>;

  /** Adds to the audit that the caller erases cached replies and results. `name`: of which. */
  recordErasure(name: string): Promise<void>;
  /** Returns the newest signed heads of the audit shards, of every shard that ever had rows. */
  auditHeads(): Promise<[shard: number, head: LogHead][]>;
  storeAuditHead(shard: number, head: LogHead): Promise<void>;
  /** Reads the audit log of configuration changes (`changes`), or the rows of releases without audit shards (`earlier`). */
  readAudit(request: LogRequest): Promise<LogPage>;
  /** Checks the hash chain of the log of changes. */
  checkAudit(request: LogCheckRequest): Promise<LogCheck>;
}
