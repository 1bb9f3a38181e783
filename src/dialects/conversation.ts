/**
 * A client's request as a conversation, independent of the dialect. The dialects add messages one by one; sessions and the translating
 * proxy use the result. Also the content that they write alike, and the session that the call ids of a request belong to.
 */
import type * as z from 'zod';
import { readArguments } from '../core/json/json-repair.ts';
import type { Dropped } from '../core/model/dropped.ts';
import {
  FilePart,
  ImagePart,
  type AssistantPart,
  type ClientResult,
  type CacheLifetime,
  type InputPart,
  type Marked,
  type MarkedText,
  mediaOf,
  type Message,
  type ToolCallPart,
} from '../core/model/message.ts';
import type { ElicitationAnswer } from '../core/servers/elicitation.ts';
import { type Decision, DecisionReason } from '../core/policy/approval.ts';
import { splitThinking } from '../core/model/think-tags.ts';
import { resultMessage } from '../core/turn/pair-calls.ts';
import { joinParagraphs } from '../core/text/paragraphs.ts';
import { type QuestionReference, readToolCallId } from '../core/text/reference.ts';
import { isRecord, listOf } from '../core/json/wire-value.ts';
import { invalidRequest, type Issue, parsePart } from '../core/problem.ts';
import { type ContentBlock, contentText, markedContent } from '../core/tools/tool.ts';

/**
 * `system`: the text of all system and developer messages; '' if the conversation is `whole`. `history`: all messages up to the last
 * assistant message. New is what follows: `results` of calls, by the client's call ids, `decisions` on approvals and answers to questions of servers, and `input`, the user's content.
 */
export type ConversationBuilder = {
  system: string;
  history: Message[];
  results: ClientResult[];
  decisions: (ClientDecision | ClientAnswer)[];
  input: InputPart[];
};

/** A decision on an approval that an answer asked for. `path`: of its id in the request. */
export type ClientDecision = QuestionReference & { decision: Decision; reason?: string; path: string };

/** An answer to a question of a tool's server, by the server's key. `path`: of the answer in the request. */
export type ClientAnswer = QuestionReference & { key: string; answer: ElicitationAnswer; path: string };

/** Reads a decision, and its reason if it has one. */
export function readDecision(
  approved: boolean,
  reason: string | null | undefined,
  fault: (message: string) => void,
): Pick<ClientDecision, 'decision' | 'reason'> {
  const decision = approved ? 'approve' : 'deny';
  if (reason == null || reason.trim() === '') return { decision };
  const read = DecisionReason.safeParse(reason);
  for (const { message } of read.error?.issues ?? []) fault(message);
  return { decision, ...(read.success && { reason: read.data }) };
}

/**
 * `inSession`: results without their call are allowed, since the session has it. `whole`: all messages are `history`, in order, also system
 * messages behind the first other message: for a provider, which gets them at once, with the client's marks of the cache. `provider`: the one
 * that data of a provider is for; absent: the one that the request's model names.
 */
export type ConversationOptions = { inSession?: boolean; whole?: boolean; provider?: string };

/** Returns the provider in a model's reference; null: it names an agent or an alias. */
export function providerOf(ref: string): string | null {
  const slash = ref.indexOf('/');
  return slash < 1 || ref.startsWith('agent/') ? null : ref.slice(0, slash);
}

/** Messages are added in order. `isNew`: after the last assistant message. */
export function createConversation({ inSession = false, whole = false, provider }: ConversationOptions) {
  const system: string[] = [];
  const history: Message[] = [];
  const results: ClientResult[] = [];
  const input: InputPart[] = [];
  const decisions: ConversationBuilder['decisions'] = [];
  const names = new Map<string, string>();
  const marks = new Map<string, Marked>();
  /** The latest message with calls. */
  let calling: Message | null = null;
  const addInput = (parts: InputPart[], isNew: boolean): void => {
    if (parts.length === 0) return;
    if (isNew && !whole) append(input, parts);
    else history.push({ role: 'user', parts });
  };
  return {
    addSystem(...texts: readonly MarkedText[]): void {
      const before = history.at(-1);
      const parts = whole && before?.role === 'system' ? before.parts : [];
      if (whole) joinTexts(texts, '\n\n', parts);
      else for (const { text } of texts) system.push(text);
      if (parts.length > 0 && parts !== before?.parts) history.push({ role: 'system', parts });
    },
    addInput,
    /**
     * Merges adjacent assistant items if they are pieces of one message, or if the earlier one has calls without results: all results
     * follow the last call.
     */
    addAssistant(parts: AssistantPart[], isPiece = false): void {
      const before = history.at(-1);
      const isOpen = before?.role === 'assistant' && (isPiece || before === calling);
      const message = isOpen ? before : { role: 'assistant' as const, parts: [] as AssistantPart[] };
      if (!isOpen) history.push(message);
      append(
        message.parts,
        parts.flatMap((part) => withoutTags(part, provider)),
      );
      for (const part of parts) {
        if (part.type !== 'tool-call') continue;
        names.set(part.callId, part.requested);
        if (part.cache !== undefined) marks.set(part.callId, { cache: part.cache });
        calling = message;
      }
    },
    /**
     * Agents that shorten their history cut calls from their results. The model is told such a result in the user's words; LiteLLM and
     * OpenRouter accept it, too.
     */
    addResult(given: ClientResult, isNew: boolean): void {
      const result = { ...marks.get(given.callId), ...given };
      const isAsked = names.has(result.callId) || (isNew && (inSession || readToolCallId(result.callId) !== null));
      const before = history.at(-1);
      if (!isAsked)
        addInput(
          marked(
            [
              { type: 'text', text: '[Result of an earlier tool call:]' },
              ...markedContent(result).map((block) => mediaOf(block) ?? { type: 'text' as const, text: contentText([block]) }),
            ],
            result,
          ),
          isNew,
        );
      else if (isNew && !whole) results.push(result);
      // Results of one step are one message, in the order they arrived.
      else if (before?.role === 'tool') append(before.parts, resultMessage([result], names).parts);
      else history.push(resultMessage([result], names));
    },
    /** Earlier decisions are history, which the session has. */
    addDecision(decision: ClientDecision | ClientAnswer, isNew: boolean): void {
      if (isNew) decisions.push(decision);
    },
    /** `mark`: behind all. Throws `invalid_request` with the issues; with `nothing` if no message says anything. */
    finish(issues: Issue[], nothing: Issue, mark: Marked = {}): ConversationBuilder {
      const end = history.at(-1)?.parts.at(-1);
      if (end !== undefined && end.type !== 'native' && end.type !== 'reasoning') Object.assign(end, mark);
      const says = history.length + input.length + results.length + decisions.length > 0 || system.some((text) => text !== '');
      if (issues.length > 0) throw invalidRequest(issues);
      if (!says) throw invalidRequest([nothing]);
      return { system: joinParagraphs(...system), history, results, decisions, input };
    },
  };
}

/** Reasoning that a server has left in the text is no text to other models; its own server gets it back there. */
function withoutTags(part: AssistantPart, provider: string | undefined): AssistantPart[] {
  const split = part.type === 'text' ? splitThinking(part.text) : null;
  if (split === null) return [part];
  const { open, reasoning, text } = split;
  return [
    ...(reasoning === '' ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
    ...(provider === undefined ? [] : [{ type: 'native' as const, provider, data: { api: 'openai-chat', inText: open } }]),
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
  ];
}

// ---- Marks of the cache ----

export type ReadMark = (given: object) => Marked;

/** In sessions, the service sets the marks, since earlier requests have set others. */
export function markReader({ whole }: ConversationOptions): ReadMark {
  return whole === true ? readMark : () => ({});
}

/**
 * Returns the mark of a part, message, tool or request: Anthropic's, which gateways have in Chat Completions, too (guides "Prompt caching" of
 * Anthropic, OpenRouter and LiteLLM), or OpenAI's (guide "Prompt caching"). A lifetime that the client names and that is not the shortest is
 * the longer one.
 */
function readMark(given: { cache_control?: unknown; prompt_cache_breakpoint?: unknown }): Marked {
  const mark = given.cache_control ?? given.prompt_cache_breakpoint;
  return isRecord(mark) ? { cache: lifetimeOf(mark) } : {};
}

export function lifetimeOf(mark: unknown): CacheLifetime {
  return /^(1h|12h|24h)$/.test(String(isRecord(mark) ? mark.ttl : '')) ? '1h' : '5m';
}

/** A mark of what became several parts is behind the last. */
export function marked<Part extends object>(parts: readonly Part[], mark: Marked): Part[] {
  const { cache } = mark;
  return parts.map((part, index) => (cache !== undefined && index === parts.length - 1 ? { ...part, cache } : part));
}

/** Returns the last mark of parts that are marked as a whole. */
export function lastMark(parts: readonly Marked[]): Marked {
  const cache = parts.findLast((part) => part.cache !== undefined)?.cache;
  return cache === undefined ? {} : { cache };
}

/** Joins the texts to one, or to several if there are marks between them. Adds them to `joined`. */
export function joinTexts(texts: readonly MarkedText[], separator = '', joined: MarkedText[] = []): MarkedText[] {
  for (const text of texts) {
    const last = joined.at(-1);
    if (last !== undefined && last.cache === undefined)
      joined.splice(-1, 1, { ...text, text: text.text === '' ? last.text : last.text + separator + text.text });
    else if (text.text !== '') joined.push(text);
  }
  return joined;
}

/** Pushes items one by one, because a call has a limited number of arguments. */
function append<Item>(list: Item[], more: readonly Item[]): void {
  for (const item of more) list.push(item);
}

/**
 * `given`: the arguments, or their text. Calls in a client's history are finished, so nothing is repaired: invalid arguments stay
 * unchanged.
 */
export function toCallPart(id: string, name: string, given: unknown): ToolCallPart {
  const part = { type: 'tool-call', callId: id, requested: name, canonical: null, via: null, nativeId: id } as const;
  if (isRecord(given)) return { ...part, arguments: given };
  if (typeof given !== 'string') return { ...part, arguments: null, raw: JSON.stringify(given) };
  const reading = readArguments(given, { ended: true, length: false });
  return reading.state === 'ok' ? { ...part, arguments: reading.arguments } : { ...part, arguments: null, raw: given };
}

/** Parses a part of the request `body`. null: `issues` has its faults. */
export function parseRequestPart<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  path: readonly PropertyKey[],
  { body, issues }: { body: unknown; issues: Issue[] },
): z.infer<Schema> | null {
  const found = parsePart(schema, value, path, body);
  if ('data' in found) return found.data;
  for (const issue of found.issues) issues.push(issue);
  return null;
}

/** Reports a fault at a path relative to the current one. */
export type InputFault = (at: string, message: string) => void;

/** `url` may be a data URL. Returns nothing for an invalid image, after reporting it to `fault`. */
export function readImage(given: { url: string } | { mediaType: unknown; data: unknown }, fault: (message: string) => void): InputPart[] {
  const image = ImagePart.safeParse({ type: 'image', ...('url' in given ? inlineOf(given.url) : given) });
  if (image.success) return [image.data];
  fault(image.error.issues[0]?.message ?? 'is not an image');
  return [];
}

function inlineOf(url: string): { url: string } | { mediaType: string; data: string } {
  const [, mediaType = '', data] = /^data:([^;,]+)(?:;[^;,]+)*;base64,(.*)$/s.exec(url) ?? [];
  return data === undefined ? { url } : { mediaType, data };
}

/** `source`: a URL, a data URL, or base64. Without a type, the name and the first bytes tell it. An image is an image part. Returns nothing for an invalid file, after reporting it. */
export function readFile(
  { source, mediaType, ...about }: { source: string; mediaType?: string | undefined } & Pick<FilePart, 'name' | 'context' | 'citations'>,
  fault: (message: string) => void,
): InputPart[] {
  const inline = /^(https?|data):/i.test(source) ? inlineOf(source) : { mediaType: '', data: source };
  const type = ('data' in inline ? inline.mediaType : '') || mediaType || typeByName(about.name ?? source, source);
  if (/^image\//i.test(type)) return readImage('url' in inline ? inline : { ...inline, mediaType: type }, fault);
  const file = FilePart.safeParse({ type: 'file', ...inline, mediaType: type, ...about });
  if (file.success) return [file.data];
  fault(file.error.issues[0]?.message ?? 'is not a file');
  return [];
}

function typeByName(name: string, data: string): string {
  if (data.startsWith('JVBERi0')) return 'application/pdf';
  const [, ending = ''] = /\.([a-z0-9]{1,5})(?:[?#].*)?$/i.exec(name) ?? [];
  return typesByEnding[ending.toLowerCase()] ?? (/^https?:/i.test(data) ? 'application/pdf' : 'application/octet-stream');
}

const typesByEnding: Readonly<Record<string, string>> = Object.assign(Object.create(null) as Record<string, string>, {
  ...{ pdf: 'application/pdf', txt: 'text/plain', md: 'text/markdown', csv: 'text/csv', html: 'text/html', json: 'application/json' },
  ...{ xml: 'application/xml', yaml: 'application/yaml', yml: 'application/yaml', wav: 'audio/wav', mp3: 'audio/mpeg', mp4: 'video/mp4' },
  ...{ png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', webp: 'image/webp', gif: 'image/gif' },
});

/**
 * Results have the blocks of MCP, which contain no images by URL; those become links, and are named. What is known about a file is text before
 * it.
 */
export function toContentBlocks(part: InputPart, dropped: Dropped | undefined): ContentBlock[] {
  if (part.type === 'text') return [part];
  const { mediaType, data } = part;
  if (data === undefined) {
    dropped?.add(mediaType ?? 'image URL', 'results have no files by URL: the model is told the URL');
    const name = part.type === 'file' ? (part.name ?? 'file') : 'image';
    return [{ type: 'resource_link', uri: part.url ?? '', name, ...(mediaType !== undefined && { mimeType: mediaType }) }];
  }
  if (part.type === 'image') return [{ type: 'image', data, mimeType: mediaType ?? 'image/png' }];
  const about: ContentBlock[] = part.context === undefined ? [] : [{ type: 'text', text: part.context }];
  if (part.mediaType.startsWith('audio/')) return [...about, { type: 'audio', data, mimeType: part.mediaType }];
  const uri = `file:///${encodeURIComponent(part.name ?? 'file')}`;
  return [...about, { type: 'resource', resource: { uri, mimeType: part.mediaType, blob: data } }];
}

/** The unvalidated id of a call: in a result, or in an assistant message, which may have none. */
export type CallMention = { by: 'result' | 'assistant'; id: unknown; path: string };

/**
 * Returns the session of a chat request that names none: of the results at the end, or of the latest call; null: no call is ours.
 * `messages`: unvalidated, because the session decides where the request is routed. `mentionsIn`: the mentions in them, the latest first.
 * Throws `invalid_request` for results of two sessions.
 */
export function sessionOfMentions(messages: unknown, mentionsIn: (messages: readonly unknown[]) => Iterable<CallMention>): string | null {
  let found: string | null = null;
  for (const { by, id, path } of mentionsIn(listOf(messages))) {
    const session = typeof id === 'string' ? (readToolCallId(id)?.session ?? null) : null;
    if (by === 'result' && found !== null && session !== null && session !== found)
      throw invalidRequest([{ path, message: 'belongs to another session than the other results: send results of one session only' }]);
    // Results before the last assistant message belong to the past.
    if (by === 'assistant' && (found ?? session) !== null) return found ?? session;
    found ??= session;
  }
  return found;
}
