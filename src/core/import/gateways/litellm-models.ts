/** `model_list` of LiteLLM: deployments by model name, with their credentials, parameters and prices. LiteLLM, `LiteLLM_Params` and `ModelInfo`. */
import { type Json, stringOf } from '../../json/wire-value.ts';
import type { ModelRoute, RouteTarget } from '../../model/route.ts';
import type { ModelTimeouts } from '../../model/timeouts.ts';
import { quoted } from '../../problem.ts';
import { placeholder } from '../../project/expand-variables.ts';
import type { ImportDraft } from '../draft.ts';
import type { Members } from '../members.ts';
import { takePrice, takeSettings, takeTimeouts } from './model-parameters.ts';
import { type CloudNames, type Credential, readCloudParts } from './cloud-services.ts';
import { kindOfService, type ModelGroup, ProviderList } from './model-services.ts';
import { legalName } from '../names.ts';
import { unmapped } from './unmapped.ts';

/** The deployments of a model name. */
export type DeploymentGroup = Omit<ModelGroup, 'name'>;

/** How deployments of one name share the requests. */
export type Sharing = Required<Pick<ModelRoute, 'strategy' | 'sticky'>>;

/**
 * What the deployments of a file share. `timeouts`, `settings`: of those that have none. `unkept`: members of the file that count for names of
 * models, and so not for the names of providers.
 */
export type Deployments = {
  environment: LiteLlmEnvironment;
  credentials: ReadonlyMap<string, Members>;
  timeouts: ModelTimeouts;
  settings: Json;
  sharing: Sharing;
  unkept: readonly string[];
};

/** `environment_variables`, which the proxy adds to its environment. */
export class LiteLlmEnvironment {
  readonly #members: Members | null;

  constructor(members: Members | null) {
    this.#members = members;
  }

  /** Returns the value of `os.environ/NAME` if the file has it, else `${NAME}`; other texts unchanged. */
  read(text: string | null): Credential | null {
    if (text === null || text === '') return null;
    const variable = osEnviron(text);
    if (variable === null) return { text, variable };
    const value = this.#members?.has(variable) === true ? stringOf(this.#members.take(variable)) : '';
    return { text: value === '' || osEnviron(value) !== null ? placeholder(variable) : value, variable };
  }

  skipUnused(): void {
    this.#members?.skipOthers('is not used by anything that is imported');
  }
}

/** `credential_list`, by name. */
export function readCredentials(file: Members): Map<string, Members> {
  const found = new Map<string, Members>();
  for (const item of file.items('credential_list')) {
    const name = item.text('credential_name');
    const values = item.record('credential_values');
    item.skip(['credential_info'], unmapped.program);
    if (name !== null && values !== null) found.set(name, values);
    else item.skipWhole('has no credential_name, or no credential_values');
  }
  return found;
}

type Ranked = { model: string; order: number; params: Members };

/** By model name, in the order of the file. Patterns come first, so that their providers have the names that clients use. */
export function readModels(draft: ImportDraft, file: Members, deployments: Deployments): Map<string, DeploymentGroup> {
  const providers = new ProviderList(draft);
  const ranked = new Map<string, { path: string; settings: Json; all: Ranked[] }>();
  const rows = file.items('model_list').map((row) => ({ row, name: row.text('model_name') ?? '' }));
  for (const { row, name } of rows.toSorted((one, other) => Number(other.name.includes('*')) - Number(one.name.includes('*')))) {
    const found = readDeployment(draft, providers, { row, name }, deployments);
    if (found === null) continue;
    const { settings, ...rank } = found;
    const known = ranked.get(name) ?? { path: row.path, settings, all: [] };
    if (JSON.stringify(known.settings) !== JSON.stringify(settings))
      row.fault('litellm_params', 'has other parameters than the first deployment of this name, whose parameters count');
    known.all.push(rank);
    ranked.set(name, known);
  }
  return new Map(
    [...new Set(rows.map(({ name }) => name))].flatMap((name) => {
      const found = ranked.get(name);
      if (found === undefined) return [];
      const { all, ...group } = found;
      return [[name, { ...group, route: routeOf(draft, group.path, all, deployments.sharing) }] as const];
    }),
  );
}

/** Deployments of the lowest `order` share the requests; the others replace them. */
function routeOf(draft: ImportDraft, path: string, all: readonly Ranked[], { strategy, sticky }: Sharing): ModelRoute {
  const lowest = Math.min(...all.map(({ order }) => order));
  const [sharing, replacing] = [all.filter(({ order }) => order === lowest), all.filter(({ order }) => order !== lowest)];
  const orders = new Set(replacing.map(({ order }) => order));
  if (orders.size < replacing.length) draft.warn(path, 'its deployments of one `order` that replace others are asked one after another');
  const targets = sharesOf(sharing, strategy === 'weighted');
  const fallbacks = sharesOf(
    replacing.toSorted((one, other) => one.order - other.order),
    false,
  );
  return {
    targets,
    ...(fallbacks.length > 0 && { fallbacks: fallbacks.map(({ model }) => model) }),
    ...(targets.length > 1 && { strategy, sticky }),
  };
}

/** LiteLLM takes the first of these that the first deployment has, and 0 for deployments without it (`router_strategy/simple_shuffle.py`). */
const shareMembers = ['weight', 'rpm', 'tpm'];

function sharesOf(deployments: readonly Ranked[], isWeighted: boolean): RouteTarget[] {
  const isShared = isWeighted && deployments.length > 1;
  const by = isShared ? shareMembers.find((name) => deployments[0]?.params.has(name)) : undefined;
  const weights = deployments.map(({ params }) => {
    const weight = by === undefined ? null : params.number(by);
    if (by !== undefined && by !== 'weight' && weight !== null) params.change(by, 'is its share of the requests, and limits nothing');
    params.skipUnread(['weight'], unmapped.weight);
    params.skipUnread(['rpm', 'tpm', 'itpm', 'otpm'], unmapped.rateLimit);
    return weight ?? 0;
  });
  const isUsed = weights.some((weight) => weight > 0);
  return deployments.map(({ model }, index) => ({ model, ...(isUsed && { weight: weights[index] }) }));
}

/** Adds the provider of a deployment. Returns null if it is skipped, or needs no name. */
function readDeployment(
  draft: ImportDraft,
  providers: ProviderList,
  { row, name }: { row: Members; name: string },
  { environment, credentials, timeouts, settings, unkept }: Deployments,
): (Ranked & { settings: Json }) | null {
  const refuse = (reason: string): null => {
    row.skipWhole(reason);
    return null;
  };
  const params = row.record('litellm_params');
  const info = row.record('model_info');
  const written = params?.text('model') ?? '';
  if (params === null || written === '' || name === '') return refuse('has no model_name, or no litellm_params.model');
  const mode = info?.text('mode') ?? '';
  if (mode !== '' && !/^(chat|completion|responses)$/.test(mode))
    return refuse(`${quoted(name)} is of the mode ${quoted(mode)}; only chat models are supported`);
  const credential = params.text('litellm_credential_name');
  const stored = credential === null ? null : credentials.get(credential);
  if (stored === undefined)
    return refuse(`${quoted(name)} names the credential ${quoted(credential ?? '')}, which is not in credential_list`);
  const read = (...names: string[]): Credential | null => environment.read(params.text(...names) ?? stored?.text(...names) ?? null);

  const baseUrl = read('api_base', 'base_url', ...(/^bedrock\b/.test(written) ? ['aws_bedrock_runtime_endpoint'] : []));
  if (name === '*' && written === '*') return refuse('stands for every model of every service: add a provider for each service');
  const { service, model } = splitModel(written, params.text('custom_llm_provider') ?? '', baseUrl !== null);
  const prefix = /^([^*/]+)\/\*$/.exec(name)?.[1];
  const own = takeTimeouts(draft, params, { whole: ['timeout', 'request_timeout'], stream: ['stream_timeout'] });
  const found = providers.add({
    service,
    model,
    baseUrl: baseUrl?.text ?? null,
    key: read('api_key'),
    usesEnvironment: true,
    cloud: readCloudParts(kindOfService(service), cloudNames, read),
    headers: headersOf(params, environment, read('organization')),
    ...(Object.keys({ ...timeouts, ...own }).length > 0 && { timeouts: { ...timeouts, ...own } }),
    ...(prefix !== undefined && model === '*' && isFree(draft, prefix) && { provider: prefix }),
  });
  if ('fault' in found) return refuse(`${quoted(name)} ${found.fault}`);
  const price = takePrice(info === null ? [params] : [params, info]);
  if (price !== null && !model.includes('*') && !providers.price(found.ref, price))
    params.fault('input_cost_per_token', 'differs from the price of another deployment of this model, which counts');
  const order = params.number('order') ?? Number.MAX_SAFE_INTEGER;
  const used = { ...settings, ...takeSettings(params) };
  skipOthers(row, params, info);
  const ranked = { model: found.ref, order, params };
  if (model.includes('*')) {
    sharesOf([ranked], false);
    if (unkept.length > 0) row.change('model_name', `names a provider, for which these do not count: ${unkept.join(', ')}`);
    if (name !== `${found.provider}/*` || model !== '*')
      row.fault('model_name', `${quoted(name)} cannot be mapped to the models of a provider: clients use ${found.provider}/<model>`);
    return null;
  }
  return { ...ranked, settings: used };
}

/** Whether a provider can have this name unchanged. */
function isFree(draft: ImportDraft, name: string): boolean {
  return legalName('providers', name) === name && draft.freeName('providers', name) === name;
}

/** `groq/llama3` → the service and the model. Without a service, LiteLLM knows it by the model's name. */
function splitModel(written: string, custom: string, hasBase: boolean): { service: string; model: string } {
  const bare = (model: string): string => model.replace(/^(responses|converse|invoke)\//, '');
  if (custom !== '') return { service: custom, model: bare(written.startsWith(`${custom}/`) ? written.slice(custom.length + 1) : written) };
  const slash = written.indexOf('/');
  if (slash > 0) return { service: written.slice(0, slash), model: bare(written.slice(slash + 1)) };
  if (/^claude/i.test(written)) return { service: 'anthropic', model: written };
  if (/^gemini/i.test(written)) return { service: 'gemini', model: written };
  if (/^command/i.test(written)) return { service: 'cohere', model: written };
  return { service: hasBase && !/^(gpt|o\d|chatgpt)/i.test(written) ? 'custom_openai' : 'openai', model: written };
}

function headersOf(params: Members, environment: LiteLlmEnvironment, organization: Credential | null): Record<string, string> {
  const extra = params.record('extra_headers');
  const sent = (extra?.names() ?? []).flatMap((name): [string, string][] => {
    const value = environment.read(extra?.text(name) ?? null);
    return value === null ? [] : [[name, value.text]];
  });
  return Object.fromEntries([...sent, ...(organization === null ? [] : [['OpenAI-Organization', organization.text] as const])]);
}

/** Where a model of a cloud is, and its credentials (LiteLLM, `LiteLLM_Params` and `CredentialLiteLLMParams`). */
const cloudNames: CloudNames = {
  region: ['aws_region_name', 'vertex_location'],
  project: ['vertex_project'],
  apiVersion: ['api_version'],
  accessKeyId: ['aws_access_key_id'],
  secretAccessKey: ['aws_secret_access_key'],
  sessionToken: ['aws_session_token'],
  tenantId: ['tenant_id'],
  clientId: ['client_id'],
  clientSecret: ['client_secret'],
  serviceAccount: ['vertex_credentials'],
};
const entra = ['azure_ad_token', 'azure_username', 'azure_password', 'azure_scope'];

function skipOthers(row: Members, params: Members, info: Members | null): void {
  params.skipUnread(['api_version', 'tenant_id', 'client_id', 'client_secret'], 'is for Azure OpenAI alone');
  params.skip(entra, 'is not supported: Azure is asked with the key of the resource, or as a client of Entra ID with a secret');
  params.skip(['max_retries', 'num_retries'], unmapped.retries);
  params.skip(['cooldown_time'], unmapped.cooldown);
  params.skip(['max_budget', 'budget_duration'], unmapped.budget);
  params.skip(['max_parallel_requests', 'default_api_key_tpm_limit', 'default_api_key_rpm_limit'], unmapped.rateLimit);
  params.skip(['tags', 'tag_regex', 'region_name'], unmapped.routing);
  params.skip(
    ['drop_params', 'additional_drop_params', 'allowed_openai_params'],
    'is not needed: a provider is sent what it is known to accept. `profile` of the provider changes that',
  );
  params.skip(['mock_response'], 'has no counterpart: rehearsal/default responds without a model');
  params.skip(['guardrails'], unmapped.guardrail);
  params.skip(['cache_control_injection_points'], unmapped.cache);
  params.skipLike(/^(aws_|vertex_|watsonx_|s3_|gcs_|bedrock_)/, unmapped.cloud);
  for (const one of info === null ? [params] : [params, info])
    one.skipLike(/_cost(_per_|$)|^tiered_pricing$/, 'has no counterpart: a price is one for input and output tokens, and for cached ones');
  const own = ['use_in_pass_through', 'use_litellm_proxy', 'use_chat_completions_api', 'merge_reasoning_content_in_choices', 'model_info'];
  params.skip(
    [...own, 'configurable_clientside_auth_params', 'keepalive_seconds', 'max_file_size_mb', 'litellm_trace_id'],
    unmapped.program,
  );
  row.skip(['rpm', 'tpm'], unmapped.rateLimit);
  if (info === null) return;
  info.skip(['access_groups', 'team_id', 'team_public_model_name'], unmapped.clientKey);
  const known = 'is not needed: what models accept is known, or set in `profile` of their provider';
  info.skip(['max_tokens', 'max_input_tokens', 'max_output_tokens', 'base_model'], known);
  info.skipLike(/^supports_/, known);
  info.skip(['id', 'db_model', 'tier', 'litellm_provider', 'disable_background_health_check'], unmapped.program);
  info.skipLike(/^health_check_/, unmapped.program);
}

/** Returns the NAME of `os.environ/NAME`; null for other texts. */
function osEnviron(text: string): string | null {
  return /^os\.environ\/([A-Za-z_][A-Za-z0-9_]*)$/.exec(text)?.[1] ?? null;
}
