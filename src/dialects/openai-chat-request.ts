/**
 * OpenAI Chat Completions as clients write it: the request, checked enough to name faults by path, and its neutral form.
 * A foreign shape: unknown fields pass, for stock SDKs send what is new to us. The answers are in `openai-chat.ts`.
 */
import { z } from 'zod';
import { readArguments } from '../core/json-repair.ts';
import { limits } from '../core/limits.ts';
import { ImagePart } from '../core/message.ts';
import type { AssistantPart, InputPart, Message, ToolCallPart } from '../core/message.ts';
import { ClientTool, type ModelSettings } from '../core/plan.ts';
import { parseDocument } from '../core/issues.ts';
import { invalidRequest, type Issue } from '../core/problem.ts';
import { readToolCallId } from '../core/reference.ts';
import type { CallResult, Conversation } from './conversation.ts';
import type { DialectRequest } from './dialect.ts';

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
  z.looseObject({ type: z.string(), function: z.looseObject({ name: z.string() }).optional() }),
]);

const Tool = z.looseObject({
  type: z.string(),
  function: z
    .looseObject({ name: z.string().min(1), description: z.string().nullish(), parameters: z.record(z.string(), z.unknown()).nullish() })
    .optional(),
});

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
  return {
    streamed: request.stream === true,
    includeUsage: request.stream_options?.include_usage === true,
    choices: request.n ?? 1,
    conversation: (options) => toConversation(request, options),
    clientTools: () => (request.tools == null ? null : toClientTools(request)),
    settings: () => toSettings(request),
    toolPath: (index) => `tools[${index}].function.name`,
    previous: null,
    echo: {},
  };
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
  const system: string[] = [];
  const history: Message[] = [];
  const results: CallResult[] = [];
  const input: InputPart[] = [];
  const names = new Map<string, string>();
  const issues: Issue[] = [];
  const last = body.messages.findLastIndex(({ role }) => role === 'assistant');
  for (const [index, message] of body.messages.entries()) {
    const path = `messages[${index}]`;
    const fault = (at: string, text: string) => issues.push({ path: `${path}.${at}`, message: text });
    const isNew = index > last;
    switch (message.role) {
      case 'system':
      case 'developer':
        system.push(plainText(message.content));
        break;
      case 'user': {
        const parts = inputParts(message.content, fault);
        if (isNew) input.push(...parts);
        else history.push({ role: 'user', parts });
        break;
      }
      case 'assistant':
        history.push({ role: 'assistant', parts: assistantParts(message, names, fault) });
        break;
      case 'tool': {
        const requested = names.get(message.tool_call_id);
        const known = requested !== undefined || (isNew && (inSession || readToolCallId(message.tool_call_id) !== null));
        if (!known) fault('tool_call_id', 'no assistant message before this one has a tool call of this id');
        else if (isNew) results.push(toResult(message));
        else addResult(history, message, requested ?? '');
        break;
      }
      case 'function':
        fault('role', 'function messages are of the old format: send tool messages with tool_call_id');
        break;
      default:
        message satisfies never;
    }
  }
  if (issues.length === 0 && input.length === 0 && results.length === 0)
    issues.push({ path: 'messages', message: 'must end with a user message, or with the results of tool calls' });
  if (issues.length > 0) throw invalidRequest(issues);
  return { system: system.filter((text) => text !== '').join('\n\n'), history, results, input };
}

/**
 * The session that the ids of tool calls lead to: of the results at the end, else of the newest call; null: no call is one of
 * ours. Takes messages as they came, for it decides where a request goes. Throws `invalid_request` for results of two sessions.
 */
export function sessionOfCalls(messages: unknown): string | null {
  if (!Array.isArray(messages)) return null;
  let found: string | null = null;
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const message = (messages[index] ?? {}) as { role?: unknown; tool_call_id?: unknown; tool_calls?: unknown }; // Members are looked at one by one.
    if (message.role === 'tool') {
      const session = sessionOfId(message.tool_call_id);
      if (found !== null && session !== null && session !== found)
        throw invalidRequest([
          {
            path: `messages[${index}].tool_call_id`,
            message: 'is of another session than the results after it: send the results of one session',
          },
        ]);
      found ??= session;
    } else if (message.role === 'assistant') {
      if (found !== null) return found;
      const calls = Array.isArray(message.tool_calls) ? message.tool_calls : [];
      for (const call of calls as ({ id?: unknown } | null)[]) found ??= sessionOfId(call?.id);
      if (found !== null) return found;
    }
  }
  return found;
}

/** The caller's own tools. Throws `invalid_request` for those that are no functions, and for names that no model could call. */
export function toClientTools(body: Pick<ChatCompletionRequest, 'tools'>): ClientTool[] {
  const given = body.tools ?? [];
  const issues: Issue[] = [];
  if (given.length > limits.maxClientTools) issues.push({ path: 'tools', message: `must have at most ${limits.maxClientTools} items` });
  const tools = given.flatMap(({ function: named }, index): ClientTool[] => {
    if (named === undefined) {
      issues.push({ path: `tools[${index}].type`, message: 'must be "function": other kinds are the provider\'s, and are not taken here' });
      return [];
    }
    const read = ClientTool.safeParse({
      name: named.name,
      description: named.description ?? '',
      inputSchema: named.parameters ?? { type: 'object' },
    });
    if (read.success) return [read.data];
    const fields = new Map([['inputSchema', 'parameters']]);
    for (const { path, message } of read.error.issues) {
      const field = String(path[0] ?? '');
      issues.push({ path: `tools[${index}].function.${fields.get(field) ?? field}`, message });
    }
    return [];
  });
  if (issues.length > 0) throw invalidRequest(issues);
  return tools;
}

/** The sampling settings, as every provider's adapter reads them. */
export function toSettings(body: ChatCompletionRequest): ModelSettings {
  const settings: ModelSettings = {};
  const maxOutputTokens = body.max_completion_tokens ?? body.max_tokens;
  if (body.temperature != null) settings.temperature = body.temperature;
  if (body.top_p != null) settings.topP = body.top_p;
  if (maxOutputTokens != null) settings.maxOutputTokens = maxOutputTokens;
  if (body.stop != null) settings.stop = typeof body.stop === 'string' ? [body.stop] : body.stop;
  if (body.seed != null) settings.seed = body.seed;
  if (body.frequency_penalty != null) settings.frequencyPenalty = body.frequency_penalty;
  if (body.presence_penalty != null) settings.presencePenalty = body.presence_penalty;
  if (body.reasoning_effort != null) settings.reasoningEffort = body.reasoning_effort;
  if (body.response_format != null && body.response_format.type !== 'text') settings.responseFormat = body.response_format;
  if (body.parallel_tool_calls != null) settings.parallelToolCalls = body.parallel_tool_calls;
  const choice = body.tool_choice;
  if (typeof choice === 'string') settings.toolChoice = choice;
  else if (choice?.function !== undefined) settings.toolChoice = { tool: choice.function.name };
  return settings;
}

type Fault = (at: string, text: string) => void;

function plainText(content: z.infer<typeof Content>): string {
  return typeof content === 'string' ? content : content.map((part) => part.text ?? part.refusal ?? '').join('');
}

function inputParts(content: z.infer<typeof Content>, fault: Fault): InputPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.flatMap((part, index): InputPart[] => {
    if (part.type === 'text' && part.text !== undefined) return [{ type: 'text', text: part.text }];
    if (part.type === 'image_url' && part.image_url !== undefined) {
      const image = ImagePart.safeParse(imagePart(typeof part.image_url === 'string' ? part.image_url : part.image_url.url));
      if (image.success) return [image.data];
      fault(`content[${index}].image_url`, image.error.issues[0]?.message ?? 'is no image');
      return [];
    }
    fault(`content[${index}].type`, `${JSON.stringify(part.type.slice(0, 40))} parts are not taken here: send text or image_url`);
    return [];
  });
}

function imagePart(url: string): InputPart {
  const inline = /^data:([^;,]+);base64,(.*)$/s.exec(url);
  return inline === null ? { type: 'image', url } : { type: 'image', mediaType: inline[1], data: inline[2] };
}

function assistantParts(
  message: Extract<z.infer<typeof ChatMessage>, { role: 'assistant' }>,
  names: Map<string, string>,
  fault: Fault,
): AssistantPart[] {
  const parts: AssistantPart[] = [];
  const text = message.content == null ? '' : plainText(message.content);
  const said = text === '' ? (message.refusal ?? '') : text;
  if (said !== '') parts.push({ type: 'text', text: said });
  for (const [index, call] of (message.tool_calls ?? []).entries()) {
    if (call.function === undefined) {
      fault(`tool_calls[${index}]`, 'only function calls are taken here');
      continue;
    }
    names.set(call.id, call.function.name);
    parts.push(toCallPart(call.id, call.function.name, call.function.arguments ?? ''));
  }
  return parts;
}

/** A client's history holds finished calls, so nothing is repaired: what does not parse is kept as it came. */
function toCallPart(id: string, name: string, text: string): ToolCallPart {
  const reading = readArguments(text, { ended: true, length: false });
  const part = { type: 'tool-call', callId: id, requested: name, canonical: null, via: null, nativeId: id } as const;
  return reading.state === 'ok' ? { ...part, arguments: reading.arguments } : { ...part, arguments: null, raw: text };
}

type ToolMessage = Extract<z.infer<typeof ChatMessage>, { role: 'tool' }>;

function toResult(message: ToolMessage): CallResult {
  return { callId: message.tool_call_id, content: [{ type: 'text', text: plainText(message.content) }], isError: false };
}

function addResult(messages: Message[], message: ToolMessage, requested: string): void {
  const part = { type: 'tool-result' as const, requested, canonical: null, ...toResult(message) };
  const last = messages.at(-1);
  // Results of one step are one message, in the order they came.
  if (last?.role === 'tool') last.parts.push(part);
  else messages.push({ role: 'tool', parts: [part] });
}

function sessionOfId(id: unknown): string | null {
  return typeof id === 'string' ? (readToolCallId(id)?.session ?? null) : null;
}
