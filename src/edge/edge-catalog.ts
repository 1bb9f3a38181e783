/**
 * The Catalog of an edge handler: serves one fixed project from memory through the same RPC interface as the Durable Object. It refuses what
 * needs storage. Nonces, taint marks and tokens of servers are kept for as long as the instance runs.
 */
import { keySecretsOf } from '../core/model/provider.ts';
import { setNewest } from '../core/memoize.ts';
import { hideCredentials, keepHidden } from '../core/secrets/hidden-values.ts';
import { noSafeguards } from '../core/policy/guard.ts';
import { limits } from '../core/limits/limits.ts';
import { modelName } from '../core/model/model-facts.ts';
import { joinTaint, untainted } from '../core/policy/taint.ts';
import { type Outcome, Problem, quoted, toOutcome } from '../core/problem.ts';
import { changedLaunch } from '../core/servers/launched-settings.ts';
import { noLauncher } from '../core/servers/stdio.ts';
import { createToolFilter } from '../core/toolset/tool-filter.ts';
import { utf8Length } from '../core/text/utf8.ts';
import { compileDraft } from '../core/toolset/compile-draft.ts';
import { requireKnownTool, withTools } from '../core/toolset/known-tools.ts';
import {
  type DocumentKind,
  type Page,
  policyDocument,
  type ServerGrant,
  type StoredDocument,
  type StoredMarks,
  workspaceDocument,
} from '../ports/catalog.ts';
import type { WorkspaceRecord } from '../ports/workspaces.ts';
import type { CatalogMethod, CatalogMethods, CatalogRpc } from '../objects/catalog/client/catalog-methods.ts';
import { sortedPage } from '../storage/list-pages.ts';
import type { MasterKey } from '../storage/keys/master-key.ts';
import type { PublishedKind, PublishedValues } from '../storage/published-values.ts';
import { sealValue } from '../storage/keys/secret-box.ts';
import type { EdgeKeys } from './edge-keys.ts';
import type { ServedProject } from './served-project.ts';
import { needsStorage, projectIsFixed } from './unsupported.ts';
import type { ServerLists } from './server-lists.ts';
import { edgeWorkspace, type ToolsetEditions } from './toolset-editions.ts';

type CatalogParts = {
  project: ServedProject;
  lists: ServerLists;
  editions: ToolsetEditions;
  keys: EdgeKeys;
  master: MasterKey;
  now(): number;
};

/** The methods that work without storage. */
type Served = { [Name in CatalogMethod]?: (...args: Parameters<CatalogMethods[Name]>) => unknown };

export function createEdgeCatalog(parts: CatalogParts): CatalogRpc {
  const served = servedMethods(parts);
  return {
    async run(_caller, method, args) {
      // The mapped type pairs arguments and result for each name, which TypeScript cannot follow for a variable name.
      const handle = served[method] as ((...args: unknown[]) => unknown) | undefined;
      const work = async (): Promise<unknown> => {
        if (handle === undefined) throw writes.has(method) ? projectIsFixed() : needsStorage();
        return await handle(...args);
      };
      return (await toOutcome(work)) as Outcome<never>;
    },
  };
}

const writes: ReadonlySet<CatalogMethod> = new Set([
  'put',
  'remove',
  'renameToolset',
  'setEquipment',
  'createKey',
  'rotateKey',
  'patchKey',
  'revokeKey',
  'addRule',
  'knowHosts',
  'acceptTool',
  'rejectTool',
  'decideTools',
  'undoTool',
  'decideOffer',
  'rebindTool',
  'retireVersion',
  'registerWorkspace',
  'deleteWorkspace',
]);

function servedMethods(parts: CatalogParts): Served {
  const { project, lists, editions, keys, now } = parts;
  const published = publishedValues(parts);
  const documents = createDocuments(parts);
  const memory = createMemory(now);
  return {
    get: (kind, name, version) => {
      const found = documents.find(kind, name);
      if (found === null || (version !== undefined && version !== found.version)) throw missing(kind, name);
      return found;
    },
    list: (kind, page) => pageOf(kind, page, documents.all(kind), ({ name }) => name),
    versions: (kind, name) => {
      const found = documents.find(kind, name);
      if (found === null) throw missing(kind, name);
      return { items: [{ version: found.version, createdAt: found.createdAt, removed: false }], nextCursor: null };
    },
    previewToolset: async (name, toolset, places, tools = []) =>
      await compileDraft({ workspace: edgeWorkspace, name, toolset, known: withTools(await editions.known(), tools) }, places),
    tools: async (page, _owner, filter = {}) => {
      const isListed = createToolFilter(filter);
      const tools = [...(await editions.known()).all()].filter(isListed).sort((a, b) => (a.canonical < b.canonical ? -1 : 1));
      return pageOf('tools', { ...page, maxItems: limits.maxToolPageItems }, tools, ({ canonical }) => canonical);
    },
    privateTools: () => [],
    tool: async (canonical) => requireKnownTool(await editions.known(), canonical),

    // At most `limits.maxServerOffersBytes`.
    reviewedOffers: (server) => ({ items: lists.reviewedOffers(server), nextCursor: null }),
    serverTools: (server, page) => pageOf(`tools of ${server}`, page, lists.tools(server), ({ name }) => name),
    serverTool: lists.tool,
    refreshServer: lists.refreshStatic,
    serverDocument: lists.document,
    completeServer: (name, document) => {
      if (changedLaunch(null, document).length > 0) throw new Problem('forbidden', noLauncher);
      return keepHidden('server', document, () => project.servers.get(name) ?? null);
    },
    claimRefresh: lists.claim,
    takeDiscovery: lists.takeDiscovery,
    takeFailure: lists.takeFailure,
    ...memory,

    equipment: () => {
      throw new Problem('not_found', 'This service does not store what a key has equipped. Use /mcp/{toolset}.');
    },
    // Nothing is counted here, and `providerItems` is refused.
    noteProviderItems: (items) => items.map(() => ({ isCounted: true, batch: null, model: null })),
    isKeyCancelled: () => false,
    // Asked by /readyz.
    staleToolsets: () => 0,
    // Nothing is published: each instance has the project.
    checkPublications: () => ({ checked: 0, isPart: false, waiting: [], different: [] }),
    serverStatuses: () => lists.statuses(),
    limitedHolders: () => [],
    keys: (page) => pageOf('keys', page, keys.records(), ({ id }) => id),
    key: keys.record,
    originRights: ({ keyId }) => keys.rights(keyId),
    keyRights: keys.rights,
    signedInState: () => ({ isEnded: false, workspaces: [] }),
    verifyKey: () => ({ refused: 'unknown' }),

    pointer: editions.pointer,
    editionText: editions.text,
    published: (kind, name) => published(kind, name),
    operation: lists.operation,
    workspace: (name) => {
      if (name !== edgeWorkspace) throw missing('workspace', name);
      return edgeRecord;
    },
    workspaces: () => ({ items: [edgeRecord], nextCursor: null }),
  };
}

/** `all`: in the order of their names. */
function pageOf<Row>(list: string, page: Parameters<typeof sortedPage>[1], all: readonly Row[], nameOf: (row: Row) => string): Page<Row> {
  const read = (after: string, count: number) => all.filter((row) => nameOf(row) > after).slice(0, count);
  return sortedPage(list, page, read, { position: nameOf, bytes: (row) => utf8Length(JSON.stringify(row)) });
}

const edgeRecord: WorkspaceRecord = { name: edgeWorkspace, status: 'active', createdAt: 0 };

/** The values that the Worker reads from KV. Secret values are sealed, since the readers open them. */
function publishedValues({ project, lists, master }: CatalogParts) {
  const { agents, skills, providers, secrets, modelAliases, rules, settings } = project;
  const sealed = async (kind: 'secret' | 'provider', name: string, value: string): Promise<string> =>
    await sealValue(master, { workspace: edgeWorkspace, kind, name }, value);
  const readers: { [Kind in PublishedKind]: (name: string) => Promise<PublishedValues[Kind]> } = {
    agent: async (name) => require(agents, 'agent', name),
    skill: async (name) => require(skills, 'skill', name),
    async provider(name) {
      const { apiKey, ...rest } = require(providers, 'provider', name);
      return { provider: rest, sealedApiKey: apiKey === undefined ? null : await sealed('provider', name, apiKey) };
    },
    providers: async () => Array.from(providers, ([name, { models = [] }]) => ({ name, models: models.map(modelName) })),
    'model-aliases': async () => [...modelAliases],
    async secret(name) {
      const { value, ...binding } = require(secrets, 'secret', name);
      return { ...binding, name, sealed: await sealed('secret', name, value) };
    },
    server: async (name) => lists.access(name),
    offers: async (name) => lists.offers(name),
    rules: async () => ({ rules: [...rules], ...noSafeguards }),
    subscriptions: async () => [],
    settings: async () => settings,
    async 'workspace-status'(name) {
      throw missing('workspace', name);
    },
    'retired-keys': async () => ({ sealed: null }),
    async hook(name) {
      throw project.ignored.includes('webhooks') ? needsStorage() : missing('webhook', name);
    },
  };
  return async <Kind extends PublishedKind>(kind: Kind, name: string): Promise<PublishedValues[Kind]> => await readers[kind](name);
}

function require<Document>(documents: ReadonlyMap<string, Document>, kind: DocumentKind, name: string): Document {
  const document = documents.get(name);
  if (document === undefined) throw missing(kind, name);
  return document;
}

function missing(kind: DocumentKind, name: string): Problem {
  return new Problem('not_found', `There is no ${kind} ${quoted(name)}.`);
}

/** The documents of the project as GET shows them: without secret values and keys of providers. */
function createDocuments({ project, lists, editions, now }: CatalogParts) {
  const at = new Date(now()).toISOString();
  const { providers, secrets, modelAliases, tools, toolAliases, rules, settings, toolsets, servers, agents, skills } = project;
  const bodies: Partial<Record<DocumentKind, () => Iterable<readonly [name: string, body: Record<string, unknown>]>>> = {
    toolset: () => [...toolsets.keys()].map((name) => [name, { ...editions.document(name), name }]),
    server: () => Array.from(servers, ([name, document]) => [name, { ...document, tools: undefined, name, ...lists.shown(name) }]),
    provider: () =>
      Array.from(providers, ([name, { apiKey, ...provider }]) => [
        name,
        { ...provider, hasApiKey: apiKey !== undefined || keySecretsOf(provider).length > 0 },
      ]),
    secret: () => Array.from(secrets, ([name, { value: _value, ...binding }]) => [name, binding]),
    'model-alias': () => modelAliases.map((alias) => [alias.name, { ...alias }]),
    'made-tool': () => [...tools].filter(([, tool]) => 'implementation' in tool),
    'ui-tool': () => [...tools].filter(([, tool]) => !('implementation' in tool)),
    'tool-aliases': () => Object.entries(toolAliases),
    policy: () => [[policyDocument, { rules }]],
    workspace: () => [[workspaceDocument, { settings }]],
    agent: () => Array.from(agents, ([name, agent]) => [name, { ...agent, name }]),
    skill: () => skills,
  };
  const all = (kind: DocumentKind): StoredDocument[] => {
    const read = bodies[kind];
    if (read === undefined) throw needsStorage();
    const sorted = [...read()].sort(([a], [b]) => (a < b ? -1 : 1));
    return sorted.map(([name, body]) => ({ name, version: 1, body: hideCredentials(kind, body), createdAt: at, updatedAt: at }));
  };
  return { all, find: (kind: DocumentKind, name: string) => all(kind).find((document) => document.name === name) ?? null };
}

const maxNonces = 10_000;
const maxMarks = 10_000;

/** What the Catalog stores for a limited time. When a list is full, its oldest entry is dropped. */
function createMemory(now: () => number) {
  const nonces = new Map<string, number>();
  const marks = new Map<string, StoredMarks>();
  const grants = new Map<string, ServerGrant>();
  return {
    consumeNonce: (nonce: string, expiresAt: number): boolean => {
      if (nonces.has(nonce)) return false;
      setNewest(nonces, nonce, expiresAt, maxNonces);
      return true;
    },
    taintMarks: (names: readonly string[]): (StoredMarks | null)[] =>
      names.map((name) => {
        const found = marks.get(name);
        return found !== undefined && found.expiresAt > now() ? found : null;
      }),
    addTaintMarks: ({ names, taint, ttlMs, session }: Parameters<CatalogMethods['addTaintMarks']>[0]): void => {
      for (const name of names) {
        const joined = joinTaint(marks.get(name)?.taint ?? untainted, taint);
        const value = { taint: joined, expiresAt: now() + ttlMs, ...(session !== undefined && { session }) };
        setNewest(marks, name, value, maxMarks);
      }
    },
    serverGrant: (server: string, keyId = ''): ServerGrant => grants.get(`${server} ${keyId}`) ?? { value: null, revision: 0 },
    saveServerGrant: (server: string, { value, revision }: ServerGrant, keyId = ''): boolean => {
      const at = `${server} ${keyId}`;
      if ((grants.get(at)?.revision ?? 0) !== revision) return false;
      grants.set(at, { value, revision: revision + 1 });
      return true;
    },
  };
}
