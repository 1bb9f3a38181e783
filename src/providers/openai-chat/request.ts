/**
 * Converts a neutral request to the body of Chat Completions. Differences between servers are data in the profile; `reply.ts` reads the
 * reply. Wire: OpenAI API reference, "Create chat completion".
 */
import { createCallIds, historyArguments, historyName } from '../history-calls.ts';
import type { AssistantPart, MarkedText, Message } from '../../core/model/message.ts';
import type { ModelSettings } from '../../core/model/model-settings.ts';
import type { Profile } from '../../core/model/provider-profile.ts';
import type { ChatRequest, OfferedTool } from '../../ports/chat-model.ts';
import { endOfSystem, endsOf, lastPart, markIn, markOf, type MarkPlaces, noAnswerMarks, settleMarks } from '../content/cache-marks.ts';
import { chatContent, chatPart, chatParts, splitResult, takesInResult } from '../content/input-media.ts';
import { askToContinue, placeSystem } from '../content/place-system.ts';
import { type Assistant, isUnchangedCall, isNativePart, reportReasoning, withSignedNames } from '../native-parts.ts';
import { cacheFields, effortLevel, openAiFormat, requestedReasoning, supportedSettings, withoutFields } from '../supported-settings.ts';
import { chatSearch } from '../web-search.ts';
import { offerTools } from '../tool-definitions.ts';
import { type Json, listOf, recordOf } from '../../core/json/wire-value.ts';
import { writeThinking } from '../../core/model/think-tags.ts';
import { readChatNative, toThinkingBlock } from '../../dialects/openai-chat/own-fields.ts';
import { markedContent } from '../../core/tools/tool.ts';

type Results = Extract<Message, { role: 'tool' }>;

/** Returns the body of a streamed request. */
export function toChatBody(request: ChatRequest, profile: Profile): Json {
  const { model } = request;
  const { tools, toolChoice } = offerTools(request, profile);
  const settings = supportedSettings(request, profile, 'openai-chat', tools.length > 0);
  const messages = toMessages(request, profile);
  const toolBlocks = tools.map((tool) => ({ ...toTool(tool), ...(profile.cacheMarks !== 'breakpoint' && markOf(tool)) }));
  const body: Json = { model, messages, stream: request.whole !== true };
  if (profile.streamUsage && request.whole !== true) body.stream_options = { include_usage: true };
  if (tools.length > 0) {
    body.tools = toolBlocks;
    if (toolChoice !== 'auto') body.tool_choice = toToolChoice(toolChoice, profile);
  }
  addSettings(settings, profile, body);
  addExtras(settings, request, body);
  if (settings.webSearch !== undefined) body.web_search_options = chatSearch(settings.webSearch);
  if (settings.responseFormat !== undefined) body.response_format = openAiFormat(settings.responseFormat, request, profile);
  addReasoning({ settings, dropped: request.dropped }, profile, body);
  settleMarks(markPlaces(toolBlocks, messages), request, profile);
  return body;
}

/** Tools need no mark next to the system text, which is behind them in the prompt. */
function markPlaces(tools: readonly Json[], messages: readonly Json[]): MarkPlaces {
  return {
    blocks: () => [...tools, ...messages.flatMap(({ content }) => listOf(content).map(recordOf))],
    ends: endsOf(messages, ({ role }) => role === 'user' || role === 'tool').map((message) => () => lastPart(message)),
    system: () => lastPart(endOfSystem(messages)),
  };
}

function toTool({ name, description, inputSchema, strict }: OfferedTool): Json {
  // OpenAI rejects an object schema without `properties`.
  const parameters = { ...inputSchema, type: 'object', properties: inputSchema.properties ?? {} };
  return { type: 'function', function: { name, description, parameters, ...(strict === true && { strict }) } };
}

function toToolChoice(choice: ChatRequest['toolChoice'], { requiredToolChoice }: Profile): unknown {
  if (typeof choice !== 'string') return { type: 'function', function: { name: choice.tool } };
  return choice === 'required' ? (requiredToolChoice ?? choice) : choice;
}

function addSettings(settings: ModelSettings, profile: Profile, body: Json): void {
  const { temperature, topP, topK, seed, stop, frequencyPenalty, presencePenalty } = settings;
  if (temperature !== undefined) body.temperature = temperature;
  if (topP !== undefined) body.top_p = topP;
  if (topK !== undefined) body.top_k = topK;
  if (frequencyPenalty !== undefined) body.frequency_penalty = frequencyPenalty;
  if (presencePenalty !== undefined) body.presence_penalty = presencePenalty;
  if (stop !== undefined) body.stop = stop;
  if (seed !== undefined) body[profile.seedField] = seed;
  if (settings.maxOutputTokens !== undefined) body[profile.maxTokensField] = settings.maxOutputTokens;
  if (settings.parallelToolCalls !== undefined) body.parallel_tool_calls = settings.parallelToolCalls;
}

function addExtras(settings: ModelSettings, { access }: ChatRequest, body: Json): void {
  const { user, serviceTier, verbosity } = settings;
  // The name that replaced `user` is OpenAI's alone.
  if (user !== undefined) body[access.kind === 'openai' ? 'safety_identifier' : 'user'] = user;
  if (serviceTier !== undefined) body.service_tier = serviceTier;
  if (verbosity !== undefined) body.verbosity = verbosity;
  Object.assign(body, cacheFields(settings));
}

function addReasoning(asked: Pick<ChatRequest, 'settings' | 'dropped'>, profile: Profile, body: Json): void {
  const reasoning = requestedReasoning(asked.settings);
  if (reasoning === null) return;
  if (profile.thinkingSwitch) body.thinking = { type: reasoning === 'off' ? 'disabled' : 'enabled' };
  // With a thinking switch, `off` only sets the switch.
  if (profile.thinkingSwitch && reasoning === 'off') return;
  const isSwitched = profile.reasoning === 'none';
  const effort = effortLevel(reasoning, isSwitched ? ['enabled'] : profile.efforts, asked);
  if (!isSwitched) body.reasoning_effort = effort;
}

// ---- Messages ----

function toMessages(request: ChatRequest, profile: Profile): Json[] {
  const idOf = createCallIds(request.messages, request.access.name, profile);
  const ofToolTurns = messagesOfToolTurns(request.messages);
  const messages = withSignedNames(placeSystem(request.messages, profile), request).flatMap((message): Json[] => {
    switch (message.role) {
      case 'system':
        return said('system', chatParts(message.parts, profile));
      case 'user':
        return said('user', chatContent(message.parts, request, profile, 'openai-chat'));
      case 'assistant':
        return toAssistant(message, { request, profile, idOf, isToolTurn: ofToolTurns.has(message) });
      case 'tool':
        return toResults(message, request, profile, idOf);
      default:
        return message satisfies never;
    }
  });
  // Of a client's history; a session returns data only to the server that sent it.
  const accepted = withoutFields(messages, profile, request.dropped) as Json[];
  return withPrefill(inOrder(accepted, profile), profile, request);
}

/** An assistant message at the end is continued, by some servers only if they are told so. */
function withPrefill(messages: Json[], { prefill }: Profile, request: ChatRequest): Json[] {
  const last = messages.at(-1);
  if (last?.role !== 'assistant' || last.tool_calls !== undefined || prefill === 'plain') return messages;
  if (prefill === 'refused') return [...messages, { role: 'user', content: askToContinue(request) }];
  last[prefill] = true;
  return messages;
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

/**
 * A tool message contains text only. Images and files follow in one user message after all results of the step, as in other clients
 * (MoonshotAI/kimi-code#626, Prism-Shadow/agenthub#209). Only for models known to take them, because another model rejects the
 * conversation from then on.
 */
function toResults({ parts }: Results, request: ChatRequest, profile: Profile, idOf: (callId: string) => string): Json[] {
  const messages: Json[] = [];
  const shown: Json[] = [];
  for (const part of parts) {
    const name = historyName(part.requested);
    const { text, behind } = splitResult(markedContent(part), request, (found) => takesInResult(found, profile, 'openai-chat'));
    const content = text === '' ? text : chatParts([{ ...markIn(part), type: 'text', text }], profile);
    messages.push({ role: 'tool', tool_call_id: idOf(part.callId), ...(profile.toolResultName && { name }), content });
    if (behind.length > 0) shown.push({ type: 'text', text: `[From the result of ${name}:]` }, ...behind.map(chatPart));
  }
  return [...messages, ...said('user', shown)];
}

type AssistantContext = { request: ChatRequest; profile: Profile; idOf: (callId: string) => string; isToolTurn: boolean };

function toAssistant(message: Assistant, { request, profile, idOf, isToolTurn }: AssistantContext): Json[] {
  const { parts } = message;
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const calls = parts.filter((part) => part.type === 'tool-call');
  // An empty assistant message is rejected by most servers.
  if (text === '' && calls.length === 0) return [];
  const own = nativeOf(message, request);
  const echoes = profile.echoReasoning && isToolTurn;
  const mark = parts.findLast((part): part is MarkedText => part.type === 'text' && part.cache !== undefined);
  if (mark !== undefined && profile.cacheMarks === 'breakpoint') request.dropped?.add('cache_control', noAnswerMarks);
  const said = profile.cacheMarks === 'breakpoint' ? text : chatParts([{ ...markIn(mark), type: 'text', text }], profile);
  const body: Json = { role: 'assistant', content: text === '' ? (profile.contentNeverNull ? '' : null) : said };
  const reasoning = parts.map((part) => (part.type === 'reasoning' ? part.text : '')).join('');
  const inText = own.inText !== null && isToolTurn && reasoning !== '';
  if (inText) body.content = writeThinking(own.inText ?? '', reasoning, text);
  else if (echoes) {
    // A call without reasoning is rejected, and so is an empty text; a blank is accepted (NousResearch/hermes-agent#17341).
    if (reasoning !== '' || calls.length > 0) body.reasoning_content = reasoning || ' ';
  }
  Object.assign(body, own.fields);
  const isSigned = own.blocks.length > 0 || own.fields.reasoning_details !== undefined || own.fields.reasoning_opaque !== undefined;
  reportReasoning(message, request, inText || echoes || isSigned);
  if (own.blocks.length > 0) body.thinking_blocks = own.blocks;
  // What is signed goes back as it came.
  if (own.fields.reasoning_opaque !== undefined) body.reasoning_text = reasoning;
  if (calls.length > 0) {
    body.tool_calls = calls.map((call, index) => {
      const named = { name: historyName(call.requested), arguments: historyArguments(call) };
      const unsigned = index === 0 && profile.callSignatures ? unsignedCall : undefined;
      return {
        id: idOf(call.callId),
        type: 'function',
        function: named,
        ...((isUnchangedCall(call) && own.ofCalls.get(index)) || unsigned),
      };
    });
  }
  return [body];
}

/** The placeholder of Google's guide "Thought signatures" for a call of another model. */
const unsignedCall = { extra_content: { google: { thought_signature: 'skip_thought_signature_validator' } } };

type Native = { fields: Json; blocks: Json[]; ofCalls: Map<number, Json>; inText: string | null };

function nativeOf(message: Assistant, request: ChatRequest): Native {
  const native: Native = { fields: {}, blocks: [], ofCalls: new Map(), inText: null };
  let call = -1;
  let before: AssistantPart | undefined;
  for (const part of message.parts) {
    if (part.type === 'tool-call') call += 1;
    if (part.type === 'native' && isNativePart(part, message, request)) {
      const block = toThinkingBlock(part.data, before?.type === 'reasoning' ? before.text : '');
      if (block !== null && recordOf(part.data).inChat === true) native.blocks.push(block);
      const data = readChatNative(part.data);
      Object.assign(native.fields, data?.fields);
      native.inText ??= data?.inText ?? null;
      // Only directly after its call: elsewhere, the call was dropped because it has no result.
      if (data !== null && Object.keys(data.callFields).length > 0 && before?.type === 'tool-call')
        native.ofCalls.set(call, data.callFields);
    }
    before = part;
  }
  return native;
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
