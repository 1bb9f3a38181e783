/**
 * Reads a request of Anthropic's Messages API: validates it with paths in its own terms, and converts it to neutral form. Unknown fields
 * are allowed, and fields without effect here are ignored (`metadata`, `cache_control`, `service_tier` …). `content.ts` reads
 * content blocks; `dialect.ts` writes answers. Wire: API reference "Create a Message"; guides "Extended thinking", "Effort",
 * "Structured outputs" and "Tool use".
 * Messages may end with an assistant message (prefill). Then there is no new input, and the model continues that text if it can.
 */
import { z } from 'zod';
import { parseDocument } from '../../core/issues.ts';
import { joinParagraphs } from '../../core/text/paragraphs.ts';
import { type ClientTool, type ModelSettings, definedSettings, type GivenSettings } from '../../core/turn/plan.ts';
import { invalidRequest, quoted, type Issue } from '../../core/problem.ts';
import { isRecord, listOf, recordOf, stringOf } from '../../core/json/wire-value.ts';
import { isIssuedBlock } from './blocks.ts';
import { type ContentContext, toAssistantParts, toInputContent, toToolResultInput } from './content.ts';
import { offerClientTools, type ClientOfferedTool, parseClientTool, pathOfOffered, readClientTools } from '../client-tools.ts';
import { type ConversationBuilder, createConversation, type CallMention, sessionOfMentions } from '../conversation.ts';
import type { DialectRequest } from '../dialect.ts';
import type { Message } from '../../core/turn/message.ts';
import { callNames, resultMessage } from '../../core/turn/pair-calls.ts';
import { charactersPerToken, messageCharacters } from '../../core/turn/transcript.ts';

const Content = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]);
const System = z.union([z.string(), z.array(z.looseObject({ type: z.literal('text'), text: z.string() }))]);
const Tool = z.looseObject({
  name: z.string().optional(),
  type: z.string().nullish(),
  description: z.string().nullish(),
  input_schema: z.record(z.string(), z.unknown()).nullish(),
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
    mcp_servers: z
      .array(z.unknown())
      .max(0, { message: 'must be empty: only a provider of this API supports them, without server tools and session' })
      .nullish(),
    toolset: z.string().min(1).max(100).nullish().meta({ description: 'Extension: the toolset whose tools the service runs.' }),
  })
  .meta({
    id: 'MessagesRequest',
    example: { model: 'rehearsal/default', max_tokens: 1024, messages: [{ role: 'user', content: 'Hello' }] },
  });
export type MessagesRequest = z.infer<typeof MessagesRequest>;
type Asked = z.infer<typeof CountTokensRequest>;

/** Throws `invalid_request`. */
export function readMessagesRequest(body: Readonly<Record<string, unknown>>): DialectRequest {
  const request = parseDocument(MessagesRequest, body);
  const offered = offeredTools(request);
  return {
    streamed: request.stream === true,
    includeUsage: true,
    choices: 1,
    conversation: (options) => toMessagesConversation(request, options),
    clientTools: () => (request.tools == null ? null : readClientTools(offered, parseTool)),
    settings: () => toSettings(request),
    allowedTools: () => null,
    toolPath: (index) => `${pathOfOffered(offered, index)}.name`,
    previous: null,
    echo: {},
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
  let changed = false;
  const messages = body.messages.flatMap((message: unknown) => {
    if (!isRecord(message) || !Array.isArray(message.content) || !message.content.some(isIssuedBlock)) return [message];
    changed = true;
    const content = message.content.filter((block) => !isIssuedBlock(block));
    return content.length === 0 ? [] : [{ ...message, content }];
  });
  return changed ? { ...body, messages } : body;
}

/**
 * Returns the request's messages in neutral form. Throws `invalid_request` with the path of what a turn does not support. `inSession`:
 * results without their call are allowed, since the session has it.
 */
export function toMessagesConversation(body: Asked, { inSession = false } = {}): ConversationBuilder {
  const conversation = createConversation({ inSession });
  if (body.system != null) conversation.addSystem(plainText(body.system));
  const reading: ContentContext = { body, issues: [], provider: providerOf(body.model) };
  const { issues } = reading;
  const last = body.messages.findLastIndex(({ role }) => role === 'assistant');
  for (const [index, { role, content }] of body.messages.entries()) {
    const path = ['messages', index];
    const isNew = index > last;
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    const at = (place: number): PropertyKey[] => (typeof content === 'string' ? [...path, 'content'] : [...path, 'content', place]);
    if (role === 'system') conversation.addSystem(blocks.map((block) => stringOf(block.text)).join('\n'));
    else if (role === 'assistant') conversation.addAssistant(blocks.flatMap((block, place) => toAssistantParts(block, at(place), reading)));
    else {
      for (const [place, block] of blocks.entries()) {
        const result = block.type === 'tool_result' ? toToolResultInput(block, at(place), reading) : null;
        if (result === null || conversation.addResult(result, isNew)) continue;
        const message = 'no earlier assistant message has a tool_use block with this id';
        issues.push({ path: `messages[${index}].content[${place}].tool_use_id`, message });
      }
      const parts = blocks.flatMap((block, place) => (block.type === 'tool_result' ? [] : toInputContent(block, at(place), reading)));
      if (parts.length > 0) conversation.addInput(parts, isNew);
    }
  }
  if (issues.length === 0 && conversation.saysNothingNew() && last !== body.messages.length - 1)
    issues.push({ path: 'messages', message: 'must end with a non-empty user message or with tool results' });
  if (issues.length > 0) throw invalidRequest(issues);
  return conversation.whole();
}

function plainText(text: z.infer<typeof System>): string {
  return typeof text === 'string' ? text : joinParagraphs(...text.map((block) => block.text));
}

function providerOf(ref: string): string | null {
  const slash = ref.indexOf('/');
  return slash < 1 || ref.startsWith('agent/') ? null : ref.slice(0, slash);
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
 * All tools except a provider's web search that agents offer next to their own tools: the model can work without it. If a search is the
 * only tool, it stays and is rejected.
 */
function offeredTools({ tools, tool_choice: choice }: MessagesRequest): ClientOfferedTool<Tool>[] {
  const all = offerClientTools(tools);
  const isOptional = (choice == null || choice.type === 'auto' || choice.type === 'none') && all.some(({ tool }) => isOwn(tool.type));
  return all.filter(({ tool }) => !isOptional || !isSearch(tool.type));
}

/** null for a provider's tool, and for an invalid name. */
function parseTool({ tool, path }: ClientOfferedTool<Tool>, issues: Issue[]): ClientTool | null {
  const { name, type, description, input_schema: inputSchema } = tool;
  if (isOwn(type)) return parseClientTool({ name, description, inputSchema }, { path, schemaField: 'input_schema', issues });
  issues.push({
    path: `${path}.type`,
    message: `must be "custom" or absent: only a provider of this API supports ${quoted(type)}, without server tools and session`,
  });
  return null;
}

function isOwn(type: string | null | undefined): type is 'custom' | null | undefined {
  return type == null || type === 'custom';
}

/** Web search, and search for tools that are loaded later; all tools are loaded here. Guides "Web search tool" and "Tool search tool". */
function isSearch(type: string | null | undefined): boolean {
  return type != null && /^(web_search|web_fetch|tool_search_tool)_/.test(type);
}

function toSettings(body: MessagesRequest): ModelSettings {
  const { output_config: output, tool_choice: choice } = body;
  const oneByOne = choice == null || choice.type === 'none' ? null : choice.disable_parallel_tool_use;
  return definedSettings({
    temperature: body.temperature,
    topP: body.top_p,
    topK: body.top_k,
    maxOutputTokens: body.max_tokens,
    stop: body.stop_sequences,
    ...toReasoning(body),
    responseFormat:
      output?.format?.type === 'json_schema'
        ? { type: 'json_schema', json_schema: { name: 'answer', schema: output.format.schema, strict: true } }
        : null,
    toolChoice: choice && toToolChoice(choice),
    parallelToolCalls: oneByOne == null ? null : !oneByOne,
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
export function estimateTokens(body: Readonly<Record<string, unknown>>, instructions: string): number {
  const request = parseDocument(CountTokensRequest, body);
  const { system, history, results, input } = toMessagesConversation(request, { inSession: true });
  const messages: Message[] = [...history, resultMessage(results, callNames(history)), { role: 'user', parts: input }];
  const messageCharactersTotal = messages.reduce((sum, message) => sum + messageCharacters(message), 0);
  const tools = request.tools == null ? 0 : JSON.stringify(request.tools).length;
  return Math.ceil((instructions.length + system.length + messageCharactersTotal + tools) / charactersPerToken);
}
