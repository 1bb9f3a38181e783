/**
 * Reads an OpenAI Chat Completions request: validates it with paths in its own terms, and converts it to neutral form. Unknown fields are
 * allowed, because stock SDKs send new ones. `dialect.ts` writes answers.
 */
import { z } from 'zod';
import { parseDocument } from '../../core/issues.ts';
import type { AssistantPart, InputPart } from '../../core/turn/message.ts';
import { type ClientTool, type ModelSettings, definedSettings } from '../../core/turn/plan.ts';
import { invalidRequest, quoted, type Issue } from '../../core/problem.ts';
import { listOf, recordOf } from '../../core/json/wire-value.ts';
import { offerClientTools, type ClientOfferedTool, parseClientTool, pathOfOffered, readClientTools } from '../client-tools.ts';
import {
  type ConversationBuilder,
  createConversation,
  toCallPart,
  type CallMention,
  sessionOfMentions,
  type InputFault,
  readImage,
  toContentBlock,
} from '../conversation.ts';
import type { DialectRequest } from '../dialect.ts';

const ContentPart = z.looseObject({
  type: z.string(),
  // The Agents SDK of OpenAI sends null for the fields that a part does not have.
  text: z.string().nullish(),
  refusal: z.string().nullish(),
  image_url: z.union([z.string(), z.looseObject({ url: z.string() })]).nullish(),
});
const Content = z.union([z.string(), z.array(ContentPart)]);

const ToolCall = z.looseObject({
  id: z.string(),
  type: z.string().optional(),
  function: z.looseObject({ name: z.string(), arguments: z.string().nullish() }).optional(),
});

const ChatMessage = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('system'), content: Content }),
  z.looseObject({ role: z.literal('developer'), content: Content }),
  z.looseObject({ role: z.literal('user'), content: Content }),
  z.looseObject({
    role: z.literal('assistant'),
    content: Content.nullish(),
    refusal: z.string().nullish(),
    tool_calls: z.array(ToolCall).nullish(),
  }),
  z.looseObject({ role: z.literal('tool'), content: Content, tool_call_id: z.string() }),
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
    .looseObject({ name: z.string().min(1), description: z.string().nullish(), parameters: z.record(z.string(), z.unknown()).nullish() })
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
    max_tokens: z.int().min(1).nullish(),
    max_completion_tokens: z.int().min(1).nullish(),
    stop: z.union([z.string(), z.array(z.string()).max(16)]).nullish(),
    seed: z.int().nullish(),
    frequency_penalty: z.number().min(-2).max(2).nullish(),
    presence_penalty: z.number().min(-2).max(2).nullish(),
    reasoning_effort: z.string().max(40).nullish(),
    n: z.int().min(1).max(128).nullish(),
    response_format: z.looseObject({ type: z.string() }).nullish(),
    toolset: z.string().min(1).max(100).nullish().meta({ description: 'Extension: the toolset whose tools the service runs.' }),
  })
  .meta({ id: 'ChatCompletionRequest', example: { model: 'rehearsal/default', messages: [{ role: 'user', content: 'Hello' }] } });
export type ChatCompletionRequest = z.infer<typeof ChatCompletionRequest>;

/** Throws `invalid_request`. */
export function readChatRequest(body: Readonly<Record<string, unknown>>): DialectRequest {
  const request = parseDocument(ChatCompletionRequest, body);
  refuseForeign(request);
  const offered = offeredTools(request);
  return {
    streamed: request.stream === true,
    includeUsage: request.stream_options?.include_usage === true,
    choices: request.n ?? 1,
    conversation: (options) => toChatConversation(request, options),
    clientTools: () => (request.tools == null ? null : readClientTools(offered, parseTool)),
    settings: () => toSettings(request),
    allowedTools: () => allowedTools(request),
    toolPath: (index) => `${pathOfOffered(offered, index)}.function.name`,
    previous: null,
    echo: {},
  };
}

/**
 * Rejects fields whose effect the client would miss in the answer. Fields that only control a provider's service (`store`, `prediction`,
 * `service_tier` …) are ignored.
 */
function refuseForeign({ functions, logprobs, logit_bias: bias, modalities, web_search_options: search }: ChatCompletionRequest): void {
  const issues: Issue[] = [];
  const fault = (path: string, message: string) => issues.push({ path, message });
  if (Array.isArray(functions) && functions.length > 0) fault('functions', 'are deprecated: send tools');
  if (logprobs === true) fault('logprobs', 'are supported only by a provider of this API, without server tools and session');
  if (Object.keys(recordOf(bias)).length > 0) fault('logit_bias', 'is supported only by a provider of this API: remove it');
  if (Array.isArray(modalities) && modalities.some((kind) => kind !== 'text'))
    fault('modalities', 'must be ["text"], because only text answers are supported');
  if (search != null) fault('web_search_options', 'is supported only by a provider of this API: remove it');
  if (issues.length > 0) throw invalidRequest(issues);
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

/**
 * Returns the request's messages in neutral form. Throws `invalid_request` with the path of what a turn does not support: unknown content
 * parts, results without a call, calls that are not functions. `inSession`: results without their call are allowed, since the session has
 * it.
 */
export function toChatConversation(body: Pick<ChatCompletionRequest, 'messages'>, { inSession = false } = {}): ConversationBuilder {
  const conversation = createConversation({ inSession });
  const issues: Issue[] = [];
  const last = body.messages.findLastIndex(({ role }) => role === 'assistant');
  for (const [index, message] of body.messages.entries()) {
    const fault: InputFault = (at, text) => issues.push({ path: `messages[${index}].${at}`, message: text });
    const isNew = index > last;
    switch (message.role) {
      case 'system':
      case 'developer':
        conversation.addSystem(plainText(message.content));
        break;
      case 'user':
        conversation.addInput(inputParts(message.content, fault), isNew);
        break;
      case 'assistant':
        conversation.addAssistant(assistantParts(message, fault));
        break;
      case 'tool': {
        const content = inputParts(message.content, fault).map(toContentBlock);
        if (!conversation.addResult({ callId: message.tool_call_id, content, isError: false }, isNew))
          fault('tool_call_id', 'no earlier assistant message has a tool call with this id');
        break;
      }
      case 'function':
        fault('role', 'function messages are deprecated: send tool messages with tool_call_id');
        break;
      default:
        message satisfies never;
    }
  }
  if (issues.length === 0 && conversation.saysNothingNew())
    issues.push({ path: 'messages', message: 'must end with a user message or with tool results' });
  if (issues.length > 0) throw invalidRequest(issues);
  return conversation.whole();
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

/** null for a tool that is not a function, and for an invalid name. */
function parseTool({ tool, path }: ClientOfferedTool<Tool>, issues: Issue[]): ClientTool | null {
  if (tool.function === undefined) {
    issues.push({ path: `${path}.type`, message: 'must be "function": provider tools are not supported here' });
    return null;
  }
  const { name, description, parameters } = tool.function;
  return parseClientTool({ name, description, inputSchema: parameters }, { path: `${path}.function`, schemaField: 'parameters', issues });
}

export function toSettings(body: ChatCompletionRequest): ModelSettings {
  const { stop, response_format: format, tool_choice: choice } = body;
  return definedSettings({
    temperature: body.temperature,
    topP: body.top_p,
    maxOutputTokens: body.max_completion_tokens ?? body.max_tokens,
    stop: typeof stop === 'string' ? [stop] : stop,
    seed: body.seed,
    frequencyPenalty: body.frequency_penalty,
    presencePenalty: body.presence_penalty,
    reasoningEffort: body.reasoning_effort,
    responseFormat: format?.type === 'text' ? null : format,
    parallelToolCalls: body.parallel_tool_calls,
    toolChoice: typeof choice === 'string' ? choice : choice && toToolChoice(choice),
  });
}

function toToolChoice({
  function: named,
  allowed_tools: allowed,
}: Exclude<z.infer<typeof ToolChoice>, string>): ModelSettings['toolChoice'] | null {
  if (allowed !== undefined) return allowed.mode ?? 'auto';
  return named === undefined ? null : { tool: named.name };
}

function plainText(content: z.infer<typeof Content>): string {
  return typeof content === 'string' ? content : content.map((part) => part.text ?? part.refusal ?? '').join('');
}

function inputParts(content: z.infer<typeof Content>, fault: InputFault): InputPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.flatMap((part, index): InputPart[] => {
    if (part.type === 'text' && part.text != null) return [{ type: 'text', text: part.text }];
    if (part.type === 'image_url' && part.image_url != null) {
      const url = typeof part.image_url === 'string' ? part.image_url : part.image_url.url;
      return readImage({ url }, (message) => fault(`content[${index}].image_url`, message));
    }
    fault(`content[${index}].type`, `${quoted(part.type)} parts are not supported: send text or image_url`);
    return [];
  });
}

function assistantParts(message: Extract<z.infer<typeof ChatMessage>, { role: 'assistant' }>, fault: InputFault): AssistantPart[] {
  const parts: AssistantPart[] = [];
  const text = message.content == null ? '' : plainText(message.content);
  const said = text === '' ? (message.refusal ?? '') : text;
  if (said !== '') parts.push({ type: 'text', text: said });
  for (const [index, call] of (message.tool_calls ?? []).entries()) {
    if (call.function === undefined) fault(`tool_calls[${index}]`, 'only function calls are supported');
    else parts.push(toCallPart(call.id, call.function.name, call.function.arguments ?? ''));
  }
  return parts;
}
