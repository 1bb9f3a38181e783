/**
 * Gemini's `streamGenerateContent`, at Google AI and Vertex AI: the adapter, and its reply as events, streamed (`alt=sse`, or a JSON array
 * without it) or unstreamed. `request.ts` builds the request. Sources: the API references "Generating content" (Google AI) and
 * "GenerateContentResponse" (Vertex AI), and the recorded replies in the tests.
 * The wire's parts have no boundaries: text arrives in pieces; each call in one piece without an index (or in many with `partialArgs`); and
 * any part may carry a `thoughtSignature` that must be returned on the same part. Data of a neutral part becomes a mark after it; what has
 * no neutral form (an empty text with a signature, code that the provider ran) is stored as a whole part.
 */
import type { ChatEvent, FinishReason, Usage } from '../../core/model/chat-event.ts';
import type { Problem } from '../../core/problem.ts';
import type { ProviderAccess } from '../../core/model/provider.ts';
import { ToolCallAssembler } from '../../core/model/tool-call-assembler.ts';
import type { SseMessage } from '../../net/sse.ts';
import type { Adapter, ReplyReader } from '../adapter.ts';
import { PartialArguments } from './partial-arguments.ts';
import { type GeminiMark, toGeminiBody } from './request.ts';
import { geminiRows } from './profiles.ts';
import { callFaultReasons, faultReasons, filterReasons, finishReasonNames, limitReason, reasonName } from './reasons.ts';
import { errorBodyProblem, failureEvents, malformedProblem, overflowProblem } from '../provider-error.ts';
import { argumentsOf, isCount, isRecord, type Json, listOf, recordOf, stringOf, tryParse } from '../../core/json/wire-value.ts';

export const gemini: Adapter = {
  path: ({ model, whole }) => `/${resourceName(model)}:${whole ? 'generateContent' : 'streamGenerateContent?alt=sse'}`,
  profileRows: geminiRows,
  toBody: toGeminiBody,
  createReply: (access) => new GeminiReply(access),
};

/**
 * `gemini-x`, `models/gemini-x` and Vertex's full names are one model; the base URL determines its location. Tuned models and endpoints
 * have their own collections.
 */
function resourceName(model: string): string {
  const [, collection = 'models'] = /(?:^|\/)(tunedModels|endpoints)\/[^/]+$/.exec(model) ?? [];
  const name = encodeURIComponent(model.slice(model.lastIndexOf('/') + 1).toWellFormed());
  return `${collection}/${name.replaceAll('%40', '@')}`;
}

/** A call whose arguments may still grow. The wire has at most one. */
type OpenCall = { index: number; id: string; name: string; partial: PartialArguments | null; signature: string };

/** Reads one reply. Only the first candidate is read. */
class GeminiReply implements ReplyReader {
  state: 'open' | 'tail' | 'over' = 'open';
  id: string | null = null;
  readonly #access: ProviderAccess;
  readonly #assembler = new ToolCallAssembler();
  #open: OpenCall | null = null;
  /** The number of calls that the reply has begun. */
  #calls = 0;
  #usage: Usage | null = null;
  #finishReason: string | null = null;
  /** The prompt was blocked, for `reason`. */
  #isBlocked = false;
  #spoke = false;

  constructor(access: ProviderAccess) {
    this.#access = access;
  }

  take({ data, event, error }: SseMessage): ChatEvent[] {
    if (this.state === 'over') return [];
    if (error !== undefined) return this.#fail(tryParse(error) ?? error);
    if (data.trim() === '') return [];
    if (data === '[DONE]') return this.end();
    const chunk = tryParse(data);
    if (!isRecord(chunk)) return this.#giveUp([], 'sent an event that is not JSON');
    if (event === 'error') return this.#fail(chunk);
    return this.#read(chunk);
  }

  takeWhole(body: unknown): ChatEvent[] {
    if (this.state === 'over') return [];
    const chunks = Array.isArray(body) ? body : [body];
    const events: ChatEvent[] = [];
    for (const chunk of chunks) {
      if (!isReply(chunk)) return this.#giveUp(events, 'sent a reply without candidates');
      events.push(...this.#read(chunk));
      if (this.#over()) return events;
    }
    return [...events, ...this.#finish(true)];
  }

  end(): ChatEvent[] {
    return this.state === 'over' ? [] : this.#finish(this.#finishReason !== null);
  }

  #over(): boolean {
    return this.state === 'over';
  }

  #read(chunk: Json): ChatEvent[] {
    const events: ChatEvent[] = [];
    let isSound = true;
    if (this.id === null && stringOf(chunk.responseId) !== '') this.id = stringOf(chunk.responseId);
    for (const candidate of listOf(chunk.candidates)) {
      if (isRecord(candidate) && (candidate.index ?? 0) === 0) isSound = this.#readCandidate(candidate, events) && isSound;
    }
    const blocked = reasonName(recordOf(chunk.promptFeedback).blockReason, []);
    // A blocked prompt gets no candidate.
    if (blocked !== null) {
      this.#isBlocked = true;
      this.#noteReason(blocked);
    }
    this.#usage = readUsage(chunk.usageMetadata) ?? this.#usage;
    if (events.length > 0) this.#spoke = true;
    if (chunk.error != null) return [...events, ...this.#fail(chunk.error)];
    return isSound ? events : this.#giveUp(events, invalidOrder);
  }

  #readCandidate(candidate: Json, events: ChatEvent[]): boolean {
    const isSound = listOf(recordOf(candidate.content).parts).every((part) => !isRecord(part) || this.#readPart(part, events));
    const reason = reasonName(candidate.finishReason, finishReasonNames);
    if (reason !== null) this.#noteReason(reason);
    return isSound;
  }

  /** Some versions repeat the reason in every chunk. */
  #noteReason(reason: string): void {
    this.#finishReason = reason;
    this.state = 'tail';
  }

  /** false: the part contradicts those before it. */
  #readPart(part: Json, events: ChatEvent[]): boolean {
    const signature = stringOf(part.thoughtSignature);
    if (isRecord(part.functionCall)) return this.#readCall(part.functionCall, signature, events);
    if (typeof part.text === 'string' && part.text !== '') {
      const isThought = part.thought === true;
      events.push({ type: isThought ? 'reasoning' : 'text', text: part.text });
      if (signature !== '') {
        this.#mark({ api: 'gemini', of: isThought ? 'thought' : 'text', length: part.text.length, thoughtSignature: signature }, events);
      }
      return true;
    }
    // Images are megabytes, and requests never ask for them.
    const media = isRecord(part.inlineData) ? part.inlineData : part.fileData;
    if (isRecord(media)) events.push({ type: 'text', text: `[file: ${stringOf(media.mimeType) || 'of unknown type'}]` });
    else if (signature !== '' || !('text' in part || Object.keys(part).length === 0)) this.#mark({ api: 'gemini', part }, events);
    return true;
  }

  #readCall(call: Json, signature: string, events: ChatEvent[]): boolean {
    const name = stringOf(call.name);
    const id = stringOf(call.id);
    const partials = listOf(call.partialArgs);
    const goesOn = this.#open !== null && (name === '' || (id !== '' && id === this.#open.id));
    // The wire ends a call, or keeps it alive, with an empty one.
    if (!goesOn && name === '' && call.args == null && partials.length === 0) return true;
    // More arguments for a call that has ended: the call was incomplete, and must not run.
    if (!goesOn && name === '' && partials.length > 0) return false;
    if (!goesOn) this.#begin({ index: this.#calls++, id, name, partial: null, signature }, events);
    const open = this.#open;
    if (open === null) return true;
    if (open.signature === '') open.signature = signature;
    for (const partial of partials) if (!this.#addPartial(partial, events)) return false;
    if (open.partial === null) events.push(...this.#assembler.push({ index: open.index, arguments: argumentsOf(call.args) }));
    if (call.willContinue !== true) this.#endCall(open, events);
    return true;
  }

  #begin(call: OpenCall, events: ChatEvent[]): void {
    const before = this.#open;
    this.#open = call;
    events.push(...this.#assembler.push({ id: call.id, index: call.index, name: call.name }));
    // The call was never marked complete; the end of the reply decides whether it is valid.
    if (before !== null) this.#markCall(before, events);
  }

  /** false: it contradicts the call's arguments so far. */
  #addPartial(partial: unknown, events: ChatEvent[]): boolean {
    const open = this.#open;
    if (open === null) return true;
    open.partial ??= new PartialArguments();
    const text = open.partial.write(partial);
    if (text !== null) events.push(...this.#assembler.push({ index: open.index, arguments: text }));
    return text !== null;
  }

  #endCall(call: OpenCall, events: ChatEvent[]): void {
    this.#open = null;
    if (call.partial !== null) events.push(...this.#assembler.push({ index: call.index, arguments: call.partial.close() }));
    events.push(...this.#assembler.end({ index: call.index }));
    this.#markCall(call, events);
  }

  /** Follows the call's start, because marks belong to the part before them. A call without a name has not started yet. */
  #markCall({ name, signature }: OpenCall, events: ChatEvent[]): void {
    if (signature !== '' && name !== '') this.#mark({ api: 'gemini', of: 'call', thoughtSignature: signature }, events);
  }

  #mark(data: GeminiMark, events: ChatEvent[]): void {
    events.push({ type: 'native', provider: this.#access.name, data });
  }

  #giveUp(events: ChatEvent[], what: string): ChatEvent[] {
    events.push(...this.#assembler.finish({ ended: false, length: false }));
    return this.#end(events, malformedProblem(this.#access, what));
  }

  #fail(error: unknown): ChatEvent[] {
    const events = this.#assembler.finish({ ended: this.#finishReason !== null, length: this.#finishReason === limitReason });
    return this.#end(events, errorBodyProblem(this.#access, error));
  }

  #finish(ended: boolean): ChatEvent[] {
    const raw = this.#finishReason;
    const events = this.#assembler.finish({ ended, length: raw === limitReason });
    if (this.#open !== null) this.#markCall(this.#open, events);
    if (ended && this.#assembler.overflowed) return this.#end(events, overflowProblem(this.#access));
    const fault = this.#fault(ended, events);
    if (fault !== null) return this.#end(events, malformedProblem(this.#access, fault));
    if (this.#usage !== null) events.push({ type: 'usage', usage: this.#usage });
    events.push({ type: 'finish', reason: this.#reason(), raw });
    this.state = 'over';
    return events;
  }

  /** Returns why a finished reply is not usable; a retry often helps. */
  #fault(ended: boolean, events: readonly ChatEvent[]): string | null {
    const raw = this.#finishReason ?? '';
    if (!ended) return 'ended its reply before it was complete';
    if (faultReasons.has(raw)) return `aborted its reply (${raw})`;
    // If the call was received, its result reports that the tool does not exist.
    if (callFaultReasons.has(raw) && this.#assembler.count === 0) return `aborted a tool call (${raw})`;
    const isEmpty = !this.#spoke && events.length === 0 && raw !== limitReason && !this.#isFiltered();
    return isEmpty ? `sent an empty reply${raw === '' ? '' : ` (${raw})`}` : null;
  }

  #end(events: ChatEvent[], problem: Problem): ChatEvent[] {
    this.state = 'over';
    return [...events, ...failureEvents(problem, this.#spoke ? this.#usage : null)];
  }

  /** The wire has no reason for calls: they end with STOP like text. */
  #reason(): FinishReason {
    const raw = this.#finishReason;
    if (raw === limitReason) return 'length';
    if (this.#isFiltered()) return 'content-filter';
    if (this.#assembler.count > 0) return 'tool-calls';
    return raw === 'STOP' ? 'stop' : 'unknown';
  }

  #isFiltered(): boolean {
    return this.#isBlocked || filterReasons.has(this.#finishReason ?? '');
  }
}

function isReply(value: unknown): value is Json {
  return isRecord(value) && (Array.isArray(value.candidates) || isRecord(value.promptFeedback) || value.error != null);
}

/** `thoughtsTokenCount` is not included in the candidates' count, `cachedContentTokenCount` is included in the prompt's. */
function readUsage(value: unknown): Usage | null {
  if (!isRecord(value) || !isCount(value.promptTokenCount)) return null;
  const count = (field: string): number => (isCount(value[field]) ? value[field] : 0);
  const reasoningTokens = count('thoughtsTokenCount');
  const cachedInputTokens = count('cachedContentTokenCount');
  return {
    inputTokens: value.promptTokenCount + count('toolUsePromptTokenCount'),
    outputTokens: count('candidatesTokenCount') + reasoningTokens,
    ...(reasoningTokens > 0 && { reasoningTokens }),
    ...(cachedInputTokens > 0 && { cachedInputTokens }),
  };
}

const invalidOrder = 'sent the arguments of a call in an invalid order';
