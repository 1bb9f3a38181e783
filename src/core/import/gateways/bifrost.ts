/**
 * `config.json` of Bifrost: providers with their keys, aliases of models, MCP clients with their tools. Keys of clients are made by
 * Moniker, so that the file's are named with the request that makes one like them. Bifrost, `transports/config.schema.json`.
 */
import { isRecord, recordOf, stringOf } from '../../json/wire-value.ts';
import { isCloud } from '../../model/cloud-access.ts';
import { maxProviderKeys } from '../../model/provider.ts';
import { quoted } from '../../problem.ts';
import { readBifrostServers } from './bifrost-servers.ts';
import { skipVirtualKeys } from './bifrost-keys.ts';
import { fromEnv, readBifrostValue } from './bifrost-values.ts';
import type { ImportDraft } from '../draft.ts';
import type { Members } from '../members.ts';
import { takeTimeouts } from './model-parameters.ts';
import { type CloudNames, readCloudParts } from './cloud-services.ts';
import { kindOfService, ProviderList } from './model-services.ts';
import { unmapped } from './unmapped.ts';

/** Whether a value is such a file. */
export function isBifrost(value: unknown): boolean {
  const { providers, mcp, $schema } = recordOf(value);
  return (
    stringOf($schema).includes('getbifrost') ||
    Array.isArray(recordOf(mcp).client_configs) ||
    Object.values(recordOf(providers)).some((provider) => Array.isArray(recordOf(provider).keys))
  );
}

export function readBifrost(draft: ImportDraft, file: Members): void {
  const providers = new ProviderList(draft);
  // In version 1 an empty list of models or tools allows all of them.
  const allowsEmpty = file.number('version') === 1;
  for (const [name, provider] of file.entries('providers')) readProvider({ draft, providers, allowsEmpty }, name, provider);
  readBifrostServers(draft, file.record('mcp'), { allowsEmpty });
  skipGovernance(file.record('governance'));
  file.ignore('$schema', 'env_label', 'source_of_truth');
  file.record('client')?.skipOthers(unmapped.program);
  file.skip(['config_store', 'logs_store', 'encryption_key', 'auth_config', 'server', 'cluster_config', 'feature_flags'], unmapped.program);
  file.skip(['vector_store'], unmapped.cache);
  file.skip(['framework'], 'is not imported: prices are `prices` of a provider, or the list of Moniker');
  file.skip(['plugins'], 'is not imported: plugins are programs for Bifrost');
  file.skip(['alerting', 'webhooks', 'audit_logs'], unmapped.logging);
  file.skip(['scim_config'], 'is not imported: sign-in of people is described in docs/sign-in.md');
  file.skip(['guardrails_config'], unmapped.guardrail);
  file.skip(['skills_registry'], 'is not imported: import the folders of the skills in a zip archive');
}

type Reading = { draft: ImportDraft; providers: ProviderList; allowsEmpty: boolean };

/** Members of a key that say where its service is. */
const keyConfigs = [
  'azure_key_config',
  'bedrock_key_config',
  'vertex_key_config',
  'vllm_key_config',
  'ollama_key_config',
  'sgl_key_config',
];

const cloudNames: CloudNames = {
  region: ['region'],
  project: ['project_id'],
  apiVersion: ['api_version'],
  accessKeyId: ['access_key'],
  secretAccessKey: ['secret_key'],
  sessionToken: ['session_token'],
  tenantId: ['tenant_id'],
  clientId: ['client_id'],
  clientSecret: ['client_secret'],
  serviceAccount: ['auth_credentials'],
};

function readProvider({ draft, providers, allowsEmpty }: Reading, name: string, provider: Members): void {
  const custom = provider.record('custom_provider_config');
  const service = custom?.text('base_provider_type') ?? name;
  const network = provider.record('network_config');
  const [key = null, ...otherKeys] = chooseKeys(provider, service, allowsEmpty);
  if (key === null && provider.has('keys')) {
    provider.skipWhole('has no key that may be used');
    return;
  }
  const config = key?.record(...keyConfigs.filter((one) => key.has(one))) ?? null;
  const written = readBifrostValue(network, 'base_url') ?? readBifrostValue(config, 'endpoint', 'url');
  const headers = (network?.record('extra_headers')?.values() ?? []).map(({ name: header, text }) => [header, fromEnv(text).text]);
  const found = providers.add({
    service,
    model: '',
    baseUrl: written === null ? null : baseUrlOf(service, written.text),
    key: readBifrostValue(key, 'value'),
    otherKeys: otherKeys.flatMap((one) => readBifrostValue(one, 'value') ?? []),
    headers: Object.fromEntries(headers),
    timeouts: network === null ? {} : takeTimeouts(draft, network, timeouts),
    cloud: readCloudParts(kindOfService(service), cloudNames, (...names) => readBifrostValue(config, ...names)),
    provider: name,
  });
  if ('fault' in found) {
    provider.skipWhole(found.fault);
    return;
  }
  if (found.provider !== name)
    draft.warn(provider.path, `is the provider ${quoted(found.provider)}: clients name ${found.provider}/<model>`);
  readModels(draft, found.provider, key, config);
  config?.skip(['scopes', 'arn', 'role_arn', 'external_id', 'session_name', 'batch_s3_config', 'project_number'], unmapped.cloud);
  key?.ignore('id', 'name');
  key?.skip(['use_for_batch_api'], 'has no counterpart: batches are sent with the same key');
  network?.skip(['max_retries', 'retry_backoff_initial', 'retry_backoff_max'], unmapped.retries);
  network?.skip(['beta_header_overrides'], unmapped.parameter);
  network?.skip(['allow_private_network'], 'is not imported: set MONIKER_ALLOW_PRIVATE_HOSTS of the service');
  network?.skipLike(
    /^(enforce_http2|insecure_skip_verify|ca_cert_pem|keep_alive_timeout_in_seconds|max_conns_per_host)$/,
    unmapped.connection,
  );
  provider.skip(['concurrency_and_buffer_size', 'proxy_config'], unmapped.connection);
  provider.skip(['send_back_raw_request', 'send_back_raw_response', 'store_raw_request_response'], unmapped.logging);
  provider.skip(['openai_config'], unmapped.parameter);
  custom?.skip(['allowed_requests', 'request_path_overrides', 'is_key_less'], unmapped.program);
}

/** Returns the key with the greatest weight that may be used, and those that are used in turn with it; the others are reported. */
function chooseKeys(provider: Members, service: string, allowsEmpty: boolean): Members[] {
  const keys = provider.items('keys').filter((key) => {
    const isOff = key.peek('enabled') === false;
    key.ignore('enabled');
    const models = key.peek('models');
    const isUnusable = Array.isArray(models) && models.length === 0 && !allowsEmpty;
    if (isOff || isUnusable) key.skipWhole(isOff ? 'is not enabled' : 'may be used for no model: its `models` is empty');
    return !isOff && !isUnusable;
  });
  const weighted = keys.map((key) => ({ key, weight: key.number('weight') ?? 1 }));
  const [first, ...others] = weighted.toSorted((one, other) => other.weight - one.weight);
  if (first === undefined) return [];
  const name = quoted(stringOf(first.key.peek('name')));
  const isAlone = isCloud(kindOfService(service) ?? '');
  const used = [first.key];
  for (const { key, weight } of others)
    if (isAlone) key.skipWhole(`is left out: a cloud has one key, and ${name} has the greatest weight`);
    else if (useOf(key) !== useOf(first.key))
      key.skipWhole(`is left out: it is for other models than ${name}, which has the greatest weight. Add a provider for it`);
    else if (used.length === maxProviderKeys) key.skipWhole(`is left out: a provider has at most ${maxProviderKeys} keys`);
    else {
      used.push(key);
      if (weight !== first.weight) key.change('weight', 'is not used: the keys of a provider are used in turn');
      key.ignore(...key.names().filter((one) => one !== 'value'));
    }
  return used;
}

/** What a key says besides its name, value and share. */
function useOf(key: Members): string {
  const names = key.names().filter((name) => !/^(id|name|value|weight|enabled)$/.test(name));
  return JSON.stringify(names.toSorted().map((name) => [name, key.peek(name)]));
}

/** `models` of the key, and its aliases, which clients ask for as `<provider>/<alias>`. */
function readModels(draft: ImportDraft, provider: string, key: Members | null, config: Members | null): void {
  const models = (key?.texts('models') ?? []).filter((model) => model !== '*' && !model.startsWith('!'));
  const own = config?.text('model_name') ?? null;
  const listed = own === null || models.includes(own) ? models : [...models, own];
  if (listed.length > 0) {
    draft.amend('providers', provider, { models: listed.slice(0, 500) });
    if (models.length > 0 && key !== null)
      draft.warn(
        key.pathOf('models'),
        'are the models that are listed. The provider is also asked for others: limit keys with their `models`',
      );
  }
  for (const aliases of [key?.record('aliases'), config?.record('deployments')])
    for (const alias of aliases?.names() ?? []) {
      const value = aliases?.take(alias);
      const model = stringOf(isRecord(value) ? value.model_id : value);
      for (const other of isRecord(value) ? Object.keys(value) : [])
        if (!/^(model_id|model_name|model_family|description)$/.test(other))
          aliases?.fault(`${alias}.${other}`, 'has no counterpart for one model');
      if (model === '') aliases?.fault(alias, 'names no model');
      else if (model !== alias)
        draft.add('modelAliases', `${provider}/${alias}`, { model: `${provider}/${model}` }, aliases?.pathOf(alias));
    }
}

const timeouts = { whole: ['default_request_timeout_in_seconds'], between: ['stream_idle_timeout_in_seconds'] };

/** Bifrost adds the version of the API itself. */
function baseUrlOf(service: string, url: string): string {
  const bare = url.replace(/\/+$/, '');
  if (/^(azure|bedrock|vertex|gemini|perplexity)$/.test(service) || /\/v\d[\w]*$/.test(bare)) return bare;
  return `${bare}/${service === 'cohere' ? 'v2' : 'v1'}`;
}

function skipGovernance(governance: Members | null): void {
  if (governance === null) return;
  skipVirtualKeys(governance);
  governance.skip(['routing_rules', 'complexity_analyzer_config'], unmapped.routing);
  governance.skip(['model_configs', 'providers'], unmapped.budget);
  governance.skip(['pricing_overrides'], 'is not imported: set `prices` of the provider');
  governance.skip(
    ['customers', 'teams', 'business_units', 'roles', 'access_profiles'],
    'has no counterpart: limits are those of keys, agents and the workspace',
  );
  governance.skip(['auth_config'], unmapped.program);
}
