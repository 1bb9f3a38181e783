/**
 * The Catalog's Durable Object as seen by its clients: the RPC methods of `catalog/catalog.ts`, and `askCatalog`, which calls them
 * with a timeout and retries failures of the platform. Used by `catalog-client.ts` and `directory.ts`.
 */
import type { Agent } from '../core/agent.ts';
import type { AuditEntry, AuditRow } from '../core/audit.ts';
import type { EditionPointer } from '../core/toolset/edition-tool.ts';
import type { ToolAcceptance } from '../core/listing/accept-definition.ts';
import { limits } from '../core/limits.ts';
import type { PolicyRule } from '../core/policy/rule.ts';
import { Problem, unwrap } from '../core/problem.ts';
import type { Outcome } from '../core/problem.ts';
import type { KeyRequest, Principal, Scope } from '../core/principal.ts';
import type { Provider } from '../core/model/provider.ts';
import type { SecretBinding } from '../core/policy/secret.ts';
import type { AcceptedTool, ListingReport, ServerAccess, ServerTool } from '../core/servers/server.ts';
import type { RefreshReason } from '../core/servers/refresh-state.ts';
import type { Discovery, ServerOperation, ServerOffers } from '../core/servers/server-state.ts';
import type { Skill } from '../core/skills/skill.ts';
import type { ToolDefinition } from '../core/tools/tool.ts';
import type { SubscriptionHead } from '../core/triggers/callbacks/subscription.ts';
import type { WebhookDocument } from '../core/triggers/webhook.ts';
import type {
  AuditQuery,
  CatalogCaller,
  DocumentKind,
  Equipment,
  KeyCancellation,
  KeyRecord,
  KeyRights,
  NewMarks,
  Page,
  PageRequest,
  PutAnswer,
  RefreshClaim,
  RefreshLease,
  RefreshFailure,
  ServerGrant,
  SessionIndexRow,
  StoredDocument,
  StoredMarks,
  ToolsetVersion,
  WriteOptions,
} from '../ports/catalog.ts';
import type { Triggers } from '../ports/triggers.ts';
import type { Bindings } from './bindings.ts';
import { objectName } from './keys.ts';
import { withTimeLimit } from '../net/time-limit.ts';

/** A secret as stored; `secret-box.ts` opens it. */
export type SealedSecret = SecretBinding & { name: string; sealed: string };

/** A provider as stored, with all secrets that it names and that exist, so that one call is enough. */
export type SealedProvider = { provider: Provider; sealedApiKey: string | null; secrets: SealedSecret[] };

/** A webhook as stored. `sealed`: as in `PublishedHook` (`keys.ts`). */
export type SealedHook = { webhook: WebhookDocument; version: number; sealed: string };

/** The result of looking up a key's hash; `refused` is the reason. */
export type KeyVerdict = { principal: Principal; expiresAt: number | null } | { refused: 'unknown' | 'revoked' | 'expired' };

type Answer<T> = Promise<Outcome<T>>;

/** The methods of `Triggers`, each with the workspace as an additional first parameter. */
type TriggersRpc = {
  [Method in keyof Triggers]: Triggers[Method] extends (...args: infer Args) => Promise<infer Value>
    ? (workspace: string, ...args: Args) => Answer<Value>
    : never;
};

/** Every method names its workspace: the object belongs to one, and refuses others. Methods that are audited as changes also take the caller. */
export interface CatalogRpc extends TriggersRpc {
  put(caller: CatalogCaller, kind: DocumentKind, name: string, body: Record<string, unknown>, options: WriteOptions): Answer<PutAnswer>;
  get(workspace: string, kind: DocumentKind, name: string, version: number | undefined): Answer<StoredDocument>;
  list(workspace: string, kind: DocumentKind, page: PageRequest): Answer<Page<StoredDocument>>;
  versions(workspace: string, toolset: string, page: PageRequest): Answer<Page<ToolsetVersion>>;
  remove(caller: CatalogCaller, kind: DocumentKind, name: string, options: WriteOptions): Answer<null>;
  renameToolset(caller: CatalogCaller, from: string, to: string, version: number): Answer<PutAnswer>;

  tools(workspace: string, page: PageRequest, owner: string | undefined): Answer<Page<ToolDefinition>>;
  privateTools(workspace: string, owner: string): Answer<ToolDefinition[]>;
  tool(workspace: string, canonical: string): Answer<ToolDefinition>;

  serverTools(workspace: string, server: string, page: PageRequest): Answer<Page<ServerTool>>;
  serverTool(workspace: string, server: string, tool: string): Answer<ServerTool>;
  refreshServer(caller: CatalogCaller, server: string): Answer<ListingReport>;
  serverDocument(workspace: string, server: string): Answer<string | null>;
  claimRefresh(workspace: string, server: string, reason: RefreshReason): Answer<RefreshClaim>;
  takeDiscovery(caller: CatalogCaller, server: string, leave: RefreshLease, discovery: Discovery): Answer<ListingReport>;
  takeFailure(workspace: string, server: string, leave: RefreshLease, failure: RefreshFailure): Answer<null>;
  serverGrant(workspace: string, server: string): Answer<ServerGrant>;
  saveServerGrant(caller: CatalogCaller, server: string, grant: ServerGrant): Answer<boolean>;
  equipment(workspace: string, keyId: string): Answer<Equipment>;
  setEquipment(workspace: string, keyId: string, change: Partial<Equipment>): Answer<Equipment>;
  taintMarks(workspace: string, names: readonly string[]): Answer<(StoredMarks | null)[]>;
  addTaintMarks(workspace: string, marks: NewMarks): Answer<null>;
  consumeNonce(workspace: string, nonce: string, expiresAt: number): Answer<boolean>;
  acceptTool(caller: CatalogCaller, server: string, tool: string, acceptance: ToolAcceptance): Answer<AcceptedTool>;
  rebindTool(caller: CatalogCaller, server: string, from: string, to: string): Answer<{ toolsets: string[] }>;

  createKey(caller: CatalogCaller, request: KeyRequest): Answer<{ key: string; record: KeyRecord }>;
  keys(workspace: string, page: PageRequest): Answer<Page<KeyRecord>>;
  revokeKey(caller: CatalogCaller, id: string, cancel: boolean): Answer<null>;
  keyCancellation(workspace: string, id: string): Answer<KeyCancellation>;
  keyIsCancelled(workspace: string, id: string): Answer<boolean>;
  verifyKey(workspace: string, id: string, hash: string): Answer<KeyVerdict>;
  isKeyActive(workspace: string, id: string, scope: Scope): Answer<boolean>;
  keyRights(workspace: string, id: string): Answer<KeyRights | null>;

  addRule(caller: CatalogCaller, rule: PolicyRule): Answer<null>;
  rules(workspace: string): Answer<PolicyRule[]>;

  indexSession(workspace: string, row: SessionIndexRow): Answer<null>;
  forgetSession(workspace: string, id: string): Answer<null>;
  sessions(workspace: string, keyId: string | null, page: PageRequest): Answer<Page<SessionIndexRow>>;

  appendAudit(workspace: string, rows: readonly AuditRow[]): Answer<null>;
  audit(workspace: string, query: AuditQuery): Answer<Page<AuditEntry>>;

  /** `republish`: true when KV should have the value and does not. */
  pointer(workspace: string, toolset: string, version: number | undefined, republish: boolean): Answer<EditionPointer>;
  editionText(workspace: string, hash: string): Answer<string>;
  agent(workspace: string, name: string, republish: boolean): Answer<Agent>;
  server(workspace: string, name: string): Answer<ServerAccess>;
  serverOffers(workspace: string, name: string): Answer<ServerOffers>;
  operation(workspace: string, server: string, tool: string): Answer<ServerOperation>;
  skill(workspace: string, name: string, republish: boolean): Answer<Skill>;
  hook(workspace: string, name: string): Answer<SealedHook>;
  subscriptions(workspace: string): Answer<SubscriptionHead[]>;
  /** Returns null when none is stored. */
  sealedProvider(workspace: string, name: string): Answer<SealedProvider | null>;
  providerModels(workspace: string): Answer<{ name: string; models: string[] }[]>;
  sealedSecret(workspace: string, name: string): Answer<SealedSecret>;
}

/**
 * Calls a workspace's Catalog. A `question` is sent a second time when the platform marks its failure as retryable (the object was
 * moved or updated); a `write` is sent once, since it may have been made. `waitMs`: how long the call itself may wait.
 */
export async function askCatalog<T>(
  bindings: Bindings,
  workspace: string,
  kind: 'question' | 'write',
  call: (catalog: CatalogRpc) => Answer<T>,
  waitMs = 0,
): Promise<T> {
  const id = bindings.CATALOG.idFromName(await objectName(workspace, 'catalog', ''));
  // The namespace is untyped here, because the class is on a higher floor, where `implements CatalogRpc` is checked.
  const attempt = (): Answer<T> =>
    withTimeLimit(call(bindings.CATALOG.get(id) as unknown as CatalogRpc), limits.catalogTimeoutMs + waitMs, silent);
  for (let failures = 0; ; failures += 1) {
    try {
      return unwrap(await attempt());
    } catch (error) {
      if (error instanceof Problem || failures >= maxRetries) throw error;
      if (!wasClosed(error) && !(kind === 'question' && failures === 0 && isRetryable(error))) throw error;
    }
  }
}

const maxRetries = 3;

/** The reason with which an idle Catalog ends itself locally (`catalog/records/close-database.ts`). */
export const closedAfterDeleteReason = 'the database is closed after a deletion';

/** True when the Catalog ended itself. It does so only while it runs nothing, so the call was not started, and a write can be sent again. */
function wasClosed(error: unknown): boolean {
  return error instanceof Error && error.message.includes(closedAfterDeleteReason);
}

/** True for failures that the runtime marks as retryable; an overloaded object is not called again. */
function isRetryable(error: unknown): boolean {
  return (
    error instanceof Error && 'retryable' in error && error.retryable === true && !('overloaded' in error && error.overloaded === true)
  );
}

function silent(): never {
  throw new Problem('internal', 'The catalog did not respond in time. Try again.');
}
