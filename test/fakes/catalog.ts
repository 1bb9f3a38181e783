/**
 * The `Catalog` and `Directory` ports of one workspace in memory, for tests of higher layers. No encryption, KV or caches; the same
 * documents, versions, conditions and problems. Passes `test/contracts/catalog.ts`.
 */
import { hideCredentials, keepHidden } from '../../src/core/hidden-values.ts';
import { noSafeguards } from '../../src/core/guard.ts';
import { rebindEntries } from '../../src/core/listing/decide-tool.ts';
import { Agent } from '../../src/core/agent.ts';
import { buildAliasMap } from '../../src/core/toolset/alias-map.ts';
import { allowListWarnings } from '../../src/core/names/allow-list.ts';
import { compileDraft } from '../../src/core/toolset/compile-draft.ts';
import { compileEdition, editionHash } from '../../src/core/toolset/edition.ts';
import type { Edition, EditionPointer, ToolsetStanding } from '../../src/core/toolset/edition-tool.ts';
import { holdRevoked, keepRevocations, revocationWarnings, revokeRemoved } from '../../src/core/toolset/revocations.ts';
import { withTools, type KnownTools } from '../../src/core/toolset/known-tools.ts';
import { canonicalJson } from '../../src/core/hash.ts';
import { parseDocument } from '../../src/core/issues.ts';
import { limits } from '../../src/core/limits.ts';
import { Policy } from '../../src/core/policy/document.ts';
import { PolicyRule } from '../../src/core/policy/rule.ts';
import { invalidRequest, nullIfNotFound, Problem } from '../../src/core/problem.ts';
import { KeyRequest, rootKeyId, Scope, scopesOfRole } from '../../src/core/principal.ts';
import type { Principal } from '../../src/core/principal.ts';
import { Provider } from '../../src/core/model/provider.ts';
import { providerBaseUrl } from '../../src/core/model/provider-kind.ts';
import type { ProviderAccess } from '../../src/core/model/provider.ts';
import { Secret, secretHostOf, secretUseRefusal } from '../../src/core/policy/secret.ts';
import type { SecretBinding } from '../../src/core/policy/secret.ts';
import { callUrlOf, Server, type CompleteServer, toServerAccess } from '../../src/core/servers/server.ts';
import { reservedServers } from '../../src/core/names/reserved-names.ts';
import { type Skill, SkillName } from '../../src/core/skills/skill.ts';
import { legalAliases, ToolAliases, Toolset, type ToolsetAlias } from '../../src/core/toolset/toolset.ts';
import { joinTaint, untainted } from '../../src/core/policy/taint.ts';
import type { ToolDefinition } from '../../src/core/tools/tool.ts';
import { createToolFilter } from '../../src/core/tools/tool-filter.ts';
import { Schedule } from '../../src/core/triggers/schedules/schedule.ts';
import { Member } from '../../src/core/member.ts';
import { userIdOf } from '../../src/core/person.ts';
import { ModelAlias } from '../../src/core/model/model-alias.ts';
import { Subscription } from '../../src/core/triggers/callbacks/subscription.ts';
import { compileHook } from '../../src/core/triggers/compiled-hook.ts';
import { secretFault } from '../../src/core/triggers/signatures/create-verifier.ts';
import { Webhook } from '../../src/core/triggers/webhook.ts';
import type { WebhookDocument, WebhookSecrets } from '../../src/core/triggers/webhook.ts';
import { UiTool } from '../../src/core/tools/ui-tool.ts';
import { SkillDocument } from '../../src/catalog/documents/skills.ts';
import { toUiToolDefinition, toMissingUiTool } from '../../src/core/tools/ui-tool-definition.ts';
import { checkMadeTool } from '../../src/core/made/check-made-tool.ts';
import { pinned, MadeTool, MadeToolName, type StoredMadeTool, WrittenMadeTool } from '../../src/core/made/made-tool.ts';
import { madeOwnName, toMadeDefinition, toMissingMade } from '../../src/core/made/made-toolset.ts';
import { madeToolset, privateToolset, readPrivateToolName, toMadeToolset } from '../../src/core/made/made-toolset.ts';
import { readSkill } from '../../src/skills/read-skill.ts';
import { policyDocument, workspaceDocument } from '../../src/ports/catalog.ts';
import { Workspace } from '../../src/core/workspace.ts';
import type {
  Equipment,
  CatalogPort,
  Directory,
  DocumentKind,
  KeyRecord,
  Page,
  PageRequest,
  ServerGrant,
  StoredDocument,
  StoredMarks,
} from '../../src/ports/catalog.ts';
import type { AuditPort } from '../../src/ports/audit.ts';
import { decodeNumberCursor, encodeCursor, sortedPage } from '../../src/storage/cursor.ts';
import { fakeAudit } from './audit.ts';
import { fakeServerLife } from './server-life.ts';
import { fakeServerTools } from './server-tools.ts';
import { fakeSessionLists } from './session-lists.ts';
import type { Warning } from '../../src/core/warning.ts';

type Kept = {
  name: string;
  version: number;
  removed: boolean;
  body: Record<string, unknown>;
  hidden: string | null;
  createdAt: string;
  updatedAt: string;
  compiled: { edition: Edition; pointer: EditionPointer } | null;
  retired?: { at: string; by: string };
};

/** `calls`: the audit of calls; `appendAudit` and `audit` are its methods. */
export type FakeCatalog = CatalogPort & {
  directory: Directory;
  calls: AuditPort;
  appendAudit: AuditPort['append'];
  audit: AuditPort['list'];
};

export function createFakeCatalog(options: {
  definitions: readonly ToolDefinition[];
  rootKey?: string;
  workspace?: string;
  /** Milliseconds since the epoch, for what servers list. */
  now?: () => number;
}): FakeCatalog {
  const workspace = options.workspace ?? 'default';
  /** `kind:name` → every version, oldest first. */
  const documents = new Map<string, Kept[]>();
  /** Every compiled edition, by its hash. */
  const editions = new Map<string, Edition>();
  const keys: (KeyRecord & { key: string })[] = [];
  const lists = fakeSessionLists();
  let lastRule: Promise<void> = Promise.resolve();

  const history = (kind: DocumentKind, name: string): Kept[] => documents.get(`${kind}:${name}`) ?? [];
  const newest = (kind: DocumentKind, name: string): Kept | null => {
    const kept = history(kind, name).at(-1);
    return kept === undefined || kept.removed ? null : kept;
  };
  const existing = (kind: DocumentKind, name: string): Kept => {
    const kept = newest(kind, name);
    if (kept === null) throw new Problem('not_found', `There is no ${kind} "${name}".`);
    return kept;
  };

  const existingKey = (id: string): KeyRecord & { key: string } => {
    const record = keys.find((candidate) => candidate.id === id);
    if (record === undefined) throw new Problem('not_found', `The key "${id}" does not exist.`);
    return record;
  };

  const toolsets = (): Kept[] =>
    [...documents].flatMap(([key, versions]) => {
      const kept = versions.at(-1);
      return key.startsWith('toolset:') && kept !== undefined && !kept.removed ? [kept] : [];
    });
  const isNamed = (canonical: string): boolean =>
    toolsets().some(({ body }) => (body as Toolset).tools.some(({ tool }) => tool === canonical));
  const serverTools = fakeServerTools(isNamed);
  const life = fakeServerLife({
    now: options.now ?? Date.now,
    server: (name) => {
      const { body, version } = existing('server', name);
      return { document: body as Server, version };
    },
    access: (name) => directory.server(workspace, name),
    tools: serverTools,
  });
  const servers = (): Map<string, Server> => {
    const names = [...documents.keys()].flatMap((key) => (key.startsWith('server:') ? [key.slice('server:'.length)] : []));
    return new Map(names.flatMap((name) => (newest('server', name) === null ? [] : [[name, existing('server', name).body as Server]])));
  };

  const known = (): KnownTools => {
    const shown = [...documents].flatMap(([key, versions]) => {
      const kept = versions.at(-1);
      if (!key.startsWith('ui-tool:') || kept === undefined) return [];
      if (!kept.removed) return [toUiToolDefinition(kept.name, kept.body as UiTool)];
      return isNamed(kept.name) ? [toMissingUiTool(kept.name)] : [];
    });
    const made = [...documents].flatMap(([key, versions]) => {
      const kept = versions.at(-1);
      if (!key.startsWith('made-tool:') || kept === undefined) return [];
      if (!kept.removed) return [toMadeDefinition(kept.name, kept.body as StoredMadeTool)];
      return isNamed(kept.name) ? [toMissingMade(kept.name)] : [];
    });
    const listed = serverTools.definitions(servers());
    const tools = new Map(
      [...options.definitions, ...shown, ...made, ...listed].map((tool) => [tool.canonical as string, withDefaults(tool)]),
    );
    return {
      get: (canonical) => tools.get(canonical),
      all: () => tools.values(),
      hasServer: (server) => newest('server', server) !== null || [...tools.values()].some((tool) => tool.server === server),
      secret: (name) => newest('secret', name)?.body as SecretBinding | undefined,
      host: (server) => {
        const kept = newest('server', server);
        const url = kept === null ? null : callUrlOf(kept.body as Server);
        return url === null ? undefined : secretHostOf(url);
      },
    };
  };
  const privateTools = (owner: string): ToolDefinition[] =>
    [...documents].flatMap(([key, versions]) => {
      const kept = versions.at(-1);
      if (!key.startsWith(`private-tool:${owner}/`) || kept === undefined || kept.removed) return [];
      return [toMadeDefinition(readPrivateToolName(kept.name).canonical, kept.body as StoredMadeTool, owner)];
    });
  const withDefaults = (tool: ToolDefinition): ToolDefinition => {
    const defaults = newest('tool-aliases', tool.canonical);
    return defaults === null ? tool : { ...tool, aliases: defaults.body.aliases as ToolsetAlias[] };
  };
  const findTool = (canonical: string): ToolDefinition => {
    const tool = known().get(canonical);
    if (tool === undefined)
      throw new Problem('unknown_tool', `No tool has the canonical name "${canonical}".`, { requested: canonical, suggestions: [] });
    return tool;
  };

  const lastToolset = (name: string): Toolset | null =>
    (history('toolset', name).findLast(({ removed }) => !removed)?.body as Toolset | undefined) ?? null;
  const standingOf = (name: string): ToolsetStanding => {
    const retired = history('toolset', name).flatMap((kept) => (kept.retired === undefined ? [] : [kept.version]));
    const { revoked } = existing('toolset', name).body as Toolset;
    return { ...(retired.length > 0 && { retired }), ...(revoked && { revoked }) };
  };

  const prepare = async (kind: DocumentKind, name: string, body: Record<string, unknown>, before: Kept | null, isRevoking = false) => {
    const plain = {
      hidden: before?.hidden ?? null,
      warnings: [] as Warning[],
      edition: null as Edition | null,
      commit: (_version: number): void => undefined,
    };
    switch (kind) {
      case 'toolset': {
        const document = { ...parseDocument(Toolset, body), name };
        const stored = lastToolset(name);
        const toolset = keepRevocations(document, stored);
        const { edition, warnings, toolset: read } = await compileEdition({ workspace, name, toolset, known: known() });
        const next = isRevoking ? revokeRemoved(read, stored) : read;
        return { ...plain, body: { ...next, name }, warnings: [...revocationWarnings(document, toolset, known()), ...warnings], edition };
      }
      case 'agent': {
        const agent = parseDocument(Agent, body);
        return { ...plain, body: { ...agent, name }, warnings: listWarnings(agent) };
      }
      case 'provider': {
        if (name === 'rehearsal') throw new Problem('conflict', 'The provider "rehearsal" is built in.');
        const { apiKey, ...provider } = keepHidden('provider', parseDocument(Provider, body), () => before?.body ?? null);
        const moved =
          before !== null && new URL(providerBaseUrl(before.body as Provider)).origin !== new URL(providerBaseUrl(provider)).origin;
        if (apiKey === undefined && before?.hidden && moved)
          throw invalidRequest([{ path: 'apiKey', message: 'is required, because baseUrl changes to another origin' }]);
        return { ...plain, body: provider, hidden: apiKey ?? plain.hidden };
      }
      case 'secret': {
        const { value, ...binding } = parseDocument(Secret, body);
        return { ...plain, body: binding, hidden: value };
      }
      case 'tool-aliases':
        findTool(name);
        return { ...plain, body: { aliases: legalAliases(parseDocument(ToolAliases, body).aliases) } };
      case 'policy':
        if (name !== policyDocument) throw invalidRequest([{ path: 'name', message: 'a workspace has one policy' }]);
        return { ...plain, body: parseDocument(Policy, body) };
      case 'server': {
        if (reservedServers.has(name)) throw invalidRequest([{ path: 'name', message: 'is reserved by Moniker' }]);
        const document = keepHidden('server', parseDocument(Server, body), () => before?.body ?? null);
        const wrote = (version: number): void => {
          const earlier = before === null ? null : { document: before.body as Server, version: before.version };
          if (version !== earlier?.version) life.wrote(name, { document, version }, earlier);
          if (earlier !== null && addressOf(earlier.document) !== addressOf(document)) dropGrant(name);
        };
        if (document.kind !== 'static') {
          const {
            tools: _tools,
            health: _health,
            connection: _connection,
            offers: _offers,
            authorization: _authorization,
            ...server
          } = document;
          return { ...plain, body: { ...server, name }, commit: wrote };
        }
        const { tools, ...server } = document;
        const { report, hash, commit } = await serverTools.take(name, tools, before === null);
        const both = (version: number): void => {
          commit();
          wrote(version);
        };
        return { ...plain, body: { ...server, name, listing: hash }, warnings: report.warnings, commit: both };
      }
      case 'skill': {
        if (!SkillName.safeParse(name).success) throw invalidRequest([{ path: 'name', message: 'is none of a skill' }]);
        const { skill, warnings } = readSkill(name, parseDocument(SkillDocument, body));
        return { ...plain, body: skill, warnings };
      }
      case 'ui-tool':
        return { ...plain, body: parseDocument(UiTool, body) };
      case 'private-tool': {
        const { owner, canonical } = readPrivateToolName(name);
        if (newest('made-tool', canonical) !== null && before === null)
          throw invalidRequest([
            { path: 'name', message: `"${madeOwnName(canonical)}" is already the name of the shared tool ${canonical}` },
          ]);
        const { tool, issues, warnings } = checkMadeTool(canonical, parseDocument(MadeTool, body), withTools(known(), privateTools(owner)));
        if (issues.length > 0) throw invalidRequest(issues);
        return { ...plain, body: await pinned(name, tool), warnings };
      }
      case 'made-tool': {
        const fault = MadeToolName.safeParse(name).error?.issues[0]?.message;
        if (fault !== undefined) throw invalidRequest([{ path: 'name', message: fault }]);
        const { tool, issues, warnings } = checkMadeTool(name, parseDocument(WrittenMadeTool, body), known());
        if (issues.length > 0) throw invalidRequest(issues);
        return { ...plain, body: await pinned(name, tool), warnings };
      }
      case 'webhook': {
        const { secret, callbackSecret, ...document } = parseDocument(Webhook, body);
        const before = plain.hidden === null ? null : (JSON.parse(plain.hidden) as WebhookSecrets);
        const secrets = secret === undefined ? (before?.secrets ?? []) : [secret].flat();
        if (secrets.length === 0) throw invalidRequest([{ path: 'secret', message: 'is missing' }]);
        const fault = secrets.map((one) => secretFault(document.scheme, one)).find((found) => found !== null);
        if (fault !== undefined) throw invalidRequest([{ path: 'secret', message: fault }]);
        const callback = callbackSecret ?? before?.callback ?? null;
        await compileHook({ webhook: document, version: 0 }, secrets).templates();
        const shown = { secrets: secrets.length, hasCallbackSecret: callback !== null };
        return { ...plain, body: { ...document, name, ...shown }, hidden: JSON.stringify({ secrets, callback }) };
      }
      case 'schedule': {
        const { callbackSecret = plain.hidden, ...document } = parseDocument(Schedule, body);
        return { ...plain, body: { ...document, name, hasCallbackSecret: callbackSecret !== null }, hidden: callbackSecret };
      }
      case 'workspace':
        return { ...plain, body: parseDocument(Workspace, body) };
      case 'model-alias':
        return { ...plain, body: { ...parseDocument(ModelAlias, body), name } };
      case 'member': {
        const { user: _user, ...member } = parseDocument(Member, body);
        return { ...plain, body: { ...member, name, user: await userIdOf(member.email) } };
      }
      case 'subscription': {
        const { secret: _secret, ...document } = parseDocument(Subscription, body);
        return { ...plain, body: { ...document, name } };
      }
      default:
        return kind satisfies never;
    }
  };

  /** Warnings about the tool list only; those about missing models and toolsets are made by the real Catalog. */
  const listWarnings = ({ toolset, tools }: Agent): Warning[] => {
    const compiled = toolset === undefined ? null : (newest('toolset', toolset)?.compiled ?? null);
    if (compiled === null || tools === undefined) return [];
    return allowListWarnings(buildAliasMap(compiled.edition, { aliases: true }), tools, compiled.pointer.toolset);
  };

  const withCounts = (document: StoredDocument): StoredDocument => ({
    ...document,
    body: { ...document.body, ...serverTools.counts(document.name), ...life.shown(document.name) },
  });

  /** Called when tools have changed: toolsets that would not compile keep their edition. */
  const reviseToolsets = async (): Promise<Warning[]> => {
    const warnings: Warning[] = [];
    for (const kept of toolsets()) {
      try {
        const toolset = kept.body as Toolset;
        // Secrets are checked by the call, as in the real one.
        const { secret: _secret, ...tools } = known();
        const before = kept.compiled?.pointer;
        const named = kept.compiled?.edition.tools ?? [];
        const { edition } = await compileEdition({ workspace, name: kept.name, toolset, known: tools, before: named });
        const compiled = await compiledOf(kept.name, kept.version, edition);
        if (compiled.pointer.hash === before?.hash) continue;
        kept.compiled = { edition, pointer: { ...compiled.pointer, revision: (before?.revision ?? 0) + 1 } };
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        warnings.push({ path: 'tools', message: `The toolset "${kept.name}" keeps its previous names: ${error.detail}` });
      }
    }
    return warnings;
  };

  const afterWrite = async (kind: DocumentKind): Promise<void> => {
    if (kind === 'toolset') serverTools.forgetUnnamed();
    if (kind === 'server' || kind === 'ui-tool' || kind === 'made-tool' || kind === 'tool-aliases') await reviseToolsets();
  };

  const rulesOf = (): PolicyRule[] => (newest('policy', policyDocument)?.body as Policy | undefined)?.rules ?? [];

  const compiledOf = async (name: string, version: number, edition: Edition) => {
    const hash = await editionHash(edition);
    editions.set(hash, edition);
    return { edition, pointer: { toolset: name, version, revision: 1, hash } };
  };

  const grants = new Map<string, ServerGrant>();
  const grantOf = (server: string, keyId?: string): string => (keyId === undefined ? server : `${server} ${keyId}`);
  const dropGrant = (server: string): void => {
    for (const [at, { revision }] of grants)
      if (at === server || at.startsWith(`${server} `)) grants.set(at, { value: null, revision: revision + 1 });
  };
  const equipped = new Map<string, Equipment>();
  const spent = new Set<string>();
  const marks = new Map<string, StoredMarks>();
  const catalog: CatalogPort = {
    put: async (kind, name, body, write = {}) => {
      const stored = newest(kind, name);
      checkConditions(stored, write);
      const before = stored !== null && write.removed?.includes('apiKey') === true ? { ...stored, hidden: null } : stored;
      const { warnings, edition, hidden, commit, body: next } = await prepare(kind, name, body, before, write.revoke);
      const changed = before === null || stored?.hidden !== hidden || canonicalJson(before.body) !== canonicalJson(next);
      const version = changed ? (history(kind, name).at(-1)?.version ?? 0) + 1 : before.version;
      const now = new Date().toISOString();
      const compiled = edition === null ? null : await compiledOf(name, version, edition);
      const kept: Kept = {
        name,
        version,
        removed: false,
        body: next,
        hidden,
        createdAt: before?.createdAt ?? now,
        updatedAt: changed ? now : before.updatedAt,
        compiled,
      };
      if (changed && write.dryRun !== true) documents.set(`${kind}:${name}`, [...history(kind, name), kept]);
      if (write.dryRun !== true) {
        commit(version);
        await afterWrite(kind);
      }
      return { document: toStored(kind, kept), created: before === null, changed, warnings };
    },
    get: async (kind, name, version) => {
      const kept =
        version === undefined
          ? existing(kind, name)
          : history(kind, name).find((candidate) => candidate.version === version && !candidate.removed);
      if (kept === undefined) throw new Problem('not_found', `"${name}" has no version ${version}.`);
      if (kind === 'server') return withDocument(withCounts(toStored(kind, kept)), kept);
      const warnings = kind === 'agent' ? listWarnings(kept.body as Agent) : [];
      return {
        ...toStored(kind, kept),
        ...(warnings.length > 0 && { warnings }),
        ...(version !== undefined && kept.retired && { retired: true as const }),
      };
    },
    list: async (kind, page) => {
      const all = [...documents.entries()].flatMap(([key, versions]) => {
        const kept = versions.at(-1);
        return key.startsWith(`${kind}:`) && kept !== undefined && !kept.removed
          ? [kind === 'server' ? withCounts(toStored(kind, kept)) : toStored(kind, kept)]
          : [];
      });
      all.sort((a, b) => (a.name < b.name ? -1 : 1));
      const read = (after: string, count: number) => all.filter(({ name }) => name > after).slice(0, count);
      return sortedPage(kind, page, read, { position: ({ name }) => name, bytes: () => 0 });
    },
    versions: async (kind, name, page) => {
      const all = history(kind, name);
      if (all.length === 0 || (kind !== 'toolset' && newest(kind, name) === null))
        throw new Problem('not_found', `There is no ${kind} "${name}".`);
      return paged(
        'versions',
        all
          .filter((kept) => kind === 'toolset' || !kept.removed)
          .map(({ version, updatedAt, removed, retired }) => ({ version, createdAt: updatedAt, removed, ...(retired && { retired }) }))
          .reverse(),
        page,
      );
    },
    remove: async (kind, name, write = {}) => {
      if (kind === 'provider' && name === 'rehearsal') throw new Problem('conflict', 'The provider "rehearsal" is built in.');
      const before = existing(kind, name);
      checkConditions(before, write);
      if (write.dryRun === true) return;
      const tombstone: Kept = { ...before, version: before.version + 1, removed: true, body: {}, hidden: null, compiled: null };
      documents.set(`${kind}:${name}`, kind === 'toolset' ? [...history(kind, name), tombstone] : [tombstone]);
      if (kind === 'server') {
        serverTools.remove(name);
        life.removed(name);
        dropGrant(name);
      }
      if (kind === 'toolset') {
        for (const [keyId, { toolset }] of equipped) if (toolset === name) equipped.delete(keyId);
      }
      await afterWrite(kind);
    },
    renameToolset: async (from, to, version) => {
      checkConditions(existing('toolset', from), { ifMatch: version });
      const answer = await catalog.put('toolset', to, { ...existing('toolset', from).body, name: to }, { ifNoneMatch: true });
      for (const [keyId, kept] of equipped) if (kept.toolset === from) equipped.set(keyId, { ...kept, toolset: to });
      await catalog.remove('toolset', from, { ifMatch: version });
      return answer;
    },

    previewToolset: async (name, toolset, places) =>
      await compileDraft({ workspace, name, toolset: keepRevocations(toolset, lastToolset(name)), known: known() }, places),
    retireVersion: async (name, version, isRetired) => {
      const kept = history('toolset', name).find((candidate) => candidate.version === version && !candidate.removed);
      if (kept === undefined) throw new Problem('not_found', `The toolset "${name}" has no version ${version}.`);
      if ((kept.retired !== undefined) === isRetired || (isRetired && newest('toolset', name) === kept))
        throw new Problem('conflict', `The version "${name}@${version}" is current, or in this state already.`);
      if (isRetired) kept.retired = { at: new Date().toISOString(), by: 'root' };
      else delete kept.retired;
      return { warnings: [] };
    },
    // The real Catalog reads it with one query for each kind; `toolset-uses.workers.test.ts` tests that.
    toolsetUses: async () => await Promise.reject(new Error('not in these tests')),
    privateTools: async (owner) => privateTools(owner),
    tools: async (page, owner, filter = {}) =>
      paged(
        'tools',
        [
          ...withTools(
            known(),
            owner === undefined ? [] : privateTools(owner).filter(({ canonical }) => known().get(canonical) === undefined),
          ).all(),
        ]
          .filter(createToolFilter(filter))
          .sort((a, b) => (a.canonical < b.canonical ? -1 : 1)),
        page,
      ),
    tool: async (canonical, version) => {
      if (version === undefined) return findTool(canonical);
      existing('made-tool', canonical);
      const kept = history('made-tool', canonical).find((candidate) => candidate.version === version && !candidate.removed);
      if (kept === undefined) throw new Problem('not_found', `"${canonical}" has no version ${version}.`);
      return toMadeDefinition(canonical, kept.body as StoredMadeTool);
    },

    serverTools: async (server, page) => {
      existing('server', server);
      return paged(`tools of ${server}`, serverTools.views(server), page);
    },
    reviewedOffers: async (server, page) => {
      existing('server', server);
      return paged(`offers of ${server}`, life.reviewed(server), page);
    },
    decideOffer: async (server, decision) => {
      existing('server', server);
      return life.decide(server, decision);
    },
    serverTool: async (server, tool) => {
      existing('server', server);
      return serverTools.view(server, tool);
    },
    refreshServer: async (server) => {
      if (existing('server', server).body.kind !== 'static') throw new Problem('conflict', `${server} has to be asked.`);
      const report = await serverTools.refresh(server);
      await reviseToolsets();
      return report;
    },
    serverDocument: async (server) => {
      const { document } = existing('server', server).body;
      return document === undefined ? null : typeof document === 'string' ? document : JSON.stringify(document);
    },
    completeServer: async (name, document) => keepHidden('server', document, () => newest('server', name)?.body ?? null),
    programKeys: async () => ({}),
    claimRefresh: life.claim,
    takeDiscovery: async (server, leave, discovery) => {
      const report = await life.takeDiscovery(server, leave, discovery);
      await reviseToolsets();
      return report;
    },
    takeFailure: async (server, leave, failure) => life.takeFailure(server, leave, failure),
    serverGrant: async (server, keyId) => grants.get(grantOf(server, keyId)) ?? { value: null, revision: 0 },
    saveServerGrant: async (server, { value, revision, isConnected }, keyId) => {
      const at = grantOf(server, keyId);
      if ((grants.get(at)?.revision ?? 0) !== revision) return false;
      grants.set(at, { value, revision: revision + 1, ...(isConnected !== undefined && { isConnected }) });
      return true;
    },
    connections: async (server) => ({
      items: [...grants.entries()].flatMap(([at, { isConnected }]) => {
        const [name, keyId] = at.split(' ');
        return name === server && keyId !== undefined && isConnected === true ? [{ keyId, connectedAt: new Date().toISOString() }] : [];
      }),
      nextCursor: null,
    }),
    equipment: async (keyId) => {
      const kept = equipped.get(keyId);
      const isThere = kept?.toolset != null && newest('toolset', kept.toolset) !== null;
      return kept !== undefined && isThere ? kept : { toolset: null, mode: 'configuration' };
    },
    setEquipment: async (keyId, change) => {
      equipped.set(keyId, { ...(await catalog.equipment(keyId)), ...change });
      return await catalog.equipment(keyId);
    },
    taintMarks: async (names) => names.map((name) => marks.get(name) ?? null),
    addTaintMarks: async ({ names, taint, ttlMs, session }) => {
      for (const name of names) {
        const joined = joinTaint(marks.get(name)?.taint ?? untainted, taint);
        marks.set(name, { taint: joined, expiresAt: Date.now() + ttlMs, ...(session !== undefined && { session }) });
      }
    },
    consumeNonce: async (nonce) => {
      if (spent.has(nonce)) return false;
      spent.add(nonce);
      return true;
    },
    acceptTool: async (server, tool, acceptance = {}) => {
      existing('server', server);
      const accepted = serverTools.accept(server, tool, acceptance);
      return { ...accepted, warnings: await reviseToolsets() };
    },
    rejectTool: async (server, tool, request = {}) => {
      existing('server', server);
      return { ...serverTools.reject(server, tool, request), warnings: await reviseToolsets() };
    },
    undoTool: async (server, tool, request = {}) => {
      existing('server', server);
      const undone = serverTools.undo(server, tool, request);
      serverTools.forgetUnnamed();
      return { ...undone, warnings: await reviseToolsets() };
    },
    rebindTool: async (server, from, to) => {
      existing('server', server);
      const [before, after] = serverTools.rebind(server, from, to);
      const rebound = toolsets().filter(({ body }) => (body as Toolset).tools.some(({ tool }) => tool === before));
      for (const { name, body, compiled } of rebound) {
        await catalog.put('toolset', name, rebindEntries(body as Toolset, compiled?.edition.tools ?? [], before, after));
      }
      await reviseToolsets();
      return { toolsets: rebound.map(({ name }) => name).sort() };
    },

    createKey: async (body) => {
      const { expiresAt, ...request } = parseDocument(KeyRequest, body);
      if (typeof expiresAt === 'string' && Date.parse(expiresAt) <= Date.now())
        throw invalidRequest([{ path: 'expiresAt', message: 'is in the past' }]);
      const id = `key${String(keys.length + 1).padStart(9, '0')}`;
      const record: KeyRecord = {
        id,
        ...request,
        createdAt: new Date().toISOString(),
        expiresAt: expiresAt ?? null,
        revokedAt: null,
        lastUsedAt: null,
        rotatedAt: null,
        previousExpiresAt: null,
        previousUsedAt: null,
      };
      const key = `mk_${workspace}_${id}_${'s'.repeat(24)}${'c'.repeat(8)}`;
      keys.push({ ...record, key });
      return { key, record };
    },
    keys: async (page) => paged('keys', keys.map(({ key: _key, ...record }) => record).reverse(), page),
    key: async (id) => {
      const { key: _key, ...record } = existingKey(id);
      return record;
    },
    rotateKey: () => Promise.reject(new Error('not in these tests')),
    patchKey: () => Promise.reject(new Error('not in these tests')),
    revokeKey: async (id) => {
      if (id === 'root') throw new Problem('conflict', 'The root key is set by MONIKER_ROOT_KEY.');
      const record = existingKey(id);
      record.revokedAt ??= new Date().toISOString();
      for (const key of documents.keys()) if (key.startsWith(`private-tool:${id}/`)) documents.delete(key);
    },
    keyCancellation: async () => ({ cancelledTurns: 0, isDone: true }),
    isKeyCancelled: async () => false,
    limitedHolders: async () => [],
    // Only the real one can check a proof of the root key.
    originRights: async ({ keyId }) => (keyId === rootKeyId ? null : await catalog.keyRights(keyId)),
    keyRights: async (id) => {
      if (id === rootKeyId) return { scopes: Scope.options };
      const record = keys.find((candidate) => candidate.id === id);
      if (record === undefined || record.revokedAt !== null) return null;
      if (record.expiresAt !== null && Date.parse(record.expiresAt) <= Date.now()) return null;
      const { scopes, toolsets, agents } = record;
      return { scopes, ...(toolsets !== undefined && { toolsets }), ...(agents !== undefined && { agents }) };
    },

    memberRights: async (user) => {
      const member = (await catalog.list('member', { limit: 100 })).items.find(({ body }) => body.user === user)?.body as
        | Member
        | undefined;
      if (member === undefined) return null;
      const { role, toolsets, agents } = member;
      return { role, scopes: scopesOfRole[role], ...(toolsets && { toolsets }), ...(agents && { agents }) };
    },
    signedInState: async (user, nonce) => ({
      isEnded: nonce !== null && spent.has(nonce),
      workspaces: (await catalog.memberRights(user)) === null ? [] : ['default'],
    }),
    setMembersOf: async () => undefined,

    addRule: (given) => {
      const rule = parseDocument(PolicyRule, given);
      const add = async (): Promise<void> => {
        const rules = rulesOf();
        if (rules.some((known) => canonicalJson(known) === canonicalJson(rule))) return;
        if (rules.length >= limits.maxPolicyRules) throw new Problem('conflict', 'The policy is full.');
        await catalog.put('policy', policyDocument, { rules: [...rules, rule] });
      };
      // One after the other, as in the real one.
      const added = lastRule.then(add);
      lastRule = added.catch(() => undefined);
      return added;
    },

    ...lists,

    // Only the real one records changes.
    auditHeads: async () => [],
    storeAuditHead: async () => undefined,
    readAudit: async () => ({ entries: [], next: 0, nextAt: 0 }),
    checkAudit: async () => ({ from: 1, through: 0, signed: 0, retentionFault: null, isDone: true, fault: null }),
  };

  const ownWorkspace = (asked: string): void => {
    if (asked !== workspace) throw new Problem('not_found', `There is no workspace "${asked}".`);
  };

  const directory: Directory = {
    principal: async (key) => {
      if (key === '')
        throw new Problem('unauthenticated', 'An API key is required: send `Authorization: Bearer <key>`.', { reason: 'missing' });
      if (options.rootKey !== undefined && key === options.rootKey) return { workspace, keyId: 'root', scopes: Scope.options };
      const record = keys.find((candidate) => candidate.key === key);
      if (record === undefined) throw new Problem('unauthenticated', 'The key does not exist.', { reason: 'unknown' });
      if (record.revokedAt !== null) throw new Problem('unauthenticated', 'The key was revoked.', { reason: 'revoked' });
      if (record.expiresAt !== null && Date.parse(record.expiresAt) <= Date.now())
        throw new Problem('unauthenticated', 'The key has expired.', { reason: 'expired' });
      const { id, scopes, toolsets, agents, models, caller, egressHosts, ips } = record;
      const principal: Principal = {
        workspace,
        keyId: id,
        scopes,
        ...(toolsets && { toolsets }),
        ...(agents && { agents }),
        ...(caller && { caller }),
        ...(models && { models }),
        ...(egressHosts && { egressHosts }),
        ...(ips && { ips }),
      };
      return principal;
    },
    toolset: async (asked, name, version) => {
      ownWorkspace(asked);
      const current = existing('toolset', name);
      const kept = version === undefined ? current : history('toolset', name).find((candidate) => candidate.version === version);
      if (kept?.compiled == null) throw new Problem('not_found', `The toolset "${name}" has no version ${version}.`);
      const standing = standingOf(name);
      const names = holdRevoked(buildAliasMap(kept.compiled.edition, { aliases: true }), standing.revoked);
      return { pointer: kept.compiled.pointer, names, standing };
    },
    made: async (asked) => {
      ownWorkspace(asked);
      const { secret: _secret, ...tools } = known();
      const toolset = toMadeToolset([...tools.all()]);
      const { edition } = await compileEdition({ workspace, name: madeToolset, toolset, known: tools });
      const hash = await editionHash(edition);
      editions.set(hash, edition);
      return { pointer: { toolset: madeToolset, version: 1, revision: 1, hash }, names: buildAliasMap(edition, { aliases: true }) };
    },
    privateMade: async (asked, keyId) => {
      ownWorkspace(asked);
      const own = privateTools(keyId);
      if (own.length === 0) return null;
      const { secret: _secret, ...tools } = withTools(known(), own);
      const name = privateToolset(keyId);
      const { edition } = await compileEdition({ workspace, name, toolset: toMadeToolset(own), known: tools });
      const hash = await editionHash(edition);
      editions.set(hash, edition);
      return { pointer: { toolset: name, version: 1, revision: 1, hash }, names: buildAliasMap(edition, { aliases: true }) };
    },
    hook: async (asked, name) => {
      const kept = asked === workspace ? newest('webhook', name) : null;
      if (kept === null) return null;
      // Written above.
      const { secrets } = JSON.parse(kept.hidden ?? '') as WebhookSecrets;
      return compileHook({ webhook: kept.body as WebhookDocument, version: kept.version }, secrets);
    },
    safeguards: async () => noSafeguards,
    subscriptions: async () => [],
    edition: async (asked, pointer) => {
      ownWorkspace(asked);
      const edition = editions.get(pointer.hash);
      if (edition === undefined) throw new Problem('internal', 'A compiled toolset is missing from the store.');
      const revoked = newest('toolset', pointer.toolset) === null ? [] : standingOf(pointer.toolset).revoked;
      return { pointer, names: holdRevoked(buildAliasMap(edition, { aliases: true }), revoked) };
    },
    agent: async (asked, name) => {
      ownWorkspace(asked);
      return existing('agent', name).body as Agent;
    },
    provider: async (asked, name) => {
      ownWorkspace(asked);
      if (name === 'rehearsal') return rehearsal;
      const kept = newest('provider', name);
      if (kept === null) throw new Problem('model_not_found', `There is no provider "${name}".`);
      const provider = kept.body as Provider;
      const headers: Record<string, string> = kept.hidden === null ? {} : { authorization: `Bearer ${kept.hidden}` };
      return {
        name,
        kind: provider.kind,
        baseUrl: providerBaseUrl(provider),
        headers,
        models: provider.models ?? [],
        ...(provider.prices !== undefined && { prices: provider.prices }),
        profile: provider.profile ?? {},
      };
    },
    workspaceStatus: async (asked) => (asked === 'default' ? 'active' : null),
    workspaceSettings: async (asked) => {
      ownWorkspace(asked);
      const document = await nullIfNotFound(catalog.get('workspace', workspaceDocument));
      return Workspace.parse(document?.body ?? {}).settings;
    },
    modelAliases: async (asked) => {
      ownWorkspace(asked);
      const { items } = await catalog.list('model-alias', { limit: 200 });
      return items.map(({ name, body }) => ({ name, model: String(body.model) }));
    },
    providers: async (asked) => {
      ownWorkspace(asked);
      const { items } = await catalog.list('provider', { limit: 200 });
      const stored = items.map(({ name, body }) => ({ name, models: (body as Provider).models ?? [] }));
      return [{ name: 'rehearsal', models: ['default'] }, ...stored].sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    server: async (asked, name) => {
      ownWorkspace(asked);
      const { body, version } = existing('server', name);
      const { connection = null, staleAt = null } = life.state(name) ?? {};
      return toServerAccess(name, body as CompleteServer, { ...serverTools.callable(name), version, connection, staleAt });
    },
    serverOffers: async (_asked, name) => life.offers(name),
    operation: async (_asked, { server, ownName }) => serverTools.operation(server, ownName),
    skill: async (asked, name) => {
      ownWorkspace(asked);
      return existing('skill', name).body as Skill;
    },
    rules: async (asked) => {
      ownWorkspace(asked);
      return rulesOf();
    },
    secret: async (asked, name, use) => {
      ownWorkspace(asked);
      const kept = existing('secret', name);
      const refusal = secretUseRefusal(kept.body as Pick<Secret, 'hosts' | 'tools'>, use);
      if (refusal !== null) throw new Problem('forbidden', `The secret "${name}" may not be used here: ${refusal}.`);
      return kept.hidden ?? '';
    },
  };

  const calls = fakeAudit(options.now ?? Date.now);
  return { ...catalog, directory, calls, appendAudit: calls.append, audit: calls.list };
}

const rehearsal: ProviderAccess = {
  name: 'rehearsal',
  kind: 'rehearsal',
  baseUrl: '',
  headers: {},
  models: ['default'],
  profile: {},
  prices: { '*': { input: 0, output: 0 } },
};

function checkConditions(before: Kept | null, { ifMatch, ifNoneMatch }: { ifMatch?: number | '*'; ifNoneMatch?: boolean }): void {
  const lost = new Problem('precondition_failed', before === null ? 'It does not exist.' : `It is at version ${before.version}.`, {
    version: before?.version ?? null,
  });
  if (ifNoneMatch === true && before !== null) throw lost;
  if (ifMatch !== undefined && (before === null || (ifMatch !== '*' && ifMatch !== before.version))) throw lost;
}

function toStored(kind: DocumentKind, { name, version, body: stored, hidden, createdAt, updatedAt }: Kept): StoredDocument {
  // The document of a server's listing is never shown.
  const { listing: _listing, document: _document, ...server } = stored;
  const { pin: _pin, by: _by, ...made } = stored;
  if (kind === 'made-tool' || kind === 'private-tool') return { name, version, body: made, createdAt, updatedAt };
  const body = hideCredentials(kind, kind === 'provider' ? { ...stored, hasApiKey: hidden !== null } : kind === 'server' ? server : stored);
  return { name, version, body, createdAt, updatedAt };
}

/** The client that a grant belongs to. */
function addressOf(server: Server): string {
  return server.kind === 'mcp' ? canonicalJson([server.url && new URL(server.url).origin, server.oauth ?? null]) : server.kind;
}

/** A document that was stored in full is only shown for a single server. */
function withDocument(stored: StoredDocument, { body: { document } }: Kept): StoredDocument {
  return document === undefined ? stored : { ...stored, body: { ...stored.body, document } };
}

/** Cursors are positions, which suffices for lists that do not change between pages. */
function paged<T>(list: string, all: T[], { cursor, limit }: PageRequest): Page<T> {
  const start = decodeNumberCursor(list, cursor) ?? 0;
  const end = start + limit;
  return { items: all.slice(start, end), nextCursor: end < all.length ? encodeCursor(list, end) : null };
}
