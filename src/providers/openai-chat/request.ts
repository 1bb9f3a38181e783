/**
 * Converts a neutral request to the body of Chat Completions. Differences between servers are data in the profile; `reply.ts` reads the
 * reply. Wire: OpenAI API reference, "Create chat completion".
 */
import { createCallIds, historyArguments, historyName } from '../history-calls.ts';
import type { AssistantPart, InputPart, Message } from '../../core/turn/message.ts';
import type { ModelSettings } from '../../core/turn/plan.ts';
import type { Profile } from '../../core/model/provider-profile.ts';
import { contentText } from '../../core/tools/tool.ts';
import type { ChatRequest, OfferedTool } from '../../ports/chat-model.ts';
import { dataUrl, imageNote, imageUrl } from '../input-image.ts';
import { isUnchangedCall, isNativePart, withSignedNames } from '../native-parts.ts';
import { effortLevel, requestedReasoning, supportedSettings } from '../supported-settings.ts';
import { offerTools } from '../tool-definitions.ts';
import { isRecord, type Json } from '../../core/json/wire-value.ts';

type Assistant = Extract<Message, { role: 'assistant' }>;
type Results = Extract<Message, { role: 'tool' }>;

/** Data that is returned to the same model with its assistant message (`native` events and parts). */
export type OpenAiNative = {
  /** Absent in logs of older releases. */
  api?: 'openai-chat';
  reasoningDetails?: Json[];
  /** `extra_content` of the message. */
  extra?: unknown;
  /** `extra_content` of the call before this part: Gemini's thought signatures. */
  callExtra?: unknown;
  /** The same for all calls by index, in logs of older releases. */
  callExtras?: Record<string, unknown>;
};

/** Returns the body of a streamed request. */
export function toChatBody(request: ChatRequest, profile: Profile): Json {
  const { model } = request;
  const { tools, toolChoice } = offerTools(request, profile);
  const settings = supportedSettings(request.settings, profile, tools.length > 0);
  const body: Json = { model, messages: toMessages(request, profile), stream: request.whole !== true };
  if (profile.streamUsage && request.whole !== true) body.stream_options = { include_usage: true };
  if (tools.length > 0) {
    body.tools = tools.map(toTool);
    if (toolChoice !== 'auto') body.tool_choice = toToolChoice(toolChoice, profile);
  }
  addSettings(settings, profile, body);
  addReasoning(settings, profile, body);
  return body;
}

function toTool({ name, description, inputSchema }: OfferedTool): Json {
  // OpenAI rejects an object schema without `properties`.
  const parameters = { ...inputSchema, type: 'object', properties: inputSchema.properties ?? {} };
  return { type: 'function', function: { name, description, parameters } };
}

function toToolChoice(choice: ChatRequest['toolChoice'], { requiredWord }: Profile): unknown {
  if (typeof choice !== 'string') return { type: 'function', function: { name: choice.tool } };
  return choice === 'required' ? (requiredWord ?? choice) : choice;
}

function addSettings(settings: ModelSettings, profile: Profile, body: Json): void {
  const { temperature, topP, topK, seed, stop, frequencyPenalty, presencePenalty } = settings;
  if (temperature !== undefined) body.temperature = temperature;
  if (topP !== undefined) body.top_p = topP;
  if (topK !== undefined && profile.topK) body.top_k = topK;
  if (frequencyPenalty !== undefined) body.frequency_penalty = frequencyPenalty;
  if (presencePenalty !== undefined) body.presence_penalty = presencePenalty;
  if (stop !== undefined) body.stop = stop;
  if (seed !== undefined) body[profile.seedField] = seed;
  if (settings.maxOutputTokens !== undefined) body[profile.maxTokensField] = settings.maxOutputTokens;
  if (settings.parallelToolCalls !== undefined) body.parallel_tool_calls = settings.parallelToolCalls;
  if (settings.responseFormat !== undefined) body.response_format = settings.responseFormat;
}

function addReasoning(settings: ModelSettings, profile: Profile, body: Json): void {
  const reasoning = requestedReasoning(settings);
  if (reasoning === null) return;
  if (profile.thinkingSwitch) body.thinking = { type: reasoning === 'off' ? 'disabled' : 'enabled' };
  // With a thinking switch, `off` only sets the switch.
  if (profile.reasoning === 'none' || (profile.thinkingSwitch && reasoning === 'off')) return;
  body.reasoning_effort = effortLevel(reasoning, profile.efforts);
}

// ---- Messages ----

function toMessages(request: ChatRequest, profile: Profile): Json[] {
  const idOf = createCallIds(request.messages, request.access.name, profile);
  const echoed = profile.echoReasoning ? messagesOfToolTurns(request.messages) : null;
  const messages = withSignedNames(request.messages, request).flatMap((message): Json[] => {
    switch (message.role) {
      case 'system':
        return said('system', message.parts.map((part) => part.text).join('\n\n'));
      case 'user':
        return said('user', toUserContent(message.parts, profile));
      case 'assistant':
        return toAssistant(message, { request, profile, idOf, echoes: echoed?.has(message) === true });
      case 'tool':
        return toResults(message, profile, idOf);
      default:
        return message satisfies never;
    }
  });
  return inOrder(messages, profile);
}

/**
 * Returns the assistant messages of every turn with a tool call. DeepSeek requires their reasoning in all later requests, and ignores that
 * of other turns (guide "Thinking Mode").
 */
function messagesOfToolTurns(messages: readonly Message[]): Set<Message> {
  const found = new Set<Message>();
  let turn: Assistant[] = [];
  const close = (): void => {
    const calls = turn.some((message) => message.parts.some((part) => part.type === 'tool-call'));
    for (const message of calls ? turn : []) found.add(message);
    turn = [];
  };
  for (const message of messages) {
    if (message.role === 'user') close();
    if (message.role === 'assistant') turn.push(message);
  }
  close();
  return found;
}

/** Returns nothing for a message without content, which most servers reject. */
function said(role: 'system' | 'user', content: string | Json[]): Json[] {
  return content.length === 0 ? [] : [{ role, content }];
}

function toUserContent(parts: readonly InputPart[], { images }: Profile): string | Json[] {
  if (images && parts.some((part) => part.type === 'image')) {
    return parts.map((part) => {
      if (part.type === 'text') return { type: 'text', text: part.text };
      return toImage(imageUrl(part));
    });
  }
  return parts.map((part) => (part.type === 'text' ? part.text : imageNote(part))).join('\n\n');
}

function toImage(url: string): Json {
  return { type: 'image_url', image_url: { url } };
}

/**
 * A tool message contains text only. Images follow in one user message after all results of the step, as in other clients
 * (MoonshotAI/kimi-code#626, Prism-Shadow/agenthub#209). Only for models known to have vision, because a text model rejects the
 * conversation from then on.
 */
function toResults({ parts }: Results, profile: Profile, idOf: (callId: string) => string): Json[] {
  const messages: Json[] = [];
  const shown: Json[] = [];
  for (const part of parts) {
    const name = historyName(part.requested);
    messages.push({
      role: 'tool',
      tool_call_id: idOf(part.callId),
      ...(profile.toolResultName && { name }),
      content: contentText(part.content),
    });
    if (!profile.images || !profile.imagesInResults) continue;
    const images = part.content.filter((block) => block.type === 'image');
    if (images.length > 0) shown.push({ type: 'text', text: `[From the result of ${name}:]` });
    for (const { mimeType, data } of images) shown.push(toImage(dataUrl(mimeType, data)));
  }
  return [...messages, ...said('user', shown)];
}

type AssistantContext = { request: ChatRequest; profile: Profile; idOf: (callId: string) => string; echoes: boolean };

function toAssistant(message: Assistant, { request, profile, idOf, echoes }: AssistantContext): Json[] {
  const { parts } = message;
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const calls = parts.filter((part) => part.type === 'tool-call');
  // An empty assistant message is rejected by most servers.
  if (text === '' && calls.length === 0) return [];
  const own = nativeOf(message, request);
  const body: Json = { role: 'assistant', content: text === '' && !profile.contentNeverNull ? null : text };
  if (echoes) {
    const reasoning = parts.map((part) => (part.type === 'reasoning' ? part.text : '')).join('');
    // A call without reasoning is rejected, and so is an empty text; a blank is accepted (NousResearch/hermes-agent#17341).
    if (reasoning !== '' || calls.length > 0) body.reasoning_content = reasoning || ' ';
  }
  if (own.reasoningDetails !== undefined) body.reasoning_details = own.reasoningDetails;
  if (own.extra !== undefined) body.extra_content = own.extra;
  if (calls.length > 0) {
    body.tool_calls = calls.map((call, index) => {
      const extra =
        (isUnchangedCall(call) ? own.extras.get(index) : undefined) ?? (index === 0 && profile.callSignatures ? unsignedCall : undefined);
      const named = { name: historyName(call.requested), arguments: historyArguments(call) };
      return { id: idOf(call.callId), type: 'function', function: named, ...(extra !== undefined && { extra_content: extra }) };
    });
  }
  return [body];
}

/** The placeholder of Google's guide "Thought signatures" for a call of another model. */
const unsignedCall = { google: { thought_signature: 'skip_thought_signature_validator' } };

type Native = Pick<OpenAiNative, 'reasoningDetails' | 'extra'> & { extras: Map<number, unknown> };

function nativeOf(message: Assistant, request: ChatRequest): Native {
  const native: Native = { extras: new Map() };
  let call = -1;
  let before: AssistantPart | undefined;
  for (const part of message.parts) {
    if (part.type === 'tool-call') call += 1;
    const data = part.type === 'native' && isNativePart(part, message, request) ? dataOf(part.data) : null;
    if (data?.reasoningDetails !== undefined) native.reasoningDetails = data.reasoningDetails;
    if (data?.extra !== undefined) native.extra = data.extra;
    // Only directly after its call: elsewhere, the call was dropped because it has no result.
    if (data?.callExtra !== undefined && before?.type === 'tool-call') native.extras.set(call, data.callExtra);
    for (const [index, extra] of Object.entries(data?.callExtras ?? {})) native.extras.set(Number(index), extra);
    before = part;
  }
  return native;
}

/** null for data of another adapter, from before the provider's kind was changed. */
function dataOf(data: unknown): OpenAiNative | null {
  // Written by this adapter's reply reader under this provider's name.
  return isRecord(data) && (data.api === undefined || data.api === 'openai-chat') ? (data as OpenAiNative) : null;
}

// ---- Order ----

/** Merges adjacent user messages, since many chat templates require alternating roles. */
function inOrder(messages: readonly Json[], { systemInUser, assistantAfterToolResult }: Profile): Json[] {
  const ordered: Json[] = [];
  const system: string[] = [];
  for (const message of messages) {
    const last = ordered.at(-1);
    if (systemInUser && message.role === 'system') system.push(String(message.content));
    else if (message.role === 'user' && last?.role === 'user') join(last, message.content);
    else {
      if (assistantAfterToolResult && message.role === 'user' && last?.role === 'tool') ordered.push(afterResults);
      ordered.push(message);
    }
  }
  if (system.length === 0) return ordered;
  const text = system.join('\n\n');
  const [first] = ordered;
  if (first?.role !== 'user') return [{ role: 'user', content: text }, ...ordered];
  return [{ role: 'user', content: joined(text, first.content) }, ...ordered.slice(1)];
}

const afterResults: Json = { role: 'assistant', content: 'I have the results.' };

/** Changes the message in place; copying would take quadratic time for many messages. */
function join(message: Json, content: unknown): void {
  if (typeof message.content === 'string' && typeof content === 'string') message.content = joined(message.content, content);
  else {
    const blocks = blocksOf(message.content);
    for (const block of blocksOf(content)) blocks.push(block);
    message.content = blocks;
  }
}

function joined(a: unknown, b: unknown): string | unknown[] {
  if (typeof a === 'string' && typeof b === 'string') return `${a}\n\n${b}`;
  return [...blocksOf(a), ...blocksOf(b)];
}

function blocksOf(content: unknown): unknown[] {
  return Array.isArray(content) ? content : [{ type: 'text', text: content }];
}
