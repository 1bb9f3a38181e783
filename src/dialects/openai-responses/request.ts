/**
 * Reads an OpenAI Responses request: validates it with paths in its own terms, and converts it to neutral form; `input.ts`
 * reads its items. Unknown fields are allowed, because stock SDKs send new ones. `dialect.ts` writes answers. Wire: OpenAI API
 * reference, "Responses: create" (SDK 7.57).
 */
import * as z from 'zod';
import { createDropped, type Dropped, type SettingNames } from '../../core/model/dropped.ts';
import { joinParagraphs } from '../../core/text/paragraphs.ts';
import { type ModelSettings, definedSettings } from '../../core/model/model-settings.ts';
import type { ClientTool } from '../../core/turn/plan.ts';
import { invalidRequest, type Issue, parseInput } from '../../core/problem.ts';
import {
  isRefused,
  offerClientTools,
  type ClientOfferedTool,
  parseClientTool,
  pathOfOffered,
  readClientTools,
  withoutOptional,
} from '../client-tools.ts';
import type { DialectRequest } from '../dialect.ts';
import { takeWebSearch } from '../web-search.ts';
import { createFieldReader, type Field, readService } from '../fields.ts';
import { readConversationId } from '../../core/text/reference.ts';
import { responsesFields, responsesTool } from './fields.ts';
import { InputItem, isOfAssistant, isSystemItem, toResponsesConversation, withoutIssued } from './input.ts';
import { isRunByProvider, qualifiedName, toFunction, toolsInItems } from './item-tools.ts';
import { KB } from '../../core/limits/units.ts';

/** The part of a request that a response of the Responses dialect repeats three times, and that is stored with it. */
export const maxEchoCharacters = 32 * KB;

const Tool = z.looseObject({
  type: z.string(),
  name: z.string().optional(),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
  format: z.looseObject({ type: z.string().optional(), syntax: z.string().optional(), definition: z.string().optional() }).nullish(),
  tools: z.array(z.looseObject({ type: z.string(), name: z.string().optional() })).nullish(),
});
type Tool = z.infer<typeof Tool>;

const ToolChoice = z.union([
  z.enum(['auto', 'none', 'required']),
  z.looseObject({
    type: z.string(),
    name: z.string().optional(),
    mode: z.enum(['auto', 'required']).optional(),
    tools: z.array(z.looseObject({ type: z.string().optional(), name: z.string().optional() })).optional(),
  }),
]);

const TextFormat = z.looseObject({ type: z.string() });

export const ResponsesRequest = z
  .looseObject({
    model: z.string().min(1).max(300),
    input: z
      .union([z.string(), z.array(InputItem)])
      .meta({ description: 'A string, or items: messages, calls and their outputs, reasoning.' }),
    instructions: z.string().nullish(),
    previous_response_id: z.string().nullish().meta({
      description: 'The id of an earlier answer of a session. The session continues from it, and `input` contains only new items.',
    }),
    stream: z.boolean().nullish(),
    tools: z.array(Tool).nullish(),
    tool_choice: ToolChoice.nullish(),
    parallel_tool_calls: z.boolean().nullish(),
    temperature: z.number().min(0).max(2).nullish(),
    top_p: z.number().min(0).max(1).nullish(),
    presence_penalty: z.number().min(-2).max(2).nullish(),
    frequency_penalty: z.number().min(-2).max(2).nullish(),
    max_output_tokens: z.int().min(1).nullish(),
    reasoning: z.looseObject({ effort: z.string().max(40).nullish(), summary: z.string().nullish() }).nullish(),
    text: z.looseObject({ format: TextFormat.nullish(), verbosity: z.string().max(40).nullish() }).nullish(),
    user: z.string().nullish(),
    safety_identifier: z.string().nullish(),
    service_tier: z.string().max(40).nullish(),
    prompt_cache_key: z.string().max(1000).nullish(),
    prompt_cache_retention: z.string().max(40).nullish(),
    prompt_cache_options: z.record(z.string(), z.unknown()).nullish(),
    background: z.boolean().nullish().meta({
      description: 'Returns at once; GET reads the response.',
    }),
    conversation: z
      .union([z.string(), z.looseObject({ id: z.string() })])
      .nullish()
      .meta({ description: 'Of `POST /v1/conversations`; `input` has only new items.' }),
    store: z.boolean().nullish(),
    metadata: z.record(z.string(), z.unknown()).nullish(),
    toolset: z.string().min(1).max(100).nullish().meta({ description: 'Extension: the toolset whose tools the service runs.' }),
  })
  .meta({ id: 'ResponsesRequest', example: { model: 'rehearsal/default', input: 'Hello' } });
export type ResponsesRequest = z.infer<typeof ResponsesRequest>;

/** The names of settings in this dialect. */
const settingNames: SettingNames = {
  topP: 'top_p',
  maxOutputTokens: 'max_output_tokens',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
  reasoningEffort: 'reasoning.effort',
  responseFormat: 'text.format',
  toolChoice: 'tool_choice',
  parallelToolCalls: 'parallel_tool_calls',
  serviceTier: 'service_tier',
  verbosity: 'text.verbosity',
  promptCacheKey: 'prompt_cache_key',
  promptCacheRetention: 'prompt_cache_retention',
  promptCacheOptions: 'prompt_cache_options',
  reasoning: 'input[].summary',
};

const readFields = createFieldReader(responsesFields);

/** Throws `invalid_request`. */
export function readResponsesRequest(body: Readonly<Record<string, unknown>>): DialectRequest {
  const request = parseInput(ResponsesRequest, body);
  const dropped = createDropped(request.safety_identifier == null ? settingNames : { ...settingNames, user: 'safety_identifier' });
  const marks = readFields(body, dropped);
  checkStored(request);
  const { tools: offered, webSearch } = offeredTools(request, dropped);
  const settings = { ...toSettings(request, dropped), ...marks, ...(webSearch !== null && { webSearch }) };
  return {
    streamed: request.stream === true,
    includeUsage: true,
    choices: 1,
    conversation: (options) => toResponsesConversation(request, options, dropped),
    clientTools: (options) => (request.tools == null && offered.length === 0 ? null : readClientTools(offered, parseTool, options)),
    settings: () => settings,
    allowedTools: () => allowedTools(request),
    toolPath: (index) => `${pathOfOffered(offered, index)}.name`,
    previous: request.previous_response_id ?? null,
    echo: toEcho(request, offered),
    dropped,
  };
}

/** What the answer is stored for must be possible. */
function checkStored({ background, store, conversation, previous_response_id: previous, input }: ResponsesRequest): void {
  const issues: Issue[] = [];
  const refuse = (path: string, message: string): void => void issues.push({ path, message });
  if (background === true && store === false) refuse('store', 'must not be false with background');
  if (conversation != null) {
    const id = typeof conversation === 'string' ? conversation : conversation.id;
    if (readConversationId(id) === null) refuse('conversation', 'is unknown: POST /v1/conversations creates one');
    if (previous != null) refuse('conversation', 'and previous_response_id cannot be combined: send only one of them');
    const known = typeof input === 'string' ? -1 : input.findIndex(isOfAssistant);
    if (known >= 0) refuse(`input[${known}]`, 'is in the conversation already: send only new items');
  }
  if (issues.length > 0) throw invalidRequest(issues);
}

/** Replaces the request's system text. Takes unvalidated items. */
export function withResponsesInstructions(body: Readonly<Record<string, unknown>>, instructions: string): Record<string, unknown> {
  const { instructions: _own, input, ...rest } = body;
  return {
    ...rest,
    ...(instructions !== '' && { instructions }),
    input: Array.isArray(input) ? input.filter((item) => !isSystemItem(item)) : input,
  };
}

/** Returns the request without what only this service can read; the same object without any. */
export function withoutResponsesTokens(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { input } = body;
  const items = Array.isArray(input) ? withoutIssued(input) : input;
  return items === input ? body : { ...body, input: items };
}

// ---- Tools ----

/** `own`: the client's name of a namespaced tool. `isItem`: its calls are items of their own (`item-tools.ts`). */
type Offered = ClientOfferedTool<Tool> & { own?: { namespace: string; name: string }; isItem?: true };

/**
 * All tools, or those that `allowed_tools` names. Of tools that items of the history have loaded, those that the request has not. Tools that
 * only a provider runs are dropped next to the client's own tools if the work can be done without them, because agents send them to all
 * providers.
 */
function offeredTools({ tools, input, tool_choice: choice }: ResponsesRequest, dropped: Dropped) {
  const given = offerClientTools(tools).flatMap(withInner).map(asFunction);
  const names = new Set(given.map(({ tool }) => tool.name));
  const loaded = [...toolsInItems(typeof input === 'string' ? [] : input)].flatMap(({ tool, path }) => {
    const parsed = Tool.safeParse(tool);
    if (!parsed.success) throw invalidRequest([{ path, message: 'must be a tool' }]);
    return withInner({ tool: parsed.data, path }).map(asFunction);
  });
  const isNew = ({ tool: { name } }: Offered): boolean => name === undefined || (!names.has(name) && names.add(name) !== undefined);
  const allowed = allowedTools({ tool_choice: choice });
  const isFree = choice == null || choice === 'auto' || choice === 'none';
  const every = takeWebSearch([...given, ...loaded.filter(isNew)], kindOf, { members: searchMembers, isFree });
  if (allowed === null) return { ...every, tools: withoutOptional(every.tools, kindOf, dropped) };
  return { tools: every.tools.filter(({ tool }) => allowed.some(({ name }) => name === tool.name)), webSearch: null };
}

const searchMembers = {
  allowedDomains: 'filters.allowed_domains',
  offline: 'external_web_access',
  location: 'user_location',
  contextSize: 'search_context_size',
};

function kindOf(tool: Tool): Field | undefined {
  return responsesTool(isRunByProvider(tool) ? `${tool.type} by the provider` : tool.type);
}

/** Provider tools have no names and are skipped. */
function allowedTools({ tool_choice: choice }: Pick<ResponsesRequest, 'tool_choice'>): { name: string; path: string }[] | null {
  if (choice == null || typeof choice === 'string' || choice.type !== 'allowed_tools') return null;
  return (choice.tools ?? []).flatMap(({ type = '', name = toFunction({ type })?.name }, index) =>
    name === undefined ? [] : [{ name, path: `tool_choice.tools[${index}].name` }],
  );
}

/** The client's tools whose calls are items of their own are functions for the model. */
function asFunction(offer: Offered): Offered {
  const tool = toFunction(offer.tool);
  return tool === null ? offer : { ...offer, tool, isItem: true };
}

/** Guide "Function calling", namespaces: their tools are called by both names. */
function withInner({ tool, path }: Offered): Offered[] {
  const { type, name: namespace = '', tools: inner } = tool;
  if (type !== 'namespace' || inner == null) return [{ tool, path }];
  return inner.map((one, index) => {
    const { name } = one;
    if (name === undefined) return { tool: one as Tool, path: `${path}.tools[${index}]` }; // Reported as a tool without a name.
    return {
      tool: { ...one, name: qualifiedName(namespace, name) } as Tool, // The other fields are validated like those of any tool.
      path: `${path}.tools[${index}]`,
      own: { namespace, name },
    };
  });
}

/** null for a provider's tool, and for an invalid name. */
function parseTool({ tool, path }: Offered, issues: Issue[]): ClientTool | null {
  if (isRefused(kindOf(tool), { tool, path }, issues)) return null;
  const { name, description, parameters, strict } = tool;
  const given =
    tool.type === 'custom'
      ? { name, description: customDescription(tool), inputSchema: freeText }
      : { name, description, inputSchema: parameters, strict };
  return parseClientTool(given, { path, schemaField: 'parameters', issues });
}

/** Free text for models that only support functions; the answer shows it as a custom call. */
const freeText = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The complete input of the tool, as free text.' } },
  required: ['input'],
  additionalProperties: false,
};

function customDescription({ description, format }: Tool): string {
  const grammar =
    format?.type === 'grammar' && format.definition !== undefined
      ? `The input must follow this ${format.syntax ?? ''} grammar:\n${format.definition}`
      : '';
  return joinParagraphs(description, grammar);
}

// ---- Settings ----

function toSettings(body: ResponsesRequest, dropped: Dropped): ModelSettings {
  const { text, tool_choice: choice } = body;
  return definedSettings({
    temperature: body.temperature,
    topP: body.top_p,
    maxOutputTokens: body.max_output_tokens,
    presencePenalty: body.presence_penalty,
    frequencyPenalty: body.frequency_penalty,
    reasoningEffort: body.reasoning?.effort,
    parallelToolCalls: body.parallel_tool_calls,
    responseFormat: text?.format == null || text.format.type === 'text' ? null : toResponseFormat(text.format),
    toolChoice: typeof choice === 'string' ? choice : choice && toToolChoice(choice),
    metadata: body.metadata,
    ...readService({ ...body, verbosity: text?.verbosity }, dropped),
  });
}

/** Settings use the form of Chat Completions, which nests the schema one level deeper. */
function toResponseFormat({ type, ...schema }: z.infer<typeof TextFormat>): Record<string, unknown> {
  return type === 'json_schema' ? { type, json_schema: schema } : { type, ...schema };
}

function toToolChoice({ type, name, mode }: Exclude<z.infer<typeof ToolChoice>, string>): NonNullable<ModelSettings['toolChoice']> {
  if (type === 'allowed_tools') return mode ?? 'auto';
  const tool = type === 'function' || type === 'custom' ? name : toFunction({ type, execution: 'client' })?.name;
  if (tool !== undefined) return { tool };
  throw invalidRequest([
    {
      path: 'tool_choice',
      message: 'must be auto, none, required, or name a function, a custom tool or allowed_tools',
    },
  ]);
}

// ---- Echo ----

const echoed = [
  ...['temperature', 'top_p', 'max_output_tokens', 'parallel_tool_calls', 'previous_response_id', 'store', 'truncation', 'user'],
  ...[
    'presence_penalty',
    'frequency_penalty',
    'background',
    'conversation',
    'safety_identifier',
    'prompt_cache_key',
    'max_tool_calls',
    'reasoning',
    'tool_choice',
    'metadata',
    'text',
    'instructions',
    'tools',
  ],
] as const;

/** Fields that a Response repeats, small ones first. Fields that do not fit are shown as if they were not sent. */
function toEcho(request: ResponsesRequest, offered: readonly Offered[]): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  let remaining = maxEchoCharacters;
  for (const field of echoed) {
    const value = toEchoed(field, request[field]);
    const size = value == null ? 0 : JSON.stringify(value).length;
    if (value == null || size > remaining) continue;
    remaining -= size;
    shown[field] = value;
  }
  const custom = offered.flatMap(({ tool: { type, name } }) => (type === 'custom' && name !== undefined ? [name] : []));
  const spaces = offered.flatMap(({ tool, own }) => (own === undefined ? [] : [[tool.name, own]]));
  const items = offered.flatMap(({ tool, isItem }) => (isItem ? [tool.type] : []));
  return { shown, ...(custom.length > 0 && { custom }), ...(spaces.length > 0 && { spaces }), ...(items.length > 0 && { items }) };
}

/** Adds the members that the SDK's types require. */
function toEchoed(field: (typeof echoed)[number], value: unknown): unknown {
  if (value == null) return null;
  if (field === 'conversation') return typeof value === 'string' ? { id: value } : value;
  if (field === 'reasoning') return { effort: null, summary: null, ...(value as object) }; // Already validated, like the next two.
  if (field === 'text') return { format: { type: 'text' }, ...(value as object) };
  if (field !== 'tools') return value;
  return (value as Tool[]).map((tool) =>
    tool.type === 'function' ? { description: null, parameters: null, strict: null, ...tool } : tool,
  );
}

/** `custom`: names of free-text tools. `items`: tools whose calls are items of their own (`item-tools.ts`). `spaces`: the client's names of namespaced tools, by their names for models. */
export type ReadEcho = {
  echo: Record<string, unknown>;
  custom: ReadonlySet<string>;
  items: ReadonlySet<string>;
  spaces: ReadonlyMap<string, { namespace: string; name: string }>;
};

/** Reads what `toEcho` wrote; empty for a reply without a stored request. */
export function readEcho(echo: Record<string, unknown> | undefined): ReadEcho {
  type Written = {
    shown?: Record<string, unknown>;
    custom?: string[];
    items?: string[];
    spaces?: [string, { namespace: string; name: string }][];
  };
  const { shown = {}, custom = [], items = [], spaces = [] } = (echo ?? {}) as Written; // Written by `toEcho`.
  return { echo: shown, custom: new Set(custom), items: new Set(items), spaces: new Map(spaces) };
}
