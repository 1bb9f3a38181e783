/**
 * Reads an OpenAI Responses request: validates it with paths in its own terms, and converts it to neutral form; `input.ts`
 * reads its items, `tools.ts` its tools. Unknown fields are allowed, because stock SDKs send new ones. `dialect.ts` writes answers. Wire: OpenAI API
 * reference, "Responses: create" (SDK 7.57).
 */
import * as z from 'zod';
import { createDropped, type Dropped, type SettingNames } from '../../core/model/dropped.ts';
import { type ModelSettings, definedSettings } from '../../core/model/model-settings.ts';
import { invalidRequest, type Issue, parseInput } from '../../core/problem.ts';
import { readConversationId } from '../../core/text/reference.ts';
import { pathOfOffered, readClientTools } from '../client-tools.ts';
import type { DialectRequest } from '../dialect.ts';
import { createFieldReader, readService } from '../fields.ts';
import { toEcho } from './echo.ts';
import { responsesFields } from './fields.ts';
import { InputItem, isOfAssistant, isSystemItem, toResponsesConversation } from './input.ts';
import { withoutIssued } from './issued.ts';
import { toFunction } from './item-tools.ts';
import { allowedTools, offeredResponsesTools, parseResponsesTool, ResponsesTool, ResponsesToolChoice } from './tools.ts';

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
    tools: z.array(ResponsesTool).nullish(),
    tool_choice: ResponsesToolChoice.nullish(),
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
  const { tools: offered, webSearch } = offeredResponsesTools(request, dropped);
  const settings = { ...toSettings(request, dropped), ...marks, ...(webSearch !== null && { webSearch }) };
  return {
    streamed: request.stream === true,
    includeUsage: true,
    choices: 1,
    conversation: (options) => toResponsesConversation(request, options, dropped),
    clientTools: (options) =>
      request.tools == null && offered.length === 0 ? null : readClientTools(offered, parseResponsesTool, options),
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

function toToolChoice({
  type,
  name,
  mode,
}: Exclude<z.infer<typeof ResponsesToolChoice>, string>): NonNullable<ModelSettings['toolChoice']> {
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
