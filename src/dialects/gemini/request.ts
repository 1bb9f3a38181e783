/**
 * Reads a request of Gemini's API: validates it with paths in its own terms, and converts it to neutral form. Unknown fields are allowed;
 * `fields.ts` has the fate of each field. The route adds `model` and `stream`, which this API has in the path. Wire: API reference "Generating
 * content"; guides "Function calling", "Structured outputs" and "Thinking".
 */
import * as z from 'zod';
import { isRecord, listOf, recordOf } from '../../core/json/wire-value.ts';
import { createDropped, type Dropped, type SettingNames } from '../../core/model/dropped.ts';
import { definedSettings, type GivenSettings, type ModelSettings } from '../../core/model/model-settings.ts';
import { invalidRequest, type Issue, parseInput } from '../../core/problem.ts';
import type { WebSearch } from '../../core/model/web-search.ts';
import type { ClientTool } from '../../core/turn/plan.ts';
import { type ClientOfferedTool, parseClientTool, pathOfOffered, readClientTools } from '../client-tools.ts';
import {
  type CallMention,
  type ConversationBuilder,
  type ConversationOptions,
  createConversation,
  providerOf,
  sessionOfMentions,
} from '../conversation.ts';
import type { DialectRequest } from '../dialect.ts';
import { createFieldReader, readService } from '../fields.ts';
import { estimateTokens } from '../token-estimate.ts';
import { readWebSearch, secondSearch } from '../web-search.ts';
import { callIdOf, type PartContext, toClientResult, toInputParts, toModelParts } from './content.ts';
import { geminiFields } from './fields.ts';
import { inOneSpelling, toJsonSchema } from './wire-names.ts';

const Content = z.looseObject({ role: z.string().max(40).nullish(), parts: z.array(z.looseObject({})).nullish() });
const Declaration = z.looseObject({
  name: z.string().optional(),
  description: z.string().nullish(),
  parameters: z.looseObject({}).nullish(),
  parametersJsonSchema: z.unknown().optional(),
});
type Declaration = z.infer<typeof Declaration>;
const GenerationConfig = z.looseObject({
  temperature: z.number().nullish(),
  topP: z.number().nullish(),
  topK: z.number().nullish(),
  maxOutputTokens: z.int().min(1).nullish(),
  stopSequences: z.array(z.string()).max(64).nullish(),
  seed: z.int().nullish(),
  presencePenalty: z.number().nullish(),
  frequencyPenalty: z.number().nullish(),
  responseMimeType: z.string().max(100).nullish(),
  responseSchema: z.looseObject({}).nullish(),
  responseJsonSchema: z.unknown().optional(),
  thinkingConfig: z
    .looseObject({
      includeThoughts: z.boolean().nullish(),
      thinkingBudget: z.int().min(-1).nullish(),
      thinkingLevel: z.string().max(40).nullish(),
    })
    .nullish(),
});

export const GenerateContentRequest = z
  .looseObject({
    contents: z.array(Content).min(1),
    systemInstruction: Content.nullish(),
    tools: z.array(z.looseObject({ functionDeclarations: z.array(Declaration).nullish() })).nullish(),
    toolConfig: z
      .looseObject({
        functionCallingConfig: z
          .looseObject({ mode: z.string().max(40).nullish(), allowedFunctionNames: z.array(z.string()).nullish() })
          .nullish(),
      })
      .nullish(),
    generationConfig: GenerationConfig.nullish(),
    serviceTier: z.string().max(40).nullish(),
    toolset: z.string().min(1).max(100).nullish().meta({ description: 'Extension: the toolset whose tools the service runs.' }),
  })
  .meta({ id: 'GenerateContentRequest', example: { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] } });
type GeminiRequest = z.infer<typeof GenerateContentRequest>;
type Body = Readonly<Record<string, unknown>>;

/** The names of settings in this dialect. */
const settingNames: SettingNames = {
  temperature: 'generationConfig.temperature',
  topP: 'generationConfig.topP',
  topK: 'generationConfig.topK',
  maxOutputTokens: 'generationConfig.maxOutputTokens',
  stop: 'generationConfig.stopSequences',
  seed: 'generationConfig.seed',
  presencePenalty: 'generationConfig.presencePenalty',
  frequencyPenalty: 'generationConfig.frequencyPenalty',
  reasoningEffort: 'generationConfig.thinkingConfig.thinkingLevel',
  reasoningBudget: 'generationConfig.thinkingConfig.thinkingBudget',
  toolChoice: 'toolConfig.functionCallingConfig',
  reasoning: 'contents[].parts[].thought',
  callSignature: 'contents[].parts[].thoughtSignature',
};

/** The output format may be given by any of three fields. */
function namesIn({ generationConfig }: GeminiRequest): SettingNames {
  const { responseSchema, responseJsonSchema } = generationConfig ?? {};
  const name = responseSchema != null ? 'responseSchema' : responseJsonSchema != null ? 'responseJsonSchema' : 'responseMimeType';
  return { ...settingNames, responseFormat: `generationConfig.${name}` };
}

const readFields = createFieldReader(geminiFields);

/** Throws `invalid_request`. */
export function readGeminiRequest({ model, stream, ...body }: Body): DialectRequest {
  const own = recordOf(inOneSpelling(body));
  const request = parseInput(GenerateContentRequest, own);
  const dropped = createDropped(namesIn(request));
  readFields(own, dropped);
  const { tools: offered, webSearch } = offeredTools(request, dropped);
  const settings = { ...toSettings(request, dropped), ...(webSearch !== undefined && { webSearch }) };
  const { includeThoughts } = request.generationConfig?.thinkingConfig ?? {};
  return {
    streamed: stream === true,
    includeUsage: true,
    choices: 1,
    conversation: (options) => toConversation(request, { provider: providerOf(String(model)) ?? undefined, ...options }, dropped),
    clientTools: (options) => (request.tools == null ? null : readClientTools(offered, parseTool, options)),
    settings: () => settings,
    allowedTools: () => allowedTools(request),
    toolPath: (index) => `${pathOfOffered(offered, index)}.name`,
    previous: null,
    echo: includeThoughts === true ? { includeThoughts } : {},
    dropped,
  };
}

/** Replaces the request's system text. */
export function withGeminiInstructions(body: Body, instructions: string): Record<string, unknown> {
  const { systemInstruction: _system, system_instruction: _other, ...rest } = body;
  return { ...rest, ...(instructions !== '' && { systemInstruction: { parts: [{ text: instructions }] } }) };
}

// ---- The conversation ----

function toConversation(
  { contents, systemInstruction, ...body }: GeminiRequest,
  { provider, ...options }: Omit<ConversationOptions, 'provider'> & { provider?: string | undefined },
  dropped?: Dropped,
): ConversationBuilder {
  const conversation = createConversation({ ...options, ...(provider !== undefined && { provider }) });
  const reading: PartContext = {
    body: { ...body, contents },
    issues: [],
    provider: provider ?? null,
    dropped,
    calls: new Map(),
    answered: new Set(),
  };
  conversation.addSystem(
    ...listOf(systemInstruction?.parts).map((part) => ({ type: 'text' as const, text: String(recordOf(part).text ?? '') })),
  );
  const last = contents.findLastIndex(({ role }) => role === 'model');
  for (const [index, { role, parts: given }] of contents.entries()) {
    const path = ['contents', index];
    const parts = listOf(given).map(recordOf);
    const isNew = index > last;
    if (role === 'model') conversation.addAssistant(toModelParts(parts, path, reading), contents[index - 1]?.role === 'model');
    else if (role == null || role === 'user' || role === 'function') {
      const at = (place: number): PropertyKey[] => [...path, 'parts', place];
      const isResult = (part: object): boolean => 'functionResponse' in part;
      for (const [place, part] of parts.entries()) {
        const result = isResult(part) ? toClientResult(part, at(place), reading) : null;
        if (result !== null) conversation.addResult(result, isNew);
      }
      const input = parts.flatMap((part, place) => (isResult(part) ? [] : toInputParts(part, at(place), reading)));
      if (input.length > 0) conversation.addInput(input, isNew);
    } else reading.issues.push({ path: `contents[${index}].role`, message: 'must be user or model' });
  }
  return conversation.finish(reading.issues, { path: 'contents', message: 'must have a part that is not empty' });
}

/** Takes an unread request. */
export function sessionOfGeminiCalls({ contents }: Body): string | null {
  return sessionOfMentions(inOneSpelling(contents), callMentions);
}

function* callMentions(contents: readonly unknown[]): Generator<CallMention> {
  for (let index = contents.length - 1; index >= 0; index -= 1) {
    const { role, parts } = recordOf(contents[index]);
    for (const [place, part] of listOf(parts).entries()) {
      const { functionCall, functionResponse } = recordOf(part);
      const path = `contents[${index}].parts[${place}]`;
      if (role === 'model' && isRecord(functionCall)) yield { by: 'assistant', id: callIdOf(functionCall), path };
      if (role !== 'model' && isRecord(functionResponse))
        yield { by: 'result', id: callIdOf(functionResponse), path: `${path}.functionResponse.id` };
    }
    if (role === 'model') yield { by: 'assistant', id: null, path: `contents[${index}]` };
  }
}

// ---- Tools ----

/** The declarations that may be called, and the search. Another tool of the provider is left out beside declarations, alone it is refused. */
function offeredTools({ tools, ...request }: GeminiRequest, dropped: Dropped) {
  const offered = (tools ?? []).flatMap(({ functionDeclarations }, index) =>
    (functionDeclarations ?? []).map((tool, place) => ({ tool, path: `tools[${index}].functionDeclarations[${place}]` })),
  );
  const issues: Issue[] = [];
  let webSearch: WebSearch | undefined;
  for (const [index, tool] of (tools ?? []).entries()) {
    for (const [member, value] of Object.entries(tool)) {
      const [name, path, field] = [`tools[].${member}`, `tools[${index}].${member}`, geminiFields[`tools[].${member}`]];
      if (value == null) continue;
      if (field?.fate === 'carried') {
        if (webSearch === undefined) webSearch = readWebSearch({ name, path, isOptional: offered.length > 0, value }, searchMembers);
        else issues.push({ path, message: secondSearch });
      }
      if (field?.fate !== 'optional') continue;
      if (offered.length > 0) dropped.add(name, field.reason);
      else issues.push({ path, message: field.message });
    }
  }
  if (issues.length > 0) throw invalidRequest(issues);
  const allowed = allowedTools(request);
  return { tools: allowed === null ? offered : offered.filter(({ tool }) => allowed.some(({ name }) => name === tool.name)), webSearch };
}

const searchMembers = { blockedDomains: 'excludeDomains', timeRange: 'timeRangeFilter' };

function allowedTools({ toolConfig }: Pick<GeminiRequest, 'toolConfig'>): { name: string; path: string }[] | null {
  const names = toolConfig?.functionCallingConfig?.allowedFunctionNames ?? [];
  const path = 'toolConfig.functionCallingConfig.allowedFunctionNames';
  return names.length === 0 ? null : names.map((name, index) => ({ name, path: `${path}[${index}]` }));
}

/** null for a tool with a fault. */
function parseTool({ tool, path }: ClientOfferedTool<Declaration>, issues: Issue[]): ClientTool | null {
  const { name, description, parameters, parametersJsonSchema } = tool;
  const schemaField = parameters == null ? 'parametersJsonSchema' : 'parameters';
  const schema = parameters == null ? parametersJsonSchema : toJsonSchema(parameters);
  return parseClientTool({ name, description, inputSchema: schema as object | null | undefined }, { path, schemaField, issues });
}

// ---- Settings ----

function toSettings({ generationConfig, toolConfig, serviceTier }: GeminiRequest, dropped: Dropped): ModelSettings {
  const config = generationConfig ?? {};
  const { thinkingBudget: budget, thinkingLevel: level } = config.thinkingConfig ?? {};
  const tier = serviceTier?.toLowerCase();
  return definedSettings({
    temperature: config.temperature,
    topP: config.topP,
    topK: config.topK == null ? null : Math.round(config.topK),
    maxOutputTokens: config.maxOutputTokens,
    stop: config.stopSequences,
    seed: config.seed,
    presencePenalty: config.presencePenalty,
    frequencyPenalty: config.frequencyPenalty,
    reasoningEffort: level == null || level === 'THINKING_LEVEL_UNSPECIFIED' ? null : level.toLowerCase(),
    // -1: the model decides.
    reasoningBudget: budget === -1 ? null : budget,
    responseFormat: toFormat(config, dropped),
    toolChoice: toToolChoice(toolConfig?.functionCallingConfig ?? {}),
    ...readService({ service_tier: tier === 'standard' ? 'default' : tier === 'unspecified' ? null : tier }, dropped),
  });
}

function toFormat(
  { responseMimeType: type, responseSchema, responseJsonSchema }: z.infer<typeof GenerationConfig>,
  dropped: Dropped,
): unknown {
  if (type != null && !/^(text\/plain|application\/json)$/.test(type))
    dropped.add('generationConfig.responseMimeType', 'only a provider of this API has this format');
  const schema = responseSchema == null ? responseJsonSchema : toJsonSchema(responseSchema);
  if (isRecord(schema)) return { type: 'json_schema', json_schema: { name: 'answer', schema } };
  return type === 'application/json' ? { type: 'json_object' } : null;
}

type CallingConfig = { mode?: string | null | undefined; allowedFunctionNames?: string[] | null | undefined };

/** `VALIDATED` only makes calls match their schemas, which happens in any case. */
function toToolChoice({ mode, allowedFunctionNames: names }: CallingConfig): GivenSettings['toolChoice'] {
  const [only, ...others] = names ?? [];
  switch (mode?.toUpperCase()) {
    case 'ANY':
      return only !== undefined && others.length === 0 ? { tool: only } : 'required';
    case 'NONE':
      return 'none';
    case 'AUTO':
      return 'auto';
    default:
      return null;
  }
}

/** `instructions`: the text before the request's own system text. Throws `invalid_request`. */
export function estimateGeminiTokens(body: Body, instructions: string): number {
  const request = parseInput(GenerateContentRequest, inOneSpelling(body));
  return estimateTokens(toConversation(request, { inSession: true }), { instructions, tools: request.tools });
}
