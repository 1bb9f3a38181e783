/**
 * Quirks of OpenAI-compatible providers and models as rows of data: what must be said otherwise, so that the adapter has no
 * special cases. A row's fields are laid over the ones before it; a provider's own `profile` setting over all of them.
 */
import type { ProviderAccess, ProviderProfile } from '../core/provider.ts';

/** A profile with nothing left open. */
export type Profile = Omit<Required<ProviderProfile>, 'callIdLength'> & {
  callIdLength: number | null;
  /** Reasoning must go back as `reasoning_content` while a turn's tools run. */
  echoReasoning: boolean;
  /** The provider's own call ids go back whatever they look like. */
  keepCallIds: boolean;
  /** Longer descriptions of tools are cut. */
  maxToolDescription: number | null;
};

/** All that match apply, later rows over earlier ones. `host` is compared with the end of the base URL's host name. */
type Row = { kind?: ProviderAccess['kind']; host?: string; model?: RegExp; because: string; profile: Partial<Profile> };

const plain: Profile = {
  normalize: false,
  maxTokensField: 'max_tokens',
  streamUsage: true,
  contentNeverNull: false,
  parallelToolCalls: true,
  callIdLength: null,
  echoReasoning: false,
  keepCallIds: false,
  maxToolDescription: null,
};

const rows: readonly Row[] = [
  {
    kind: 'openai',
    because: 'max_tokens is deprecated and refused by reasoning models; function descriptions are limited to 1024 characters',
    profile: { maxTokensField: 'max_completion_tokens', maxToolDescription: 1024 },
  },
  {
    host: 'openrouter.ai',
    because: 'passes through what each backend does: equal indexes, repeated finish reasons',
    profile: { normalize: true },
  },
  {
    host: 'mistral.ai',
    because: 'ids must be nine letters or digits; stream_options is refused, usage comes anyway',
    profile: { callIdLength: 9, streamUsage: false },
  },
  {
    model: /(^|\/)(mistral|ministral|magistral|devstral|codestral|mixtral)/i,
    because: 'the chat template checks the ids wherever it is served',
    profile: { callIdLength: 9 },
  },
  {
    model: /deepseek-(reasoner|v3\.[2-9]|v[4-9])/i,
    because: 'refuses a tool loop whose reasoning_content is missing',
    profile: { echoReasoning: true },
  },
  { host: 'api.deepseek.com', because: 'the same, under names such as deepseek-chat', profile: { echoReasoning: true } },
  {
    model: /kimi-k2.*thinking|kimi-k2\.[5-9]/i,
    because: 'the reasoning of a tool loop must be in its history',
    profile: { echoReasoning: true },
  },
  { model: /kimi-k2/i, because: 'calls go wrong unless ids keep the form functions.<name>:<index>', profile: { keepCallIds: true } },
  { host: 'generativelanguage.googleapis.com', because: 'calls without index, or all with index 0', profile: { normalize: true } },
  { host: 'api.z.ai', because: 'index -1', profile: { normalize: true } },
  { host: 'bigmodel.cn', because: 'index -1', profile: { normalize: true } },
  { host: 'databricks.com', because: 'indexes begin at 1 where text came first', profile: { normalize: true } },
  {
    host: 'api.cloudflare.com',
    because: 'content null is refused; final chunks of null',
    profile: { contentNeverNull: true, normalize: true },
  },
  { model: /^@cf\//, because: 'Workers AI models behind any gateway', profile: { contentNeverNull: true } },
  { host: 'cohere.ai', because: 'its compatible path refuses parallel_tool_calls', profile: { parallelToolCalls: false } },
];

/** Found profiles by the access that they belong to; an access lives as long as the directory keeps it. */
const found = new WeakMap<object, Map<string, Profile>>();
/** Models come from callers: the table of one provider may not grow with them. */
const maxModels = 200;

/** What is known of one model at one provider. */
export function profileFor(access: Pick<ProviderAccess, 'kind' | 'baseUrl' | 'profile'>, model: string): Profile {
  const profiles = found.get(access) ?? new Map<string, Profile>();
  found.set(access, profiles);
  const known = profiles.get(model);
  if (known !== undefined) return known;
  if (profiles.size >= maxModels) profiles.clear();
  const profile = findProfile(access, model);
  profiles.set(model, profile);
  return profile;
}

function findProfile(access: Pick<ProviderAccess, 'kind' | 'baseUrl' | 'profile'>, model: string): Profile {
  const host = hostOf(access.baseUrl);
  const profile = { ...plain };
  for (const row of rows) {
    if (row.kind !== undefined && row.kind !== access.kind) continue;
    if (row.host !== undefined && host !== row.host && !host.endsWith(`.${row.host}`)) continue;
    if (row.model !== undefined && !row.model.test(model)) continue;
    Object.assign(profile, row.profile);
  }
  return Object.assign(profile, access.profile);
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : '';
}
