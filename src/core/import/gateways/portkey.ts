/**
 * A config of Portkey's gateway: its targets become providers, and its strategy, retries and cache those of a model alias. Keys in Portkey's
 * vault (`virtual_key`, `@name`) are not in the file, so their secrets have no value yet. Portkey documentation, "Config Object"; gateway,
 * `src/types/requestBody.ts`. Members are written in snake case or in camel case.
 */
import { isRecord, type Json, recordOf } from '../../json/wire-value.ts';
import type { CachePolicy } from '../../model/cache/cache-policy.ts';
import { type ModelRoute, modelsOf } from '../../model/route.ts';
import type { ModelTimeouts } from '../../model/timeouts.ts';
import { quoted } from '../../problem.ts';
import type { ImportDraft } from '../draft.ts';
import type { Members } from '../members.ts';
import { takeCacheTime, takeRetries, takeSettings, takeTimeouts } from './model-parameters.ts';
import { type CloudNames, type CloudParts, readCloudParts } from './cloud-services.ts';
import { addModelGroup, kindOfService, ProviderList } from './model-services.ts';
import { unmapped } from './unmapped.ts';

/** Whether a value is one config, or contains some. */
export function isPortkey(value: unknown): boolean {
  const { targets, virtual_key, config } = recordOf(value);
  return Array.isArray(targets) || virtual_key !== undefined || isConfig(value) || isConfig(config);
}

function isConfig(value: unknown): boolean {
  const { provider, api_key, override_params, targets, strategy } = recordOf(value);
  return (
    (typeof provider === 'string' && (api_key !== undefined || override_params !== undefined)) ||
    (isRecord(strategy) && Array.isArray(targets))
  );
}

/** Members that Portkey's API adds to an exported config. */
const exported = [
  ...['id', 'name', 'slug', 'status', 'workspace_id', 'organisation_id', 'is_default', 'owner_id', 'updated_by', 'created_at'],
  ...['last_updated_at', 'updated_at', 'version_id', 'type', 'format', 'object', 'success', '$schema'],
];

export function readPortkey(draft: ImportDraft, file: Members): void {
  const providers = new ProviderList(draft);
  const configs = configsIn(file);
  for (const [name] of configs) draft.reserve('modelAliases', [name]);
  for (const [name, config] of configs) {
    const reading = { draft, providers, group: name, retries: readRetries(config), cache: readCache(config) };
    addTarget(reading, name, config, readTargets(reading, config, nothing));
  }
}

/** Those of targets are left to be reported. */
function readRetries(config: Members): number | undefined {
  const retry = config.record('retry');
  retry?.skip(['on_status_codes', 'onStatusCodes', 'use_retry_after_headers', 'useRetryAfterHeaders'], unmapped.retries);
  return takeRetries(retry, 'attempts');
}

/** A cache of Portkey is for the clients with the same headers, and so for those of one key. */
function readCache(config: Members): CachePolicy | undefined {
  const cache = isRecord(config.peek('cache')) ? config.record('cache') : null;
  const ttl = cache?.text('mode') === 'simple' ? takeCacheTime(cache, 'max_age', 'maxAge') : null;
  if (ttl !== null) return { ttl };
  cache?.skipWhole(unmapped.cache);
  return undefined;
}

/** One config, or a map or list of them. */
function configsIn(file: Members): [string, Members][] {
  if (Array.isArray(file.peek('configs'))) return file.items('configs').map((one, index) => opened(one, `portkey-${index + 1}`));
  if (file.has('configs')) return file.entries('configs').map(([name, one]) => [name, opened(one, name)[1]]);
  return [opened(file, 'portkey')];
}

/** Exported configs have theirs in a member `config`. */
function opened(members: Members, otherwise: string): [string, Members] {
  const name = members.text('slug') ?? members.text('name') ?? otherwise;
  members.ignore(...exported);
  return [name, (members.has('config') ? members.record('config') : null) ?? members];
}

/** `retries` and `cache`: of the config. */
type Reading = {
  draft: ImportDraft;
  providers: ProviderList;
  group: string;
  retries: number | undefined;
  cache: CachePolicy | undefined;
};

/** Without targets if it was skipped. */
type Target = { route: ModelRoute; settings: Json };
const skipped: Target = { route: { targets: [] }, settings: {} };

/** What a target inherits from what contains it. */
type Inherited = {
  provider: string;
  vault: string;
  key: string;
  host: string;
  model: string;
  headers: Record<string, string>;
  timeouts: ModelTimeouts;
  settings: Json;
  cloud: CloudParts;
};
const nothing: Inherited = { provider: '', vault: '', key: '', host: '', model: '', headers: {}, timeouts: {}, settings: {}, cloud: {} };

function readTargets(reading: Reading, config: Members, above: Inherited): Target {
  const strategy = config.record('strategy');
  const mode = strategy?.text('mode') ?? config.text('mode') ?? '';
  const name = config.text('name');
  const inherited = inherit(reading, config, above);
  config.ignore('index', 'originalIndex', 'original_index');
  const targets = config.items('targets', 'options').map((target) => ({ target, weight: target.number('weight') }));
  strategy?.skip(['on_status_codes', 'onStatusCodes'], unmapped.routing);
  const sticky = readSticky(strategy);
  const isLeaf = targets.length === 0;
  if (isLeaf) return readTarget(reading, config, inherited);
  const read = (target: Members): Target => readTargets(reading, target, inherited);
  const warn = (message: string): void => reading.draft.warn(config.path === '' ? 'strategy' : config.pathOf('strategy'), message);
  if (mode === 'conditional') {
    const all = targets.map(({ target }) => target);
    return conditional({ ...reading, group: name ?? reading.group }, strategy, all, read);
  }
  if (mode === 'single') for (const { target } of targets.slice(1)) target.skipWhole('is not used: the strategy is `single`');
  const isShared = mode === 'loadbalance' || mode === 'ab_test';
  if (isShared) for (const { target, weight } of targets) if (weight === 0) target.skipWhole('has the weight 0, so that it is never used');
  const used = mode === 'single' ? targets.slice(0, 1) : targets.filter(({ weight }) => !isShared || weight !== 0);
  const found = used.map(({ target, weight }) => ({ ...read(target), target, weight })).filter(({ route }) => route.targets.length > 0);
  const [first, ...others] = found;
  if (first === undefined) return skipped;
  for (const { target, settings } of others)
    if (JSON.stringify(settings) !== JSON.stringify(first.settings))
      target.fault('override_params', 'has other parameters than the first target, whose parameters count');
  const { settings, route } = first;
  if (!isShared) {
    if (others.some((other) => other.route.targets.length > 1))
      warn('targets that share the requests are asked in order, since they replace others');
    const fallbacks = [...(route.fallbacks ?? []), ...others.flatMap((other) => modelsOf(other.route))];
    return { settings, route: { ...route, ...(fallbacks.length > 0 && { fallbacks }) } };
  }
  const fallbacks = found.flatMap((one) => modelsOf(one.route).slice(1));
  if (fallbacks.length > 0) warn('the first of the targets in a target gets its share; the others are asked when no target replies');
  const shares = found.flatMap(({ route: { targets: own }, weight }) =>
    own.slice(0, 1).map(({ model }) => ({ model, ...(weight !== null && { weight }) })),
  );
  return { settings, route: { targets: shares, strategy: 'weighted', sticky, ...(fallbacks.length > 0 && { fallbacks }) } };
}

/** Portkey chooses for each request, unless sticky sessions are on. */
function readSticky(strategy: Members | null): 'session' | 'none' {
  const sticky = strategy?.record('sticky', 'sticky_session') ?? null;
  const isOn = sticky !== null && sticky.flag('enabled') !== false;
  const reason = 'is not imported: a conversation stays with its target while that is up (docs/routes.md)';
  sticky?.skip(['hash_fields', 'hashFields', 'ttl'], isOn ? reason : 'is not used: `enabled` is false');
  return isOn ? 'session' : 'none';
}

/** The name of the config stands for the default target; clients that want another one name it. */
function conditional(reading: Reading, strategy: Members | null, targets: readonly Members[], read: (target: Members) => Target): Target {
  const preset = strategy?.text('default') ?? null;
  const all = targets.map((target, index) => ({ name: target.text('name') ?? `target-${index + 1}`, target, found: read(target) }));
  for (const { name, target, found } of all) addTarget(reading, `${reading.group}-${name}`, target, found);
  strategy?.skip(
    ['conditions'],
    `has no counterpart: clients name the target themselves, as ${all.map(({ name }) => `${reading.group}-${name}`).join(', ')}`,
  );
  return (all.find(({ name }) => name === preset) ?? all[0])?.found ?? skipped;
}

function addTarget({ draft, retries, cache }: Reading, name: string, { path }: Members, { route, settings }: Target): void {
  addModelGroup(draft, { name, path, route: { ...route, ...(retries !== undefined && { retries }) }, cache, settings });
}

/** Members of a target that are headers of its requests. */
const headerMembers: readonly (readonly [header: string, written: readonly string[]])[] = [
  ['OpenAI-Organization', ['openai_organization', 'openaiOrganization']],
  ['OpenAI-Project', ['openai_project', 'openaiProject']],
  ['OpenAI-Beta', ['openai_beta', 'openaiBeta']],
];

function inherit({ draft }: Reading, config: Members, above: Inherited): Inherited {
  const parameters = config.record('override_params', 'overrideParams');
  const model = parameters?.text('model') ?? config.text('deployment_id', 'deploymentId');
  const headers = headerMembers.flatMap(([header, written]) => {
    const value = config.text(...written);
    return value === null ? [] : [[header, value] as const];
  });
  const settings = parameters === null ? {} : takeSettings(parameters);
  const provider = config.text('provider') ?? above.provider;
  const vault = config.text('virtual_key', 'virtualKey') ?? above.vault;
  const cloud = readCloudParts(kindOfService(provider || serviceOf(vault)), cloudNames, (...names) => {
    // A service account is an object, or its text.
    const value = names.map((one) => config.peek(one)).find(isRecord);
    if (value !== undefined) config.ignore(...names);
    const text = value === undefined ? config.text(...names) : JSON.stringify(value);
    return text === null ? null : { text, variable: null };
  });
  parameters?.skipOthers(unmapped.parameter);
  skipOthers(config);
  return {
    provider,
    vault,
    key: config.text('api_key', 'apiKey') ?? above.key,
    host: hostOf(config) ?? above.host,
    model: model ?? above.model,
    headers: { ...above.headers, ...Object.fromEntries(headers) },
    timeouts: { ...above.timeouts, ...takeTimeouts(draft, config, { whole: ['request_timeout', 'requestTimeout'], unit: 1 }) },
    settings: { ...above.settings, ...settings },
    cloud: { ...above.cloud, ...Object.fromEntries(Object.entries(cloud).filter(([, part]) => part !== null)) },
  };
}

const cloudNames: CloudNames = {
  region: ['aws_region', 'awsRegion', 'vertex_region', 'vertexRegion'],
  project: ['vertex_project_id', 'vertexProjectId'],
  apiVersion: ['api_version', 'apiVersion', 'azure_api_version', 'azureApiVersion'],
  accessKeyId: ['aws_access_key_id', 'awsAccessKeyId'],
  secretAccessKey: ['aws_secret_access_key', 'awsSecretAccessKey'],
  sessionToken: ['aws_session_token', 'awsSessionToken'],
  tenantId: ['azure_entra_tenant_id', 'azureEntraTenantId'],
  clientId: ['azure_entra_client_id', 'azureEntraClientId'],
  clientSecret: ['azure_entra_client_secret', 'azureEntraClientSecret'],
  serviceAccount: ['vertex_service_account_json', 'vertexServiceAccountJson'],
};

/** The base URL of a target, which some services write in parts. */
function hostOf(config: Members): string | null {
  const resource = config.text('resource_name', 'resourceName');
  const account = config.text('workers_ai_account_id', 'workersAiAccountId');
  return (
    config.text('custom_host', 'customHost') ??
    config.text('azure_foundry_url', 'azureFoundryUrl') ??
    config.text('huggingface_base_url', 'huggingfaceBaseUrl') ??
    (resource === null ? null : `https://${resource}.openai.azure.com`) ??
    (account === null ? null : `https://api.cloudflare.com/client/v4/accounts/${account}/ai/v1`)
  );
}

function skipOthers(config: Members): void {
  config.skipUnread(['cache'], unmapped.cache);
  config.skipUnread(['retry'], unmapped.retries);
  config.skipLike(/guardrails|hooks/i, unmapped.guardrail);
  config.skip(['forward_headers', 'forwardHeaders'], 'has no counterpart: which headers of clients a provider receives is built in');
  config.skip(['metadata'], unmapped.logging);
  config.skipUnread(['api_version', 'apiVersion'], 'is for Azure OpenAI alone');
  config.skipLike(/^(ad_?auth|azure)/i, 'is not supported: Azure is asked with the key of the resource, or as a client of Entra ID');
  config.skipLike(/^(aws|vertex|amzn|foundation|stability|snowflake)/i, unmapped.cloud);
  config.skipLike(/^(anthropic|fireworks)/i, unmapped.parameter);
  config.skip(
    ['strict_open_ai_compliance', 'strictOpenAiCompliance', 'mistral_fim_completion', 'mistralFimCompletion', 'transform_to_form_data'],
    unmapped.program,
  );
  config.skip(
    ['transformToFormData', 'url_to_fetch', 'urlToFetch', 'filename', 'model_pricing_config', 'modelPricingConfig'],
    unmapped.program,
  );
  config.skip(['on_status_codes', 'onStatusCodes'], unmapped.routing);
}

function readTarget({ providers }: Reading, config: Members, { host, headers, timeouts, cloud, ...target }: Inherited): Target {
  const { slug, written } = modelOf(target.model);
  const given = target.provider || slug;
  const vault = target.vault || (given.startsWith('@') ? given.slice(1) : '');
  const service = given === '' || given.startsWith('@') ? serviceOf(vault) : given;
  const refuse = (reason: string): Target => {
    config.skipWhole(reason);
    return skipped;
  };
  if (service === '')
    return refuse(
      vault === '' ? 'names no provider' : `${quoted(vault)} is a name of Portkey’s vault that does not say which provider it is`,
    );
  const key = target.key || (vault === '' ? '' : `<${vault}>`);
  const found = providers.add({
    service,
    model: written,
    baseUrl: host === '' ? null : host,
    key: key === '' ? null : { text: key, variable: null },
    headers,
    cloud,
    ...(Object.keys(timeouts).length > 0 && { timeouts }),
  });
  if ('fault' in found) return refuse(found.fault);
  if (written === '') return refuse(`names no model (override_params.model): use ${found.provider}/<model>`);
  return { route: { targets: [{ model: found.ref }] }, settings: target.settings };
}

/** `@openai-prod/gpt-4o` names the provider and the model. */
function modelOf(written: string): { slug: string; written: string } {
  const [, slug = '', model = ''] = /^(@[^/]+)\/(.+)$/.exec(written) ?? [];
  return slug === '' ? { slug: '', written } : { slug, written: model };
}

/** Names in the vault usually begin with the provider: `openai-prod-1a2b`. */
function serviceOf(name: string): string {
  return known.find((service) => name.toLowerCase().startsWith(service)) ?? '';
}

const known = [
  ...['azure-openai', 'openrouter', 'openai', 'anthropic', 'gemini', 'google', 'cohere', 'groq', 'mistral-ai', 'mistral', 'deepseek'],
  ...['together-ai', 'fireworks-ai', 'perplexity-ai', 'x-ai', 'cerebras', 'ollama', 'bedrock', 'vertex-ai'],
] as const;
