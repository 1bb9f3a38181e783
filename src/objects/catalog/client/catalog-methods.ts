/**
 * The methods of a workspace's Catalog: their types (the ports and `PublishedDocuments`), and one row for each that says how it runs.
 * `catalog-client.ts` calls them; `catalog/handlers/` implements them.
 */
import { limits } from '../../../core/limits/limits.ts';
import type { EditionPointer, ToolsetStanding } from '../../../core/toolset/edition-tool.ts';
import type { Outcome } from '../../../core/problem.ts';
import type { Principal } from '../../../core/people/principal.ts';
import type { ServerOperation } from '../../../core/tools/server-operation.ts';
import { policyDocument, type CatalogPort, type CatalogCaller, type DocumentKind } from '../../../ports/catalog.ts';
import type { Grants } from '../../../ports/grants.ts';
import type { MasterKeyPort } from '../../../ports/master-key.ts';
import type { Projects } from '../../../ports/projects.ts';
import type { StoredWork, Triggers } from '../../../ports/triggers.ts';
import type { Workspaces } from '../../../ports/workspaces.ts';
import type { MethodRow } from '../../shared/object-client.ts';
import type { ArgumentsOf, ResultOf } from '../../../ports/remote.ts';
import { grantIdOfToken } from '../../../storage/keys/access-token.ts';
import type { PublishedKind, PublishedValues } from '../../../storage/published-values.ts';

export type PinnedOperation = { operation: ServerOperation; pin: string };

/** The result of looking up a key's hash; `refused` is the reason. */
export type KeyVerdict = { principal: Principal; expiresAt: number | null } | { refused: 'unknown' | 'revoked' | 'expired' | 'rotated' };

/** What `directory.ts` reads when neither its cache nor KV has a document. */
interface PublishedDocuments {
  /** `republish`: true when KV should have the value and does not. */
  pointer(toolset: string, version: number | undefined, republish: boolean): Promise<EditionPointer & ToolsetStanding>;
  editionText(hash: string): Promise<string>;
  /** Throws `not_found`. */
  published<Kind extends PublishedKind>(kind: Kind, name: string, republish: boolean): Promise<PublishedValues[Kind]>;
  /** `pin`: of the definition that the operation belongs to. */
  operation(server: string, tool: string): Promise<PinnedOperation>;
  verifyKey(id: string, hash: string): Promise<KeyVerdict>;
  /** `inner`: of an access token that was issued here (`access-token.ts`). */
  verifyToken(inner: string): Promise<KeyVerdict>;
}

export interface CatalogMethods
  extends CatalogPort,
    Projects,
    Triggers,
    StoredWork,
    Grants,
    PublishedDocuments,
    Workspaces,
    MasterKeyPort {}
export type CatalogMethod = keyof CatalogMethods;
export type MethodArguments<Name extends CatalogMethod> = ArgumentsOf<CatalogMethods, Name>;
export type MethodResult<Name extends CatalogMethod> = ResultOf<CatalogMethods, Name>;

/** The RPC interface of the Catalog's object: it belongs to one workspace and refuses others. Changes are audited with the caller's key. */
export interface CatalogRpc {
  run<Name extends CatalogMethod>(caller: CatalogCaller, method: Name, args: MethodArguments<Name>): Promise<Outcome<MethodResult<Name>>>;
}

/** A cached document or key that a write makes outdated. */
type Invalidation = readonly [kind: DocumentKind | 'key' | 'grant' | 'workspace-status', name: string];

export interface DocumentCaches {
  /** Invalidates what this isolate wrote or removed; the Catalog is then read instead of KV while KV may be outdated. */
  invalidate(kind: Invalidation[0], workspace: string, name: string): void;
}

export type CatalogRow<Args extends readonly unknown[] = never> = MethodRow<Args> & {
  /** `serialized`: waits for earlier writes and publishes afterwards. `concurrent`: reads, and writes of one statement, run immediately. */
  lane: 'concurrent' | 'serialized';
  /** What the calling isolate removes from its caches, so that it reads its own writes. */
  invalidates?(...args: Args): readonly Invalidation[];
};

/** What a key asks for runs with other rights: a key that is limited in what it reaches is refused (`objects/catalog/keys/key-rows.ts`). */
type Starts<Name extends CatalogMethod> = Name extends keyof StoredWork ? { startsWork: true } : { startsWork?: undefined };

const read = { lane: 'concurrent', retry: true } as const;
const record = { lane: 'concurrent', retry: false } as const;
const start = { ...record, startsWork: true } as const;
const write = { lane: 'serialized', retry: false } as const;
/** A used token may have ended its grant. */
const grantOfToken = (text: string): readonly Invalidation[] => {
  const id = grantIdOfToken(text);
  return id === null ? [] : [['grant', id]];
};
const ofServer = (server: string): readonly Invalidation[] => [['server', server]];

export const catalogMethods: { readonly [Name in CatalogMethod]: CatalogRow<MethodArguments<Name>> & Starts<Name> } = {
  put: { ...write, invalidates: (kind, name, _body, options) => (options?.dryRun === true ? [] : [[kind, name]]) },
  get: read,
  list: read,
  versions: read,
  remove: { ...write, invalidates: (kind, name, options) => (options?.dryRun === true ? [] : [[kind, name]]) },
  applyDocuments: {
    ...write,
    waitMs: () => limits.applyTimeoutMs,
    invalidates: ({ writes, dryRun }) => (dryRun === true ? [] : writes.map(({ kind, name }) => [kind, name])),
  },
  projects: read,
  retireVersion: { ...write, invalidates: (toolset) => [['toolset', toolset]] },
  renameToolset: { ...write, invalidates: (from, to) => [from, to].map((name) => ['toolset', name]) },
  previewToolset: read,
  toolsetUses: read,
  staleToolsets: read,
  checkPublications: read,
  serverStatuses: read,
  tools: read,
  privateTools: read,
  tool: read,

  serverTools: read,
  serverTool: read,
  reviewedDefinitions: read,
  reviewedOffers: read,
  refreshServer: { ...write, invalidates: ofServer },
  serverDocument: read,
  completeServer: read,
  programKeys: read,
  claimRefresh: record,
  takeDiscovery: { ...write, invalidates: ofServer },
  takeFailure: { ...write, invalidates: ofServer },
  serverGrant: read,
  saveServerGrant: write,
  connections: read,
  acceptTool: { ...write, invalidates: ofServer },
  rejectTool: { ...write, invalidates: ofServer },
  decideTools: { ...write, invalidates: ofServer },
  undoTool: { ...write, invalidates: ofServer },
  decideOffer: { ...write, invalidates: ofServer },
  rebindTool: { ...write, invalidates: ofServer },

  equipment: read,
  setEquipment: record,
  taintMarks: read,
  addTaintMarks: record,
  consumeNonce: record,

  createKey: write,
  patchKey: { ...write, invalidates: (id) => [['key', id]] },
  rotateKey: { ...write, invalidates: (id) => [['key', id]] },
  keys: read,
  key: read,
  revokeKey: { ...write, invalidates: (id) => [['key', id]] },
  masterKeyState: read,
  startReseal: write,
  resealSome: read,
  keyCancellation: { ...read, waitMs: () => limits.cancelWaitMs },
  isKeyCancelled: read,
  limitedHolders: read,
  originRights: read,
  keyRights: read,
  memberRights: read,
  signedInState: read,
  // Replaces the same rows again.
  setMembersOf: read,
  addRule: { ...write, invalidates: () => [['policy', policyDocument]] },
  knowHosts: { ...write, invalidates: (hosts) => hosts.map((host) => ['known-host', host]) },

  indexSession: record,
  forgetSession: record,
  updateSession: { ...record, retry: true },
  admitOpenWork: { ...record, retry: true },
  questionsByKey: read,
  sessions: read,
  replays: read,
  admitReplay: { ...record, retry: true },
  knownSessions: read,
  noteProviderItems: { ...record, retry: true },
  providerItems: read,
  waits: read,
  auditHeads: read,
  // An older head is ignored.
  storeAuditHead: read,
  readAudit: read,
  checkAudit: read,

  pointer: read,
  editionText: read,
  published: read,
  operation: read,
  verifyKey: read,
  verifyToken: read,

  grantAccess: write,
  redeemToken: { ...write, invalidates: ({ form }) => form.flatMap(([, text]) => grantOfToken(text)) },
  grants: read,
  endGrant: { ...write, invalidates: (id) => [['grant', id]] },

  // Idempotent by the delivery's id.
  acceptDelivery: read,
  waitUntilDispatched: { ...read, waitMs: (_trigger, _id, waitMs) => waitMs },
  deliveries: read,
  webhookDeliveries: read,
  addRefusals: record,
  delivery: read,
  storedPayload: read,
  replayDelivery: start,
  // Idempotent by the turn and its state.
  noteTurns: read,
  callbacks: read,
  callback: read,
  retryCallback: start,
  // The Catalog waits for the receiver's response.
  testSubscription: { ...start, waitMs: () => limits.callbackTimeoutMs },
  runSchedule: start,

  // Of the Catalog of `default` only.
  registerWorkspace: { ...write, retry: true, invalidates: (name) => [['workspace-status', name]] },
  workspace: read,
  workspaces: read,
  deleteWorkspace: { ...write, retry: true, invalidates: (name) => [['workspace-status', name]] },
};
