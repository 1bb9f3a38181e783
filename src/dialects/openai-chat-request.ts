/**
 * OpenAI Chat Completions as clients write it: the request, checked enough to name faults by path, and its neutral form.
 * A foreign shape: unknown fields pass, for stock SDKs send what is new to us. The answers are in `openai-chat.ts`.
 */
import { z } from 'zod';
import { parseDocument } from '../core/issues.ts';
import type { AssistantPart, InputPart } from '../core/message.ts';
import type { ClientTool, ModelSettings } from '../core/plan.ts';
import { invalidRequest, quoted, type Issue } from '../core/problem.ts';
import { listOf, recordOf } from '../core/wire-value.ts';
import { offerAll, type OfferedTool, parseClientTool, pathOfOffered, readClientTools } from './client-tools.ts';
import { type Conversation, createConversation, toCallPart } from './conversation.ts';
import type { DialectRequest } from './dialect.ts';
import { givenSettings } from './given-settings.ts';
import { type Fault, readImage, toContentBlock } from './input-content.ts';
import { type CallMention, sessionOfMentions } from './session-of-calls.ts';

const ContentPart = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  refusal: z.string().optional(),
  image_url: z.union([z.string(), z.looseObject({ url: z.string() })]).optional(),
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
    toolset: z.string().min(1).max(100).nullish().meta({ description: 'Not of OpenAI: the toolset whose tools run inside.' }),
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
    conversation: (options) => toConversation(request, options),
    clientTools: () => (request.tools == null ? null : readClientTools(offered, parseTool)),
    settings: () => toSettings(request),
    allowedTools: () => allowedTools(request),
    toolPath: (index) => `${pathOfOffered(offered, index)}.function.name`,
    previous: null,
    echo: {},
  };
}

/**
 * What no answer of ours would have, though its client waits for it. What only steers a service (`store`, `prediction`, `service_tier` …)
 * passes: the answer is right without.
 */
function refuseForeign({ functions, logprobs, logit_bias: bias, modalities, web_search_options: search }: ChatCompletionRequest): void {
  const issues: Issue[] = [];
  const fault = (path: string, message: string) => issues.push({ path, message });
  if (Array.isArray(functions) && functions.length > 0) fault('functions', 'are of the old format: send tools');
  if (logprobs === true) fault('logprobs', 'are known only to a provider of this API, without server tools and session');
  if (Object.keys(recordOf(bias)).length > 0) fault('logit_bias', 'is known only to a provider of this API: leave it out');
  if (Array.isArray(modalities) && modalities.some((kind) => kind !== 'text'))
    fault('modalities', 'must be ["text"]: answers are text here');
  if (search != null) fault('web_search_options', 'is known only to a provider of this API: leave it out');
  if (issues.length > 0) throw invalidRequest(issues);
}

/** All, or those that `allowed_tools` names. */
function offeredTools({ tools, tool_choice: choice }: ChatCompletionRequest): OfferedTool<Tool>[] {
  const all = offerAll(tools);
  if (choice == null || typeof choice === 'string' || choice.allowed_tools === undefined) return all;
  const allowed = new Set(choice.allowed_tools.tools.map(({ function: named }) => named?.name));
  return all.filter(({ tool }) => allowed.has(tool.function?.name));
}

/** Other system text in place of the request's own. Takes messages as they came. */
export function withInstructions(body: Readonly<Record<string, unknown>>, instructions: string): Record<string, unknown> {
  const messages = Array.isArray(body.messages) ? (body.messages as ({ role?: unknown } | null)[]) : []; // Only roles are looked at.
  const rest = messages.filter((message) => message?.role !== 'system' && message?.role !== 'developer');
  return { ...body, messages: [...(instructions === '' ? [] : [{ role: 'system', content: instructions }]), ...rest] };
}

/**
 * The request's messages, neutral. Throws `invalid_request` that names what a turn cannot take by its path: unknown content
 * parts, results without a call, calls that are no functions. `inSession`: results may come without the call that they answer,
 * since the session has it.
 */
export function toConversation(body: Pick<ChatCompletionRequest, 'messages'>, { inSession = false } = {}): Conversation {
  const conversation = createConversation({ inSession });
  const issues: Issue[] = [];
  const last = body.messages.findLastIndex(({ role }) => role === 'assistant');
  for (const [index, message] of body.messages.entries()) {
    const fault: Fault = (at, text) => issues.push({ path: `messages[${index}].${at}`, message: text });
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
          fault('tool_call_id', 'no assistant message before this one has a tool call of this id');
        break;
      }
      case 'function':
        fault('role', 'function messages are of the old format: send tool messages with tool_call_id');
        break;
      default:
        message satisfies never;
    }
  }
  if (issues.length === 0 && conversation.saysNothingNew())
    issues.push({ path: 'messages', message: 'must end with a user message, or with the results of tool calls' });
  if (issues.length > 0) throw invalidRequest(issues);
  return conversation.whole();
}

/** The session that the ids of tool calls lead to (`session-of-calls.ts`). Takes messages as they came, for it decides where a request goes. */
export function sessionOfCalls(messages: unknown): string | null {
  return Array.isArray(messages) ? sessionOfMentions(callMentions(messages)) : null;
}

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

/** null for one that is no function, and for a name that no model could call. */
function parseTool({ tool, path }: OfferedTool<Tool>, issues: Issue[]): ClientTool | null {
  if (tool.function === undefined) {
    issues.push({ path: `${path}.type`, message: 'must be "function": other kinds are the provider’s, and are not taken here' });
    return null;
  }
  const { name, description, parameters } = tool.function;
  return parseClientTool({ name, description, inputSchema: parameters }, { path: `${path}.function`, schemaField: 'parameters', issues });
}

export function toSettings(body: ChatCompletionRequest): ModelSettings {
  const { stop, response_format: format, tool_choice: choice } = body;
  return givenSettings({
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

function inputParts(content: z.infer<typeof Content>, fault: Fault): InputPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.flatMap((part, index): InputPart[] => {
    if (part.type === 'text' && part.text !== undefined) return [{ type: 'text', text: part.text }];
    if (part.type === 'image_url' && part.image_url !== undefined) {
      const url = typeof part.image_url === 'string' ? part.image_url : part.image_url.url;
      return readImage({ url }, (message) => fault(`content[${index}].image_url`, message));
    }
    fault(`content[${index}].type`, `${quoted(part.type)} parts are not taken here: send text or image_url`);
    return [];
  });
}

function assistantParts(message: Extract<z.infer<typeof ChatMessage>, { role: 'assistant' }>, fault: Fault): AssistantPart[] {
  const parts: AssistantPart[] = [];
  const text = message.content == null ? '' : plainText(message.content);
  const said = text === '' ? (message.refusal ?? '') : text;
  if (said !== '') parts.push({ type: 'text', text: said });
  for (const [index, call] of (message.tool_calls ?? []).entries()) {
    if (call.function === undefined) fault(`tool_calls[${index}]`, 'only function calls are taken here');
    else parts.push(toCallPart(call.id, call.function.name, call.function.arguments ?? ''));
  }
  return parts;
}
