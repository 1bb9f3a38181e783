/**
 * Reads an OpenAI Chat Completions request: validates it with paths in its own terms, and converts it to neutral form. Unknown fields are
 * allowed, because stock SDKs send new ones. `dialect.ts` writes answers.
 */
import * as z from 'zod';
import { createDropped, type Dropped, type SettingNames } from '../../core/model/dropped.ts';
import type { AssistantPart, ClientResult, InputPart } from '../../core/model/message.ts';
import { type ModelSettings, definedSettings } from '../../core/model/model-settings.ts';
import type { ClientTool } from '../../core/turn/plan.ts';
import { invalidRequest, type Issue, parseInput } from '../../core/problem.ts';
import { listOf, recordOf } from '../../core/json/wire-value.ts';
import { isRefused, offerClientTools, type ClientOfferedTool, parseClientTool, pathOfOffered, readClientTools } from '../client-tools.ts';
import {
  type ConversationBuilder,
  type ConversationOptions,
  createConversation,
  lastMark,
  markReader,
  type ReadMark,
  toCallPart,
  type CallMention,
  sessionOfMentions,
  type InputFault,
  providerOf,
  toContentBlocks,
} from '../conversation.ts';
import type { DialectRequest } from '../dialect.ts';
import { ChatContent, inputParts, textParts } from './content.ts';
import { readWebSearch } from '../web-search.ts';
import { createFieldReader, readService } from '../fields.ts';
import { chatFields, chatTool } from './fields.ts';
import { readCallFields, readMessageFields, readReasoning, reasoningFieldOf } from './own-fields.ts';

const Arguments = z.union([z.string(), z.record(z.string(), z.unknown())]).nullish();
const ToolCall = z.looseObject({
  id: z.string(),
  type: z.string().optional(),
  /** Agents of LangChain and Ollama send the arguments as an object. */
  function: z.looseObject({ name: z.string(), arguments: Arguments }).optional(),
});

const ChatMessage = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('system'), content: ChatContent }),
  z.looseObject({ role: z.literal('developer'), content: ChatContent }),
  z.looseObject({ role: z.literal('user'), content: ChatContent }),
  z.looseObject({
    role: z.literal('assistant'),
    content: ChatContent,
    refusal: z.string().nullish(),
    tool_calls: z.array(ToolCall).nullish(),
    function_call: z.looseObject({ name: z.string(), arguments: Arguments }).nullish(),
  }),
  z.looseObject({ role: z.literal('tool'), content: ChatContent, tool_call_id: z.string() }),
  z.looseObject({ role: z.literal('function'), content: z.string().nullish(), name: z.string() }),
]);

const ToolChoice = z.union([
  z.enum(['auto', 'none', 'required']),
  z.looseObject({
    type: z.string(),
    function: z.looseObject({ name: z.string() }).optional(),
    allowed_tools: z
      .looseObject({
        mode: z.enum(['auto', 'required']).nullish(),
        tools: z.array(z.looseObject({ function: z.looseObject({ name: z.string() }).optional() })),
      })
      .optional(),
  }),
]);

const Tool = z.looseObject({
  type: z.string(),
  function: z
    .looseObject({
      name: z.string().min(1),
      description: z.string().nullish(),
      parameters: z.record(z.string(), z.unknown()).nullish(),
      strict: z.boolean().nullish(),
    })
    .optional(),
});
type Tool = z.infer<typeof Tool>;

export const ChatCompletionRequest = z
  .looseObject({
    model: z.string().min(1).max(300),
    messages: z.array(ChatMessage).min(1),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
    tools: z.array(Tool).nullish(),
    tool_choice: ToolChoice.nullish(),
    parallel_tool_calls: z.boolean().nullish(),
    temperature: z.number().min(0).max(2).nullish(),
    top_p: z.number().min(0).max(1).nullish(),
    top_k: z.int().min(0).nullish(),
    max_tokens: z.int().min(1).nullish(),
    max_completion_tokens: z.int().min(1).nullish(),
    stop: z.union([z.string(), z.array(z.string()).max(16)]).nullish(),
    seed: z.int().nullish(),
    frequency_penalty: z.number().min(-2).max(2).nullish(),
    presence_penalty: z.number().min(-2).max(2).nullish(),
    reasoning_effort: z.string().max(40).nullish(),
    n: z.int().min(1).max(128).nullish(),
    response_format: z.looseObject({ type: z.string() }).nullish(),
    web_search_options: z.looseObject({}).nullish(),
    user: z.string().nullish(),
    safety_identifier: z.string().nullish(),
    service_tier: z.string().max(40).nullish(),
    metadata: z.record(z.string(), z.unknown()).nullish(),
    verbosity: z.string().max(40).nullish(),
    prompt_cache_key: z.string().max(1000).nullish(),
    prompt_cache_retention: z.string().max(40).nullish(),
    prompt_cache_options: z.record(z.string(), z.unknown()).nullish(),
    toolset: z.string().min(1).max(100).nullish().meta({ description: 'Extension: the toolset whose tools the service runs.' }),
  })
  .meta({ id: 'ChatCompletionRequest', example: { model: 'rehearsal/default', messages: [{ role: 'user', content: 'Hello' }] } });
export type ChatCompletionRequest = z.infer<typeof ChatCompletionRequest>;

/** The names of settings in this dialect. */
const settingNames: SettingNames = {
  topP: 'top_p',
  maxOutputTokens: 'max_completion_tokens',
  frequencyPenalty: 'frequency_penalty',
  presencePenalty: 'presence_penalty',
  reasoningEffort: 'reasoning_effort',
  responseFormat: 'response_format',
  toolChoice: 'tool_choice',
  parallelToolCalls: 'parallel_tool_calls',
  topK: 'top_k',
  serviceTier: 'service_tier',
  promptCacheKey: 'prompt_cache_key',
  promptCacheRetention: 'prompt_cache_retention',
  promptCacheOptions: 'prompt_cache_options',
};

/** Some are given by one of several fields. */
function namesIn({ safety_identifier: user, messages }: ChatCompletionRequest): SettingNames {
  const given = reasoningFieldOf(messages);
  return { ...settingNames, reasoning: `messages[].${given}`, ...(user != null && { user: 'safety_identifier' }) };
}

const readFields = createFieldReader(chatFields);

/** Throws `invalid_request`. */
export function readChatRequest(body: Readonly<Record<string, unknown>>): DialectRequest {
  const request = parseInput(ChatCompletionRequest, body);
  const dropped = createDropped(namesIn(request));
  const marks = readFields(body, dropped);
  const offered = offeredTools(request);
  const settings = { ...toSettings(request, dropped), ...marks };
  if (request.max_tokens != null && request.max_tokens !== settings.maxOutputTokens)
    dropped.add('max_tokens', 'max_completion_tokens is sent in its place');
  return {
    streamed: request.stream === true,
    includeUsage: request.stream_options?.include_usage === true,
    choices: request.n ?? 1,
    conversation: (options) => toChatConversation(request, options, dropped),
    clientTools: (options) => (request.tools == null ? null : readClientTools(offered, parseTool, options)),
    settings: () => settings,
    allowedTools: () => allowedTools(request),
    toolPath: (index) => `${pathOfOffered(offered, index)}.function.name`,
    previous: null,
    echo: {},
    dropped,
  };
}

/** All tools, or those that `allowed_tools` names. */
function offeredTools({ tools, tool_choice: choice }: ChatCompletionRequest): ClientOfferedTool<Tool>[] {
  const all = offerClientTools(tools);
  if (choice == null || typeof choice === 'string' || choice.allowed_tools === undefined) return all;
  const allowed = new Set(choice.allowed_tools.tools.map(({ function: named }) => named?.name));
  return all.filter(({ tool }) => allowed.has(tool.function?.name));
}

/** Replaces the request's system text. Takes unvalidated messages. */
export function withChatInstructions(body: Readonly<Record<string, unknown>>, instructions: string): Record<string, unknown> {
  const messages = Array.isArray(body.messages) ? (body.messages as ({ role?: unknown } | null)[]) : []; // Only the roles are read.
  const rest = messages.filter((message) => message?.role !== 'system' && message?.role !== 'developer');
  return { ...body, messages: [...(instructions === '' ? [] : [{ role: 'system', content: instructions }]), ...rest] };
}

/** Returns the request's messages in neutral form. Throws `invalid_request` with the path of an unknown content part. */
export function toChatConversation(
  body: Pick<ChatCompletionRequest, 'messages' | 'model'>,
  options: ConversationOptions = {},
  dropped?: Dropped,
): ConversationBuilder {
  const conversation = createConversation(options);
  const mark = markReader(options);
  const provider = options.provider ?? providerOf(body.model);
  const issues: Issue[] = [];
  const last = body.messages.findLastIndex(({ role }) => role === 'assistant');
  for (const [index, message] of body.messages.entries()) {
    const fault: InputFault = (at, text) => issues.push({ path: `messages[${index}].${at}`, message: text });
    const isNew = index > last;
    switch (message.role) {
      case 'system':
      case 'developer':
        conversation.addSystem(
          ...textParts(message, mark, (type, at) => fault(`content[${at}].type`, `must be "text": system messages have no ${type}`)),
        );
        break;
      case 'user':
        conversation.addInput(inputParts(message, fault, mark), isNew);
        break;
      case 'assistant':
        conversation.addAssistant(assistantParts(message, provider, { fault, dropped, mark }));
        break;
      case 'tool':
        conversation.addResult(toResult(message.tool_call_id, inputParts(message, fault, mark), dropped), isNew);
        break;
      case 'function':
        conversation.addResult(toResult(functionCallId(message.name), inputParts(message, fault, mark), dropped), isNew);
        break;
      default:
        message satisfies never;
    }
  }
  return conversation.finish(issues, { path: 'messages', message: 'must have a message that is not empty' }, mark(body));
}

/** A result is marked as a whole. */
function toResult(callId: string, parts: readonly InputPart[], dropped: Dropped | undefined): ClientResult {
  const content = parts.flatMap((part) => toContentBlocks(part, dropped));
  return { callId, content, isError: false, ...lastMark(parts) };
}

/** The deprecated calls have no id; a message has one at most, and its result names the function. */
function functionCallId(name: string): string {
  return `function_${name}`;
}

export const sessionOfChatCalls = (messages: unknown): string | null => sessionOfMentions(messages, callMentions);

function* callMentions(messages: readonly unknown[]): Generator<CallMention> {
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const { role, tool_call_id: answered, tool_calls: calls } = recordOf(messages[index]);
    const path = `messages[${index}]`;
    if (role === 'tool') yield { by: 'result', id: answered, path: `${path}.tool_call_id` };
    if (role !== 'assistant') continue;
    for (const call of listOf(calls)) yield { by: 'assistant', id: recordOf(call).id, path };
    yield { by: 'assistant', id: null, path };
  }
}

function allowedTools({ tool_choice: choice }: ChatCompletionRequest): { name: string; path: string }[] | null {
  if (choice == null || typeof choice === 'string' || choice.allowed_tools === undefined) return null;
  return choice.allowed_tools.tools.flatMap(({ function: named }, index) =>
    named === undefined ? [] : [{ name: named.name, path: `tool_choice.allowed_tools.tools[${index}].function.name` }],
  );
}

/** null for a tool with a fault. */
function parseTool({ tool, path }: ClientOfferedTool<Tool>, issues: Issue[]): ClientTool | null {
  if (isRefused(chatTool(tool.type), { tool, path }, issues)) return null;
  if (tool.function === undefined) {
    issues.push({ path: `${path}.function`, message: 'is missing' });
    return null;
  }
  const { name, description, parameters, strict } = tool.function;
  return parseClientTool(
    { name, description, inputSchema: parameters, strict },
    { path: `${path}.function`, schemaField: 'parameters', issues },
  );
}

function toSettings(body: ChatCompletionRequest, dropped: Dropped): ModelSettings {
  const { stop, response_format: format, tool_choice: choice } = body;
  const name = 'web_search_options';
  return definedSettings({
    temperature: body.temperature,
    topP: body.top_p,
    topK: body.top_k,
    maxOutputTokens: body.max_completion_tokens ?? body.max_tokens,
    stop: typeof stop === 'string' ? [stop] : stop,
    seed: body.seed,
    frequencyPenalty: body.frequency_penalty,
    presencePenalty: body.presence_penalty,
    reasoningEffort: body.reasoning_effort,
    responseFormat: format?.type === 'text' ? null : format,
    parallelToolCalls: body.parallel_tool_calls,
    toolChoice: typeof choice === 'string' ? choice : choice && toToolChoice(choice),
    webSearch:
      body.web_search_options == null
        ? null
        : readWebSearch({ name, path: name, isOptional: false, value: body.web_search_options }, searchMembers),
    metadata: body.metadata,
    ...readService(body, dropped),
  });
}

const searchMembers = { location: 'user_location', contextSize: 'search_context_size' };

function toToolChoice({
  function: named,
  allowed_tools: allowed,
}: Exclude<z.infer<typeof ToolChoice>, string>): ModelSettings['toolChoice'] | null {
  if (allowed !== undefined) return allowed.mode ?? 'auto';
  if (named === undefined) throw invalidRequest([{ path: 'tool_choice.function', message: 'is missing' }]);
  return { tool: named.name };
}

function assistantParts(
  message: Extract<z.infer<typeof ChatMessage>, { role: 'assistant' }>,
  provider: string | null,
  { fault, dropped, mark }: { fault: InputFault; dropped: Dropped | undefined; mark: ReadMark },
): AssistantPart[] {
  const texts = textParts(message, mark, (type) => {
    if (type !== 'thinking') dropped?.add(`messages[].content[].${type}`, 'answers are sent back as their text');
  });
  const parts: AssistantPart[] = [...readReasoning(message, provider), ...texts];
  if (texts.length === 0 && message.refusal) parts.push({ type: 'text', text: message.refusal });
  for (const [index, call] of (message.tool_calls ?? []).entries()) {
    if (call.function === undefined) fault(`tool_calls[${index}]`, 'only function calls are supported');
    else {
      const part = { ...toCallPart(call.id, call.function.name, call.function.arguments ?? ''), ...mark(call) };
      parts.push(part, ...readCallFields(call, provider));
    }
  }
  const { function_call: called } = message;
  if (called != null) parts.push(toCallPart(functionCallId(called.name), called.name, called.arguments ?? ''));
  return [...parts, ...readMessageFields(message, provider)];
}
