/**
 * Converts a conversation to the form that the Messages API requires: roles alternate starting with the user, every call has its result at
 * the beginning of the next turn, and nothing is empty. `reply.ts` writes the `NativeData` of a reply, and this file reads it. Sources:
 * guides "Handle tool calls" and "Thinking" ("Preserving thinking blocks"), API errors quoted in anthropics/claude-code#15205, #20717 and
 * BerriAI/litellm#9020.
 */
import { createCallIds, historyInput, historyName } from '../history-calls.ts';
import type { AssistantPart, InputPart, Marked, Message, ToolCallPart, ToolResultPart } from '../../core/model/message.ts';
import type { Profile } from '../../core/model/provider-profile.ts';
import { wireOf } from '../../core/model/wire-settings.ts';
import { contentText, markedContent } from '../../core/tools/tool.ts';
import type { ChatRequest } from '../../ports/chat-model.ts';
import { fileKind, textOfFile, inlineImage, shownInput, shownResult, takesMedia } from '../content/input-media.ts';
import { markOf } from '../content/cache-marks.ts';
import { askToContinue, systemNote } from '../content/place-system.ts';
import { type Assistant, isNativeMessage, isNativePart, reportReasoning } from '../native-parts.ts';
import { isRecord, type Json } from '../../core/json/wire-value.ts';

export type RequestBlock = Json & { type: string };
export type Turn = { role: 'user' | 'assistant' | 'system'; content: RequestBlock[] };

/** Follows a part of a reply and restores the original block. Texts are stored once, in the parts. */
export type AnthropicNative = { api: 'anthropic' } /** Belongs to the reasoning part before it, if any. null: the wire has none. */ & (
  | { type: 'thinking'; signature: string | null }
  /** Belongs to the text part before it, which was a separate block. */
  | { type: 'text'; citations?: readonly unknown[] }
  /** Identifies the call. */
  | { type: 'tool_use'; id: string; fields: Json }
  /** A block for this provider only: redacted thinking, provider tool calls and their results. */
  | { type: 'block'; block: RequestBlock }
);

type Context = { request: ChatRequest; profile: Profile; idOf: (callId: string) => string; loopStart: number };

/** `messages`: without system messages at the beginning. Returns alternating turns, each call with its result at the beginning of the next turn. */
export function toTurns(request: ChatRequest, messages: readonly Message[], profile: Profile): Turn[] {
  const { access } = request;
  const context: Context = { request, profile, idOf: createCallIds(messages, access.name, profile), loopStart: loopStartOf(messages) };
  const turns: Turn[] = [];
  const answered = new Set<ToolResultPart>();
  let told: Extract<Message, { role: 'system' }>[] = [];
  /** Newer models accept a system message behind a whole user turn (guide "Mid-conversation system messages"). */
  const tell = (): void => {
    const isBehindUser = profile.systemPlace === 'afterUser' && turns.at(-1)?.role === 'user';
    for (const message of told) {
      if (isBehindUser)
        addTurn(
          turns,
          'system',
          message.parts.flatMap((part) => textBlock(part.text, part)),
        );
      else addTurn(turns, 'user', textBlock(systemNote(message), message.parts.at(-1)));
    }
    told = [];
  };
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at] as Message;
    if (profile.systemPlace !== 'afterUser' && message.role === 'user') tell();
    if (message.role === 'user') addTurn(turns, 'user', toUserBlocks(message.parts, request, profile));
    if (message.role === 'system') told.push(message);
    // The call may be gone from the history; then its result is only information.
    if (message.role === 'tool') addTurn(turns, 'user', strayResults(message.parts, answered));
    if (message.role !== 'assistant') continue;
    tell();
    const calls: ToolCallPart[] = [];
    const content: RequestBlock[] = [];
    // Adjacent assistant messages are one turn: the results of all follow the last.
    for (let current = messages[at]; current?.role === 'assistant' || current?.role === 'system'; current = messages[++at]) {
      if (current.role === 'system') {
        told.push(current);
        continue;
      }
      for (const block of toAssistantBlocks(current, at >= context.loopStart, context)) content.push(block);
      for (const part of current.parts) if (part.type === 'tool-call') calls.push(part);
    }
    addTurn(turns, 'assistant', at < messages.length ? withoutHalves(content) : content);
    addTurn(turns, 'user', toResults(calls, messages, at, answered, context));
    at--;
  }
  tell();
  return turns;
}

/** Returns where the current tool loop begins: after the last user message that does not merely accompany results. */
function loopStartOf(messages: readonly Message[]): number {
  let at = messages.length - 1;
  while (at >= 0 && (messages[at]?.role !== 'user' || messages[at - 1]?.role === 'tool')) at--;
  return at + 1;
}

function addTurn(turns: Turn[], role: Turn['role'], content: RequestBlock[]): void {
  const last = turns.at(-1);
  if (content.length === 0) return;
  if (last?.role === role) for (const block of content) last.content.push(block);
  else turns.push({ role, content });
}

/** Returns the results of a turn's calls, in call order, from the messages up to the next assistant message. */
function toResults(
  calls: readonly ToolCallPart[],
  messages: readonly Message[],
  from: number,
  answered: Set<ToolResultPart>,
  context: Context,
): RequestBlock[] {
  if (calls.length === 0) return [];
  const results = new Map<string, ToolResultPart>();
  for (let at = from; at < messages.length && messages[at]?.role !== 'assistant'; at++) {
    const message = messages[at] as Message;
    if (message.role === 'tool') for (const part of message.parts) if (!results.has(part.callId)) results.set(part.callId, part);
  }
  return calls.map((call) => {
    const result = results.get(call.callId);
    if (result !== undefined) answered.add(result);
    return toResult(context.idOf(call.callId), result ?? missingResult, context);
  });
}

const missingResult = { isError: true, content: [{ type: 'text' as const, text: 'No result was recorded for this call.' }] };

function toResult(
  id: string,
  { isError, content, ...mark }: Pick<ToolResultPart, 'isError' | 'content' | 'cache'>,
  { request, profile }: Context,
): RequestBlock {
  const takes = (part: Media): boolean => isTaken(part, profile, request) && (part.type !== 'image' || profile.imagesInResults);
  const blocks = shownResult(content, request, takes).flatMap(toBlock);
  // A failure without content is rejected.
  if (isError && blocks.length === 0) blocks.push({ type: 'text', text: 'The tool failed without output.' });
  return {
    type: 'tool_result',
    tool_use_id: id,
    ...(blocks.length > 0 && { content: blocks }),
    ...(isError && { is_error: true }),
    ...markOf(mark),
  };
}

function strayResults(parts: readonly ToolResultPart[], answered: ReadonlySet<ToolResultPart>): RequestBlock[] {
  return parts.flatMap((part) =>
    answered.has(part) ? [] : textBlock(`[Result of an earlier call to ${part.requested}]\n${contentText(markedContent(part))}`, part),
  );
}

/** Blank text blocks are rejected. */
export function textBlock(text: string, mark: Marked = {}): RequestBlock[] {
  return text.trim() === '' ? [] : [{ type: 'text', text, ...markOf(mark) }];
}

function toUserBlocks(parts: readonly InputPart[], request: ChatRequest, profile: Profile): RequestBlock[] {
  return shownInput(parts, request, (part) => isTaken(part, profile, request), ['name', 'context']).flatMap(toBlock);
}

type Media = Exclude<InputPart, { type: 'text' }>;

/** A file of text is a document only if it is cited. */
function isTaken(part: Media, profile: Profile, { access }: Pick<ChatRequest, 'access'>): boolean {
  const takes = takesMedia(part, profile, wireOf(access.kind));
  if (part.type === 'file') return fileKind(part) === 'pdf' ? takes : part.citations === true && textOfFile(part) !== null;
  const inline = inlineImage(part);
  return (
    takes &&
    (inline === null ? profile.files.includes('url') && part.url?.startsWith('https://') === true : imageTypes.has(inline.mediaType))
  );
}

/** Guides "Vision", "PDF support" and "Citations". */
function toBlock(part: InputPart): RequestBlock[] {
  if (part.type === 'text') return textBlock(part.text, part);
  if (part.type === 'image') return [{ type: 'image', source: toSource(inlineImage(part), part.url), ...markOf(part) }];
  const { name, context, citations, mediaType, data, url } = part;
  const text = textOfFile(part);
  const source =
    text === null ? toSource(data === undefined ? null : { mediaType, data }, url) : { type: 'text', media_type: 'text/plain', data: text };
  const about = { ...(name !== undefined && { title: name }), ...(context !== undefined && { context }) };
  return [{ type: 'document', source, ...about, ...(citations === true && { citations: { enabled: true } }), ...markOf(part) }];
}

function toSource(inline: { mediaType: string; data: string } | null, url: string | undefined): Json {
  return inline === null ? { type: 'url', url } : { type: 'base64', media_type: inline.mediaType, data: inline.data };
}

const imageTypes: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

// ---- Assistant content ----

function toAssistantBlocks(message: Assistant, inLoop: boolean, context: Context): RequestBlock[] {
  const { request, profile, idOf } = context;
  const blocks: RequestBlock[] = [];
  const byNativeId = new Map<string, RequestBlock>();
  let before: AssistantPart | undefined;
  for (const part of message.parts) {
    if (part.type === 'text') blocks.push(...textBlock(part.text, part));
    if (part.type === 'tool-call') {
      const block = { type: 'tool_use', id: idOf(part.callId), name: historyName(part.requested), input: historyInput(part) };
      blocks.push(block);
      if (part.nativeId !== undefined) byNativeId.set(part.nativeId, block);
    }
    const data = part.type === 'native' && isNativePart(part, message, request) ? readNative(part.data) : null;
    // Newer models bind thinking to the preceding conversation, which may have been compacted since.
    if (data !== null && (!isThinking(data) || inLoop || !profile.boundReasoning)) addNative(data, before, blocks, byNativeId);
    before = part;
  }
  reportReasoning(
    message,
    request,
    blocks.some(({ type }) => thinkingTypes.has(type)),
  );
  if (isNativeMessage(message, request)) return blocks;
  // Other providers allow text after calls. Here calls come last, since their results must follow.
  return [...blocks.filter(({ type }) => type !== 'tool_use'), ...blocks.filter(({ type }) => type === 'tool_use')];
}

/**
 * null for data of another API, from before the provider's kind was changed. Validated strictly: a client with its own history supplies
 * these parts, and must not add content that its request could not contain, or change a call.
 */
function readNative(data: unknown): AnthropicNative | null {
  if (!isRecord(data) || data.api !== 'anthropic') return null;
  const { type, signature, citations, id, fields, block } = data;
  if (type === 'thinking') return signature === null || typeof signature === 'string' ? { api: 'anthropic', type, signature } : null;
  if (type === 'text') return { api: 'anthropic', type, ...(Array.isArray(citations) && { citations }) };
  if (type === 'tool_use' && typeof id === 'string' && isRecord(fields)) {
    const { type: _type, id: _id, name: _name, input: _input, ...further } = fields;
    return { api: 'anthropic', type, id, fields: further };
  }
  return type === 'block' && isRecord(block) && isProvidersBlock(block) ? { api: 'anthropic', type, block } : null;
}

/** Allows no content of the user, no calls of the client's tools and no results of them. */
function isProvidersBlock(block: Json): block is RequestBlock {
  return typeof block.type === 'string' && !ourTypes.has(block.type);
}

const ourTypes: ReadonlySet<string> = new Set([
  ...['text', 'image', 'document', 'search_result', 'container_upload', 'tool_use', 'tool_result'],
]);

function isThinking(data: AnthropicNative): boolean {
  return data.type === 'thinking' || (data.type === 'block' && thinkingTypes.has(data.block.type));
}

export const thinkingTypes: ReadonlySet<string> = new Set(['thinking', 'redacted_thinking']);

function addNative(
  data: AnthropicNative,
  before: AssistantPart | undefined,
  blocks: RequestBlock[],
  calls: ReadonlyMap<string, RequestBlock>,
): void {
  switch (data.type) {
    case 'thinking': {
      const thinking = before?.type === 'reasoning' ? before.text : '';
      // The thinking was interrupted before its signature, so the API would reject it. Servers that never sign accept it unchanged.
      if (data.signature === '') return;
      blocks.push({ type: 'thinking', thinking, ...(data.signature !== null && { signature: data.signature }) });
      return;
    }
    case 'text': {
      const block = before?.type === 'text' ? blocks.at(-1) : undefined;
      if (block?.type === 'text' && data.citations !== undefined) block.citations = data.citations;
      return;
    }
    case 'tool_use': {
      const block = calls.get(data.id);
      if (block !== undefined) Object.assign(block, data.fields);
      return;
    }
    case 'block':
      blocks.push(data.block);
      return;
    default:
      data satisfies never;
  }
}

/**
 * A call that the provider runs must have its result in the same turn, unless the turn will be continued: an interrupted turn
 * (`pause_turn`) that the user answered loses its last call. A call that waits for nested calls is complete.
 */
function withoutHalves(content: RequestBlock[]): RequestBlock[] {
  const calls = new Set<unknown>();
  const answers = new Set<unknown>();
  for (const block of content) {
    if (isOwnCall(block)) calls.add(block.id);
    else if (isOwnAnswer(block)) answers.add(block.tool_use_id);
    else if (isRecord(block.caller)) answers.add(block.caller.tool_id);
  }
  return content.filter((block) => (isOwnCall(block) ? answers.has(block.id) : !isOwnAnswer(block) || calls.has(block.tool_use_id)));
}

function isOwnCall({ type }: RequestBlock): boolean {
  return type === 'server_tool_use' || type === 'mcp_tool_use';
}

function isOwnAnswer({ type }: RequestBlock): boolean {
  return type.endsWith('_tool_result');
}

/** Returns turns that begin with the user and end as the API requires. `canContinue`: the model may continue an assistant's text. */
export function legalTurns(turns: readonly Turn[], { canContinue, request }: { canContinue: boolean; request: ChatRequest }): Turn[] {
  const legal = [...turns];
  const last = legal.at(-1);
  const lastBlock = last?.content.at(-1);
  // An interrupted turn of provider calls is continued unchanged.
  if (last?.role === 'assistant' && lastBlock !== undefined && !isOwnCall(lastBlock) && !isOwnAnswer(lastBlock)) {
    if (canContinue) legal.splice(-1, 1, ...toPrefill(last.content));
    else legal.push({ role: 'user', content: [{ type: 'text', text: askToContinue(request) }] });
  }
  if (legal[0]?.role !== 'user') legal.unshift({ role: 'user', content: [{ type: 'text', text: '(The conversation begins here.)' }] });
  return legal;
}

/** Trailing blanks are rejected, and so is thinking if thinking is disabled. */
function toPrefill(content: readonly RequestBlock[]): Turn[] {
  const blocks = content.filter(({ type }) => !thinkingTypes.has(type));
  const last = blocks.at(-1);
  if (last?.type === 'text') blocks.splice(-1, 1, { ...last, text: String(last.text).trimEnd() });
  return blocks.length === 0 ? [] : [{ role: 'assistant', content: blocks }];
}
