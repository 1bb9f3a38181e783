/**
 * Converts a neutral request to the body of Gemini's `streamGenerateContent`. `reply.ts` reads the reply and defines what must be
 * returned. Sources: API references "Generating content" (Google AI) and "GenerateContentRequest" (Vertex AI), the guides "Function
 * calling", "Thought signatures", "Thinking", "Image understanding", and `@google/genai` for what each of the two supports.
 * Images: base64 is sent inline. An http(s) URL becomes `fileData`, which Gemini fetches itself: Vertex AI for all models, Google AI since
 * Gemini 2.5 (guide "File input methods"); an older model rejects the request. Unsupported types are described in a text.
 */
import { createCallIds, historyInput } from '../history-calls.ts';
import type { InputPart, ToolCallPart, ToolResultPart } from '../../core/model/message.ts';
import type { ModelSettings } from '../../core/model/model-settings.ts';
import type { Profile } from '../../core/model/provider-profile.ts';
import { pairCalls } from '../../core/turn/pair-calls.ts';
import type { ChatRequest, OfferedTool } from '../../ports/chat-model.ts';
import { inlineImage, shownInput, splitResult, takesMedia } from '../content/input-media.ts';
import { placeSystem, splitSystem } from '../content/place-system.ts';
import { type Assistant, isUnchangedCall, isNativePart, reportReasoning, withSignedNames } from '../native-parts.ts';
import { budgetTokens, compiledFormat, effortLevel, requestedReasoning, sentAs, supportedSettings } from '../supported-settings.ts';
import { offerTools } from '../tool-definitions.ts';
import { googleSearch } from '../web-search.ts';
import { isRecord, type Json } from '../../core/json/wire-value.ts';

/**
 * Data for the model that produced it. A signature belongs to the neutral part before it, `length` to that many of its last characters, the
 * piece that carried it. `part` is a whole part of the wire, at its position.
 */
export type GeminiMark =
  | { api: 'gemini'; of: 'text' | 'thought' | 'call'; length?: number; thoughtSignature: string }
  | { api: 'gemini'; part: Json };

type Content = { role: 'user' | 'model'; parts: Json[] };
type Mapping = { request: ChatRequest; profile: Profile; idOf: (callId: string) => string };

export function toGeminiBody(request: ChatRequest, profile: Profile): Json {
  const { tools, toolChoice } = offerTools(request, profile);
  const { system: texts, rest } = splitSystem(placeSystem(request.messages, profile));
  const system = texts.map(({ text }) => text).join('\n\n');
  const body: Json = { contents: toContents({ ...request, messages: rest }, profile, profile.systemInUser ? system : '') };
  if (system !== '' && !profile.systemInUser) body.systemInstruction = { parts: [{ text: system }] };
  if (tools.length > 0) {
    body.tools = [{ functionDeclarations: tools.map((tool) => toDeclaration(tool, profile)) }];
    if (toolChoice !== 'auto') body.toolConfig = { functionCallingConfig: toCallingConfig(toolChoice) };
  }
  const settings = supportedSettings(request, profile, 'gemini', tools.length > 0);
  if (settings.webSearch !== undefined) body.tools = [{ googleSearch: googleSearch(settings.webSearch) }];
  const config = toGenerationConfig(settings, request, profile);
  if (Object.keys(config).length > 0) body.generationConfig = config;
  return body;
}

// ---- The conversation ----

/** User and model alternate, the user first; adjacent messages of one side are merged. */
function toContents(request: ChatRequest, profile: Profile, preamble: string): Content[] {
  const messages = withSignedNames(pairCalls(request.messages), request);
  const mapping = { request, profile, idOf: createCallIds(messages, request.access.name, profile) };
  const contents: Content[] = [];
  const add = (role: Content['role'], parts: Json[]): void => {
    const last = contents.at(-1);
    if (parts.length === 0) return;
    if (last?.role === role) for (const part of parts) last.parts.push(part);
    else contents.push({ role, parts });
  };
  if (preamble !== '') add('user', [{ text: preamble }]);
  let names: ReadonlyMap<string, string> = new Map();
  for (const message of messages) {
    if (contents.length === 0 && message.role === 'assistant') add('user', [{ text: beginning }]);
    if (message.role === 'user') add('user', toInput(message.parts, request, profile));
    if (message.role === 'assistant') {
      add('model', toModelParts(message, mapping));
      names = namesOf(message);
    }
    if (message.role === 'tool') {
      // One result per call, in call order (anomalyco/opencode#43814), as `pairCalls` ensures.
      const results = message.parts.map((part) => toResult(part, names, mapping));
      // Media that a response cannot contain follow all responses, as in google-gemini/gemini-cli (`siblingParts`).
      add('user', [...results.map(({ response }) => response), ...results.flatMap(({ behind }) => behind)]);
    }
  }
  if (contents.length === 0) add('user', [{ text: beginning }]);
  return contents;
}

/** A conversation that does not start with the user is rejected. */
const beginning = '[The conversation begins.]';

function toInput(parts: readonly InputPart[], request: ChatRequest, profile: Profile): Json[] {
  return shownInput(parts, request, (part) => isTaken(part, profile), []).flatMap((part) =>
    part.type === 'text' && part.text === '' ? [] : [toPart(part)],
  );
}

type Media = Exclude<InputPart, { type: 'text' }>;

function isTaken(part: Media, profile: Profile): boolean {
  return takesMedia(part, profile, 'gemini') && (part.type === 'file' || imageTypes.has(typeOf(part)));
}

/** Guides "Document understanding", "Audio understanding", "Video understanding". */
function toPart(part: InputPart): Json {
  if (part.type === 'text') return { text: part.text };
  const mimeType = typeOf(part);
  const data = part.type === 'image' ? inlineImage(part)?.data : part.data;
  return data === undefined ? { fileData: { mimeType, fileUri: part.url } } : { inlineData: { mimeType, data } };
}

function typeOf(part: Media): string {
  if (part.type === 'file') return part.mediaType.toLowerCase();
  return inlineImage(part)?.mediaType ?? part.mediaType?.toLowerCase() ?? linkedType(part.url ?? '');
}

/** Guide "Image understanding". */
const imageTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif']);
/** Guide "Function calling", "Multimodal function responses". */
const resultTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/webp', 'application/pdf']);

/** A type is required, so that of a URL is guessed from its extension. */
function linkedType(url: string): string {
  const ending = /\.(png|jpe?g|webp|heic|heif|gif|svg|bmp|avif)(?:[?#]|$)/i.exec(url)?.[1] ?? 'jpeg';
  return `image/${ending.toLowerCase().replace('jpg', 'jpeg')}`;
}

function toModelParts(message: Assistant, { request, profile, idOf }: Mapping): Json[] {
  const parts: Json[] = [];
  // Thoughts are returned only to the model that produced them. For a client's history, the model is unknown.
  const isKnown = message.model === `${request.access.name}/${request.model}`;
  reportReasoning(message, request, isKnown);
  for (const [index, part] of message.parts.entries()) {
    if (part.type === 'text' && part.text !== '') parts.push({ text: part.text });
    if (part.type === 'reasoning' && part.text !== '' && isKnown) parts.push({ text: part.text, thought: true });
    if (part.type === 'tool-call') parts.push({ functionCall: toCall(part, profile, idOf) });
    if (part.type !== 'native' || !isNativePart(part, message, request)) continue;
    const before = message.parts[index - 1];
    // Otherwise: "Thought signature is not valid".
    if (before?.type !== 'tool-call' || isUnchangedCall(before)) addMark(part.data, parts);
  }
  // Of parallel calls the first has a signature. A call of another model gets the placeholder of the guide "Thought signatures".
  const first = parts.find((part) => 'functionCall' in part);
  if (profile.callSignatures && first !== undefined) first.thoughtSignature ??= 'skip_thought_signature_validator';
  return parts;
}

function toCall(call: ToolCallPart, profile: Profile, idOf: (callId: string) => string): Json {
  return { ...(!profile.noCallIds && { id: idOf(call.callId) }), name: functionName(call.requested), args: historyInput(call) };
}

/**
 * A name with the usual characters and dots: Gemini creates such names itself (`default_api.search`), and what it signed must be returned
 * unchanged.
 */
function functionName(requested: string): string {
  const name = requested.replace(/[^a-zA-Z0-9_.-]/g, '_');
  return (/^[a-zA-Z_]/.test(name) ? name : `_${name}`).slice(0, 64);
}

/** A mark is dropped with the part that it belongs to (a call that never ran). */
function addMark(data: unknown, parts: Json[]): void {
  // Written by `reply.ts`, if the provider was of this kind then.
  if (!isRecord(data) || data.api !== 'gemini') return;
  if (isRecord(data.part) && isProvidersPart(data.part)) parts.push({ ...data.part });
  const last = parts.at(-1);
  if (last === undefined || typeof data.thoughtSignature !== 'string' || kindOf(last) !== data.of) return;
  const text = typeof last.text === 'string' ? last.text : '';
  const length = typeof data.length === 'number' && data.length > 0 ? data.length : text.length;
  if (length >= text.length) {
    last.thoughtSignature = data.thoughtSignature;
    return;
  }
  last.text = text.slice(0, -length);
  parts.push({ ...last, text: text.slice(-length), thoughtSignature: data.thoughtSignature });
}

/** Clients with their own history supply these parts, so calls, results and files are not allowed. */
function isProvidersPart(part: Json): boolean {
  // The API accepts fields in both spellings.
  const names = Object.keys(part).map((name) => name.replaceAll('_', '').toLowerCase());
  return (part.text ?? '') === '' && !names.some((name) => ourFields.has(name));
}

const ourFields: ReadonlySet<string> = new Set(['functioncall', 'functionresponse', 'filedata', 'inlinedata']);

/** null for a part that already has a signature or cannot have one. */
function kindOf(part: Json): 'text' | 'thought' | 'call' | null {
  if (part.thoughtSignature !== undefined) return null;
  if (part.functionCall !== undefined) return 'call';
  if (typeof part.text !== 'string') return null;
  return part.thought === true ? 'thought' : 'text';
}

/** The names in the calls, by our id; for duplicate ids, the first. */
function namesOf({ parts }: Assistant): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const part of parts) if (part.type === 'tool-call' && !names.has(part.callId)) names.set(part.callId, part.requested);
  return names;
}

/** The response must be an object; the reference defines the fields `output` and `error`. */
function toResult(
  result: ToolResultPart,
  names: ReadonlyMap<string, string>,
  { request, profile, idOf }: Mapping,
): { response: Json; behind: Json[] } {
  const { callId, content, isError } = result;
  const fits = (part: Media): boolean => profile.imagesInResults && resultTypes.has(typeOf(part));
  const { text, inside, behind } = splitResult(content, request, (part) => isTaken(part, profile), fits);
  const response = {
    functionResponse: {
      ...(!profile.noCallIds && { id: idOf(callId) }),
      name: functionName(names.get(callId) ?? result.requested),
      response: isError ? { error: text } : { output: text },
      ...(inside.length > 0 && { parts: inside.map(toPart) }),
    },
  };
  return { response, behind: behind.map(toPart) };
}

// ---- Tools ----

function toDeclaration({ name, description, inputSchema }: OfferedTool, profile: Profile): Json {
  const declaration: Json = { name, description };
  if (profile.schemas !== 'gemini-openapi') return { ...declaration, parametersJsonSchema: inputSchema };
  // An object without properties is rejected there; absent parameters are accepted.
  const isEmpty = !isRecord(inputSchema.properties) || Object.keys(inputSchema.properties).length === 0;
  return isEmpty ? declaration : { ...declaration, parameters: inputSchema };
}

function toCallingConfig(choice: Exclude<ChatRequest['toolChoice'], 'auto'>): Json {
  if (typeof choice === 'object') return { mode: 'ANY', allowedFunctionNames: [choice.tool] };
  return { mode: choice === 'none' ? 'NONE' : 'ANY' };
}

// ---- Settings ----

function toGenerationConfig(settings: ModelSettings, request: ChatRequest, profile: Profile): Json {
  const { temperature, topP, topK, maxOutputTokens, stop, seed, frequencyPenalty, presencePenalty } = settings;
  // The keywords of `responseJsonSchema` on both services.
  const format = compiledFormat(request, 'gemini');
  const thinkingConfig = toThinking({ settings, dropped: request.dropped }, profile);
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(topK !== undefined && { topK }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(stop !== undefined && { stopSequences: stop }),
    // An int32: larger values are rejected.
    ...(seed !== undefined && { seed: sentAs('seed', seed, seed | 0, request) }),
    ...(frequencyPenalty !== undefined && { frequencyPenalty }),
    ...(presencePenalty !== undefined && { presencePenalty }),
    ...(format !== null && { responseMimeType: 'application/json' }),
    ...(format?.schema && { responseJsonSchema: format.schema }),
    ...(thinkingConfig !== null && { thinkingConfig }),
  };
}

/**
 * Sends a level or a budget, since both are rejected. Gemini 3 still accepts a budget, which is sent only if no effort was given. Thoughts
 * are requested whenever thinking is. null: the model's default.
 */
function toThinking(asked: Pick<ChatRequest, 'settings' | 'dropped'>, profile: Profile): Json | null {
  const { settings, dropped } = asked;
  const reasoning = requestedReasoning(settings);
  if (reasoning === null || profile.reasoning === 'none') return null;
  if (profile.reasoning === 'effort' && (reasoning === 'off' || reasoning.effort !== undefined)) {
    return { thinkingLevel: effortLevel(reasoning, profile.efforts, asked).toUpperCase(), includeThoughts: reasoning !== 'off' };
  }
  const budget = reasoning === 'off' ? 0 : (budgetTokens(reasoning, effortBudgets, asked) ?? dynamicBudget);
  const thinkingBudget = budget === dynamicBudget ? budget : Math.max(budget, profile.minReasoningBudget);
  sentAs(settings.reasoningBudget === undefined ? 'reasoningEffort' : 'reasoningBudget', budget, thinkingBudget, { dropped });
  return { thinkingBudget, includeThoughts: reasoning !== 'off' };
}

/**
 * Tokens by effort, as in Google's OpenAI-compatible API (guide "OpenAI compatibility"); the largest is the maximum of the smallest model.
 */
const effortBudgets: Readonly<Record<string, number>> = {
  low: 1024,
  minimal: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
};
/** The model decides. */
const dynamicBudget = -1;
