/**
 * Model services by the names that LiteLLM and Portkey give them: the wire protocol and the base URL of each; and the providers and model
 * groups that an import makes of their deployments.
 */
import type { Json } from '../json/wire-value.ts';
import { defaultBaseUrl, type ProviderKind } from '../names/provider-kind.ts';
import { secretHostOf } from '../secrets/secret.ts';
import { isPlaceholder } from '../secrets/credentials.ts';
import type { ImportDraft } from './draft.ts';
import { legalName } from './names.ts';

/** `baseUrl` absent: the default of the kind, or the file must have it. */
type Service = { name: string; kind: ProviderKind; baseUrl?: string };

const compatible = (name: string, baseUrl?: string): Service => ({
  name,
  kind: 'openai-compatible',
  ...(baseUrl !== undefined && { baseUrl }),
});

/** By the names of one service in the files of the gateways. */
const rows: readonly (readonly [names: readonly string[], service: Service])[] = [
  [['openai', 'text-completion-openai'], { name: 'openai', kind: 'openai' }],
  [['anthropic'], { name: 'anthropic', kind: 'anthropic' }],
  [['gemini', 'google'], { name: 'gemini', kind: 'gemini' }],
  [['cohere', 'cohere_chat'], { name: 'cohere', kind: 'cohere' }],
  [['azure', 'azure-openai'], compatible('azure')],
  [['azure_ai'], compatible('azure-ai')],
  [['groq'], compatible('groq', 'https://api.groq.com/openai/v1')],
  [['mistral', 'mistral-ai'], compatible('mistral', 'https://api.mistral.ai/v1')],
  [['codestral'], compatible('codestral', 'https://codestral.mistral.ai/v1')],
  [['deepseek'], compatible('deepseek', 'https://api.deepseek.com/v1')],
  [['xai', 'x-ai'], compatible('xai', 'https://api.x.ai/v1')],
  [['openrouter'], compatible('openrouter', 'https://openrouter.ai/api/v1')],
  [['together_ai', 'together-ai'], compatible('together', 'https://api.together.xyz/v1')],
  [['fireworks_ai', 'fireworks-ai'], compatible('fireworks', 'https://api.fireworks.ai/inference/v1')],
  [['perplexity', 'perplexity-ai'], compatible('perplexity', 'https://api.perplexity.ai')],
  [['cerebras'], compatible('cerebras', 'https://api.cerebras.ai/v1')],
  [['nvidia_nim'], compatible('nvidia', 'https://integrate.api.nvidia.com/v1')],
  [['deepinfra'], compatible('deepinfra', 'https://api.deepinfra.com/v1/openai')],
  [['sambanova'], compatible('sambanova', 'https://api.sambanova.ai/v1')],
  [['moonshot'], compatible('moonshot', 'https://api.moonshot.ai/v1')],
  [['dashscope'], compatible('dashscope', 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1')],
  [['zai'], compatible('zai', 'https://api.z.ai/api/paas/v4')],
  [['huggingface'], compatible('huggingface', 'https://router.huggingface.co/v1')],
  [['novita'], compatible('novita', 'https://api.novita.ai/v3/openai')],
  [['hyperbolic'], compatible('hyperbolic', 'https://api.hyperbolic.xyz/v1')],
  [['ai21'], compatible('ai21', 'https://api.ai21.com/studio/v1')],
  [['github'], compatible('github', 'https://models.github.ai/inference')],
  [['ollama', 'ollama_chat'], compatible('ollama', 'http://127.0.0.1:11434/v1')],
  [['lm_studio'], compatible('lm-studio', 'http://127.0.0.1:1234/v1')],
  [['vllm', 'hosted_vllm'], compatible('vllm')],
  [['custom_openai', 'openai_like'], compatible('custom')],
  [['litellm_proxy'], compatible('litellm')],
];

const services: ReadonlyMap<string, Service> = new Map(rows.flatMap(([names, service]) => names.map((name) => [name, service] as const)));

/** Services with another wire protocol or signature. */
const unsupported: ReadonlyMap<string, string> = new Map([
  ['bedrock', 'Amazon Bedrock signs its requests (SigV4)'],
  ['sagemaker', 'Amazon SageMaker signs its requests (SigV4)'],
  ['vertex_ai', 'Vertex AI needs the tokens of a service account'],
  ['vertex-ai', 'Vertex AI needs the tokens of a service account'],
  ['watsonx', 'watsonx needs tokens of IBM Cloud'],
  ['replicate', 'Replicate has another API'],
]);

/** One model at one service. `key`: as in the file, or null. */
export type Deployment = { service: string; model: string; baseUrl: string | null; key: string | null; headers?: Json; prices?: Json };

/** Adds the provider of a deployment, or finds it, and returns the model reference. A `fault` says why it cannot be taken. */
export class ProviderList {
  readonly #draft: ImportDraft;
  readonly #names = new Map<string, string>();

  constructor(draft: ImportDraft) {
    this.#draft = draft;
  }

  add({ service: written, model, baseUrl, key, headers }: Deployment): { ref: string; provider: string } | { fault: string } {
    const reason = unsupported.get(written);
    if (reason !== undefined)
      return { fault: `${reason}, which Moniker does not support: use a gateway with an OpenAI-compatible API before it` };
    const known = services.get(written);
    if (known === undefined && baseUrl === null)
      return { fault: `names the service ${JSON.stringify(written.slice(0, 50))}, which is not known. Give its base URL` };
    const service = known ?? compatible(legalName('providers', written));
    const url = fullUrl(service, baseUrl);
    if (url === null) return { fault: `needs the base URL of ${service.name}, which the file does not have` };
    if (!URL.canParse(url))
      return { fault: `has a base URL that is no URL as it is: ${JSON.stringify(url.slice(0, 100))}. Write the whole URL` };
    const id = JSON.stringify([service.kind, url, key, headers ?? null]);
    const provider = this.#names.get(id) ?? this.#create(service, url, key, headers);
    if (provider === null) return { fault: 'its provider cannot be taken' };
    this.#names.set(id, provider);
    return { ref: `${provider}/${model}`, provider };
  }

  #create(service: Service, url: string, key: string | null, headers: Json = {}): string | null {
    const host = secretHostOf(url);
    const variable = key === null ? null : (/^\$\{([A-Za-z_]\w*)\}$/.exec(key)?.[1] ?? null);
    const isSet = key !== null && key !== '' && !/^(none|null|dummy|fake|anything|empty|not-needed|sk-?(1234)?)$/i.test(key);
    const secret = isSet
      ? this.#draft.secret(variable === null ? [`${service.name}_API_KEY`] : [variable], isPlaceholder(key) ? null : key, host)
      : null;
    const isOther = service.kind === 'openai' && url !== defaultBaseUrl(service.kind);
    return this.#draft.add('providers', isOther ? 'openai-compatible' : service.name, {
      kind: isOther ? 'openai-compatible' : service.kind,
      ...(url !== defaultBaseUrl(service.kind) && { baseUrl: url }),
      ...(secret !== null && { apiKeySecret: secret }),
      ...(Object.keys(headers).length > 0 && { headers }),
    });
  }
}

/** Returns the base URL as Moniker has it: with the version of the API, without the path of an operation. */
function fullUrl({ name, kind, baseUrl }: Service, given: string | null): string | null {
  if (given === null) return baseUrl ?? defaultBaseUrl(kind);
  const url = given.replace(/\/+$/, '').replace(/\/(chat\/completions|completions|messages|responses)$/, '');
  if (name === 'azure') return /\/openai\/v1$/.test(url) ? url : `${url.replace(/\/openai(\/.*)?$/, '')}/openai/v1`;
  const needsVersion = name === 'ollama' || kind === 'anthropic';
  return needsVersion && /^https?:\/\/[^/]+$/.test(url) ? `${url}/v1` : url;
}

/** Models that clients know under one name. */
export type ModelGroup = { name: string; refs: readonly string[]; settings?: Json };

/**
 * Makes the name of a group usable: as a model alias if it stands for one model, else as an agent with fallbacks and an alias of the agent.
 */
export function addModelGroup(draft: ImportDraft, { name, refs, settings = {} }: ModelGroup): void {
  const [model, ...others] = [...new Set(refs)];
  if (model === undefined || model === name) return;
  if (others.length === 0 && Object.keys(settings).length === 0) {
    draft.add('modelAliases', name, { model });
    return;
  }
  const fallbacks = others.slice(0, 8);
  for (const left of others.slice(8)) draft.skip(`${name}: ${left}`, 'an agent has at most 8 fallbacks');
  const agent = draft.add('agents', name, {
    model,
    ...(fallbacks.length > 0 && { fallbacks }),
    ...(Object.keys(settings).length > 0 && { settings }),
  });
  if (agent !== null) draft.add('modelAliases', name, { model: `agent/${agent}` });
}

/** Reports the timeouts of a gateway, which count other spans than those of providers and agents do. */
export function skipTimeouts(draft: ImportDraft, path: string, value: Json): void {
  for (const member of ['timeout', 'request_timeout', 'stream_timeout'])
    if (value[member] != null) draft.skip(`${path}.${member}`, 'set `timeouts` of the agent, or of its providers');
}

/** The settings of an agent for the parameters of Chat Completions. */
export function settingsOf({ temperature, top_p, max_tokens }: Json): Json {
  return {
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof top_p === 'number' && { topP: top_p }),
    ...(typeof max_tokens === 'number' && { maxOutputTokens: max_tokens }),
  };
}
