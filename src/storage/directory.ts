/**
 * The read path of a call (contract §4): isolate memory, then KV, then one call to the Catalog. Built once an isolate in `wiring.ts`, so
 * that the Worker and its Durable Objects share the caches. Writes go through `catalog-client.ts`, which invalidates its caches.
 */
import type { ZodType } from 'zod';
import { type Agent, ResourceName } from '../core/agent.ts';
import { buildAliasMap, type AliasMap } from '../core/toolset/alias-map.ts';
import type { EditionPointer } from '../core/toolset/edition-tool.ts';
import type { WorkspaceSettings } from '../core/workspace.ts';
import { madeToolset, privateToolset } from '../core/made/made-toolset.ts';
import { limits } from '../core/limits.ts';
import { fallbackRules } from '../core/policy/document.ts';
import type { PolicyRule } from '../core/policy/rule.ts';
import { Problem } from '../core/problem.ts';
import type { NamedModel } from '../core/model/model-alias.ts';
import { ProviderName, type ProviderAccess } from '../core/model/provider.ts';
import { SecretName, secretUseRefusal, type SecretBinding } from '../core/policy/secret.ts';
import { ServerName, type ServerAccess } from '../core/servers/server.ts';
import { SkillName, type Skill } from '../core/skills/skill.ts';
import type { ServerOperation, ServerOffers } from '../core/servers/server-state.ts';
import type { Settings } from '../core/settings.ts';
import { ToolsetName } from '../core/toolset/toolset.ts';
import type { SubscriptionHead } from '../core/triggers/callbacks/subscription.ts';
import type { CompiledToolset, Directory } from '../ports/catalog.ts';
import type { Clock, Logger } from '../ports/runtime.ts';
import type { Bindings } from './bindings.ts';
import { builtinProvider, builtinProviders, rehearsalProviderName, openProvider } from './providers.ts';
import { callCatalog } from './catalog-client.ts';
import type { DocumentCaches } from './catalog-methods.ts';
import { createEditionCache } from './edition-cache.ts';
import { createHookCache, openHook, type HookSource } from './hook-cache.ts';
import { kvKeys } from './keys.ts';
import { createMasterKey } from './master-key.ts';
import { createPrincipals } from './principals.ts';
import { createPublishedReader } from './published-reader.ts';
import { openValue } from './secret-box.ts';
import { createTimedCache, joinInFlight, loadFor, loadIfFound, type Loaded, type TimedCache } from './timed-cache.ts';
import { MB } from '../core/limits/units.ts';

/** Call information of OpenAPI tools cached in an isolate. */
const maxCachedOperations = 1_000;
const operationTtlMs = 5_000;
const editionCacheBytes = 32 * MB;
const providerTtlMs = 5_000;
/** A parsed edition with its tables takes about this many times its bytes. */
const parsedEditionSizeFactor = 3;
/**
 * Skills cached in an isolate, each up to `maxSkillBytes`: more than one agent can have, or its turns would load all of them each
 * time.
 */
const maxCachedSkills = 64;

export type IsolateDirectory = Directory & DocumentCaches;

export function createDirectory(options: { env: Bindings; settings: Settings; clock: Clock; log?: Logger }): IsolateDirectory {
  const { env, settings, clock } = options;
  const bounds = { maxEntries: limits.maxCachedNames, now: () => clock.now() };
  const master = createMasterKey(settings.masterKey);
  const principals = createPrincipals({ env, settings, clock, master });
  const published = createPublishedReader(options);
  const pointers = createTimedCache<EditionPointer | null>(bounds);
  const agents = createTimedCache<Agent | null>(bounds);
  const providers = createTimedCache<ProviderAccess | null>(bounds);
  const providerLists = createTimedCache<{ name: string; models: readonly string[] }[]>(bounds);
  const modelAliases = createTimedCache<readonly NamedModel[]>(bounds);
  const workspaceSettings = createTimedCache<WorkspaceSettings>(bounds);
  const servers = createTimedCache<ServerAccess | null>(bounds);
  const offers = createTimedCache<ServerOffers>(bounds);
  const operations = createTimedCache<ServerOperation>({ ...bounds, maxEntries: maxCachedOperations });
  const skills = createTimedCache<Skill | null>({ ...bounds, maxEntries: maxCachedSkills });
  const rules = createTimedCache<readonly PolicyRule[]>(bounds);
  const hooks = createHookCache(bounds);
  const subscriptions = createTimedCache<readonly SubscriptionHead[]>(bounds);
  const secrets = createTimedCache<(SecretBinding & { value: string }) | null>(bounds);
  const editions = createEditionCache({ maxBytes: editionCacheBytes, weight: parsedEditionSizeFactor });
  const editionLoads = new Map<string, Promise<AliasMap>>();

  const names = async (workspace: string, pointer: EditionPointer): Promise<AliasMap> => {
    const cached = editions.get(workspace, pointer.hash);
    if (cached !== undefined) return cached;
    const key = kvKeys.edition(workspace, pointer.hash);
    const inFlight = editionLoads.get(key);
    if (inFlight !== undefined)
      return joinInFlight(inFlight, () => {
        editionLoads.delete(key);
        return names(workspace, pointer);
      });
    const load = published
      .edition(workspace, pointer.hash)
      .then(({ edition, bytes }) => {
        const built = buildAliasMap(edition, { aliases: settings.aliases });
        editions.set(workspace, pointer.hash, built, bytes);
        return built;
      })
      .finally(() => editionLoads.delete(key));
    editionLoads.set(key, load);
    return load;
  };

  const newest = async (workspace: string, toolset: string): Promise<CompiledToolset | null> => {
    const pointer = await published.newest(workspace, toolset);
    return pointer === null ? null : { pointer, names: await names(workspace, pointer) };
  };

  const loadProvider = async (workspace: string, name: string): Promise<Loaded<ProviderAccess | null>> => {
    const stored = await callCatalog(env, workspace, 'sealedProvider', [name]);
    const value = stored === null ? builtinProvider(settings, name) : await openProvider(master, workspace, name, stored);
    return { value, ttlMs: providerTtlMs };
  };

  const loadProviders = async (workspace: string): Promise<Loaded<{ name: string; models: readonly string[] }[]>> => {
    const stored = await callCatalog(env, workspace, 'providerModels', []);
    const byName = new Map<string, readonly string[]>();
    for (const { name, models } of [...builtinProviders(settings), ...stored]) byName.set(name, models);
    const value = [...byName].map(([name, models]) => ({ name, models })).sort((a, b) => (a.name < b.name ? -1 : 1));
    return { value, ttlMs: providerTtlMs };
  };

  /** When the policy cannot be read, no rule allows anything and possible denials require approval, which is safe. */
  const loadRules = async (workspace: string): Promise<Loaded<readonly PolicyRule[]>> => {
    try {
      return await loadFor(limits.rulesTtlMs, callCatalog(env, workspace, 'rules', []));
    } catch (error) {
      options.log?.error('the policy could not be read: calls that change or send something require approval', {
        workspace,
        cause: String(error),
      });
      return { value: fallbackRules, ttlMs: limits.missTtlMs };
    }
  };

  const loadSecret = async (workspace: string, name: string): Promise<Loaded<(SecretBinding & { value: string }) | null>> => {
    const { value: stored, ttlMs } = await loadIfFound(providerTtlMs, callCatalog(env, workspace, 'sealedSecret', [name]));
    if (stored === null) return { value: null, ttlMs };
    const value = await openValue(master, { workspace, kind: 'secret', name }, stored.sealed);
    return { value: { hosts: stored.hosts, tools: stored.tools, value }, ttlMs };
  };

  const written = (key: string): string => {
    published.noteWrite(key);
    return key;
  };

  /** Any toolset may have a new revision. */
  const invalidateToolsets = (workspace: string): void => {
    const prefix = kvKeys.toolset(workspace, '');
    published.noteWritesUnder(prefix);
    pointers.invalidateWhere((key) => key.startsWith(prefix));
  };

  return {
    principal: (key, maxAgeMs) => principals.principal(key, maxAgeMs),

    toolset: async (workspace, name, version) => {
      const key = version === undefined ? kvKeys.toolset(workspace, name) : `${kvKeys.toolset(workspace, name)}@${version}`;
      const pointer =
        pointers.read(key) ??
        (ToolsetName.safeParse(name).success ? await pointers.load(key, () => published.pointer(workspace, name, version)) : null);
      if (pointer === null) throw notFound('toolset', version === undefined ? name : `${name}@${version}`);
      return { pointer, names: await names(workspace, pointer) };
    },

    made: (workspace) => newest(workspace, madeToolset),
    privateMade: (workspace, keyId) => newest(workspace, privateToolset(keyId)),

    edition: async (workspace, pointer) => ({ pointer, names: await names(workspace, pointer) }),

    agent: (workspace, name) =>
      find('agent', name, ResourceName, agents, kvKeys.agent(workspace, name), () => published.agent(workspace, name)),

    provider: async (workspace, name) => {
      const key = `${workspace}:${name}`;
      const access =
        name === rehearsalProviderName
          ? builtinProvider(settings, name)
          : (providers.read(key) ??
            (ProviderName.safeParse(name).success ? await providers.load(key, () => loadProvider(workspace, name)) : null));
      if (access === null)
        throw new Problem('model_not_found', `There is no provider "${name.slice(0, 64)}". GET /v1/models lists the available ones.`);
      return access;
    },

    modelAliases: (workspace) =>
      modelAliases.load(workspace, () => loadFor(providerTtlMs, callCatalog(env, workspace, 'modelAliases', []))),

    workspaceSettings: (workspace) =>
      workspaceSettings.load(workspace, () => loadFor(providerTtlMs, callCatalog(env, workspace, 'workspaceSettings', []))),

    providers: (workspace) => providerLists.load(workspace, () => loadProviders(workspace)),

    server: async (workspace, name, tool) => {
      const key = `${workspace}:${name}`;
      const cached = servers.read(key);
      if (tool !== undefined && cached !== undefined && cached?.ready.includes(tool) !== true) servers.invalidate(key);
      return await find('server', name, ServerName, servers, key, () =>
        loadIfFound(limits.serverTtlMs, callCatalog(env, workspace, 'server', [name])),
      );
    },

    skill: (workspace, name) =>
      find('skill', name, SkillName, skills, kvKeys.skill(workspace, name), () => published.skill(workspace, name)),

    serverOffers: (workspace, name) =>
      offers.load(`${workspace}:${name}`, () => loadFor(limits.serverTtlMs, callCatalog(env, workspace, 'serverOffers', [name]))),

    operation: (workspace, server, tool) =>
      operations.load(`${workspace}:${server}:${tool}`, () =>
        loadFor(operationTtlMs, callCatalog(env, workspace, 'operation', [server, tool])),
      ),

    rules: (workspace) => rules.load(workspace, () => loadRules(workspace)),

    hook: async (workspace, name, notOlderThan) => {
      if (!WorkspaceName.test(workspace) || !ResourceName.safeParse(name).success) return null;
      const source: HookSource = {
        load: (known) => published.hook(workspace, name, known),
        compile: (stored) => openHook(master, workspace, name, stored),
      };
      return await hooks.read(kvKeys.hook(workspace, name), source, notOlderThan);
    },

    subscriptions: (workspace) =>
      subscriptions.load(workspace, () => loadFor(limits.subscriptionsTtlMs, callCatalog(env, workspace, 'subscriptions', []))),

    secret: async (workspace, name, use) => {
      const known = SecretName.safeParse(name).success;
      const secret = known ? await secrets.load(`${workspace}:${name}`, () => loadSecret(workspace, name)) : null;
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
          servers.invalidate(`${workspace}:${name}`);
          offers.invalidate(`${workspace}:${name}`);
          operations.invalidateWhere((key) => key.startsWith(`${workspace}:${name}:`));
          return invalidateToolsets(workspace);
        case 'ui-tool':
        case 'made-tool':
        case 'private-tool':
        case 'tool-aliases':
          return invalidateToolsets(workspace);
        case 'skill':
          return skills.invalidate(written(kvKeys.skill(workspace, name)));
        case 'agent':
          return agents.invalidate(written(kvKeys.agent(workspace, name)));
        case 'provider':
          providerLists.invalidate(workspace);
          return providers.invalidate(`${workspace}:${name}`);
        case 'model-alias':
          return modelAliases.invalidate(workspace);
        case 'workspace':
          workspaceSettings.invalidate(workspace);
          return invalidateToolsets(workspace);
        case 'secret':
          secrets.invalidate(`${workspace}:${name}`);
          // Providers may have been loaded with the old secret.
          return providers.invalidateWhere((key) => key.startsWith(`${workspace}:`));
        case 'webhook':
          return hooks.invalidate(written(kvKeys.hook(workspace, name)));
        case 'subscription':
          return subscriptions.invalidate(workspace);
        case 'schedule':
          // Schedules are not cached here.
          return;
        case 'policy':
          return rules.invalidate(workspace);
        case 'key':
          return principals.invalidate(workspace, name);
        default:
          return kind satisfies never;
      }
    },
  };
}

/** Returns a document from its cache, or loads it if its name is valid. Throws `not_found`. */
async function find<T>(
  kind: string,
  name: string,
  names: ZodType,
  cache: TimedCache<T | null>,
  key: string,
  load: () => Promise<Loaded<T | null>>,
): Promise<T> {
  const found = cache.read(key) ?? (names.safeParse(name).success ? await cache.load(key, load) : null);
  if (found === null) throw notFound(kind, name);
  return found;
}

/** Workspace names as used in KV keys; any other text names no workspace. */
const WorkspaceName = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

function missingSecret(name: string): Problem {
  const { code, detail } = notFound('secret', name);
  return new Problem(code, `${detail} An administrator sets it with PUT /v1/secrets/{name}.`);
}

function notFound(kind: string, name: string): Problem {
  return new Problem('not_found', `There is no ${kind} "${name.slice(0, 128)}".`);
}
