/**
 * Anthropic's Messages API as clients write it: the request, checked enough to name faults by path, and its neutral form. A foreign
 * shape: unknown fields pass, and so do those that say nothing to us (`metadata`, `cache_control`, `service_tier` …). Content blocks are
 * `anthropic-content.ts`; the answers are `anthropic-messages.ts`. Wire: API reference "Create a Message"; guides "Extended thinking",
 * "Effort", "Structured outputs" and "Tool use".
 *
 * Messages may end with the assistant's (prefill): then there is no new input, and the model goes on from its words, where it can.
 */
import { z } from 'zod';
import { parseDocument } from '../core/issues.ts';
import { limits } from '../core/limits.ts';
import type { InputPart, Message, ToolResultPart } from '../core/message.ts';
import { ClientTool, type ModelSettings } from '../core/plan.ts';
import { invalidRequest, type Issue } from '../core/problem.ts';
import { readToolCallId } from '../core/reference.ts';
import { isBlock, isOwnBlock, isRecord } from './anthropic-blocks.ts';
import { type Reading, toAssistantParts, toInput, toResult } from './anthropic-content.ts';
import type { CallResult, Conversation } from './conversation.ts';
import type { DialectRequest } from './dialect.ts';

const Content = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]);
const System = z.union([z.string(), z.array(z.looseObject({ type: z.literal('text'), text: z.string() }))]);
const Tool = z.looseObject({
  name: z.string().optional(),
  type: z.string().nullish(),
  description: z.string().nullish(),
  input_schema: z.record(z.string(), z.unknown()).nullish(),
});
const ToolChoice = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('auto'), disable_parallel_tool_use: z.boolean().nullish() }),
  z.looseObject({ type: z.literal('any'), disable_parallel_tool_use: z.boolean().nullish() }),
  z.looseObject({ type: z.literal('tool'), name: z.string().min(1), disable_parallel_tool_use: z.boolean().nullish() }),
  z.looseObject({ type: z.literal('none') }),
]);
const Thinking = z.looseObject({ type: z.string(), budget_tokens: z.int().min(1).nullish() });

/** What is counted, too (`/v1/messages/count_tokens`): a request without what only its answer needs. */
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
    toolset: z.string().min(1).max(100).nullish().meta({ description: 'Not of Anthropic: the toolset whose tools run inside.' }),
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
    conversation: (options) => toConversation(request, options),
    clientTools: () => (request.tools == null ? null : toClientTools(request.tools, offered)),
    settings: () => toSettings(request),
    toolPath: (index) => `tools[${offered[index] ?? index}].name`,
    previous: null,
    echo: {},
  };
}

/** Other system text in place of the request's own. Takes messages as they came. */
export function withInstructions(body: Readonly<Record<string, unknown>>, instructions: string): Record<string, unknown> {
  const { system: _system, messages, ...rest } = body;
  const said = Array.isArray(messages) ? messages.filter((message) => !isRecord(message) || message.role !== 'system') : messages;
  return { ...rest, messages: said, ...(instructions !== '' && { system: instructions }) };
}

/** The same object where nothing in it is ours alone. */
export function withoutTokens(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!Array.isArray(body.messages)) return body;
  let changed = false;
  const messages = body.messages.flatMap((message: unknown) => {
    if (!isRecord(message) || !Array.isArray(message.content) || !message.content.some(isOwnBlock)) return [message];
    changed = true;
    const content = message.content.filter((block) => !isOwnBlock(block));
    return content.length === 0 ? [] : [{ ...message, content }];
  });
  return changed ? { ...body, messages } : body;
}

/**
 * The request's messages, neutral. Throws `invalid_request` that names what a turn cannot take by its path. `inSession`: results may
 * come without the call that they answer, since the session has it.
 */
export function toConversation(body: Asked, { inSession = false } = {}): Conversation {
  const system: string[] = [body.system == null ? '' : plainText(body.system)];
  const history: Message[] = [];
  const results: CallResult[] = [];
  const input: InputPart[] = [];
  const names = new Map<string, string>();
  /** The newest message with calls. */
  let calling: Message | undefined;
  const reading: Reading = { body, issues: [], provider: providerOf(body.model) };
  const last = body.messages.findLastIndex(({ role }) => role === 'assistant');
  for (const [index, { role, content }] of body.messages.entries()) {
    const path = ['messages', index];
    const isNew = index > last;
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    const at = (place: number): PropertyKey[] => (typeof content === 'string' ? [...path, 'content'] : [...path, 'content', place]);
    if (role === 'system') system.push(blocks.map((block) => (typeof block.text === 'string' ? block.text : '')).join('\n'));
    else if (role === 'assistant') {
      const parts = blocks.flatMap((block, place) => toAssistantParts(block, at(place), names, reading));
      addAssistant(history, parts, history.at(-1) === calling);
      if (parts.some(({ type }) => type === 'tool-call')) calling = history.at(-1);
    } else {
      const answers = blocks.flatMap((block, place) => {
        if (block.type !== 'tool_result') return [];
        const result = toResult(block, at(place), reading);
        if (result === null) return [];
        const isKnown = names.has(result.callId) || (isNew && (inSession || readToolCallId(result.callId) !== null));
        if (isKnown) return [result];
        const message = 'no assistant message before this one has a tool_use block of this id';
        reading.issues.push({ path: `messages[${index}].content[${place}].tool_use_id`, message });
        return [];
      });
      const said = blocks.flatMap((block, place) => (block.type === 'tool_result' ? [] : toInput(block, at(place), reading)));
      if (isNew) {
        // One by one: there may be more than a call takes arguments.
        for (const answer of answers) results.push(answer);
        for (const part of said) input.push(part);
      } else {
        addResults(history, answers, names);
        if (said.length > 0) history.push({ role: 'user', parts: said });
      }
    }
  }
  const { issues } = reading;
  const saysNothing = input.length === 0 && results.length === 0 && last !== body.messages.length - 1;
  if (issues.length === 0 && saysNothing)
    issues.push({ path: 'messages', message: 'must end with a user message that says something, or with the results of tool calls' });
  if (issues.length > 0) throw invalidRequest(issues);
  return { system: system.filter((text) => text !== '').join('\n\n'), history, results, input };
}

/** Neighbours are one turn on this wire: the results of all their calls come behind the last. */
function addAssistant(history: Message[], parts: Extract<Message, { role: 'assistant' }>['parts'], hasCalled: boolean): void {
  const before = history.at(-1);
  if (before?.role === 'assistant' && hasCalled) for (const part of parts) before.parts.push(part);
  else history.push({ role: 'assistant', parts });
}

function addResults(history: Message[], answers: readonly CallResult[], names: ReadonlyMap<string, string>): void {
  if (answers.length === 0) return;
  const parts = answers.map((result): ToolResultPart => {
    return { type: 'tool-result', requested: names.get(result.callId) ?? '', canonical: null, ...result };
  });
  const before = history.at(-1);
  // Results of one step are one message, in the order they came.
  if (before?.role === 'tool') for (const part of parts) before.parts.push(part);
  else history.push({ role: 'tool', parts });
}

function plainText(text: z.infer<typeof System>): string {
  return typeof text === 'string' ? text : text.map((block) => block.text).join('\n\n');
}

function providerOf(ref: string): string | null {
  const slash = ref.indexOf('/');
  return slash < 1 || ref.startsWith('agent/') ? null : ref.slice(0, slash);
}

/**
 * The session that the ids of tool calls lead to: of the results at the end, else of the newest call; null: no call is one of
 * ours. Takes messages as they came, for it decides where a request goes. Throws `invalid_request` for results of two sessions.
 */
export function sessionOfCalls(messages: unknown): string | null {
  if (!Array.isArray(messages)) return null;
  let found: string | null = null;
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const message: unknown = messages[index];
    if (!isRecord(message) || !Array.isArray(message.content)) continue;
    if (message.role === 'assistant') {
      for (const block of message.content) if (isBlock(block) && block.type === 'tool_use') found ??= sessionOfId(block.id);
      if (found !== null) return found;
      continue;
    }
    for (const [place, block] of message.content.entries()) {
      if (!isBlock(block) || block.type !== 'tool_result') continue;
      const session = sessionOfId(block.tool_use_id);
      if (found !== null && session !== null && session !== found) throw twoSessions(`messages[${index}].content[${place}].tool_use_id`);
      found ??= session;
    }
  }
  return found;
}

function twoSessions(path: string) {
  return invalidRequest([{ path, message: 'is of another session than the other results: send the results of one session' }]);
}

function sessionOfId(id: unknown): string | null {
  return typeof id === 'string' ? (readToolCallId(id)?.session ?? null) : null;
}

/**
 * Places of the tools that the model is to be offered: all but a search of the provider's that agents offer beside their own tools, and the
 * model may do without. Where a search is all that is asked for, it stays, to be refused.
 */
function offeredTools({ tools, tool_choice: choice }: MessagesRequest): number[] {
  const given = tools ?? [];
  const isOptional = (choice == null || choice.type === 'auto' || choice.type === 'none') && given.some(({ type }) => isOwn(type));
  return [...given.keys()].filter((index) => !isOptional || !isSearch(given[index]?.type));
}

/** The caller's own tools. Throws `invalid_request` for those that are the provider's, and for names that no model could call. */
function toClientTools(given: readonly z.infer<typeof Tool>[], offered: readonly number[]): ClientTool[] {
  const issues: Issue[] = [];
  if (given.length > limits.maxClientTools)
    throw invalidRequest([{ path: 'tools', message: `must have at most ${limits.maxClientTools} items` }]);
  const tools = offered.flatMap((index): ClientTool[] => {
    const { name, type, description, input_schema: inputSchema } = given[index] ?? {};
    if (!isOwn(type)) {
      const message = `must be "custom" or absent: ${JSON.stringify(type.slice(0, 40))} is known only to a provider of this API, without server tools and session`;
      issues.push({ path: `tools[${index}].type`, message });
      return [];
    }
    const read = ClientTool.safeParse({ name, description: description ?? '', inputSchema: inputSchema ?? { type: 'object' } });
    if (read.success) return [read.data];
    for (const { path, message } of read.error.issues) {
      const field = path[0] === 'inputSchema' ? 'input_schema' : String(path[0] ?? '');
      issues.push({ path: `tools[${index}].${field}`, message: name === undefined && field === 'name' ? 'is missing' : message });
    }
    return [];
  });
  if (issues.length > 0) throw invalidRequest(issues);
  return tools;
}

function isOwn(type: string | null | undefined): type is 'custom' | null | undefined {
  return type == null || type === 'custom';
}

/** Of the web, and of tools that are named later: here all of them are named at once. Guides "Web search tool" and "Tool search tool". */
function isSearch(type: string | null | undefined): boolean {
  return type != null && /^(web_search|web_fetch|tool_search_tool)_/.test(type);
}

/** The sampling settings, as every provider's adapter reads them. */
function toSettings(body: MessagesRequest): ModelSettings {
  const settings: ModelSettings = { maxOutputTokens: body.max_tokens };
  if (body.temperature != null) settings.temperature = body.temperature;
  if (body.top_p != null) settings.topP = body.top_p;
  if (body.top_k != null) settings.topK = body.top_k;
  if (body.stop_sequences != null) settings.stop = body.stop_sequences;
  const { thinking, output_config: output, tool_choice: choice } = body;
  if (thinking?.type === 'enabled' && thinking.budget_tokens != null) settings.reasoningBudget = thinking.budget_tokens;
  if (thinking?.type === 'disabled') settings.reasoningBudget = 0;
  // As it sees fit, which is `high` unless it is told otherwise (guide "Effort"). Some clients switch it on and name no budget.
  const asItSeesFit = thinking?.type === 'adaptive' || (thinking?.type === 'enabled' && thinking.budget_tokens == null);
  if (asItSeesFit) settings.reasoningEffort = 'high';
  if (output?.effort != null) settings.reasoningEffort = output.effort;
  if (output?.format?.type === 'json_schema') {
    settings.responseFormat = { type: 'json_schema', json_schema: { name: 'answer', schema: output.format.schema, strict: true } };
  }
  if (choice == null) return settings;
  if (choice.type === 'tool') settings.toolChoice = { tool: choice.name };
  else settings.toolChoice = choice.type === 'any' ? 'required' : choice.type;
  if (choice.type !== 'none' && choice.disable_parallel_tool_use != null) settings.parallelToolCalls = !choice.disable_parallel_tool_use;
  return settings;
}
