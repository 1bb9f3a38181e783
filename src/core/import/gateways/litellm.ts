/**
 * `config.yaml` of LiteLLM's proxy: models become providers and model aliases; several deployments of one name, `fallbacks`, retries and the
 * cache become those of aliases. LiteLLM documentation, "All settings", "Load Balancing", "Fallbacks", "Caching" and "MCP".
 */
import { isRecord, ownMember, recordOf, stringOf } from '../../json/wire-value.ts';
import type { CachePolicy } from '../../model/cache/cache-policy.ts';
import { type ModelRoute, modelsOf } from '../../model/route.ts';
import { quoted } from '../../problem.ts';
import type { ImportDraft } from '../draft.ts';
import { type Deployments, type DeploymentGroup, LiteLlmEnvironment, readCredentials, readModels, type Sharing } from './litellm-models.ts';
import { readLiteLlmServers } from './litellm-servers.ts';
import type { Members } from '../members.ts';
import { takeCacheTime, takeRetries, takeSettings, takeTimeouts } from './model-parameters.ts';
import { addModelGroup } from './model-services.ts';
import { unmapped } from './unmapped.ts';

/** Whether a value is such a file. */
export function isLiteLlm(value: unknown): boolean {
  const { model_list, litellm_settings, router_settings, mcp_servers } = recordOf(value);
  return Array.isArray(model_list) || isRecord(litellm_settings) || isRecord(router_settings) || isRecord(mcp_servers);
}

/** Sections of the file by the reason why they are skipped. */
const sections: readonly (readonly [reason: string, names: readonly string[]])[] = [
  ['is another file: import it too, or all of them in one zip archive', ['include']],
  [unmapped.guardrail, ['guardrails', 'policies', 'policy_attachments']],
  [unmapped.logging, ['callback_settings']],
  [
    unmapped.program,
    [
      ...['assistant_settings', 'files_settings', 'finetune_settings', 'vector_store_registry', 'search_tools', 'prompts'],
      ...['agent_list', 'mcp_tools'],
    ],
  ],
];

/** Members of `litellm_settings` and `router_settings`, which LiteLLM reads alike. */
const settings: readonly (readonly [reason: string, names: readonly string[]])[] = [
  [unmapped.contentFallback, ['content_policy_fallbacks']],
  [
    unmapped.routing,
    [
      ...['routing_strategy_args', 'enable_pre_call_check', 'enable_pre_call_checks'],
      ...['enable_tag_filtering', 'tag_filtering_match_any', 'max_fallbacks', 'default_priority', 'polling_interval'],
      ...['ignore_invalid_deployments', 'deployment_affinity_ttl_seconds'],
    ],
  ],
  [unmapped.retries, ['max_retries', 'retry_policy', 'model_group_retry_policy', 'retry_after']],
  [unmapped.cooldown, ['allowed_fails', 'allowed_fails_policy', 'cooldown_time', 'disable_cooldowns']],
  [
    unmapped.cache,
    [
      ...['cache_responses', 'caching_groups', 'cache_kwargs', 'client_ttl', 'redis_url', 'redis_host', 'redis_port', 'redis_password'],
      'redis_db',
    ],
  ],
  [
    unmapped.logging,
    [
      ...['success_callback', 'failure_callback', 'callbacks', 'service_callbacks', 'audit_log_callbacks', 'turn_off_message_logging'],
      ...['redact_user_api_key_info', 'langfuse_default_tags', 'set_verbose', 'json_logs', 'debug_level', 'alerting_config'],
      ...['store_audit_logs', 'disable_end_user_cost_tracking', 'disable_end_user_cost_tracking_prometheus_only'],
      ...['prometheus_initialize_budget_metrics', 'custom_prometheus_metadata_labels', 'custom_prometheus_tags', 's3_callback_params'],
    ],
  ],
  [unmapped.budget, ['max_budget', 'budget_duration', 'provider_budget_config', 'max_end_user_budget', 'max_internal_user_budget']],
  [unmapped.rateLimit, ['default_max_parallel_requests', 'max_parallel_requests']],
  [
    unmapped.clientKey,
    [
      ...['key_generation_settings', 'default_key_generate_params', 'upperbound_key_generate_params', 'default_internal_user_params'],
      ...['default_team_params', 'default_team_settings', 'internal_user_budget_duration', 'enable_key_alias_format_validation'],
    ],
  ],
  [unmapped.guardrail, ['guardrails', 'guardrail_list', 'enable_json_schema_validation']],
  ['is what Moniker does by itself, for settings that it knows a provider to refuse', ['drop_params', 'modify_params']],
  [unmapped.connection, ['force_ipv4', 'ssl_verify', 'ssl_certificate', 'ssl_security_level', 'aiohttp_trust_env']],
  [
    unmapped.program,
    [
      ...['enable_preview_features', 'LITELLM_DISABLE_STOP_SEQUENCE_LIMIT', 'disable_add_transform_inline_image_block'],
      ...['disable_hf_tokenizer_download', 'disable_copilot_system_to_assistant', 'use_chat_completions_url_for_anthropic_messages'],
      ...['assistants_config', 'router_general_settings', 'search_tools'],
      ...['custom_provider_map'],
    ],
  ],
];

export function readLiteLlm(draft: ImportDraft, file: Members): void {
  const environment = new LiteLlmEnvironment(file.record('environment_variables'));
  const [router, library] = [file.record('router_settings'), file.record('litellm_settings')];
  const both = [router, library].filter((one) => one !== null);
  const defaults = both.flatMap((one) => one.record('default_litellm_params') ?? []);
  const [retrying, unused] = both.filter((one) => one.has('num_retries'));
  unused?.skip(['num_retries'], 'is not used, since router_settings says the same');
  const retries = takeRetries(retrying ?? null, 'num_retries');
  const cache = readCache(library);
  const defaultFallbacks = both.some((one) => one.has('default_fallbacks'));
  const deployments: Deployments = {
    environment,
    credentials: readCredentials(file),
    timeouts: Object.assign({}, ...both.toReversed().map((one) => takeTimeouts(draft, one, routerTimeouts))),
    settings: Object.assign({}, ...defaults.map(takeSettings)),
    sharing: readSharing(both),
    unkept: [
      ...(retries === undefined ? [] : ['num_retries']),
      ...(cache === undefined ? [] : ['cache']),
      ...(defaultFallbacks ? ['default_fallbacks'] : []),
    ],
  };
  const found = readModels(draft, file, deployments);
  const fallbacks = readFallbacks(both, found, ['fallbacks', 'default_fallbacks']);
  const contextFallbacks = readFallbacks(both, found, ['context_window_fallbacks']);
  const groups = new Map<string, DeploymentGroup>();
  for (const [name, group] of found) {
    const replacing = modelsInstead(draft, found, name, fallbacks);
    const longer = modelsInstead(draft, found, name, contextFallbacks);
    const route = withFallbacks(draft, group, replacing, longer);
    groups.set(name, { ...group, route: { ...route, ...(retries !== undefined && { retries }) }, cache });
  }
  draft.reserve('modelAliases', [...groups.keys(), ...both.flatMap((one) => Object.keys(recordOf(one.peek('model_group_alias'))))]);
  for (const [name, group] of groups) addModelGroup(draft, { ...group, name });
  for (const one of both) {
    readGroupAliases(draft, one, groups);
    for (const [reason, names] of settings) one.skip(names, reason);
  }
  readLiteLlmServers(draft, file, { environment, aliases: library?.record('mcp_aliases') ?? null });
  for (const [reason, names] of sections) file.skip(names, reason);
  // Hold anchors of YAML, which are used where they are named.
  file.ignore(...file.names().filter((name) => name.startsWith('x-')));
  skipGeneralSettings(file.record('general_settings'));
  environment.skipUnused();
}

const routerTimeouts = { whole: ['timeout', 'request_timeout'], stream: ['stream_timeout'] };

/** Returns the models of the groups that replace a group. */
function modelsInstead(
  draft: ImportDraft,
  groups: ReadonlyMap<string, DeploymentGroup>,
  name: string,
  fallbacks: ReadonlyMap<string, string[]>,
): string[] {
  const names = (fallbacks.get(name) ?? fallbacks.get('*') ?? []).filter((other) => other !== name);
  const routes = names.flatMap((other) => groups.get(other)?.route ?? []);
  if (routes.some(({ targets }) => targets.length > 1))
    draft.warn(groups.get(name)?.path ?? '', 'the deployments of its fallbacks are asked in order: they do not share the requests');
  return routes.flatMap((route) => modelsOf(route));
}

/** `longer`: for conversations that do not fit the models of the group. */
function withFallbacks(draft: ImportDraft, { path, route }: DeploymentGroup, replacing: string[], longer: readonly string[]): ModelRoute {
  const contextFallback = longer.find((model) => route.targets.some((target) => target.model !== model));
  for (const model of longer)
    if (model !== contextFallback)
      draft.skip(path, `${model} of context_window_fallbacks is left out: a model alias has one, which is not its only target`);
  const fallbacks = [...(route.fallbacks ?? []), ...replacing];
  return { ...route, ...(fallbacks.length > 0 && { fallbacks }), ...(contextFallback !== undefined && { contextFallback }) };
}

const strategies: Readonly<Record<string, Sharing['strategy']>> = {
  'simple-shuffle': 'weighted',
  'least-busy': 'least-busy',
  'latency-based-routing': 'lowest-latency',
};
const affinities: Readonly<Record<string, Sharing['sticky']>> = { session_affinity: 'session', deployment_affinity: 'key' };

/** Settings of the router take precedence. LiteLLM chooses for each request, unless a check keeps sessions or keys at their deployment. */
function readSharing(from: readonly Members[]): Sharing {
  const sharing: Sharing = { strategy: 'weighted', sticky: 'none' };
  for (const members of from.toReversed()) {
    const strategy = members.text('routing_strategy');
    const known = strategy === null ? undefined : ownMember(strategies, strategy);
    if (known !== undefined) sharing.strategy = known;
    else if (strategy !== null) members.fault('routing_strategy', 'has no counterpart: deployments share the requests by weight');
    for (const check of members.texts('optional_pre_call_checks') ?? []) {
      const sticky = ownMember(affinities, check);
      if (sticky !== undefined) sharing.sticky = sticky;
      else members.fault('optional_pre_call_checks', `${quoted(check)} has no counterpart`);
    }
  }
  return sharing;
}

/** Types of caches that find equal requests; the others find similar ones. */
const exactCaches = /^(local|redis|s3|gcs|azure-blob|disk)$/;

/** A cache of LiteLLM is for the clients of all keys. */
function readCache(library: Members | null): CachePolicy | undefined {
  const params = library?.record('cache_params') ?? null;
  const isOn = library?.flag('cache') === true;
  const types = params?.peek('supported_call_types');
  const isForChats = !Array.isArray(types) || types.some((type) => /^a?completion$/.test(String(type)));
  const isExact = exactCaches.test(params?.text('type') ?? 'redis') && isForChats && params?.text('mode') !== 'default_off';
  const ttl = takeCacheTime(params, 'ttl');
  if (isOn && isExact && ttl !== null) {
    params?.skipOthers('is not needed: Moniker stores the replies itself, for every API');
    return { ttl, scope: 'workspace' };
  }
  if (isOn) library?.fault('cache', unmapped.cache);
  params?.skipWhole(unmapped.cache);
  return undefined;
}

/**
 * `[{"gpt-4o": ["claude"]}]`, by model name, of the first member; those of the second are for all other models (`*`). Settings of the router take
 * precedence.
 */
function readFallbacks(
  from: readonly Members[],
  groups: ReadonlyMap<string, DeploymentGroup>,
  [listed, preset]: readonly [listed: string, preset?: string],
): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const add = (members: Members, member: string, name: string): void => {
    const others = members.texts(member) ?? [];
    const known = others.filter((other) => groups.has(other));
    for (const other of others)
      if (!groups.has(other)) members.fault(member, `names ${quoted(other)}, which is not in model_list, or was skipped`);
    if (name !== '*' && !groups.has(name)) members.fault(member, 'is not in model_list, or was skipped');
    else if (found.has(name)) members.fault(member, 'is not used, since the fallbacks of this model are there already');
    else found.set(name, known);
  };
  for (const members of from) for (const item of members.items(listed)) for (const name of item.names()) add(item, name, name);
  for (const members of from) if (preset !== undefined && members.has(preset)) add(members, preset, '*');
  return found;
}

/** `{alias: model_name}` or `{alias: {model, hidden}}`. */
function readGroupAliases(draft: ImportDraft, from: Members, groups: ReadonlyMap<string, DeploymentGroup>): void {
  const aliases = from.record('model_group_alias');
  for (const alias of aliases?.names() ?? []) {
    const value = aliases?.take(alias);
    const { model, hidden, ...others } = isRecord(value) ? value : { model: value, hidden: false };
    const name = stringOf(model);
    const group = groups.get(name);
    if (group === undefined) {
      aliases?.fault(alias, `stands for ${quoted(name)}, which is not in model_list or was skipped`);
      continue;
    }
    if (hidden === true) draft.warn(aliases?.pathOf(alias) ?? '', 'is hidden in the file: GET /v1/models lists it');
    for (const other of Object.keys(others))
      aliases?.fault(`${alias}.${other}`, 'is not known to this import, so that nothing was taken from it');
    if (draft.has('agents', name)) draft.add('modelAliases', alias, { model: `agent/${draft.nameOf('agents', name)}` });
    else addModelGroup(draft, { ...group, name: alias });
  }
}

function skipGeneralSettings(general: Members | null): void {
  if (general === null) return;
  general.skip(['master_key'], 'is the key of the proxy: clients get keys of Moniker with POST /v1/keys');
  general.skip(['pass_through_endpoints'], 'is not imported: add an API as a server of kind openapi, or use http_request');
  general.skip(['max_parallel_requests', 'global_max_parallel_requests'], unmapped.rateLimit);
  general.skip(['allowed_ips'], 'is not imported: set `ips` of each key');
  general.skip(['alerting', 'alerting_threshold', 'alert_types', 'alert_to_webhook_url', 'alerting_args'], unmapped.logging);
  general.skipOthers(unmapped.program);
}
