/**
 * The read path of a call (contract §4): isolate memory, then KV, then one call to the Catalog. Built once an isolate in `wiring/`, so
 * that the Worker and its Durable Objects share the caches. Writes go through `catalog-client.ts`, which invalidates its caches.
 */
import { modelName } from '../../core/model/model-facts.ts';
import { ResourceName } from '../../core/turn/agent.ts';
import { madeToolset, privateToolset } from '../../core/made/made-toolset.ts';
import { noSafeguards, type Safeguards } from '../../core/policy/guard.ts';
import { limits } from '../../core/limits/limits.ts';
import { fallbackRules } from '../../core/policy/policy.ts';
import type { PolicyRule } from '../../core/policy/rule.ts';
import { Problem } from '../../core/problem.ts';
import { ProviderName, type ProviderAccess } from '../../core/model/provider.ts';
import { SecretName, secretUseRefusal } from '../../core/secrets/secret.ts';
import { ServerName } from '../../core/servers/server.ts';
import type { ServerOperation } from '../../core/tools/server-operation.ts';
import { SkillName } from '../../core/skills/skill.ts';
import type { Settings } from '../../core/people/settings.ts';
import { holdRevoked } from '../../core/toolset/revocations.ts';
import { ToolsetName } from '../../core/toolset/toolset.ts';
import { defaultWorkspace, WorkspaceName } from '../../core/people/workspace.ts';
import type { CompiledToolset, Directory } from '../../ports/directory.ts';
import type { Clock, Logger } from '../../ports/runtime.ts';
import { createAuditKey } from '../../objects/shared/audit-chain.ts';
import type { Bindings } from '../bindings.ts';
import { builtinProvider, builtinProviders, rehearsalProviderName, openProvider, type OpenedSecret } from '../providers.ts';
import { callCatalog } from '../../objects/catalog/client/catalog-client.ts';
import type { DocumentCaches } from '../../objects/catalog/client/catalog-methods.ts';
import { createEditionNames } from './edition-cache.ts';
import { createHookCache, openHook, type HookSource } from './hook-cache.ts';
import { kvKeys } from '../keys.ts';
import { createMasterKey } from '../keys/master-key.ts';
import { createPrincipals, type IssuedKeys, rootPrincipal } from './principals.ts';
import { createPublishedCache, type PublishedCache } from './published-cache.ts';
import { createPublishedReader, type ToolsetHead } from './published-reader.ts';
import { createRetiredKeys, type RetiredKeys } from '../keys/retired-keys.ts';
import { createRootProof } from '../keys/root-proof.ts';
import { openValue } from '../keys/secret-box.ts';
import { createTimedCache, type Loaded } from '../../platform/timed-cache.ts';

/** Call information of OpenAPI tools cached in an isolate. */
const maxCachedOperations = 1_000;
const pinnedOperationTtlMs = 60 * 60_000;
/**
 * Skills cached in an isolate, each up to `maxSkillBytes`: more than one agent can have, or its turns would load all of them each
 * time.
 */
const maxCachedSkills = 64;
/** Each may have `limits.maxServerOffersBytes`. */
const maxCachedOffers = 32;

export type IsolateDirectory = Directory & DocumentCaches & { retiredKeys: RetiredKeys['texts'] };

export function createDirectory(options: {
  env: Bindings;
  settings: Settings;
  clock: Clock;
  log?: Logger;
  background?: (work: Promise<unknown>) => void;
  issued?: IssuedKeys | undefined;
  /** Called with the build that each toolset is compiled for. */
  checkBuild?: ((workspace: string, build: string | undefined) => void) | undefined;
}): IsolateDirectory {
  const { env, settings, clock } = options;
  const bounds = { maxEntries: limits.maxCachedNames, now: () => clock.now() };
  const master = createMasterKey(settings.masterKey, settings.previousMasterKey);
  const published = createPublishedReader(options);
  const { previousMasterKey } = settings;
  const retiredKeys = createRetiredKeys({
    ...{ master, previousMasterKey, clock },
    read: async () => (await published.value('retired-keys', rootPrincipal.workspace, '')).value?.sealed ?? null,
  });
  const rootProof = createRootProof(createAuditKey(settings), settings);
  const own = { background: options.background, issued: options.issued, retired: retiredKeys.keys, rootProof };
  const principals = createPrincipals({ env, settings, clock, master, ...own });
  const pointers = createTimedCache<ToolsetHead | null>(bounds);
  /** Separate, so that no request can name them. */
  const madePointers = createTimedCache<ToolsetHead | null>(bounds);
  const operations = createTimedCache<ServerOperation>({ ...bounds, maxEntries: maxCachedOperations });
  const hooks = createHookCache(bounds);
  const all = { reader: published, clock };
  const agents = createPublishedCache({ ...all, kind: 'agent', names: ResourceName });
  const skills = createPublishedCache({ ...all, kind: 'skill', names: SkillName, maxEntries: maxCachedSkills });
  const servers = createPublishedCache({ ...all, kind: 'server', names: ServerName });
  const offers = createPublishedCache({ ...all, kind: 'offers', names: ServerName, maxEntries: maxCachedOffers });
  const modelAliases = createPublishedCache({ ...all, kind: 'model-aliases' });
  const workspaceSettings = createPublishedCache({ ...all, kind: 'settings' });
  const subscriptions = createPublishedCache({ ...all, kind: 'subscriptions' });
  const workspaceStatuses = createPublishedCache({ ...all, kind: 'workspace-status', names: WorkspaceName });
  const secrets = createPublishedCache<'secret', OpenedSecret>({
    ...all,
    kind: 'secret',
    names: SecretName,
    open: async (workspace, name, stored) => {
      if (stored === null) return null;
      return { ...stored, value: await openValue(master, { workspace, kind: 'secret', name }, stored.sealed) };
    },
  });
  const providers = createPublishedCache<'provider', ProviderAccess>({
    ...all,
    kind: 'provider',
    names: ProviderName,
    open: async (workspace, name, stored) => {
      if (stored === null) return builtinProvider(settings, name);
      return await openProvider(master, { workspace, name }, stored, (secret) => secrets.read(workspace, secret));
    },
  });
  const providerLists = createPublishedCache<'providers', ListedProvider[]>({
    ...all,
    kind: 'providers',
    open: async (_workspace, _name, stored) => {
      const byName = new Map<string, readonly string[]>();
      for (const { name, models } of [...builtinProviders(settings), ...(stored ?? [])]) byName.set(name, models.map(modelName));
      return [...byName].map(([name, models]) => ({ name, models })).sort((a, b) => (a.name < b.name ? -1 : 1));
    },
  });
  const rules = createPublishedCache<'rules', { rules: readonly PolicyRule[] } & Safeguards>({
    ...all,
    kind: 'rules',
    open: async (_workspace, _name, stored) => stored,
    // No rule allows anything, and possible denials require approval, which is safe.
    fallback: (workspace, error) => {
      const fields = { workspace, cause: String(error) };
      options.log?.error('the policy could not be read: calls that change or send something require approval', fields);
      return { rules: fallbackRules, ...noSafeguards };
    },
  });
  const names = createEditionNames({ load: published.edition, aliases: settings.aliases });

  const loadHead = async (workspace: string, toolset: string, version?: number): Promise<Loaded<ToolsetHead | null>> => {
    const head = await published.pointer(workspace, toolset, version);
    if (head.value !== null) options.checkBuild?.(workspace, head.value.build);
    return head;
  };
  const pointerOf = (workspace: string, toolset: string): Promise<ToolsetHead | null> =>
    madePointers.load(kvKeys.toolset(workspace, toolset), () => loadHead(workspace, toolset));

  const compiled = async (
    workspace: string,
    { retired, revoked, build: _build, stale, ...pointer }: ToolsetHead,
  ): Promise<CompiledToolset> => ({
    pointer,
    names: holdRevoked(await names(workspace, pointer), revoked),
    standing: { ...(retired && { retired }), ...(revoked && { revoked }), ...(stale !== undefined && { stale }) },
  });

  const internal = async (workspace: string, toolset: string, newest = false): Promise<CompiledToolset | null> => {
    const head = await (newest ? published.newestPointer(workspace, toolset) : pointerOf(workspace, toolset));
    return head === null ? null : await compiled(workspace, head);
  };

  /** Returns null if the toolset or version does not exist. */
  const headOf = async (workspace: string, name: string, version?: number): Promise<ToolsetHead | null> => {
    const key = version === undefined ? kvKeys.toolset(workspace, name) : `${kvKeys.toolset(workspace, name)}@${version}`;
    const cached = pointers.read(key);
    if (cached !== undefined || !ToolsetName.safeParse(name).success) return cached ?? null;
    return await pointers.load(key, () => loadHead(workspace, name, version));
  };

  const written = (key: string): string => {
    published.noteWrite(key);
    return key;
  };

  const statusOf: Directory['workspaceStatus'] = async (workspace) =>
    workspace === defaultWorkspace ? 'active' : await workspaceStatuses.read(defaultWorkspace, workspace);
  const catalogOf = async (workspace: string): Promise<string> => ((await statusOf(workspace)) === 'active' ? workspace : defaultWorkspace);

  /** Any toolset may have a new revision. */
  const invalidateToolsets = (workspace: string): void => {
    const prefix = kvKeys.toolset(workspace, '');
    published.noteWritesUnder(prefix);
    for (const cache of [pointers, madePointers]) cache.invalidateWhere((key) => key.startsWith(prefix));
  };

  return {
    retiredKeys: retiredKeys.texts,
    principal: (key, maxAgeMs) => principals.principal(key, maxAgeMs),

    toolset: async (workspace, name, version) => {
      const head = await headOf(workspace, name, version);
      if (head === null) throw notFound('toolset', version === undefined ? name : `${name}@${version}`);
      return await compiled(workspace, head);
    },

    made: (workspace, options) => internal(workspace, madeToolset, options?.newest),
    privateMade: (workspace, keyId, options) => internal(workspace, privateToolset(keyId), options?.newest),

    edition: async (workspace, pointer) => {
      // Whatever its toolset has revoked since. Each call reads it again, and is refused if it cannot be read.
      const head = await headOf(workspace, pointer.toolset).catch(() => null);
      return { pointer, names: holdRevoked(await names(workspace, pointer), head?.revoked) };
    },

    agent: (workspace, name) => find('agent', agents, workspace, name),
    skill: (workspace, name) => find('skill', skills, workspace, name),

    provider: async (workspace, name) => {
      const access = name === rehearsalProviderName ? builtinProvider(settings, name) : await providers.read(workspace, name);
      if (access === null)
        throw new Problem('model_not_found', `There is no provider "${name.slice(0, 64)}". GET /v1/models lists the available ones.`);
      return access;
    },

    providers: (workspace) => single(providerLists, workspace),
    modelAliases: (workspace) => single(modelAliases, workspace),
    workspaceSettings: (workspace) => single(workspaceSettings, workspace),
    workspaceStatus: statusOf,
    rules: async (workspace) => (await single(rules, workspace)).rules,
    safeguards: (workspace) => single(rules, workspace),
    subscriptions: (workspace) => single(subscriptions, workspace),

    server: async (workspace, name, tool) => {
      const found = await servers.read(workspace, name);
      const newest = tool === undefined || found?.ready.includes(tool) === true ? found : await servers.reload(workspace, name);
      if (newest === null) throw notFound('server', name);
      return newest;
    },

    serverOffers: (workspace, name) => find('server', offers, workspace, name),

    operation: async (workspace, { server, ownName, pin }) =>
      await operations.load(`${workspace}:${server}:${ownName}:${pin}`, async () => {
        const found = await callCatalog(env, workspace, 'operation', [server, ownName]);
        // The operation is a part of the definition that the pin identifies.
        return { value: found.operation, ttlMs: found.pin === pin ? pinnedOperationTtlMs : limits.publishedTtlMs };
      }),

    hook: async (workspace, name, notOlderThan) => {
      if (!WorkspaceName.safeParse(workspace).success || !ResourceName.safeParse(name).success) return null;
      const source: HookSource = {
        load: (known, recheck) => published.hook(workspace, name, { known, recheck, catalog: () => catalogOf(workspace) }),
        compile: (stored) => openHook(master, workspace, name, stored),
      };
      return await hooks.read(kvKeys.published('hook', workspace, name), source, notOlderThan);
    },

    secret: async (workspace, name, use) => {
      const secret = await secrets.read(workspace, name);
      if (secret === null) throw missingSecret(name);
      const refusal = secretUseRefusal(secret, use);
      if (refusal !== null) throw new Problem('forbidden', `The secret "${name}" may not be used here: ${refusal}.`);
      return secret.value;
    },

    invalidate: (kind, workspace, name) => {
      switch (kind) {
        case 'toolset': {
          const key = written(kvKeys.toolset(workspace, name));
          return pointers.invalidateWhere((known) => known === key || known.startsWith(`${key}@`));
        }
        case 'server':
          servers.noteWrite(workspace, name);
          offers.noteWrite(workspace, name);
          operations.invalidateWhere((key) => key.startsWith(`${workspace}:${name}:`));
          return invalidateToolsets(workspace);
        case 'ui-tool':
        case 'made-tool':
        case 'private-tool':
        case 'tool-aliases':
          return invalidateToolsets(workspace);
        case 'skill':
          return skills.noteWrite(workspace, name);
        case 'agent':
          return agents.noteWrite(workspace, name);
        case 'provider':
          providerLists.noteWrite(workspace);
          return providers.noteWrite(workspace, name);
        case 'model-alias':
          return modelAliases.noteWrite(workspace);
        case 'workspace':
          workspaceSettings.noteWrite(workspace);
          rules.noteWrite(workspace);
          return invalidateToolsets(workspace);
        case 'secret':
          secrets.noteWrite(workspace, name);
          return providers.forget(workspace);
        case 'webhook':
          return hooks.invalidate(written(kvKeys.published('hook', workspace, name)));
        case 'subscription':
          return subscriptions.noteWrite(workspace);
        case 'schedule':
        case 'suite':
        case 'member':
          // Not cached here.
          return;
        case 'policy':
        case 'known-host':
          return rules.noteWrite(workspace);
        case 'workspace-status':
          return workspaceStatuses.noteWrite(workspace, name);
        case 'key':
          return principals.invalidate(workspace, name);
        case 'grant':
          return principals.invalidateGrant(name);
        default:
          return kind satisfies never;
      }
    },
  };
}

type ListedProvider = { name: string; models: readonly string[] };

/** Returns a document, or throws `not_found`. */
async function find<T>(kind: string, cache: PublishedCache<T>, workspace: string, name: string): Promise<T> {
  const found = await cache.read(workspace, name);
  if (found === null) throw notFound(kind, name);
  return found;
}

/** Returns the one value of this kind in the workspace. */
async function single<T>(cache: PublishedCache<T>, workspace: string): Promise<T> {
  const found = await cache.read(workspace);
  if (found === null) throw new Problem('internal', 'A document of the workspace is missing from the store.');
  return found;
}

function missingSecret(name: string): Problem {
  const { code, detail } = notFound('secret', name);
  return new Problem(code, `${detail} An administrator sets it with PUT /v1/secrets/{name}.`);
}

function notFound(kind: string, name: string): Problem {
  return new Problem('not_found', `There is no ${kind} "${name.slice(0, 128)}".`);
}
