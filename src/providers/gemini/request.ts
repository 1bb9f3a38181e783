/**
 * Converts a neutral request to the body of Gemini's `streamGenerateContent`. `reply.ts` reads the reply and defines what must be
 * returned. Sources: API references "Generating content" (Google AI) and "GenerateContentRequest" (Vertex AI), the guides "Function
 * calling", "Thought signatures", "Thinking", "Image understanding", and `@google/genai` for what each of the two supports.
 * Images: base64 is sent inline. An http(s) URL becomes `fileData`, which Gemini fetches itself: Vertex AI for all models, Google AI since
 * Gemini 2.5 (guide "File input methods"); an older model rejects the request. Unsupported types are described in a text.
 */
import { createCallIds, historyInput } from '../history-calls.ts';
import type { InputPart, Message, ToolCallPart, ToolResultPart } from '../../core/turn/message.ts';
import type { ModelSettings } from '../../core/turn/plan.ts';
import type { Profile } from '../../core/model/provider-profile.ts';
import { pairCalls } from '../../core/turn/pair-calls.ts';
import { contentText } from '../../core/tools/tool.ts';
import type { ChatRequest, OfferedTool } from '../../ports/chat-model.ts';
import { imageNote, inlineImage } from '../input-image.ts';
import { isUnchangedCall, isNativePart, withSignedNames } from '../native-parts.ts';
import { effortLevel, requestedFormat, requestedReasoning, supportedSettings } from '../supported-settings.ts';
import { offerTools } from '../tool-definitions.ts';
import { isRecord, type Json } from '../../core/json/wire-value.ts';

/**
 * Data for the model that produced it. A signature belongs to the neutral part before it, `length` to that many of its last characters, the
 * piece that carried it. `part` is a whole part of the wire, at its position.
 */
export type GeminiMark =
  | { api: 'gemini'; of: 'text' | 'thought' | 'call'; length?: number; thoughtSignature: string }
  | { api: 'gemini'; part: Json };

type Content = { role: 'user' | 'model'; parts: Json[] };
type Assistant = Extract<Message, { role: 'assistant' }>;
type Mapping = { request: ChatRequest; profile: Profile; idOf: (callId: string) => string };

export function toGeminiBody(request: ChatRequest, profile: Profile): Json {
  const { tools, toolChoice } = offerTools(request, profile);
  const system = request.messages
    .flatMap((message) => (message.role === 'system' ? message.parts.map((part) => part.text) : []))
    .join('\n\n');
  const body: Json = { contents: toContents(request, profile, profile.systemInUser ? system : '') };
  if (system !== '' && !profile.systemInUser) body.systemInstruction = { parts: [{ text: system }] };
  if (tools.length > 0) {
    body.tools = [{ functionDeclarations: tools.map((tool) => toDeclaration(tool, profile)) }];
    if (toolChoice !== 'auto') body.toolConfig = { functionCallingConfig: toCallingConfig(toolChoice) };
  }
  const config = toGenerationConfig(supportedSettings(request.settings, profile, tools.length > 0), profile);
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
    if (message.role === 'user')
      add(
        'user',
        message.parts.flatMap((part) => toInput(part, profile)),
      );
    if (message.role === 'assistant') {
      add('model', toModelParts(message, mapping));
      names = namesOf(message);
    }
    if (message.role === 'tool') {
      // One result per call, in call order (anomalyco/opencode#43814), as `pairCalls` ensures.
      add(
        'user',
        message.parts.map((part) => toResult(part, names, mapping)),
      );
    }
  }
  if (contents.length === 0) add('user', [{ text: beginning }]);
  return contents;
}

/** A conversation that does not start with the user is rejected. */
const beginning = '[The conversation begins.]';

function toInput(part: InputPart, profile: Profile): Json[] {
  if (part.type === 'text') return part.text === '' ? [] : [{ text: part.text }];
  const inline = inlineImage(part);
  const mimeType = inline?.mediaType ?? part.mediaType?.toLowerCase() ?? linkedType(part.url ?? '');
  if (!profile.images || !imageTypes.has(mimeType)) return [{ text: imageNote(part) }];
  return [inline === null ? { fileData: { mimeType, fileUri: part.url } } : { inlineData: { mimeType, data: inline.data } }];
}

/** Guide "Image understanding". */
const imageTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif']);
/** Guide "Function calling", "Multimodal function responses". */
const resultImageTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/webp']);

/** A type is required, so that of a URL is guessed from its extension. */
function linkedType(url: string): string {
  const ending = /\.(png|jpe?g|webp|heic|heif|gif|svg|bmp|avif)(?:[?#]|$)/i.exec(url)?.[1] ?? 'jpeg';
  return `image/${ending.toLowerCase().replace('jpg', 'jpeg')}`;
}

function toModelParts(message: Assistant, { request, profile, idOf }: Mapping): Json[] {
  const parts: Json[] = [];
  // Thoughts are returned only to the model that produced them. For a client's history, the model is unknown.
  const isKnown = message.model === `${request.access.name}/${request.model}`;
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
function toResult(result: ToolResultPart, names: ReadonlyMap<string, string>, { profile, idOf }: Mapping): Json {
  const { callId, content, isError } = result;
  const images = profile.imagesInResults ? content.filter((block) => block.type === 'image' && resultImageTypes.has(block.mimeType)) : [];
  const text = contentText(content.filter((block) => !images.includes(block)));
  return {
    functionResponse: {
      ...(!profile.noCallIds && { id: idOf(callId) }),
      name: functionName(names.get(callId) ?? result.requested),
      response: isError ? { error: text } : { output: text },
      ...(images.length > 0 && {
        parts: images.flatMap((block) => (block.type === 'image' ? [{ inlineData: { mimeType: block.mimeType, data: block.data } }] : [])),
      }),
    },
  };
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

function toGenerationConfig(settings: ModelSettings, profile: Profile): Json {
  const { temperature, topP, topK, maxOutputTokens, stop, seed, frequencyPenalty, presencePenalty } = settings;
  const format = requestedFormat(settings);
  const thinkingConfig = toThinking(settings, profile);
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(topK !== undefined && { topK }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(stop !== undefined && { stopSequences: stop.slice(0, 5) }),
    // An int32: larger values are rejected.
    ...(seed !== undefined && { seed: seed | 0 }),
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
function toThinking(settings: ModelSettings, profile: Profile): Json | null {
  const reasoning = requestedReasoning(settings);
  if (reasoning === null || profile.reasoning === 'none') return null;
  if (profile.reasoning === 'effort' && (reasoning === 'off' || reasoning.effort !== undefined)) {
    return { thinkingLevel: effortLevel(reasoning, profile.efforts).toUpperCase(), includeThoughts: reasoning !== 'off' };
  }
  const budget = reasoning === 'off' ? 0 : (reasoning.budget ?? effortBudgets[reasoning.effort ?? ''] ?? dynamicBudget);
  const thinkingBudget = budget === dynamicBudget ? budget : Math.max(budget, profile.minReasoningBudget);
  return { thinkingBudget, includeThoughts: reasoning !== 'off' };
}

/**
 * Tokens by effort, as in Google's OpenAI-compatible API (guide "OpenAI compatibility"); the largest is the maximum of the smallest model.
 */
const effortBudgets: Readonly<Record<string, number>> = {
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
};
/** The model decides. */
const dynamicBudget = -1;
