/**
 * A config of Portkey's gateway: its targets become providers; `fallback` and `loadbalance` become an agent with fallbacks. Keys in Portkey's
 * vault (`virtual_key`, `@name`) are not in the file, so their secrets have no value yet. Portkey documentation, "Configs".
 */
import { isRecord, type Json, listOf, recordOf, stringOf } from '../json/wire-value.ts';
import type { ImportDraft } from './draft.ts';
import { ProviderList, addModelGroup, settingsOf, skipTimeouts } from './model-services.ts';

export function readPortkey(draft: ImportDraft, value: Json): void {
  const providers = new ProviderList(draft);
  const configs = configsIn(value);
  for (const [name, config] of configs) {
    const refs = targetRefs(draft, providers, config, name, {});
    addModelGroup(draft, { name, refs: refs.map(({ ref }) => ref), settings: settingsOf(refs[0]?.parameters ?? {}) });
    for (const member of [
      'cache',
      'retry',
      'input_guardrails',
      'output_guardrails',
      'before_request_hooks',
      'after_request_hooks',
    ] as const)
      if (config[member] !== undefined)
        draft.skip(`${name}.${member}`, member === 'retry' ? 'requests are retried by built-in rules' : 'has no counterpart');
  }
}

/** One config, or a map or list of them. */
function configsIn(value: Json): [string, Json][] {
  const { configs } = value;
  if (Array.isArray(configs)) return configs.map((one, index) => [nameOf(recordOf(one), `portkey-${index + 1}`), configOf(one)]);
  if (isRecord(configs)) return Object.entries(configs).map(([name, one]) => [name, configOf(one)]);
  return [[nameOf(value, 'portkey'), configOf(value)]];
}

function nameOf({ name, slug }: Json, otherwise: string): string {
  return stringOf(slug) || stringOf(name) || otherwise;
}

/** Exported configs have theirs in a member `config`. */
function configOf(value: unknown): Json {
  const { config } = recordOf(value);
  return isRecord(config) ? config : recordOf(value);
}

type Target = { ref: string; parameters: Json };

/** Members that a target inherits from what contains it. */
function targetRefs(draft: ImportDraft, providers: ProviderList, config: Json, path: string, above: Json): Target[] {
  skipTimeouts(draft, path, config);
  const inherited = { ...above, ...ownMembers(config) };
  const targets = listOf(config.targets ?? config.options);
  const mode = stringOf(recordOf(config.strategy).mode || config.mode);
  if (targets.length === 0) return readTarget(draft, providers, inherited, stringOf(config.name) || path);
  if (mode === 'loadbalance' || mode === 'ab_test')
    draft.warn(path, 'load is not balanced: the targets are tried in order of their weight, each when the one before fails');
  if (mode === 'conditional') draft.skip(`${path}.strategy`, 'conditions have no counterpart: the targets are tried in order');
  const weighted = [...targets.entries()].sort(([, one], [, other]) => weightOf(other) - weightOf(one));
  return (mode === 'loadbalance' ? weighted : [...targets.entries()]).flatMap(([index, target]) =>
    targetRefs(draft, providers, recordOf(target), `${path}.targets[${index}]`, inherited),
  );
}

const members = [
  'provider',
  'api_key',
  'apiKey',
  'virtual_key',
  'virtualKey',
  'custom_host',
  'customHost',
  'override_params',
  'overrideParams',
] as const;

function ownMembers(config: Json): Json {
  return Object.fromEntries(members.filter((member) => config[member] !== undefined).map((member) => [member, config[member]]));
}

function weightOf(target: unknown): number {
  const { weight } = recordOf(target);
  return typeof weight === 'number' && Number.isFinite(weight) ? weight : 1;
}

function readTarget(draft: ImportDraft, providers: ProviderList, target: Json, path: string): Target[] {
  const parameters = recordOf(target.override_params ?? target.overrideParams);
  const { slug, written } = modelOf(stringOf(parameters.model));
  const given = stringOf(target.provider) || slug;
  const vault = stringOf(target.virtual_key ?? target.virtualKey) || (given.startsWith('@') ? given.slice(1) : '');
  const service = given === '' || given.startsWith('@') ? serviceOf(vault) : given;
  if (service === '') {
    draft.skip(
      path,
      vault === ''
        ? 'names no provider'
        : `${JSON.stringify(vault.slice(0, 60))} is a name of Portkey’s vault that does not say which provider it is`,
    );
    return [];
  }
  const key = stringOf(target.api_key ?? target.apiKey) || (vault === '' ? null : `<${vault}>`);
  const found = providers.add({ service, model: written, baseUrl: stringOf(target.custom_host ?? target.customHost) || null, key });
  if ('fault' in found) {
    draft.skip(path, found.fault);
    return [];
  }
  if (written === '') {
    draft.skip(path, `names no model (override_params.model): use ${found.provider}/<model>`);
    return [];
  }
  return [{ ref: found.ref, parameters }];
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
  'azure-openai',
  'openrouter',
  'openai',
  'anthropic',
  'gemini',
  'google',
  'cohere',
  'groq',
  'mistral-ai',
  'mistral',
  'deepseek',
  'together-ai',
  'fireworks-ai',
  'perplexity-ai',
  'x-ai',
  'cerebras',
  'ollama',
  'bedrock',
  'vertex-ai',
] as const;
