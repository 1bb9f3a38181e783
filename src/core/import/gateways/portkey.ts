/**
 * A config of Portkey's gateway: its targets become providers; `fallback` and `loadbalance` become an agent with fallbacks. Keys in Portkey's
 * vault (`virtual_key`, `@name`) are not in the file, so their secrets have no value yet. Portkey documentation, "Config Object"; gateway,
 * `src/types/requestBody.ts`. Members are written in snake case or in camel case.
 */
import { isRecord, type Json, recordOf } from '../../json/wire-value.ts';
import type { ModelTimeouts } from '../../model/timeouts.ts';
import { quoted } from '../../problem.ts';
import type { ImportDraft } from '../draft.ts';
import type { Members } from '../members.ts';
import { takeSettings, takeTimeouts } from './model-parameters.ts';
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
  for (const [name, config] of configsIn(file)) {
    const targets = targetRefs({ draft, providers, group: name }, config, nothing);
    addModelGroup(draft, { name, path: config.path, refs: targets.map(({ ref }) => ref), settings: targets[0]?.settings ?? {} });
  }
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

type Reading = { draft: ImportDraft; providers: ProviderList; group: string };
type Target = { ref: string; settings: Json };

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

function targetRefs(reading: Reading, config: Members, above: Inherited): Target[] {
  const strategy = config.record('strategy');
  const mode = strategy?.text('mode') ?? config.text('mode') ?? '';
  const name = config.text('name');
  const inherited = inherit(reading, config, above);
  config.ignore('index', 'originalIndex', 'original_index');
  const targets = config.items('targets', 'options').map((target, index) => ({ target, index, weight: target.number('weight') }));
  strategy?.skip(['on_status_codes', 'onStatusCodes', 'sticky', 'sticky_session'], unmapped.routing);
  const isLeaf = targets.length === 0;
  if (isLeaf) return readTarget(reading, config, inherited);
  const read = (target: Members): Target[] => targetRefs(reading, target, inherited);
  switch (mode) {
    case 'conditional':
      return conditional(
        { ...reading, group: name ?? reading.group },
        strategy,
        targets.map(({ target }) => target),
        read,
      );
    case 'single':
      for (const { target } of targets.slice(1)) target.skipWhole('is not used: the strategy is `single`');
      return targets.slice(0, 1).flatMap(({ target }) => read(target));
    case 'loadbalance':
    case 'ab_test': {
      reading.draft.warn(
        config.path === '' ? 'strategy' : config.pathOf('strategy'),
        'load is not balanced: the targets are tried in order of their weight, each when the one before fails',
      );
      const [used, unused] = [targets.filter(({ weight }) => weight !== 0), targets.filter(({ weight }) => weight === 0)];
      for (const { target } of unused) target.skipWhole('has the weight 0, so that it is never used');
      return used.toSorted((one, other) => (other.weight ?? 1) - (one.weight ?? 1)).flatMap(({ target }) => read(target));
    }
    default:
      return targets.flatMap(({ target }) => read(target));
  }
}

/** The name of the config stands for the default target; clients that want another one name it. */
function conditional(
  reading: Reading,
  strategy: Members | null,
  targets: readonly Members[],
  read: (target: Members) => Target[],
): Target[] {
  const preset = strategy?.text('default') ?? null;
  const all = targets.map((target, index) => ({ name: target.text('name') ?? `target-${index + 1}`, target, found: read(target) }));
  for (const { name, target, found } of all)
    addModelGroup(reading.draft, {
      name: `${reading.group}-${name}`,
      path: target.path,
      refs: found.map(({ ref }) => ref),
      settings: found[0]?.settings ?? {},
    });
  strategy?.skip(
    ['conditions'],
    `has no counterpart: clients name the target themselves, as ${all.map(({ name }) => `${reading.group}-${name}`).join(', ')}`,
  );
  return (all.find(({ name }) => name === preset) ?? all[0])?.found ?? [];
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
  config.skip(['cache'], unmapped.cache);
  config.skip(['retry'], unmapped.retries);
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

function readTarget({ providers }: Reading, config: Members, { host, headers, timeouts, cloud, ...target }: Inherited): Target[] {
  const { slug, written } = modelOf(target.model);
  const given = target.provider || slug;
  const vault = target.vault || (given.startsWith('@') ? given.slice(1) : '');
  const service = given === '' || given.startsWith('@') ? serviceOf(vault) : given;
  const refuse = (reason: string): Target[] => {
    config.skipWhole(reason);
    return [];
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
  return [{ ref: found.ref, settings: target.settings }];
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
