/**
 * Converts a neutral request to the body of OpenAI's Responses API; `reply.ts` reads the reply. Every request is self-contained:
 * `store: false`, and `input` contains everything that the model must see again. Wire: OpenAI API reference, "Responses: create" (SDK
 * 7.57), guides "Reasoning" (keeping reasoning items in context) and "Function calling".
 */
import { createCallIds, historyArguments, historyName } from '../history-calls.ts';
import { resultItems } from './items.ts';
import type { InputPart, ToolCallPart, ToolResultPart } from '../../core/model/message.ts';
import { markedContent } from '../../core/tools/tool.ts';
import type { ModelSettings } from '../../core/model/model-settings.ts';
import type { Profile } from '../../core/model/provider-profile.ts';
import type { ChatRequest, OfferedTool } from '../../ports/chat-model.ts';
import { endOfSystem, endsOf, lastPart, markIn, markOf, type MarkPlaces, noAnswerMarks, settleMarks } from '../content/cache-marks.ts';
import { dataUrl, imageUrl, plainText, shownInput, shownResult, takesInResult, takesMedia, withEnding } from '../content/input-media.ts';
import { type Assistant, isNativePart, reportReasoning } from '../native-parts.ts';
import { cacheFields, effortLevel, openAiFormat, requestedReasoning, sentAs, supportedSettings } from '../supported-settings.ts';
import { responsesSearch } from '../web-search.ts';
import { offerTools } from '../tool-definitions.ts';
import { isRecord, type Json, listOf, recordOf, stringOf } from '../../core/json/wire-value.ts';

/** The content of `native` parts of this API: one of the three. */
export type ResponsesNative = {
  api: 'openai-responses';
  /** A whole item that is returned unchanged: reasoning, or the result of a provider tool. */
  item?: Json;
  /** Follows the text of a message. */
  message?: { phase: string };
  /** Follows a call that is not a plain function call; found by `call_id`, since calls may interleave in a stream. */
  call?: CallKind & { call_id: string };
};

/** Additional fields of a call and its result. */
type CallKind = { type?: 'custom_tool_call'; namespace?: unknown; caller?: unknown };

/** Returns the body of a streamed request. The API has no stop, seed, top_k, penalties or reasoning budget. */
export function toResponsesBody(request: ChatRequest, profile: Profile): Json {
  const { model } = request;
  const input = toInput(request, profile);
  const body: Json = { model, input, stream: request.whole !== true, store: false };
  // Models without reasoning reject it: "Encrypted content is not supported with this model" (pydantic/pydantic-ai#2865).
  if (profile.reasoning !== 'none') body.include = ['reasoning.encrypted_content'];
  const { tools, toolChoice } = offerTools(request, profile);
  const settings = supportedSettings(request, profile, 'openai-responses', tools.length > 0);
  if (tools.length > 0) {
    body.tools = tools.map((tool) => toTool(tool, profile));
    if (toolChoice !== 'auto') body.tool_choice = typeof toolChoice === 'string' ? toolChoice : { type: 'function', name: toolChoice.tool };
  }
  if (settings.webSearch !== undefined) {
    body.tools = [...listOf(body.tools), responsesSearch(settings.webSearch)];
    body.include = [...listOf(body.include), 'web_search_call.action.sources'];
  }
  settleMarks(markPlaces(input), request, profile);
  return Object.assign(
    body,
    toSettings({ ...settings, responseFormat: openAiFormat(settings.responseFormat, request, profile) }, request, profile),
  );
}

function markPlaces(input: readonly Json[]): MarkPlaces {
  const isInput = ({ role, output }: Json): boolean => role === 'user' || output !== undefined;
  const last = (item: Json) => lastPart(item, item.output === undefined ? 'content' : 'output', 'input_text');
  return {
    blocks: () => input.flatMap(({ content, output }) => [...listOf(content), ...listOf(output)]).map(recordOf),
    ends: endsOf(input, isInput).map((item) => () => last(item)),
    system: () => last(endOfSystem(input)),
  };
}

function toTool(tool: OfferedTool, profile: Profile): Json {
  // An object schema without `properties` is rejected.
  const parameters = { ...tool.inputSchema, type: 'object', properties: tool.inputSchema.properties ?? {} };
  // Unlike Chat Completions, this API is strict by default, and then rejects or rewrites ordinary schemas.
  return {
    type: 'function',
    name: tool.name,
    description: tool.description,
    parameters,
    strict: tool.strict === true || profile.schemas === 'openai-strict',
  };
}

function toSettings(settings: ModelSettings, { dropped }: ChatRequest, profile: Profile): Json {
  const body: Json = {};
  const { maxOutputTokens: limit } = settings;
  if (limit !== undefined) body.max_output_tokens = sentAs('maxOutputTokens', limit, Math.max(limit, leastOutputTokens), { dropped });
  if (settings.temperature !== undefined) body.temperature = settings.temperature;
  if (settings.topP !== undefined) body.top_p = settings.topP;
  if (settings.parallelToolCalls !== undefined) body.parallel_tool_calls = settings.parallelToolCalls;
  const reasoning = requestedReasoning(settings);
  if (reasoning !== null && profile.reasoning !== 'none')
    body.reasoning = { effort: effortLevel(reasoning, profile.efforts, { settings, dropped }), summary: 'auto' };
  const format = toTextFormat(settings.responseFormat);
  const { user, metadata, serviceTier, verbosity } = settings;
  if (format !== null || verbosity !== undefined)
    body.text = { ...(format !== null && { format }), ...(verbosity !== undefined && { verbosity }) };
  if (user !== undefined) body.safety_identifier = user;
  if (metadata !== undefined) body.metadata = metadata;
  if (serviceTier !== undefined) body.service_tier = serviceTier;
  return Object.assign(body, cacheFields(settings));
}

/** Smaller values are a 400: "integer below minimum value. Expected a value >= 16" (earendil-works/pi#6265). */
const leastOutputTokens = 16;

/** Settings use the form of Chat Completions, which nests the schema one level deeper. null: none. */
function toTextFormat(format: unknown): unknown {
  if (!isRecord(format)) return null;
  const { json_schema: nested, ...rest } = format;
  return isRecord(nested) ? { ...rest, ...nested } : format;
}

// ---- Conversation ----

/**
 * System text is an input item instead of `instructions`, so that it keeps its position and may repeat. Calls and results need no grouping;
 * `call_id` connects them.
 */
function toInput(request: ChatRequest, profile: Profile): Json[] {
  const context = createContext(request, profile);
  return request.messages.flatMap((message): Json[] => {
    switch (message.role) {
      case 'system':
        return toMessage('system', plainText(message.parts, profile) ?? message.parts.flatMap(toContent));
      case 'user':
        return toMessage('user', toUserContent(message.parts, request, profile));
      case 'assistant':
        return toAssistantItems(message, context);
      case 'tool':
        return message.parts.flatMap((part) => toOutput(part, context));
      default:
        return message satisfies never;
    }
  });
}

type Context = {
  request: ChatRequest;
  profile: Profile;
  /** Our call id → the id to send. */
  idOf: (callId: string) => string;
  /** Calls with a result. Other calls and results are skipped, because the API rejects them ("No tool output found for function call"). */
  paired: ReadonlySet<string>;
  /** By our call id: calls that are not plain function calls. */
  kinds: ReadonlyMap<string, CallKind>;
};

function createContext(request: ChatRequest, profile: Profile): Context {
  const { messages, access } = request;
  const called = new Set<string>();
  const paired = new Set<string>();
  const kinds = new Map<string, CallKind>();
  for (const message of messages) {
    if (message.role === 'tool') for (const { callId } of message.parts) if (called.has(callId)) paired.add(callId);
    if (message.role !== 'assistant') continue;
    const own = new Map(message.parts.flatMap((part) => callOf(part, message, request)));
    for (const part of message.parts) {
      if (part.type !== 'tool-call') continue;
      called.add(part.callId);
      const kind = part.nativeId === undefined ? undefined : own.get(part.nativeId);
      if (kind !== undefined) kinds.set(part.callId, kind);
    }
  }
  return { request, profile, idOf: createCallIds(messages, access.name, profile), paired, kinds };
}

function callOf(part: Assistant['parts'][number], message: Assistant, request: ChatRequest): [string, CallKind][] {
  const call = part.type === 'native' && isNativePart(part, message, request) ? readNative(part.data)?.call : undefined;
  if (call === undefined) return [];
  const { call_id: id, ...kind } = call;
  return [[id, kind]];
}

/**
 * null for data of another API, from before the provider's kind was changed. Validated strictly: a client with its own history supplies
 * these parts, and must not add an item of another role.
 */
function readNative(data: unknown): ResponsesNative | null {
  if (!isRecord(data) || data.api !== 'openai-responses') return null;
  const { item, message, call } = data;
  const native: ResponsesNative = { api: 'openai-responses' };
  if (isRecord(item) && (item.type === 'reasoning' || item.type === 'custom_tool_call' || resultItems.has(stringOf(item.type))))
    native.item = item;
  if (isRecord(message) && stringOf(message.phase) !== '') native.message = { phase: stringOf(message.phase) };
  if (isRecord(call) && stringOf(call.call_id) !== '') {
    const { namespace, caller, type } = call;
    const custom = type === 'custom_tool_call' && ({ type } as const);
    native.call = {
      call_id: stringOf(call.call_id),
      ...custom,
      ...(namespace != null && { namespace }),
      ...(caller != null && { caller }),
    };
  }
  return native;
}

function toMessage(role: 'system' | 'user', content: string | Json[]): Json[] {
  return content.length === 0 ? [] : [{ type: 'message', role, content }];
}

function toUserContent(parts: readonly InputPart[], request: ChatRequest, profile: Profile): string | Json[] {
  const shown = shownInput(parts, request, (part) => takesMedia(part, profile, 'openai-responses'), ['name']);
  const said = shown.filter((part) => part.type !== 'text' || part.text !== '');
  return plainText(said, profile) ?? said.flatMap(toContent);
}

function toContent(part: InputPart): Json[] {
  return toContentParts(part).map((content) => ({ ...content, ...markOf(part) }));
}

/** Guide "File inputs". */
function toContentParts(part: InputPart): Json[] {
  if (part.type === 'text') return part.text === '' ? [] : [{ type: 'input_text', text: part.text }];
  if (part.type === 'image') return [{ type: 'input_image', image_url: imageUrl(part), detail: 'auto' }];
  const { url, mediaType, data = '', name = 'file' } = part;
  // The API takes no name beside a URL.
  if (url !== undefined)
    return [...(part.name === undefined ? [] : [{ type: 'input_text', text: part.name }]), { type: 'input_file', file_url: url }];
  return [{ type: 'input_file', filename: withEnding(name, mediaType), file_data: dataUrl(mediaType, data) }];
}

/**
 * Returns the items in order. Reasoning text is not sent: this model's own is in its reasoning item, and the API has no form for that of
 * others. Ids of messages and calls are not returned, because the API would check them against adjacent items.
 */
function toAssistantItems(message: Assistant, { request, profile, idOf, paired, kinds }: Context): Json[] {
  const takesMarks = profile.cacheMarks !== 'none';
  const items: Json[] = [];
  let text = '';
  const endText = (phase?: string): void => {
    if (text !== '') items.push({ type: 'message', role: 'assistant', content: text, ...(phase !== undefined && { phase }) });
    text = '';
  };
  for (const part of message.parts) {
    if (part.type === 'text') text += part.text;
    if (part.type === 'text' && part.cache !== undefined && takesMarks) request.dropped?.add('cache_control', noAnswerMarks);
    if (part.type === 'tool-call' && paired.has(part.callId)) {
      endText();
      items.push(toCall(part, idOf(part.callId), kinds.get(part.callId)));
    }
    if (part.type !== 'native' || !isNativePart(part, message, request)) continue;
    const native = readNative(part.data);
    if (native?.message !== undefined) endText(native.message.phase);
    if (native?.item !== undefined) {
      endText();
      items.push(native.item);
    }
  }
  endText();
  reportReasoning(
    message,
    request,
    items.some(({ type }) => type === 'reasoning'),
  );
  // The item that the reasoning belongs to was dropped: "of type 'reasoning' was provided without its required following item".
  while (items.at(-1)?.type === 'reasoning') items.pop();
  return items;
}

function toCall(call: ToolCallPart, id: string, kind: CallKind = {}): Json {
  const name = historyName(call.requested);
  const { type, ...rest } = kind;
  if (type === undefined) return { type: 'function_call', call_id: id, name, arguments: historyArguments(call), ...rest };
  return { type, call_id: id, name, input: stringOf(call.arguments?.input) || (call.raw ?? ''), ...rest };
}

function toOutput(result: ToolResultPart, { request, idOf, paired, kinds, profile }: Context): Json[] {
  if (!paired.has(result.callId)) return [];
  const { type = 'function_call', caller } = kinds.get(result.callId) ?? {};
  const output = toOutputContent(result, request, profile);
  return [{ type: `${type}_output`, call_id: idOf(result.callId), output, ...(caller !== undefined && { caller }) }];
}

function toOutputContent(result: ToolResultPart, request: ChatRequest, profile: Profile): string | Json[] {
  const shown = shownResult(markedContent(result), request, (part) => takesInResult(part, profile, 'openai-responses'));
  const last = shown.at(-1);
  if (last !== undefined) shown.splice(-1, 1, { ...last, ...markIn(result) });
  return plainText(shown, profile, '\n') ?? shown.flatMap(toContent);
}
