/**
 * The settings of a request that its model supports, independent of the API: without what the profile marks as unsupported, so that the
 * adapters only rename the rest. Reasoning is requested as `reasoningBudget` in tokens, `reasoningEffort` as a name, or both; the adapter
 * decides what its API supports, and the profile which efforts a model supports. What is left out is reported to the request.
 */
import { definedSettings, type ModelSettings, settingsIn } from '../core/model/model-settings.ts';
import { ExtraSetting, type Profile, type SchemaDialect } from '../core/model/provider-profile.ts';
import { type ProviderWire, wireOf, wireSettings } from '../core/model/wire-settings.ts';
import { isRecord, type Json, listOf, recordOf } from '../core/json/wire-value.ts';
import { compileSchema } from '../core/schema/schema-compiler.ts';
import type { Dropped } from '../core/model/dropped.ts';
import type { DialectName } from '../core/text/reference.ts';
import type { ChatRequest } from '../ports/chat-model.ts';
import { providerSearch } from './web-search.ts';
import { isComplete } from './tool-definitions.ts';

export function supportedSettings(
  { settings, dropped, reserve }: SettingsRequest & { reserve?: unknown },
  profile: Profile,
  wire: ProviderWire,
  hasTools: boolean,
): ModelSettings {
  const taken: ModelSettings = { ...settings };
  const leave = (reason: string, ...names: readonly (keyof ModelSettings)[]): void => {
    for (const name of names) {
      if (taken[name] !== undefined) dropped?.setting(name, reason);
      delete taken[name];
    }
  };
  // Settings about tools are rejected if there are no tools, and then say nothing; parallel calls are the default everywhere.
  if (!hasTools || !(profile.parallelToolCalls || taken.parallelToolCalls === false)) delete taken.parallelToolCalls;
  if (taken.parallelToolCalls === true && !wireSettings[wire].has('parallelToolCalls')) delete taken.parallelToolCalls;
  if (taken.stop?.length === 0) delete taken.stop;
  // What becomes of the tool choice is decided with the tools.
  leave(
    'the API does not have it',
    ...settingsIn(taken).filter((name) => name !== 'toolChoice' && name !== 'webSearch' && !wireSettings[wire].has(name)),
  );
  if (taken.webSearch !== undefined) {
    const rules = { profile, wire, hasTools, isLimited: reserve !== undefined, dropped };
    taken.webSearch = providerSearch(taken.webSearch, rules);
    if (taken.webSearch === undefined) delete taken.webSearch;
  }
  leave('the model does not accept it', ...excluded(profile, wire));
  if (!fitsReasoning(taken, profile)) leave('the model does not accept it', 'reasoningEffort', 'reasoningBudget');
  if ((taken.user?.length ?? 0) > maxUserCharacters) leave(`has more than ${maxUserCharacters} characters`, 'user');
  const most = profile.maxStops ?? Number.POSITIVE_INFINITY;
  for (const index of taken.stop?.slice(most).keys() ?? []) dropped?.setting('stop', `at most ${most} are accepted`, `[${most + index}]`);
  if (taken.stop !== undefined) taken.stop = taken.stop.slice(0, most);
  return { ...definedSettings({ maxOutputTokens: profile.defaultMaxTokens ?? undefined }), ...taken };
}

type SettingsRequest = Pick<ChatRequest, 'settings' | 'dropped'>;

/** OpenAI's members of the prompt cache, in both of its APIs. */
export function cacheFields({ promptCacheKey: key, promptCacheRetention: retention, promptCacheOptions: options }: ModelSettings): Json {
  return {
    ...(key !== undefined && { prompt_cache_key: key }),
    ...(retention !== undefined && { prompt_cache_retention: retention }),
    ...(options !== undefined && { prompt_cache_options: options }),
  };
}

/** Longer ids are a 400 at OpenAI (API reference, `safety_identifier`). */
const maxUserCharacters = 64;

function excluded(profile: Profile, wire: ProviderWire): (keyof ModelSettings)[] {
  const isOpenAi = wire === 'openai-chat' || wire === 'openai-responses';
  return [
    ...(profile.noSampling ? (['temperature', 'topP', 'topK'] as const) : []),
    ...(profile.noPenalties ? (['frequencyPenalty', 'presencePenalty'] as const) : []),
    ...(profile.noStop ? (['stop'] as const) : []),
    ...(profile.parallelToolCalls ? [] : (['parallelToolCalls'] as const)),
    ...(profile.cacheMarks === 'none' ? (['cache'] as const) : []),
    ...(wire === 'openai-chat' && !profile.topK ? (['topK'] as const) : []),
    ...(isOpenAi ? ExtraSetting.options.filter((name) => !profile.extraSettings.includes(name)) : []),
  ];
}

/** A model that does not reason needs not be told not to. */
function fitsReasoning(settings: ModelSettings, { reasoning, thinkingSwitch }: Profile): boolean {
  return reasoning !== 'none' || thinkingSwitch || requestedReasoning(settings) === 'off';
}

/**
 * Returns the request without an output format that its model cannot be held to: next to tools, or of a model without structured outputs or
 * JSON mode. The model is asked for it instead, which is the nearest form; what is not enforced is reported.
 */
export function withAskedFormat(request: ChatRequest, { formatWithTools, jsonMode, outputSchema }: Profile): ChatRequest {
  const format = requestedFormat(request.settings);
  if (format === null) {
    const isLeft = request.settings.responseFormat !== undefined && !wireSettings[wireOf(request.access.kind)].has('anyFormat');
    if (isLeft) request.dropped?.setting('responseFormat', 'the API has no such format');
    return request;
  }
  const isAccepted = format.schema === null ? jsonMode : outputSchema;
  if (isAccepted && (formatWithTools || request.tools.length === 0)) return request;
  const { responseFormat: _format, ...settings } = request.settings;
  request.dropped?.setting('responseFormat', 'the model is asked for it, and not held to it');
  const schema = format.schema === null ? '' : ` It must match this JSON Schema:\n${JSON.stringify(format.schema)}`;
  const text = `Write your final answer as one JSON object and nothing else.${schema}`;
  return { ...request, settings, messages: [{ role: 'system', parts: [{ type: 'text', text }] }, ...request.messages] };
}

/** Returns the requested output format, for APIs that differ from Chat Completions. null: any; `schema` null: any JSON. */
export function requestedFormat({ responseFormat: format }: ModelSettings): { schema: Json | null } | null {
  if (!isRecord(format)) return null;
  if (format.type === 'json_object') return { schema: null };
  if (format.type !== 'json_schema') return null;
  const named = format.json_schema;
  return { schema: isRecord(named) && isRecord(named.schema) ? named.schema : null };
}

/** The same with the schema in the form of the API. */
export function compiledFormat({ settings, dropped }: SettingsRequest, dialect: SchemaDialect): { schema: Json | null } | null {
  const format = requestedFormat(settings);
  if (format === null || format.schema === null) return format;
  const compiled = compileSchema(format.schema, dialect);
  if (compiled.ok) return { schema: compiled.schema };
  dropped?.setting('responseFormat', `its schema ${compiled.fault}`);
  return { schema: null };
}

/** For OpenAI's APIs: a schema that is not complete cannot be enforced, and is refused if it is to be. Other APIs enforce optional fields, too. */
export function openAiFormat(given: unknown, { dropped }: SettingsRequest, { schemas }: Profile): unknown {
  const format = recordOf(given);
  const named = recordOf(format.json_schema);
  if (schemas !== 'openai' || named.strict !== true || isComplete(named.schema)) return given;
  dropped?.setting('responseFormat', 'its schema has optional fields', '.strict');
  return { ...format, json_schema: { ...named, strict: false } };
}

/** `off`: none. Otherwise at least one of the two is set. */
export type RequestedReasoning = 'off' | { budget?: number; effort?: string };

/** null: not set. A budget takes precedence over the effort if they contradict: 0 is `off`, any other is not. */
export function requestedReasoning({ reasoningBudget: budget, reasoningEffort: effort }: ModelSettings): RequestedReasoning | null {
  if (budget === undefined && effort === undefined) return null;
  if (budget === 0 || (budget === undefined && effort === 'none')) return 'off';
  return { ...(budget !== undefined && { budget }), ...(effort !== undefined && effort !== 'none' && { effort }) };
}

/** Returns an effort that the model supports, and reports what differs. A budget alone becomes the effort with about as many tokens. */
export function effortLevel(
  reasoning: RequestedReasoning,
  efforts: readonly string[] | null,
  { settings, dropped }: SettingsRequest,
): string {
  const sent = nearest(reasoning === 'off' ? 'none' : (reasoning.effort ?? wordOf(reasoning.budget ?? 0)), efforts);
  if (settings.reasoningEffort !== undefined) sentAs('reasoningEffort', settings.reasoningEffort, sent, { dropped });
  if (settings.reasoningBudget !== undefined && (reasoning !== 'off' || sent !== 'none'))
    dropped?.setting('reasoningBudget', 'the API takes an effort', `=${sent}`);
  return sent;
}

/** Returns the budget, else that of the effort, and reports what differs. undefined: the effort has none. */
export function budgetTokens(
  { budget, effort }: Exclude<RequestedReasoning, 'off'>,
  budgets: Readonly<Record<string, number>>,
  { dropped }: Pick<ChatRequest, 'dropped'>,
): number | undefined {
  if (effort === undefined) return budget;
  if (budget !== undefined) {
    dropped?.setting('reasoningEffort', 'the budget is sent in its place');
    return budget;
  }
  const tokens = budgets[effort];
  const lowest = Object.keys(budgets).find((name) => budgets[name] === tokens) ?? 'default';
  sentAs('reasoningEffort', effort, lowest, { dropped });
  return tokens;
}

/** Returns the value that is sent, and reports it if it is another one: `temperature=1`. */
export function sentAs<Value extends string | number>(
  name: keyof ModelSettings,
  given: Value,
  sent: Value,
  { dropped }: Pick<ChatRequest, 'dropped'>,
): Value {
  if (sent !== given) dropped?.setting(name, `the model is sent ${sent}, the nearest value that it accepts`, `=${sent}`);
  return sent;
}

function wordOf(budget: number): string {
  return budget <= 2048 ? 'low' : budget <= 8192 ? 'medium' : 'high';
}

const ladder: readonly string[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** Returns the smallest supported effort that is not less, otherwise the largest. Unknown names of the provider are kept. */
function nearest(word: string, efforts: readonly string[] | null): string {
  if (efforts === null || efforts.includes(word) || !ladder.includes(word)) return word;
  const wanted = ladder.indexOf(word);
  return efforts.find((effort) => ladder.indexOf(effort) >= wanted) ?? efforts.at(-1) ?? word;
}

// ---- Requests that are passed on ----

/**
 * Adapts a request in its provider's own wire to its model, as little as a turn is adapted: members that the model is known to refuse with an
 * error are renamed or left out and named, so that a name of a model may stand for another one. Returns the same object if nothing has to
 * change.
 */
export function adaptPassed(body: Json, dialect: DialectName, profile: Profile, dropped: Dropped | undefined): Json {
  const isChat = dialect === 'openai-chat';
  const renames = isChat && profile.noSampling && profile.maxTokensField === 'max_completion_tokens' && body.max_tokens != null;
  const given = listOf(body.messages);
  const messages = isChat ? withoutFields(given, profile, dropped) : given;
  const refused = refusedMembers(body, profile, isChat).filter(([name, plain]) => body[name] != null && body[name] !== plain);
  if (refused.length === 0 && !renames && messages === given) return body;
  const adapted: Json = { ...body, ...(messages !== given && { messages }) };
  for (const [name] of refused) {
    delete adapted[name];
    dropped?.add(name, 'the model does not accept it');
  }
  if (!renames) return adapted;
  const { max_tokens: limit, ...rest } = adapted;
  if (rest.max_completion_tokens != null && rest.max_completion_tokens !== limit)
    dropped?.add('max_tokens', 'max_completion_tokens is sent in its place');
  return { ...rest, max_completion_tokens: rest.max_completion_tokens ?? limit };
}

/** Returns the messages without fields that other providers have sent and this one rejects; the same list if there are none. */
export function withoutFields(messages: readonly unknown[], { refusedFields }: Profile, dropped: Dropped | undefined): readonly unknown[] {
  if (refusedFields.length === 0) return messages;
  let isChanged = false;
  const without = (value: unknown, path: string): unknown => {
    const names = isRecord(value) ? refusedFields.filter((name) => name in value) : [];
    if (names.length === 0) return value;
    isChanged = true;
    for (const name of names) dropped?.add(`${path}.${name}`, 'the server does not accept it');
    return Object.fromEntries(Object.entries(recordOf(value)).filter(([name]) => !names.some((refused) => refused === name)));
  };
  const left = messages.map((message: unknown) => {
    if (recordOf(message).role !== 'assistant') return message;
    const bare = recordOf(without(message, 'messages[]'));
    const { tool_calls: calls } = bare;
    return Array.isArray(calls) ? { ...bare, tool_calls: calls.map((call) => without(call, 'messages[].tool_calls[]')) } : bare;
  });
  return isChanged ? left : messages;
}

/** With the value that is accepted in any case, because it is the default. */
function refusedMembers(body: Json, { noSampling, noPenalties, noStop }: Profile, isChat: boolean): [string, unknown][] {
  // Without reasoning, OpenAI's models accept sampling settings (guide "Using GPT-5.2").
  const effort = isRecord(body.reasoning) ? body.reasoning.effort : body.reasoning_effort;
  if (effort === 'none') return [];
  return [
    ...(noSampling
      ? ([
          ['temperature', 1],
          ['top_p', 1],
          ['top_k', undefined],
        ] satisfies [string, unknown][])
      : []),
    ...(noPenalties && isChat
      ? ([
          ['frequency_penalty', 0],
          ['presence_penalty', 0],
        ] satisfies [string, unknown][])
      : []),
    ...(noStop && isChat ? ([['stop', undefined]] satisfies [string, unknown][]) : []),
  ];
}
