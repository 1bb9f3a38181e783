/**
 * Gemini's `streamGenerateContent`, at Google AI and Vertex AI: the adapter, and its reply as events, streamed (`alt=sse`, or a JSON array
 * without it) or unstreamed. `request.ts` builds the request. Sources: the API references "Generating content" (Google AI) and
 * "GenerateContentResponse" (Vertex AI), and the recorded replies in the tests.
 * The wire's parts have no boundaries: text arrives in pieces; each call in one piece without an index (or in many with `partialArgs`); and
 * any part may carry a `thoughtSignature` that must be returned on the same part. Data of a neutral part becomes a mark after it; what has
 * no neutral form (an empty text with a signature, code that the provider ran) is stored as a whole part.
 */
import { type Citation, maxCitations, toCitation } from '../../core/model/citation.ts';
import type { Usage } from '../../core/model/chat-event.ts';
import { GrowingText } from '../../core/model/growing-text.ts';
import type { Adapter } from '../adapter.ts';
import { PartialArguments } from './partial-arguments.ts';
import { type GeminiMark, toGeminiBody } from './request.ts';
import { calledName } from '../../core/model/model-name.ts';
import { geminiRows } from './profiles.ts';
import { malformedProblem } from '../provider-error.ts';
import { WireReply } from '../wire-reply.ts';
import { toUsage } from '../wire-usage.ts';
import { argumentsOf, isCount, isRecord, type Json, listOf, recordOf, stringOf } from '../../core/json/wire-value.ts';

export const gemini: Adapter = {
  dialect: 'gemini',
  watched: async () => (await import('./watch.ts')).geminiWire,
  countTokensPath: (model) => `/${resourceName(model)}:countTokens`,
  path: ({ model, whole }) => `/${resourceName(model)}:${whole ? 'generateContent' : 'streamGenerateContent?alt=sse'}`,
  profileRows: geminiRows,
  toBody: toGeminiBody,
  createReply: (access) => new GeminiReply(access),
  modelsUrl: (baseUrl) => `${baseUrl}/models?pageSize=1000`,
  outputLimits: ({ generationConfig, generation_config }) => {
    const { maxOutputTokens, max_output_tokens } = { ...recordOf(generation_config), ...recordOf(generationConfig) };
    return [maxOutputTokens, max_output_tokens];
  },
  readUsage,
};

/** The path of the model; the base URL determines its location. */
export function resourceName(model: string): string {
  const [name = '', collection = 'models'] = calledName({ kind: 'gemini', model }).split('/').reverse();
  return `${collection}/${encodeURIComponent(name.toWellFormed()).replaceAll('%40', '@')}`;
}

/** A call whose arguments may still grow. The wire has at most one. */
type OpenCall = { index: number; id: string; name: string; partial: PartialArguments | null; signature: string };

/** Reads one reply. Only the first candidate is read. */
class GeminiReply extends WireReply {
  #open: OpenCall | null = null;
  /** The number of calls that the reply has begun. */
  #calls = 0;
  /** The prompt was blocked, for `finishReason`. */
  #isBlocked = false;
  #chunks = 0;
  /** The number of chunks with usage, and whether the last one had it. */
  #counted = 0;
  #endedCounted = false;
  readonly #text = new GrowingText();
  /** The latest sources; the last chunks have all of them. */
  #grounding: Json | null = null;

  protected override isReply({ candidates, promptFeedback, usageMetadata }: Json): boolean {
    return [candidates, promptFeedback, usageMetadata].some((member) => typeof member === 'object');
  }

  protected override readWhole(body: Json): void {
    this.readEvent(body, '');
    if (!this.isOver()) this.finish();
  }

  protected override readEndMark(): void {
    this.endStream();
  }

  protected override read(chunk: Json): void {
    let isSound = true;
    if (this.id === null && stringOf(chunk.responseId) !== '') this.id = stringOf(chunk.responseId);
    for (const candidate of listOf(chunk.candidates)) {
      if (isRecord(candidate) && (candidate.index ?? 0) === 0) isSound = this.#readCandidate(candidate) && isSound;
    }
    const blocked = reasonName(recordOf(chunk.promptFeedback).blockReason, []);
    // A blocked prompt gets no candidate.
    if (blocked !== null) {
      this.#isBlocked = true;
      this.setFinishReason(blocked);
    }
    const usage = readUsage(chunk.usageMetadata);
    this.#chunks += 1;
    this.#endedCounted = usage !== null;
    if (usage !== null) this.#counted += 1;
    this.usage = usage ?? this.usage;
    if (!isSound) this.fault('sent the arguments of a call in an invalid order');
  }

  /** Some gateways send no reason: then usage in the last chunk, and in no other, shows that the reply is complete. */
  protected override endStream(): void {
    const isCounted = this.#endedCounted && this.#counted === 1 && this.#chunks > 1;
    if (this.finishReason === null && this.hasOutput && isCounted) this.finish();
    else super.endStream();
  }

  #readCandidate(candidate: Json): boolean {
    const isSound = listOf(recordOf(candidate.content).parts).every((part) => !isRecord(part) || this.#readPart(part));
    if (isRecord(candidate.groundingMetadata)) this.#grounding = candidate.groundingMetadata;
    const reason = reasonName(candidate.finishReason, finishReasonNames);
    // Some versions repeat the reason in every chunk.
    if (reason !== null) this.setFinishReason(reason);
    return isSound;
  }

  /** false: the part contradicts those before it. */
  #readPart(part: Json): boolean {
    const signature = stringOf(part.thoughtSignature);
    if (isRecord(part.functionCall)) return this.#readCall(part.functionCall, signature);
    if (typeof part.text === 'string' && part.text !== '') {
      const isThought = part.thought === true;
      this.emitText(isThought ? 'reasoning' : 'text', part.text);
      if (!isThought) this.#text.append(part.text);
      if (signature !== '') {
        this.#mark({ api: 'gemini', of: isThought ? 'thought' : 'text', length: part.text.length, thoughtSignature: signature });
      }
      return true;
    }
    const media = isRecord(part.inlineData) ? part.inlineData : part.fileData;
    const data = isRecord(media) && part.thought !== true ? stringOf(media.data) : '';
    if (isRecord(media) && data !== '') this.emitImage(stringOf(media.mimeType), data);
    else if (isRecord(media)) this.emitText('text', `[file: ${stringOf(media.mimeType) || 'of unknown type'}]`);
    else if (signature !== '' || !('text' in part || Object.keys(part).length === 0)) this.#mark({ api: 'gemini', part });
    return true;
  }

  #readCall(call: Json, signature: string): boolean {
    const name = stringOf(call.name);
    const id = stringOf(call.id);
    const partials = listOf(call.partialArgs);
    const goesOn = this.#open !== null && (name === '' || (id !== '' && id === this.#open.id));
    // The wire ends a call, or keeps it alive, with an empty one.
    if (!goesOn && name === '' && call.args == null && partials.length === 0) return true;
    // More arguments for a call that has ended: the call was incomplete, and must not run.
    if (!goesOn && name === '' && partials.length > 0) return false;
    if (!goesOn) this.#begin({ index: this.#calls++, id, name, partial: null, signature });
    const open = this.#open;
    if (open === null) return true;
    if (open.signature === '') open.signature = signature;
    for (const partial of partials) if (!this.#addPartial(open, partial)) return false;
    if (open.partial === null) this.pushCall({ index: open.index, arguments: argumentsOf(call.args) });
    if (call.willContinue !== true) this.#endOpenCall(open);
    return true;
  }

  #begin(call: OpenCall): void {
    const before = this.#open;
    this.#open = call;
    this.pushCall({ id: call.id, index: call.index, name: call.name });
    // The call was never marked complete; the end of the reply decides whether it is valid.
    if (before !== null) this.#markCall(before);
  }

  /** false: it contradicts the call's arguments so far. */
  #addPartial(open: OpenCall, partial: unknown): boolean {
    open.partial ??= new PartialArguments();
    const text = open.partial.write(partial);
    if (text !== null) this.pushCall({ index: open.index, arguments: text });
    return text !== null;
  }

  #endOpenCall(call: OpenCall): void {
    this.#open = null;
    if (call.partial !== null) this.pushCall({ index: call.index, arguments: call.partial.close() });
    this.endCall({ index: call.index });
    this.#markCall(call);
  }

  /** Follows the call's start, because marks belong to the part before them. A call without a name has not started yet. */
  #markCall({ name, signature }: OpenCall): void {
    if (signature !== '' && name !== '') this.#mark({ api: 'gemini', of: 'call', thoughtSignature: signature });
  }

  #mark(data: GeminiMark): void {
    this.emitNative(data);
  }

  protected override finish(): void {
    this.endCalls(true);
    if (this.#open !== null) this.#markCall(this.#open);
    // Before the sources, which alone are no output.
    const fault = this.#fault();
    if (fault !== null) return void this.abort(malformedProblem(this.access, fault));
    if (this.#grounding !== null) {
      this.emitCitations(groundingCitations(this.#grounding, this.#text.read()));
      this.emitSearch(listOf(this.#grounding.webSearchQueries), groundingSources(this.#grounding).map(toCitation));
    }
    // The wire has no reason for calls: they end with STOP like text.
    this.complete({ length: this.isCut(), filtered: this.#isFiltered() }, this.finishReason === 'STOP' ? 'stop' : 'unknown');
  }

  /** Returns why a finished reply is not usable; a retry often helps. */
  #fault(): string | null {
    const raw = this.finishReason ?? '';
    if (faultReasons.has(raw)) return `aborted its reply (${raw})`;
    // If the call was received, its result reports that the tool does not exist.
    if (callFaultReasons.has(raw) && this.assembler.count === 0) return `aborted a tool call (${raw})`;
    // Also with STOP: the models are known to stop before the first token now and then, and another request helps (`InvalidStreamError` of
    // google-gemini/gemini-cli).
    const isEmpty = !this.hasOutput && !this.isCut() && !this.#isFiltered();
    return isEmpty ? `sent an empty reply${raw === '' ? '' : ` (${raw})`}` : null;
  }

  protected override isCut(): boolean {
    return this.finishReason === limitReason;
  }

  #isFiltered(): boolean {
    return this.#isBlocked || filterReasons.has(this.finishReason ?? '');
  }
}

/**
 * Sources (`groundingChunks`) with the passages that they support, whose places count bytes of UTF-8 (API reference "GroundingMetadata").
 */
function groundingCitations(grounding: Json, text: string): (Citation | null)[] {
  const sources = groundingSources(grounding);
  const bytes = new TextEncoder().encode(text);
  const lengthOf = (end: unknown): number => new TextDecoder().decode(bytes.subarray(0, isCount(end) ? end : 0)).length;
  const cited = listOf(grounding.groundingSupports)
    .slice(0, maxCitations)
    .flatMap((support) => {
      const { segment, groundingChunkIndices: indices } = recordOf(support);
      const { startIndex, endIndex } = recordOf(segment);
      const place = { start: lengthOf(startIndex), end: lengthOf(endIndex) };
      return listOf(indices).map((index) => {
        const source = isCount(index) ? sources[index] : undefined;
        return source === undefined ? null : toCitation({ ...source, ...place });
      });
    });
  return cited.length > 0 ? cited : sources.map(toCitation);
}

function groundingSources({ groundingChunks }: Json): { url: unknown; title: unknown }[] {
  return listOf(groundingChunks).map((chunk) => {
    const { web, retrievedContext } = recordOf(chunk);
    const { uri: url, title } = recordOf(web ?? retrievedContext);
    return { url, title };
  });
}

/**
 * `thoughtsTokenCount` is not included in the candidates' count, `cachedContentTokenCount` is included in the prompt's. The wire omits counts
 * that are 0; without the prompt's, it is what the others leave of the total.
 */
function readUsage(value: unknown): Usage | null {
  const usage = recordOf(value);
  const count = (field: string): number => (isCount(usage[field]) ? usage[field] : 0);
  if (!['promptTokenCount', 'candidatesTokenCount', 'totalTokenCount'].some((field) => isCount(usage[field]))) return null;
  const reasoning = count('thoughtsTokenCount');
  const output = count('candidatesTokenCount') + reasoning;
  const input = isCount(usage.promptTokenCount)
    ? usage.promptTokenCount + count('toolUsePromptTokenCount')
    : Math.max(0, count('totalTokenCount') - output);
  return toUsage({ input, output, reasoning: reasoning || null, cached: count('cachedContentTokenCount') || null });
}

/** null: no reason yet. Some gateways request enums as integers. */
function reasonName(value: unknown, words: readonly string[]): string | null {
  const word = typeof value === 'number' ? (words[value] ?? String(value)) : stringOf(value);
  return word === '' || word.endsWith('_UNSPECIFIED') ? null : word;
}

const limitReason = 'MAX_TOKENS';
const filterReasons: ReadonlySet<string> = new Set([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'MODEL_ARMOR',
  'JAILBREAK',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
]);
const faultReasons: ReadonlySet<string> = new Set(['MALFORMED_FUNCTION_CALL', 'MALFORMED_RESPONSE', 'MISSING_THOUGHT_SIGNATURE']);
const callFaultReasons: ReadonlySet<string> = new Set(['UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS']);

/** By number, as in Vertex AI (googleapis, `google/cloud/aiplatform/v1/content.proto`). */
const finishReasonNames: readonly string[] = [
  'FINISH_REASON_UNSPECIFIED',
  'STOP',
  'MAX_TOKENS',
  'SAFETY',
  'RECITATION',
  'OTHER',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'MALFORMED_FUNCTION_CALL',
];
