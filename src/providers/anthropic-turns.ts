/**
 * A conversation as the Messages API takes it: roles alternate and the user begins, every call has its result at the beginning of
 * the next turn, nothing is empty. What a reply wants back as it came is `NativeData`, written by `anthropic.ts` and read here.
 * Sources: guides "Handle tool calls" and "Thinking" ("Preserving thinking blocks"), API errors quoted in anthropics/claude-code#15205,
 * #20717 and BerriAI/litellm#9020.
 */
import type { AssistantPart, InputPart, Message, ToolCallPart, ToolResultPart } from '../core/message.ts';
import type { Profile } from '../core/provider-profile.ts';
import { type ContentBlock, contentText } from '../core/tool.ts';
import type { ChatRequest } from '../ports/chat-model.ts';
import { createCallIds } from './call-ids.ts';
import { historyInput, historyName } from './history-call.ts';
import { type InputImage, imageNote, inlineImage } from './input-image.ts';
import { isOwnMessage, isOwnPart } from './own-words.ts';
import { isRecord, type Json } from '../core/wire-value.ts';

export type Block = Json & { type: string };
export type Turn = { role: 'user' | 'assistant'; content: Block[] };

/** What stands behind a part of a reply and makes it the block again that it was. Texts are kept once, in the parts themselves. */
export type NativeData = { api: 'anthropic' } & (
  | { type: 'thinking' /** Of the reasoning part before it, if there is one. null: the wire has none. */; signature: string | null }
  | { type: 'text' /** Of the text part before it, which was a block of its own. */; citations?: readonly unknown[] }
  | { type: 'tool_use' /** Names the call. */; id: string; fields: Json }
  | { type: 'block' /** Nothing to anybody else: redacted thinking, the provider's own calls and their results. */; block: Block }
);

type Context = { request: ChatRequest; profile: Profile; idOf: (callId: string) => string; loopStart: number };

/** Turns that alternate, each call with its result at the beginning of the next one. */
export function toTurns(request: ChatRequest, profile: Profile): Turn[] {
  const { access } = request;
  const messages = request.messages.filter(({ role }) => role !== 'system');
  const context: Context = { request, profile, idOf: createCallIds(messages, access.name, profile), loopStart: loopStartOf(messages) };
  const turns: Turn[] = [];
  const answered = new Set<ToolResultPart>();
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at] as Message;
    if (message.role === 'user') addTurn(turns, 'user', toUserBlocks(message.parts, profile));
    // Its call may be long gone: then it is only something to know.
    if (message.role === 'tool') addTurn(turns, 'user', strayResults(message.parts, answered));
    if (message.role !== 'assistant') continue;
    const calls: ToolCallPart[] = [];
    const content: Block[] = [];
    // Neighbours are one turn: the results of all of them follow the last.
    for (let said = messages[at]; said?.role === 'assistant'; said = messages[++at]) {
      for (const block of toAssistantBlocks(said, at >= context.loopStart, context)) content.push(block);
      for (const part of said.parts) if (part.type === 'tool-call') calls.push(part);
    }
    addTurn(turns, 'assistant', at < messages.length ? withoutHalves(content) : content);
    addTurn(turns, 'user', toResults(calls, messages, at, answered, context));
    at--;
  }
  return turns;
}

/** Where the tool loop at hand begins: behind the last message of the user's that does not merely join the results of calls. */
function loopStartOf(messages: readonly Message[]): number {
  let at = messages.length - 1;
  while (at >= 0 && (messages[at]?.role !== 'user' || messages[at - 1]?.role === 'tool')) at--;
  return at + 1;
}

function addTurn(turns: Turn[], role: Turn['role'], content: Block[]): void {
  const last = turns.at(-1);
  if (content.length === 0) return;
  if (last?.role === role) for (const block of content) last.content.push(block);
  else turns.push({ role, content });
}

/** The results of a turn's calls, in call order, from the messages up to the next assistant. */
function toResults(
  calls: readonly ToolCallPart[],
  messages: readonly Message[],
  from: number,
  answered: Set<ToolResultPart>,
  context: Context,
): Block[] {
  if (calls.length === 0) return [];
  const results = new Map<string, ToolResultPart>();
  for (let at = from; at < messages.length && messages[at]?.role !== 'assistant'; at++) {
    const message = messages[at] as Message;
    if (message.role === 'tool') for (const part of message.parts) if (!results.has(part.callId)) results.set(part.callId, part);
  }
  return calls.map((call) => {
    const result = results.get(call.callId);
    if (result !== undefined) answered.add(result);
    return toResult(context.idOf(call.callId), result ?? missingResult, context.profile);
  });
}

const missingResult = { isError: true, content: [{ type: 'text' as const, text: 'No result of this call was recorded.' }] };

function toResult(id: string, { isError, content }: Pick<ToolResultPart, 'isError' | 'content'>, profile: Profile): Block {
  const blocks = content.flatMap((block) => toResultBlock(block, profile));
  // A failure without content is refused.
  if (isError && blocks.length === 0) blocks.push({ type: 'text', text: 'The tool failed and said nothing.' });
  return { type: 'tool_result', tool_use_id: id, ...(blocks.length > 0 && { content: blocks }), ...(isError && { is_error: true }) };
}

function toResultBlock(block: ContentBlock, profile: Profile): Block[] {
  if (block.type !== 'image' || !profile.imagesInResults) return textBlock(contentText([block]));
  return toImage({ type: 'image', mediaType: block.mimeType, data: block.data }, profile);
}

function strayResults(parts: readonly ToolResultPart[], answered: ReadonlySet<ToolResultPart>): Block[] {
  return parts.flatMap((part) =>
    answered.has(part) ? [] : textBlock(`[Result of an earlier call of ${part.requested}]\n${contentText(part.content)}`),
  );
}

/** Blocks of blanks are refused. */
function textBlock(text: string): Block[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

function toUserBlocks(parts: readonly InputPart[], profile: Profile): Block[] {
  return parts.flatMap((part) => (part.type === 'text' ? textBlock(part.text) : toImage(part, profile)));
}

function toImage(image: InputImage, profile: Profile): Block[] {
  const inline = inlineImage(image);
  const source = inline === null ? { type: 'url', url: image.url } : { type: 'base64', media_type: inline.mediaType, data: inline.data };
  const isTaken = inline === null ? image.url?.startsWith('https://') : imageTypes.has(inline.mediaType);
  return profile.images && isTaken ? [{ type: 'image', source }] : textBlock(imageNote(image));
}

const imageTypes: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

// ---- What the model said ----

function toAssistantBlocks(message: Extract<Message, { role: 'assistant' }>, inLoop: boolean, context: Context): Block[] {
  const { request, profile, idOf } = context;
  const blocks: Block[] = [];
  const byNativeId = new Map<string, Block>();
  let before: AssistantPart | undefined;
  for (const part of message.parts) {
    if (part.type === 'text') blocks.push(...textBlock(part.text));
    if (part.type === 'tool-call') {
      const block = { type: 'tool_use', id: idOf(part.callId), name: historyName(part.requested), input: historyInput(part) };
      blocks.push(block);
      if (part.nativeId !== undefined) byNativeId.set(part.nativeId, block);
    }
    const data = part.type === 'native' && isOwnPart(part, message, request) ? readNative(part.data) : null;
    // Newer models bind thinking to all that stood before it, and that may have been summed up since.
    if (data !== null && (!isThinking(data) || inLoop || !profile.boundReasoning)) addNative(data, before, blocks, byNativeId);
    before = part;
  }
  if (isOwnMessage(message, request)) return blocks;
  // Others speak after their calls, too; here calls come last, since their results are to follow.
  return [...blocks.filter(({ type }) => type !== 'tool_use'), ...blocks.filter(({ type }) => type === 'tool_use')];
}

/**
 * null for what another API left there before the provider's kind was changed. Looked at closely: a client that keeps its own history
 * brings these parts itself, and must not slip in what its request could not say, nor change a call behind our back.
 */
function readNative(data: unknown): NativeData | null {
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

/** Nothing that a client says, and nothing that calls its tools or answers for them. */
function isProvidersBlock(block: Json): block is Block {
  return typeof block.type === 'string' && !ourTypes.has(block.type);
}

const ourTypes: ReadonlySet<string> = new Set([
  ...['text', 'image', 'document', 'search_result', 'container_upload', 'tool_use', 'tool_result'],
]);

function isThinking(data: NativeData): boolean {
  return data.type === 'thinking' || (data.type === 'block' && thinkingTypes.has(data.block.type));
}

export const thinkingTypes: ReadonlySet<string> = new Set(['thinking', 'redacted_thinking']);

function addNative(data: NativeData, before: AssistantPart | undefined, blocks: Block[], calls: ReadonlyMap<string, Block>): void {
  switch (data.type) {
    case 'thinking': {
      const thinking = before?.type === 'reasoning' ? before.text : '';
      // Left unsigned because it was cut off: the API would refuse it. Servers that never sign take it as it came.
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
 * A call that the provider runs itself must have its result in the same turn, unless the turn is to be gone on with: what was broken
 * off (`pause_turn`) and answered by the user stays without its last call. A call that waits for calls it made is whole.
 */
function withoutHalves(content: Block[]): Block[] {
  const calls = new Set<unknown>();
  const answers = new Set<unknown>();
  for (const block of content) {
    if (isOwnCall(block)) calls.add(block.id);
    else if (isOwnAnswer(block)) answers.add(block.tool_use_id);
    else if (isRecord(block.caller)) answers.add(block.caller.tool_id);
  }
  return content.filter((block) => (isOwnCall(block) ? answers.has(block.id) : !isOwnAnswer(block) || calls.has(block.tool_use_id)));
}

function isOwnCall({ type }: Block): boolean {
  return type === 'server_tool_use' || type === 'mcp_tool_use';
}

function isOwnAnswer({ type }: Block): boolean {
  return type.endsWith('_tool_result');
}

/** The same with a user's beginning, and an end that the API takes. `canContinue`: an assistant's last words may be gone on from. */
export function legalTurns(turns: readonly Turn[], { canContinue }: { canContinue: boolean }): Turn[] {
  const legal = [...turns];
  const last = legal.at(-1);
  const lastBlock = last?.content.at(-1);
  // A broken-off turn of the provider's own calls is gone on with as it is.
  if (last?.role === 'assistant' && lastBlock !== undefined && !isOwnCall(lastBlock) && !isOwnAnswer(lastBlock)) {
    if (canContinue) legal.splice(-1, 1, ...toPrefill(last.content));
    else legal.push({ role: 'user', content: [{ type: 'text', text: 'Go on.' }] });
  }
  if (legal[0]?.role !== 'user') legal.unshift({ role: 'user', content: [{ type: 'text', text: '(The conversation begins here.)' }] });
  return legal;
}

/** Blanks at its end are refused, and thinking without thinking switched on. */
function toPrefill(content: readonly Block[]): Turn[] {
  const blocks = content.filter(({ type }) => !thinkingTypes.has(type));
  const last = blocks.at(-1);
  if (last?.type === 'text') blocks.splice(-1, 1, { ...last, text: String(last.text).trimEnd() });
  return blocks.length === 0 ? [] : [{ role: 'assistant', content: blocks }];
}
