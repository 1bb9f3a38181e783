/**
 * Model services by the names that model gateways give them: the wire protocol and the base URL of each; and the providers and model groups
 * that an import makes of their deployments.
 */
import type { Json } from '../../json/wire-value.ts';
import type { CachePolicy } from '../../model/cache/cache-policy.ts';
import type { Price } from '../../model/price.ts';
import { maxRouteFallbacks, maxTargets, type ModelRoute, type RouteTarget } from '../../model/route.ts';
import type { ModelTimeouts } from '../../model/timeouts.ts';
import { defaultBaseUrl, knownBaseUrl, type ProviderKind } from '../../names/provider-kind.ts';
import { quoted } from '../../problem.ts';
import { onlyVariable, placeholder } from '../../project/expand-variables.ts';
import { isCredentialFor, isCredentialName, isPlaceholder } from '../../secrets/credentials.ts';
import { secretHostOf } from '../../secrets/secret.ts';
import type { ImportDraft } from '../draft.ts';
import { legalName, secretName } from '../names.ts';
import { type CloudParts, cloudService, type CloudService, type Credential } from './cloud-services.ts';

/** `baseUrl` absent: the default of the kind, or the file must have it. */
type Service = { name: string; kind: ProviderKind; baseUrl?: string };

const compatible = (name: string, baseUrl?: string): Service => ({
  name,
  kind: 'openai-compatible',
  ...(baseUrl !== undefined && { baseUrl }),
});

/** By the names of one service in the files of the gateways. A text: why a service with another wire protocol or signature is not supported. */
const rows: readonly (readonly [names: readonly string[], service: Service | string])[] = [
  [['openai', 'text-completion-openai'], { name: 'openai', kind: 'openai' }],
  [['anthropic'], { name: 'anthropic', kind: 'anthropic' }],
  [['gemini', 'google'], { name: 'gemini', kind: 'gemini' }],
  [['cohere', 'cohere_chat'], { name: 'cohere', kind: 'cohere' }],
  [['azure', 'azure-openai'], { name: 'azure', kind: 'azure-openai' }],
  [['bedrock'], { name: 'bedrock', kind: 'bedrock' }],
  [['vertex_ai', 'vertex-ai', 'vertex'], { name: 'vertex', kind: 'vertex' }],
  [['azure_ai', 'azure-ai'], compatible('azure-ai')],
  [['groq'], compatible('groq', 'https://api.groq.com/openai/v1')],
  [['mistral', 'mistral-ai'], compatible('mistral', 'https://api.mistral.ai/v1')],
  [['codestral'], compatible('codestral', 'https://codestral.mistral.ai/v1')],
  [['deepseek'], compatible('deepseek', 'https://api.deepseek.com/v1')],
  [['xai', 'x-ai'], compatible('xai', 'https://api.x.ai/v1')],
  [['openrouter'], compatible('openrouter', 'https://openrouter.ai/api/v1')],
  [['together_ai', 'together-ai'], compatible('together', 'https://api.together.xyz/v1')],
  [['fireworks_ai', 'fireworks-ai', 'fireworks'], compatible('fireworks', 'https://api.fireworks.ai/inference/v1')],
  [['perplexity', 'perplexity-ai'], compatible('perplexity', 'https://api.perplexity.ai')],
  [['cerebras'], compatible('cerebras', 'https://api.cerebras.ai/v1')],
  [['nvidia_nim', 'nvidia'], compatible('nvidia', 'https://integrate.api.nvidia.com/v1')],
  [['deepinfra'], compatible('deepinfra', 'https://api.deepinfra.com/v1/openai')],
  [['sambanova'], compatible('sambanova', 'https://api.sambanova.ai/v1')],
  [['moonshot'], compatible('moonshot', 'https://api.moonshot.ai/v1')],
  [['dashscope'], compatible('dashscope', 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1')],
  [['nebius'], compatible('nebius', 'https://api.studio.nebius.ai/v1')],
  [['parasail'], compatible('parasail', 'https://api.parasail.io/v1')],
  [['zai', 'zhipu'], compatible('zai', 'https://api.z.ai/api/paas/v4')],
  [['huggingface'], compatible('huggingface', 'https://router.huggingface.co/v1')],
  [['novita', 'novita-ai'], compatible('novita', 'https://api.novita.ai/v3/openai')],
  [['hyperbolic'], compatible('hyperbolic', 'https://api.hyperbolic.xyz/v1')],
  [['ai21'], compatible('ai21', 'https://api.ai21.com/studio/v1')],
  [['github'], compatible('github', 'https://models.github.ai/inference')],
  [['ollama', 'ollama_chat'], compatible('ollama', 'http://127.0.0.1:11434/v1')],
  [['lm_studio'], compatible('lm-studio', 'http://127.0.0.1:1234/v1')],
  [['vllm', 'hosted_vllm', 'sgl'], compatible('vllm')],
  [['custom_openai', 'openai_like'], compatible('custom')],
  [['litellm_proxy'], compatible('litellm')],
  [['bedrock_mantle'], 'Amazon Bedrock’s second API is not known'],
  [['sagemaker'], 'Amazon SageMaker signs its requests (SigV4)'],
  [['watsonx'], 'watsonx needs tokens of IBM Cloud'],
  [['replicate'], 'Replicate has another API'],
  [['elevenlabs'], 'ElevenLabs has no chat models'],
  [['deepgram'], 'Deepgram has no chat models'],
  [['runway'], 'Runway has no chat models'],
  [['runware'], 'Runware has no chat models'],
];

const services: ReadonlyMap<string, Service | string> = new Map(
  rows.flatMap(([names, service]) => names.map((name) => [name, service] as const)),
);

/** Returns undefined for a service that is not known. */
export function kindOfService(name: string): ProviderKind | undefined {
  const known = services.get(name);
  return typeof known === 'string' ? undefined : known?.kind;
}

/**
 * One model at one service. `key` null: the file has none; `usesEnvironment`: the program then reads it from the environment. `otherKeys`: used
 * in turn with it. `provider`: the name that its provider should have.
 */
export type Deployment = {
  service: string;
  model: string;
  baseUrl: string | null;
  key: Credential | null;
  otherKeys?: readonly Credential[];
  usesEnvironment?: boolean;
  headers?: Readonly<Record<string, string>>;
  timeouts?: ModelTimeouts;
  price?: Price | null;
  provider?: string;
  cloud?: CloudParts;
};

/** Adds the provider of a deployment, or finds it, and returns the model reference. A `fault` says why it cannot be taken. */
export class ProviderList {
  readonly #draft: ImportDraft;
  /** By what they are made of. Clients may need one under several names. */
  readonly #names = new Map<string, string[]>();
  /** By reference. */
  readonly #prices = new Map<string, Price>();

  constructor(draft: ImportDraft) {
    this.#draft = draft;
  }

  add(deployment: Deployment): { ref: string; provider: string } | { fault: string } {
    const { service: written, model, baseUrl, key, otherKeys = [], headers, timeouts, provider: wanted } = deployment;
    const known = services.get(written);
    if (typeof known === 'string')
      return { fault: `${known}, which Moniker does not support: use a gateway with an OpenAI-compatible API before it` };
    if (known === undefined && baseUrl === null)
      return { fault: `names the service ${JSON.stringify(written.slice(0, 50))}, which is not known. Give its base URL` };
    const service = known ?? compatible(legalName('providers', written));
    const cloud = cloudService(service.kind, deployment.cloud, deployment.usesEnvironment === true && key === null);
    const url = fullUrl(service, baseUrl) ?? knownBaseUrl({ ...service, ...cloud?.place });
    if (url === null) return { fault: `needs the base URL of ${service.name}, which the file does not have` };
    if (!URL.canParse(url) && !url.includes('${')) return { fault: 'has a base URL that is no URL as it is. Write the whole URL' };
    const id = JSON.stringify([service.kind, url, key, otherKeys, headers ?? null, timeouts ?? null, cloud]);
    const names = this.#names.get(id) ?? [];
    const provider = names.find((name) => wanted === undefined || name === wanted) ?? this.#create(deployment, service, url, cloud);
    if (provider === null) return { fault: 'its provider cannot be taken' };
    if (!names.includes(provider)) this.#names.set(id, [...names, provider]);
    return { ref: `${provider}/${model}`, provider };
  }

  /** Sets the price of a model that was added. Returns false if it has another price already. */
  price(ref: string, price: Price): boolean {
    const known = this.#prices.get(ref);
    if (known !== undefined) return JSON.stringify(known) === JSON.stringify(price);
    this.#prices.set(ref, price);
    const provider = ref.slice(0, ref.indexOf('/'));
    const own = [...this.#prices].filter(([one]) => one.startsWith(`${provider}/`));
    return this.#draft.amend('providers', provider, {
      prices: Object.fromEntries(own.map(([one, of]) => [one.slice(provider.length + 1), of])),
    });
  }

  #create(
    { baseUrl, key, otherKeys = [], usesEnvironment, headers = {}, timeouts = {}, provider }: Deployment,
    service: Service,
    url: string,
    cloud: CloudService | null,
  ): string | null {
    // The hosts of a secret without hosts are those of the documents that name it.
    const host = url.includes('${') ? undefined : secretHostOf(url);
    const isOther = service.kind === 'openai' && url !== defaultBaseUrl(service.kind);
    const name = provider ?? (isOther ? 'openai-compatible' : service.name);
    const credential = cloud?.key ?? key ?? (usesEnvironment === true && baseUrl === null ? environmentKey(service) : null);
    const keys = [...(credential === null ? [] : [credential]), ...otherKeys].filter(({ text }) => !isNoKey(text));
    const secrets = [...new Set(keys.map((one) => this.#secret(`${service.name}_API_KEY`, one, host)))];
    const sent = Object.entries(headers).map(([header, text]): [string, unknown] => [
      header,
      isHidden(header, text) ? { secret: this.#secret(`${service.name}_${header}`, { text, variable: null }, host) } : text,
    ]);
    return this.#draft.add('providers', name, {
      kind: isOther ? 'openai-compatible' : service.kind,
      ...(url !== defaultBaseUrl(service.kind) && (cloud === null || baseUrl !== null) && { baseUrl: url }),
      ...cloud?.place,
      ...(secrets.length > 1 ? { apiKeySecrets: secrets } : secrets.length === 1 && { apiKeySecret: secrets[0] }),
      ...(sent.length > 0 && { headers: Object.fromEntries(sent) }),
      ...(Object.keys(timeouts).length > 0 && { timeouts }),
    });
  }

  #secret(name: string, { text, variable }: Credential, host: string | undefined): string {
    const named = onlyVariable(text) ?? variable;
    return this.#draft.secret(named === null ? [name] : [named, name], isPlaceholder(text) ? null : text, host);
  }
}

/** The variable that clients of a service read its key from; null if it needs none. */
function environmentKey({ name, kind, baseUrl }: Service): Credential | null {
  const url = baseUrl ?? defaultBaseUrl(kind);
  if (url === null || url.startsWith('http://127.0.0.1')) return null;
  const variable = secretName(name, 'API_KEY');
  return { text: placeholder(variable), variable };
}

function isHidden(header: string, value: string): boolean {
  const variable = onlyVariable(value);
  return isCredentialFor(header, value) || (variable !== null && isCredentialName(variable));
}

/** Values that people write where a program wants a key and the service none. */
function isNoKey(text: string): boolean {
  return /^(|none|null|dummy|fake|anything|empty|not-needed|sk-?(1234)?)$/i.test(text);
}

/** Returns the base URL as Moniker has it: with the version of the API, without the path of an operation. It may be a variable. */
function fullUrl({ name, kind, baseUrl }: Service, given: string | null): string | null {
  if (given === null) return baseUrl ?? defaultBaseUrl(kind);
  const url = given.replace(/\/+$/, '').replace(/\/(chat\/completions|completions|messages|responses)$/, '');
  if (kind === 'azure-openai') return url.replace(/\/openai(\/.*)?$/, '');
  const needsVersion = name === 'ollama' || kind === 'anthropic';
  return needsVersion && /^https?:\/\/[^/]+$/.test(url) ? `${url}/v1` : url;
}

/** Models that clients know under one name. `path`: of what names them in the file. */
export type ModelGroup = { name: string; path: string; route: ModelRoute; cache?: CachePolicy | undefined; settings?: Json };

/**
 * Makes the name of a group usable: as a model alias of one model, or as a route. With settings it is an agent that uses that, and an alias of
 * the agent.
 */
export function addModelGroup(draft: ImportDraft, { name, path, route: given, cache, settings = {} }: ModelGroup): void {
  const route = fitRoute(draft, path, given);
  const [first] = route.targets;
  if (first === undefined) return;
  const { targets, strategy: _strategy, sticky: _sticky, ...others } = route;
  const isOne = targets.length === 1 && Object.keys(others).length === 0;
  const document = isOne ? { model: first.model } : route;
  const cached = cache === undefined ? {} : { cache };
  if (Object.keys(settings).length === 0) {
    if (!isOne || first.model !== name || cache !== undefined) draft.add('modelAliases', name, { ...document, ...cached }, path);
    return;
  }
  // No legal name, so that it does not take one that the file has.
  const inner = draft.freeName('modelAliases', `${draft.freeName('agents', name)} models`);
  const model = isOne ? first.model : draft.add('modelAliases', inner, document, path);
  const agent = model === null ? null : draft.add('agents', name, { model, settings });
  if (agent === null) return;
  draft.warn(
    path,
    `is the agent ${quoted(agent)}: a request without tools of the client is a turn of a session, which refuses \`n\` and \`logprobs\`${cache === undefined ? '' : ', and is not cached'}`,
  );
  draft.add('modelAliases', name, { model: `agent/${agent}`, ...cached }, path);
}

/** Names each model once, and no more than a route can have. */
function fitRoute(draft: ImportDraft, path: string, { targets, fallbacks = [], ...others }: ModelRoute): ModelRoute {
  const shares = new Map<string, RouteTarget>();
  for (const { model, weight } of targets) {
    const known = shares.get(model);
    if (known !== undefined) shares.set(model, { model, weight: (known.weight ?? 1) + (weight ?? 1) });
    else shares.set(model, { model, ...(weight !== undefined && { weight }) });
  }
  const replacing = [...new Set(fallbacks)].filter((model) => !shares.has(model));
  const all = [...shares.values()];
  for (const { model } of all.slice(maxTargets)) draft.skip(path, `${model} is left out: a model alias has at most ${maxTargets} targets`);
  for (const model of replacing.slice(maxRouteFallbacks))
    draft.skip(path, `${model} is left out: a model alias has at most ${maxRouteFallbacks} fallbacks`);
  return {
    targets: all.slice(0, maxTargets),
    ...(replacing.length > 0 && { fallbacks: replacing.slice(0, maxRouteFallbacks) }),
    ...others,
  };
}
