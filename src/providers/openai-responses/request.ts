/**
 * Converts a neutral request to the body of OpenAI's Responses API; `reply.ts` reads the reply. Every request is self-contained:
 * `store: false`, and `input` contains everything that the model must see again. Wire: OpenAI API reference, "Responses: create" (SDK
 * 7.57), guides "Reasoning" (keeping reasoning items in context) and "Function calling".
 */
import { createCallIds, historyArguments, historyName } from '../history-calls.ts';
import { resultItems } from './items.ts';
import type { InputPart, Message, ToolCallPart, ToolResultPart } from '../../core/turn/message.ts';
import type { ModelSettings } from '../../core/turn/plan.ts';
import type { Profile } from '../../core/model/provider-profile.ts';
import { contentText } from '../../core/tools/tool.ts';
import type { ChatRequest, OfferedTool } from '../../ports/chat-model.ts';
import { dataUrl, imageNote, imageUrl } from '../input-image.ts';
import { isNativePart } from '../native-parts.ts';
import { effortLevel, requestedReasoning, supportedSettings } from '../supported-settings.ts';
import { offerTools } from '../tool-definitions.ts';
import { isRecord, type Json, stringOf } from '../../core/json/wire-value.ts';
import { openAiModelRows } from '../openai-chat/profiles.ts';
import type { ProfileRow } from '../adapter.ts';

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
  const body: Json = { model, input: toInput(request, profile), stream: request.whole !== true, store: false };
  // Models without reasoning reject it: "Encrypted content is not supported with this model" (pydantic/pydantic-ai#2865).
  if (profile.reasoning !== 'none') body.include = ['reasoning.encrypted_content'];
  const { tools, toolChoice } = offerTools(request, profile);
  if (tools.length > 0) {
    body.tools = tools.map((tool) => toTool(tool, profile));
    if (toolChoice !== 'auto') body.tool_choice = typeof toolChoice === 'string' ? toolChoice : { type: 'function', name: toolChoice.tool };
  }
  return Object.assign(body, toSettings(supportedSettings(request.settings, profile, tools.length > 0), profile));
}

function toTool(tool: OfferedTool, profile: Profile): Json {
  // An object schema without `properties` is rejected.
  const parameters = { ...tool.inputSchema, type: 'object', properties: tool.inputSchema.properties ?? {} };
  // Unlike Chat Completions, this API is strict by default, and then rejects or rewrites ordinary schemas.
  return { type: 'function', name: tool.name, description: tool.description, parameters, strict: profile.schemas === 'openai-strict' };
}

function toSettings(settings: ModelSettings, profile: Profile): Json {
  const body: Json = {};
  if (settings.maxOutputTokens !== undefined) body.max_output_tokens = Math.max(settings.maxOutputTokens, leastOutputTokens);
  if (settings.temperature !== undefined) body.temperature = settings.temperature;
  if (settings.topP !== undefined) body.top_p = settings.topP;
  if (settings.parallelToolCalls !== undefined) body.parallel_tool_calls = settings.parallelToolCalls;
  const reasoning = requestedReasoning(settings);
  if (reasoning !== null && profile.reasoning !== 'none')
    body.reasoning = { effort: effortLevel(reasoning, profile.efforts), summary: 'auto' };
  const format = toTextFormat(settings.responseFormat);
  if (format !== null) body.text = { format };
  return body;
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
        return toMessage('system', message.parts.map((part) => part.text).join('\n\n'));
      case 'user':
        return toMessage('user', toUserContent(message.parts, profile));
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

type Assistant = Extract<Message, { role: 'assistant' }>;

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

function toUserContent(parts: readonly InputPart[], { images }: Profile): string | Json[] {
  const texts = parts.map((part) => (part.type === 'text' ? part.text : images ? null : imageNote(part)));
  if (!texts.includes(null)) return texts.filter((text) => text !== '').join('\n\n');
  return parts.flatMap((part): Json[] => {
    if (part.type === 'text') return part.text === '' ? [] : [inputText(part.text)];
    return [inputImage(imageUrl(part))];
  });
}

function inputText(text: string): Json {
  return { type: 'input_text', text };
}

function inputImage(url: string): Json {
  return { type: 'input_image', image_url: url, detail: 'auto' };
}

/**
 * Returns the items in order. Reasoning text is not sent: this model's own is in its reasoning item, and the API has no form for that of
 * others. Ids of messages and calls are not returned, because the API would check them against adjacent items.
 */
function toAssistantItems(message: Assistant, { request, idOf, paired, kinds }: Context): Json[] {
  const items: Json[] = [];
  let text = '';
  const endText = (phase?: string): void => {
    if (text !== '') items.push({ type: 'message', role: 'assistant', content: text, ...(phase !== undefined && { phase }) });
    text = '';
  };
  for (const part of message.parts) {
    if (part.type === 'text') text += part.text;
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

function toOutput(result: ToolResultPart, { idOf, paired, kinds, profile }: Context): Json[] {
  if (!paired.has(result.callId)) return [];
  const { type = 'function_call', caller } = kinds.get(result.callId) ?? {};
  const output = toOutputContent(result, profile);
  return [{ type: `${type}_output`, call_id: idOf(result.callId), output, ...(caller !== undefined && { caller }) }];
}

function toOutputContent({ content }: ToolResultPart, { images, imagesInResults }: Profile): string | Json[] {
  if (!images || !imagesInResults || !content.some((block) => block.type === 'image')) return contentText(content);
  return content.flatMap((block): Json[] => {
    if (block.type === 'image') return [inputImage(dataUrl(block.mimeType, block.data))];
    const text = contentText([block]);
    return text === '' ? [] : [inputText(text)];
  });
}

export const responsesRows: readonly ProfileRow[] = [
  ...openAiModelRows,
  {
    kind: 'openai-responses',
    host: 'api.openai.com',
    because: 'clients were written for its format; other servers of the same API only resemble it (reference §8.1 to §8.5)',
    profile: { exact: true },
  },
  {
    kind: 'openai-responses',
    because: 'ids of calls have 64 characters at most; the same limits of tools as Chat Completions',
    profile: { schemas: 'openai', maxToolDescription: 1024, maxTools: 128, maxCallIdLength: 64, imagesInResults: true },
  },
  {
    kind: 'openai-responses',
    model: /(^|[/:])(gpt-3\.5|gpt-4|chatgpt|gpt-5-chat)/i,
    because: 'does not reason, and says so: "Encrypted content is not supported with this model" (pydantic/pydantic-ai#2865, #3326)',
    profile: { reasoning: 'none' },
  },
  {
    kind: 'openai-responses',
    model: /(^|[/:])(o[1-9]|codex|gpt-[5-9](?!-chat))/i,
    because: 'reasons, and refuses temperature and top_p',
    profile: { noSampling: true },
  },
];
