/**
 * `config.yaml` of LiteLLM's proxy: models become providers and model aliases; several deployments of one name, and `fallbacks`, become agents
 * with fallbacks. LiteLLM documentation, "Config.yaml", "Fallbacks" and "MCP".
 */
import { isRecord, type Json, listOf, recordOf, stringOf } from '../json/wire-value.ts';
import type { ImportDraft } from './draft.ts';
import { addMcpServer } from './mcp-server.ts';
import type { Members } from './members.ts';
import { ProviderList, addModelGroup, settingsOf, skipTimeouts } from './model-services.ts';
import { createVariables, fromOsEnviron } from './variables.ts';

type Group = { refs: string[]; settings: Json };

export function readLiteLlm(draft: ImportDraft, value: Json): void {
  const groups = readModels(draft, value);
  const router = recordOf(value.router_settings);
  const settings = recordOf(value.litellm_settings);
  skipTimeouts(draft, 'router_settings', router);
  skipTimeouts(draft, 'litellm_settings', settings);
  const fallbacks = fallbacksOf(draft, [...listOf(router.fallbacks), ...listOf(settings.fallbacks)], groups);
  const others = ['context_window_fallbacks', 'content_policy_fallbacks', 'default_fallbacks'];
  draft.skipMembers(
    { ...settings, ...router },
    others,
    'an agent has one list of fallbacks for every failure: add the models to `fallbacks`',
  );
  for (const [name, { refs, settings: own }] of groups) {
    const more = (fallbacks.get(name) ?? []).flatMap((other) => groups.get(other)?.refs ?? []);
    addModelGroup(draft, { name, refs: [...refs, ...more], settings: own });
  }
  for (const [alias, target] of Object.entries(recordOf(router.model_group_alias))) {
    const name = stringOf(isRecord(target) ? target.model : target);
    const group = groups.get(name);
    if (group === undefined)
      draft.skip(alias, `stands for ${JSON.stringify(name.slice(0, 100))}, which is not in model_list or was skipped`);
    else if (draft.has('agents', name)) draft.add('modelAliases', alias, { model: `agent/${draft.nameOf('agents', name)}` });
    else addModelGroup(draft, { name: alias, refs: group.refs });
  }
  readServers(draft, value);
  const own = ['general_settings', 'environment_variables', 'guardrails', 'callback_settings', 'credential_list', 'files_settings'];
  draft.skipMembers(value, own, 'are settings of the proxy itself. Keys of clients are made with POST /v1/keys');
}

/** By model name, in the order of the file. */
function readModels(draft: ImportDraft, value: Json): Map<string, Group> {
  const providers = new ProviderList(draft);
  const groups = new Map<string, Group>();
  for (const [index, item] of listOf(value.model_list).entries()) {
    const { model_name, litellm_params, model_info } = recordOf(item);
    const parameters = recordOf(litellm_params);
    const name = stringOf(model_name) || `model_list[${index}]`;
    const written = stringOf(parameters.model);
    const mode = stringOf(recordOf(model_info).mode);
    if (written === '' || stringOf(model_name) === '') {
      draft.skip(name, 'has no model_name, or no litellm_params.model');
      continue;
    }
    if (mode !== '' && !/^(chat|completion|responses)$/.test(mode)) {
      draft.skip(name, `is of the mode ${JSON.stringify(mode.slice(0, 40))}; only chat models are supported`);
      continue;
    }
    const { service, model } = splitModel(written, stringOf(parameters.custom_llm_provider), parameters.api_base !== undefined);
    const found = providers.add({
      service,
      model,
      baseUrl: fromOsEnviron(parameters.api_base ?? parameters.base_url) || null,
      key: fromOsEnviron(parameters.api_key) || null,
    });
    if ('fault' in found) {
      draft.skip(name, found.fault);
      continue;
    }
    if (model.includes('*') || name.includes('*')) {
      if (model === '*' && name !== '*') draft.warn(`providers.${found.provider}`, `${name}: use ${found.provider}/<model>`);
      else draft.skip(name, `a pattern cannot be mapped to the models of a provider. Use ${found.provider}/<model>`);
      continue;
    }
    skipTimeouts(draft, name, parameters);
    const group = groups.get(name) ?? { refs: [], settings: {} };
    groups.set(name, { refs: [...group.refs, found.ref], settings: { ...settingsOf(parameters), ...group.settings } });
  }
  return groups;
}

/** `groq/llama3` → the service and the model. Without a service, LiteLLM knows it by the model's name. */
function splitModel(written: string, custom: string, hasBase: boolean): { service: string; model: string } {
  if (custom !== '') return { service: custom, model: written.startsWith(`${custom}/`) ? written.slice(custom.length + 1) : written };
  const slash = written.indexOf('/');
  if (slash > 0) return { service: written.slice(0, slash), model: written.slice(slash + 1) };
  if (/^claude/i.test(written)) return { service: 'anthropic', model: written };
  if (/^gemini/i.test(written)) return { service: 'gemini', model: written };
  if (/^command/i.test(written)) return { service: 'cohere', model: written };
  return { service: hasBase && !/^(gpt|o\d|chatgpt)/i.test(written) ? 'custom_openai' : 'openai', model: written };
}

/** `[{"gpt-4o": ["claude"]}]`, by model name. */
function fallbacksOf(draft: ImportDraft, list: readonly unknown[], groups: ReadonlyMap<string, Group>): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [name, others] of list.flatMap((item) => Object.entries(recordOf(item)))) {
    const names = listOf(others).map(stringOf);
    if (!groups.has(name)) draft.skip(`fallbacks.${name}`, 'is not in model_list, or was skipped');
    for (const other of names) if (!groups.has(other)) draft.skip(`fallbacks.${name}: ${other}`, 'is not in model_list, or was skipped');
    found.set(name, [...(found.get(name) ?? []), ...names]);
  }
  return found;
}

/** `mcp_servers`: `auth_type` and `auth_value` become a header. */
function readServers(draft: ImportDraft, { mcp_servers }: Json): void {
  const tools = draft
    .open({ ...(isRecord(mcp_servers) && { mcp_servers }) })
    .entries('mcp_servers')
    .flatMap(([name, entry]): Json[] => {
      const headers = [...(entry.record('static_headers')?.values() ?? []), ...authHeader(entry)].map(([header, text]) => ({
        name: header,
        text,
        path: entry.path,
      }));
      return addMcpServer(draft, name, entry, createVariables(), { headers })?.entries ?? [];
    });
  if (tools.length > 0) draft.add('toolsets', 'litellm', { tools });
}

function authHeader(entry: Members): [name: string, text: string][] {
  const type = entry.text('auth_type');
  const text = fromOsEnviron(entry.text('auth_value', 'authentication_token'));
  if (text === '') return [];
  switch (type) {
    case 'api_key':
      return [['X-API-Key', text]];
    case 'basic':
      return [['Authorization', `Basic ${text}`]];
    case 'authorization':
      return [['Authorization', text]];
    default:
      return [['Authorization', `Bearer ${text}`]];
  }
}
