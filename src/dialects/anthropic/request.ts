/**
 * Reads a request of Anthropic's Messages API: validates it with paths in its own terms, and converts it to neutral form. Unknown fields
 * are allowed; `fields.ts` has the fate of each field. `content.ts` reads
 * content blocks; `dialect.ts` writes answers. Wire: API reference "Create a Message"; guides "Extended thinking", "Effort",
 * "Structured outputs" and "Tool use".
 */
import * as z from 'zod';
import { createDropped, type Dropped, type SettingNames } from '../../core/model/dropped.ts';
import { type ModelSettings, definedSettings, type GivenSettings } from '../../core/model/model-settings.ts';
import type { ClientTool } from '../../core/turn/plan.ts';
import { invalidRequest, type Issue, parseInput } from '../../core/problem.ts';
import { isRecord, listOf, mapItems, recordOf, stringOf } from '../../core/json/wire-value.ts';
import { isIssuedBlock, withoutWebCitations } from './blocks.ts';
import { type ContentContext, toAssistantParts, toInputContent, toToolResultInput } from './content.ts';
import {
  isRefused,
  offerClientTools,
  type ClientOfferedTool,
  parseClientTool,
  pathOfOffered,
  readClientTools,
  withoutOptional,
} from '../client-tools.ts';
import { takeWebSearch } from '../web-search.ts';
import {
  type ConversationBuilder,
  createConversation,
  markReader,
  type CallMention,
  type ConversationOptions,
  providerOf,
  sessionOfMentions,
} from '../conversation.ts';
import type { DialectRequest } from '../dialect.ts';
import { createFieldReader, type Field, readService } from '../fields.ts';
import { messagesFields, messagesTool } from './fields.ts';
import type { MarkedText } from '../../core/model/message.ts';
import { estimateTokens } from '../token-estimate.ts';

const Content = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]);
const System = z.union([z.string(), z.array(z.looseObject({ type: z.literal('text'), text: z.string() }))]);
const Tool = z.looseObject({
  name: z.string().optional(),
  type: z.string().nullish(),
  description: z.string().nullish(),
  input_schema: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
});
type Tool = z.infer<typeof Tool>;
const ToolChoice = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('auto'), disable_parallel_tool_use: z.boolean().nullish() }),
  z.looseObject({ type: z.literal('any'), disable_parallel_tool_use: z.boolean().nullish() }),
  z.looseObject({ type: z.literal('tool'), name: z.string().min(1), disable_parallel_tool_use: z.boolean().nullish() }),
  z.looseObject({ type: z.literal('none') }),
]);
const Thinking = z.looseObject({ type: z.string(), budget_tokens: z.int().min(1).nullish() });

/** The fields that are also counted (`/v1/messages/count_tokens`): a request without the fields that only an answer needs. */
export const CountTokensRequest = z
  .looseObject({
    model: z.string().min(1).max(300),
    messages: z.array(z.looseObject({ role: z.enum(['user', 'assistant', 'system']), content: Content })).min(1),
    system: System.nullish(),
    tools: z.array(Tool).nullish(),
    tool_choice: ToolChoice.nullish(),
    thinking: Thinking.nullish(),
  })
  .meta({ id: 'CountTokensRequest', example: { model: 'rehearsal/default', messages: [{ role: 'user', content: 'Hello' }] } });

export const MessagesRequest = z
  .looseObject({
    ...CountTokensRequest.shape,
    max_tokens: z.int().min(1),
    stream: z.boolean().nullish(),
    stop_sequences: z.array(z.string()).max(64).nullish(),
    temperature: z.number().min(0).max(1).nullish(),
    top_p: z.number().min(0).max(1).nullish(),
    top_k: z.int().min(0).nullish(),
    output_config: z.looseObject({ effort: z.string().max(40).nullish(), format: z.looseObject({ type: z.string() }).nullish() }).nullish(),
    output_format: z.looseObject({ type: z.string() }).nullish(),
    metadata: z.looseObject({ user_id: z.string().nullish() }).nullish(),
    service_tier: z.string().max(40).nullish(),
    toolset: z.string().min(1).max(100).nullish().meta({ description: 'Extension: the toolset whose tools the service runs.' }),
  })
  .meta({
    id: 'MessagesRequest',
    example: { model: 'rehearsal/default', max_tokens: 1024, messages: [{ role: 'user', content: 'Hello' }] },
  });
export type MessagesRequest = z.infer<typeof MessagesRequest>;
type Asked = z.infer<typeof CountTokensRequest>;

/** The names of settings in this dialect. */
const settingNames: SettingNames = {
  topP: 'top_p',
  topK: 'top_k',
  maxOutputTokens: 'max_tokens',
  stop: 'stop_sequences',
  reasoningEffort: 'output_config.effort',
  reasoningBudget: 'thinking.budget_tokens',
  responseFormat: 'output_config.format',
  toolChoice: 'tool_choice',
  parallelToolCalls: 'tool_choice.disable_parallel_tool_use',
  user: 'metadata.user_id',
  reasoning: 'messages[].content[].thinking',
  signature: 'messages[].content[].signature',
  citations: 'messages[].content[].citations',
  serviceTier: 'service_tier',
};

/** Two settings may be given by either of two fields. */
function namesIn({ output_config: output, output_format: format }: MessagesRequest): SettingNames {
  return {
    ...settingNames,
    ...(output?.effort == null && { reasoningEffort: 'thinking.type' }),
    ...(output?.format == null && format != null && { responseFormat: 'output_format' }),
  };
}

const readFields = createFieldReader(messagesFields);

/** Throws `invalid_request`. */
export function readMessagesRequest(body: Readonly<Record<string, unknown>>): DialectRequest {
  const request = parseInput(MessagesRequest, body);
  const dropped = createDropped(namesIn(request));
  const marks = readFields(body, dropped);
  const { tools: offered, webSearch } = offeredTools(request, dropped);
  const settings = { ...toSettings(request, dropped), ...marks, ...(webSearch !== null && { webSearch }) };
  return {
    streamed: request.stream === true,
    includeUsage: true,
    choices: 1,
    conversation: (options) => toMessagesConversation(request, options, dropped),
    clientTools: (options) => (request.tools == null ? null : readClientTools(offered, parseTool, options)),
    settings: () => settings,
    allowedTools: () => null,
    toolPath: (index) => `${pathOfOffered(offered, index)}.name`,
    previous: null,
    echo: {},
    dropped,
  };
}

/** Replaces the request's system text. Takes unvalidated messages. */
export function withMessagesInstructions(body: Readonly<Record<string, unknown>>, instructions: string): Record<string, unknown> {
  const { system: _system, messages, ...rest } = body;
  const conversation = Array.isArray(messages) ? messages.filter((message) => !isRecord(message) || message.role !== 'system') : messages;
  return { ...rest, messages: conversation, ...(instructions !== '' && { system: instructions }) };
}

/** Returns the same object if it contains nothing that only this service can read. */
export function withoutMessagesTokens(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!Array.isArray(body.messages)) return body;
  const messages = mapItems(body.messages, (message) => {
    if (!isRecord(message) || !Array.isArray(message.content)) return message;
    const content = mapItems(message.content, (block) => (isIssuedBlock(block) ? undefined : withoutWebCitations(block)));
    if (content === message.content) return message;
    return content.length === 0 ? undefined : { ...message, content };
  });
  return messages === body.messages ? body : { ...body, messages };
}

/** Returns the request's messages in neutral form. Throws `invalid_request` with the path of what a turn does not support. */
export function toMessagesConversation(body: Asked, options: ConversationOptions = {}, dropped?: Dropped): ConversationBuilder {
  const conversation = createConversation(options);
  const mark = markReader(options);
  const texts = (blocks: readonly Readonly<Record<string, unknown>>[]): MarkedText[] =>
    blocks.map((block) => ({ type: 'text', text: stringOf(block.text), ...mark(block) }));
  if (body.system != null) conversation.addSystem(...texts(typeof body.system === 'string' ? [{ text: body.system }] : body.system));
  const reading: ContentContext = { body, issues: [], provider: options.provider ?? providerOf(body.model), dropped, mark };
  const last = body.messages.findLastIndex(({ role }) => role === 'assistant');
  for (const [index, { role, content }] of body.messages.entries()) {
    const path = ['messages', index];
    const isNew = index > last;
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    const at = (place: number): PropertyKey[] => (typeof content === 'string' ? [...path, 'content'] : [...path, 'content', place]);
    if (role === 'system') conversation.addSystem(...texts(blocks));
    else if (role === 'assistant') conversation.addAssistant(blocks.flatMap((block, place) => toAssistantParts(block, at(place), reading)));
    else {
      for (const [place, block] of blocks.entries()) {
        const result = block.type === 'tool_result' ? toToolResultInput(block, at(place), reading) : null;
        if (result !== null) conversation.addResult(result, isNew);
      }
      const parts = blocks.flatMap((block, place) => (block.type === 'tool_result' ? [] : toInputContent(block, at(place), reading)));
      if (parts.length > 0) conversation.addInput(parts, isNew);
    }
  }
  return conversation.finish(reading.issues, { path: 'messages', message: 'must have a message that is not empty' }, mark(body));
}

export const sessionOfMessagesCalls = (messages: unknown): string | null => sessionOfMentions(messages, callMentions);

function* callMentions(messages: readonly unknown[]): Generator<CallMention> {
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const { role, content } = recordOf(messages[index]);
    for (const [place, entry] of listOf(content).entries()) {
      const block = recordOf(entry);
      const path = `messages[${index}].content[${place}]`;
      if (role === 'assistant' && block.type === 'tool_use') yield { by: 'assistant', id: block.id, path };
      if (role !== 'assistant' && block.type === 'tool_result') yield { by: 'result', id: block.tool_use_id, path: `${path}.tool_use_id` };
    }
    if (role === 'assistant') yield { by: 'assistant', id: null, path: `messages[${index}]` };
  }
}

/**
 * All tools except what agents offer next to their own tools and only a provider runs: the model can work without it. If it is the only tool,
 * it stays and is rejected.
 */
function offeredTools({ tools, tool_choice: choice }: MessagesRequest, dropped: Dropped) {
  const isFree = choice == null || choice.type === 'auto' || choice.type === 'none';
  const every = takeWebSearch(offerClientTools(tools), kindOf, { members: searchMembers, isFree });
  if (every.webSearch !== null && choice?.type === 'tool' && choice.name === searchName)
    throw invalidRequest([{ path: 'tool_choice.name', message: 'cannot be the web search: name another tool, or send auto' }]);
  return isFree ? { ...every, tools: withoutOptional(every.tools, kindOf, dropped) } : every;
}

/** The only name that the API takes for it. */
const searchName = 'web_search';
const searchMembers = {
  maxUses: 'max_uses',
  allowedDomains: 'allowed_domains',
  blockedDomains: 'blocked_domains',
  location: 'user_location',
};

function kindOf({ type }: Tool): Field | undefined {
  return messagesTool(type ?? 'custom');
}

/** null for a provider's tool, and for an invalid name. */
function parseTool({ tool, path }: ClientOfferedTool<Tool>, issues: Issue[]): ClientTool | null {
  const { name, description, input_schema: inputSchema, strict } = tool;
  if (isRefused(kindOf(tool), { tool, path }, issues)) return null;
  return parseClientTool({ name, description, inputSchema, strict }, { path, schemaField: 'input_schema', issues });
}

function toSettings(body: MessagesRequest, dropped: Dropped): ModelSettings {
  const { output_config: output, tool_choice: choice } = body;
  // `output_format` is the name of the field in its beta.
  const format = output?.format ?? body.output_format;
  const tier = body.service_tier === 'standard_only' ? 'default' : body.service_tier;
  const oneByOne = choice == null || choice.type === 'none' ? null : choice.disable_parallel_tool_use;
  return definedSettings({
    temperature: body.temperature,
    topP: body.top_p,
    topK: body.top_k,
    maxOutputTokens: body.max_tokens,
    stop: body.stop_sequences,
    ...toReasoning(body),
    responseFormat:
      format?.type === 'json_schema' ? { type: 'json_schema', json_schema: { name: 'answer', schema: format.schema, strict: true } } : null,
    toolChoice: choice && toToolChoice(choice),
    parallelToolCalls: oneByOne == null ? null : !oneByOne,
    ...readService({ user: body.metadata?.user_id, service_tier: tier }, dropped),
  });
}

function toReasoning({ thinking, output_config: output }: MessagesRequest): GivenSettings {
  const { type, budget_tokens: budget } = thinking ?? { type: 'unsaid' };
  // Adaptive effort is `high` by default (guide "Effort"). Some clients enable thinking without a budget.
  const isAdaptive = type === 'adaptive' || (type === 'enabled' && budget == null);
  return {
    reasoningEffort: output?.effort ?? (isAdaptive ? 'high' : null),
    reasoningBudget: type === 'disabled' ? 0 : type === 'enabled' ? budget : null,
  };
}

function toToolChoice(choice: z.infer<typeof ToolChoice>): NonNullable<ModelSettings['toolChoice']> {
  if (choice.type === 'tool') return { tool: choice.name };
  return choice.type === 'any' ? 'required' : choice.type;
}

/** `instructions`: the text before the request's own system text. Throws `invalid_request`. */
export function estimateMessagesTokens(body: Readonly<Record<string, unknown>>, instructions: string): number {
  const request = parseInput(CountTokensRequest, body);
  return estimateTokens(toMessagesConversation(request, { inSession: true }), { instructions, tools: request.tools });
}
