/** What the files of model gateways set for the requests to a model: timeouts, default parameters and prices. */
import type { Json } from '../../json/wire-value.ts';
import { limits } from '../../limits/limits.ts';
import { cacheSeconds } from '../../model/cache/cache-policy.ts';
import type { Price } from '../../model/price.ts';
import { maxRouteRetries } from '../../model/route.ts';
import type { ModelTimeouts } from '../../model/timeouts.ts';
import { parsePart } from '../../problem.ts';
import { AgentSettings } from '../../turn/agent.ts';
import type { ImportDraft } from '../draft.ts';
import type { Members } from '../members.ts';
import { unmapped } from './unmapped.ts';

type WrittenTimeouts = { whole: readonly string[]; stream?: readonly string[]; between?: readonly string[]; unit?: number };

/** Reads timeouts in seconds, or in `unit` milliseconds. Those of a request that is not streamed count for the first output of a stream too. */
export function takeTimeouts(
  draft: ImportDraft,
  from: Members,
  { whole, stream = [], between = [], unit = 1_000 }: WrittenTimeouts,
): ModelTimeouts {
  const read = (names: readonly string[]): number | undefined => {
    const given = from.number(...names);
    if (given === null || given <= 0) return undefined;
    const wanted = Math.max(100, Math.round(given * unit));
    const most = limits.providerWholeTimeoutMs;
    if (wanted > most)
      draft.warn(from.pathOf(names.find((name) => from.has(name)) ?? ''), `${wanted} ms is more than ${most}, which is used`);
    return Math.min(wanted, most);
  };
  const betweenBytesMs = read(between);
  const wholeMs = read(whole);
  const firstByteMs = read(stream) ?? wholeMs;
  return {
    ...(firstByteMs !== undefined && { firstByteMs }),
    ...(wholeMs !== undefined && { wholeMs }),
    ...(betweenBytesMs !== undefined && { betweenBytesMs }),
  };
}

/** Returns undefined if the file has none. */
export function takeRetries(from: Members | null, name: string): number | undefined {
  const given = from?.number(name) ?? null;
  if (given === null) return undefined;
  if (given > maxRouteRetries) from?.change(name, `is more than ${maxRouteRetries}, which is used`);
  return Math.min(Math.max(0, Math.round(given)), maxRouteRetries);
}

/** Returns the seconds for which replies are stored; null if a model alias cannot have them. */
export function takeCacheTime(from: Members | null, ...names: readonly string[]): number | null {
  const given = from?.number(...names) ?? null;
  return given !== null && given >= cacheSeconds.min && given <= cacheSeconds.max ? Math.round(given) : null;
}

/** Parameters of Chat Completions that are settings of an agent; `written`: what they are called. */
const parameters: readonly (readonly [setting: keyof typeof AgentSettings.shape, written: readonly string[]])[] = [
  ['temperature', ['temperature']],
  ['topP', ['top_p']],
  ['maxOutputTokens', ['max_completion_tokens', 'max_tokens', 'max_output_tokens']],
  ['reasoningEffort', ['reasoning_effort']],
  ['parallelToolCalls', ['parallel_tool_calls']],
];

/** Those that are no settings of an agent. */
const otherParameters = [
  ...['stop', 'seed', 'n', 'stream', 'user', 'presence_penalty', 'frequency_penalty', 'logit_bias', 'logprobs', 'top_logprobs', 'top_k'],
  ...['response_format', 'tools', 'tool_choice', 'functions', 'function_call', 'metadata', 'service_tier', 'store', 'stream_options'],
  ...['modalities', 'audio', 'prediction', 'web_search_options', 'extra_body', 'extra_query', 'messages', 'prompt', 'dimensions'],
  ...['encoding_format', 'safety_settings', 'verbosity', 'prompt_cache_key'],
];

/** Reads default parameters of requests as the settings of an agent. */
export function takeSettings(from: Members): Json {
  const settings: Json = {};
  const set = (setting: string, value: unknown, name: string): void => {
    const parsed = parsePart(AgentSettings, { [setting]: value });
    if ('issues' in parsed) from.fault(name, parsed.issues[0]?.message ?? 'is not valid');
    else settings[setting] = value;
  };
  for (const [setting, written] of parameters) {
    const name = written.find((one) => from.has(one));
    const value = from.take(...written);
    if (name !== undefined) set(setting, value, name);
  }
  const thinking = from.record('thinking');
  const budget = thinking?.number('budget_tokens') ?? null;
  thinking?.ignore('type');
  if (budget !== null) set('reasoningBudget', budget, 'thinking');
  from.skip(otherParameters, unmapped.parameter);
  return settings;
}

/** Reads prices for each token as those for a million. null: the file has none. */
export function takePrice(from: readonly Members[]): Price | null {
  const read = (name: string): number | null => {
    const found = from.map((members) => members.number(name)).find((value) => value !== null) ?? null;
    return found === null ? null : Number((found * 1_000_000).toPrecision(12));
  };
  const [input, output] = [read('input_cost_per_token'), read('output_cost_per_token')];
  const [cachedInput, cacheWrite] = [read('cache_read_input_token_cost'), read('cache_creation_input_token_cost')];
  if (input === null || output === null) {
    for (const [name, price] of Object.entries({ input_cost_per_token: input, output_cost_per_token: output }))
      if (price !== null) from[0]?.fault(name, 'is left out: a price is one for input and one for output');
    return null;
  }
  return {
    input,
    output,
    ...(cachedInput !== null && { cachedInput }),
    ...(cacheWrite !== null && { cacheWrite }),
  };
}
