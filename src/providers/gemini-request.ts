/**
 * A neutral request as the body of Gemini's `streamGenerateContent`. The reply is read in `gemini.ts`, which also says what it wants
 * back. Sources: API references "Generating content" (Google AI) and "GenerateContentRequest" (Vertex AI), the guides "Function
 * calling", "Thought signatures", "Thinking", "Image understanding", and `@google/genai` for what either of the two takes.
 *
 * Images: base64 goes inline. An http(s) URL becomes `fileData`, which Gemini fetches itself: Vertex AI does for all models, Google AI
 * since Gemini 2.5 (guide "File input methods"); an older one refuses the request. Types that Gemini cannot see are named in a text.
 */
import type { InputPart, Message, ToolCallPart, ToolResultPart } from '../core/message.ts';
import type { ModelSettings } from '../core/plan.ts';
import type { Profile } from '../core/provider-profile.ts';
import { pairCalls } from '../core/pair-calls.ts';
import { contentText } from '../core/tool.ts';
import type { ChatRequest, OfferedTool } from '../ports/chat-model.ts';
import { createCallIds } from './call-ids.ts';
import { historyInput } from './history-call.ts';
import { imageNote, inlineImage } from './input-image.ts';
import { isAsSaid, isOwnPart, withSignedNames } from './own-words.ts';
import { profileFor } from './profiles.ts';
import { effortWord, reasoningWish } from './reasoning-wish.ts';
import { askedFormat, takenSettings } from './taken-settings.ts';
import { offerTools } from './tool-definitions.ts';
import { isRecord, type Json } from '../core/wire-value.ts';

/**
 * What goes back to the model that said it. A signature belongs to the neutral part before it, `length` to so many of that part's last
 * characters: the piece that carried it. `part` is a whole part of the wire, at its place.
 */
export type GeminiMark =
  | { api: 'gemini'; of: 'text' | 'thought' | 'call'; length?: number; thoughtSignature: string }
  | { api: 'gemini'; part: Json };

type Content = { role: 'user' | 'model'; parts: Json[] };
type Assistant = Extract<Message, { role: 'assistant' }>;
type Mapping = { request: ChatRequest; profile: Profile; idOf: (callId: string) => string };

export function toGeminiBody(request: ChatRequest): Json {
  const profile = profileFor(request.access, request.model);
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
  const config = toGenerationConfig(takenSettings(request.settings, profile, tools.length > 0), profile);
  if (Object.keys(config).length > 0) body.generationConfig = config;
  return body;
}

// ---- The conversation ----

/** User and model take turns, the user first; what several messages of one side say is one turn. */
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
      // As many results as calls, in their order (anomalyco/opencode#43814); `pairCalls` has seen to that.
      add(
        'user',
        message.parts.map((part) => toResult(part, names, mapping)),
      );
    }
  }
  if (contents.length === 0) add('user', [{ text: beginning }]);
  return contents;
}

/** A conversation without a user's word at its start is refused. */
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

/** A type must be told, so that of a URL is guessed by its ending. */
function linkedType(url: string): string {
  const ending = /\.(png|jpe?g|webp|heic|heif|gif|svg|bmp|avif)(?:[?#]|$)/i.exec(url)?.[1] ?? 'jpeg';
  return `image/${ending.toLowerCase().replace('jpg', 'jpeg')}`;
}

function toModelParts(message: Assistant, { request, profile, idOf }: Mapping): Json[] {
  const parts: Json[] = [];
  // Thoughts go back to the very model that had them. Who had those of a client's history, nobody knows.
  const isKnown = message.model === `${request.access.name}/${request.model}`;
  for (const [index, part] of message.parts.entries()) {
    if (part.type === 'text' && part.text !== '') parts.push({ text: part.text });
    if (part.type === 'reasoning' && part.text !== '' && isKnown) parts.push({ text: part.text, thought: true });
    if (part.type === 'tool-call') parts.push({ functionCall: toCall(part, profile, idOf) });
    if (part.type !== 'native' || !isOwnPart(part, message, request)) continue;
    const before = message.parts[index - 1];
    // Else: "Thought signature is not valid".
    if (before?.type !== 'tool-call' || isAsSaid(before)) addMark(part.data, parts);
  }
  // Of parallel calls the first has one. A call of another model gets what the guide "Thought signatures" names for it.
  const first = parts.find((part) => 'functionCall' in part);
  if (profile.callSignatures && first !== undefined) first.thoughtSignature ??= 'skip_thought_signature_validator';
  return parts;
}

function toCall(call: ToolCallPart, profile: Profile, idOf: (callId: string) => string): Json {
  return { ...(!profile.noCallIds && { id: idOf(call.callId) }), name: functionName(call.requested), args: historyInput(call) };
}

/**
 * As everywhere, and with the dots that Gemini takes beside: it makes up such names itself (`default_api.search`), and what it signed must
 * come back unchanged.
 */
function functionName(requested: string): string {
  const name = requested.replace(/[^a-zA-Z0-9_.-]/g, '_');
  return (/^[a-zA-Z_]/.test(name) ? name : `_${name}`).slice(0, 64);
}

/** Where the part that it belonged to is gone (a call that never ran), it goes too. */
function addMark(data: unknown, parts: Json[]): void {
  // Written by `gemini.ts` where the provider was of this kind then.
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

/** A client that keeps its own history brings these parts itself: nothing that calls tools or answers for them, and no files. */
function isProvidersPart(part: Json): boolean {
  // The API reads fields in either spelling.
  const names = Object.keys(part).map((name) => name.replaceAll('_', '').toLowerCase());
  return (part.text ?? '') === '' && !names.some((name) => ourFields.has(name));
}

const ourFields: ReadonlySet<string> = new Set(['functioncall', 'functionresponse', 'filedata', 'inlinedata']);

/** null for a part that has its signature already, or can have none of ours. */
function kindOf(part: Json): 'text' | 'thought' | 'call' | null {
  if (part.thoughtSignature !== undefined) return null;
  if (part.functionCall !== undefined) return 'call';
  if (typeof part.text !== 'string') return null;
  return part.thought === true ? 'thought' : 'text';
}

/** As the calls have them, by our id; of two with one id, the first. */
function namesOf({ parts }: Assistant): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const part of parts) if (part.type === 'tool-call' && !names.has(part.callId)) names.set(part.callId, part.requested);
  return names;
}

/** The response must be an object; `output` and `error` are the fields that the reference names. */
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
  // An object without properties is refused there; no parameters at all are not.
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
  const format = askedFormat(settings);
  const thinkingConfig = toThinking(settings, profile);
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(topK !== undefined && { topK }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(stop !== undefined && { stopSequences: stop.slice(0, 5) }),
    // An int32: a larger one is refused.
    ...(seed !== undefined && { seed: seed | 0 }),
    ...(frequencyPenalty !== undefined && { frequencyPenalty }),
    ...(presencePenalty !== undefined && { presencePenalty }),
    ...(format !== null && { responseMimeType: 'application/json' }),
    ...(format?.schema && { responseJsonSchema: format.schema }),
    ...(thinkingConfig !== null && { thinkingConfig }),
  };
}

/**
 * A level or a budget, never both: that is refused. Gemini 3 still takes a budget, and it goes there only where no word was given.
 * Thoughts are shown wherever thinking was asked for. null: as the model does by itself.
 */
function toThinking(settings: ModelSettings, profile: Profile): Json | null {
  const wish = reasoningWish(settings);
  if (wish === null || profile.reasoning === 'none') return null;
  if (profile.reasoning === 'effort' && (wish === 'off' || wish.effort !== undefined)) {
    return { thinkingLevel: effortWord(wish, profile.efforts).toUpperCase(), includeThoughts: wish !== 'off' };
  }
  const budget = wish === 'off' ? 0 : (wish.budget ?? effortBudgets[wish.effort ?? ''] ?? dynamicBudget);
  const thinkingBudget = budget === dynamicBudget ? budget : Math.max(budget, profile.minReasoningBudget);
  return { thinkingBudget, includeThoughts: wish !== 'off' };
}

/** Tokens for the words, as Google's own OpenAI-compatible path counts them (guide "OpenAI compatibility"); the largest is what the smallest model takes. */
const effortBudgets: Readonly<Record<string, number>> = {
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
};
/** As much as the model finds right. */
const dynamicBudget = -1;
