/**
 * The `input` of a Responses request as a neutral conversation. Items that only their provider understands are refused by path: where
 * the request goes to that provider as it is, nobody comes here. Wire: OpenAI API reference, "Responses: create", `input` (SDK 7.57).
 */
import { z } from 'zod';
import { issuesOf, pathText } from '../core/issues.ts';
import { readArguments } from '../core/json-repair.ts';
import { ImagePart, type AssistantPart, type InputPart, type Message, type ToolCallPart } from '../core/message.ts';
import { unpackNative } from '../core/native-token.ts';
import { invalidRequest, type Issue } from '../core/problem.ts';
import { readToolCallId } from '../core/reference.ts';
import type { ContentBlock } from '../core/tool.ts';
import type { CallResult, Conversation } from './conversation.ts';

/** Any of them: what an item must have is looked at by its type. */
export const InputItem = z.looseObject({ type: z.string().optional() });
export type InputItem = z.infer<typeof InputItem>;

const ContentPart = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  refusal: z.string().optional(),
  image_url: z.string().nullish(),
});
const Content = z.union([z.string(), z.array(ContentPart)]);
type Content = z.infer<typeof Content>;

const MessageItem = z.looseObject({ role: z.enum(['user', 'assistant', 'system', 'developer']), content: Content });
const CallItem = z.looseObject({ call_id: z.string().min(1), name: z.string(), namespace: z.string().nullish(), arguments: z.string() });
const CustomCallItem = z.looseObject({ call_id: z.string().min(1), name: z.string(), namespace: z.string().nullish(), input: z.string() });
const OutputItem = z.looseObject({ call_id: z.string().min(1), output: Content });
const Texts = z.array(z.looseObject({ text: z.string().optional() }));
const ReasoningItem = z.looseObject({ summary: Texts.nullish(), content: Texts.nullish(), encrypted_content: z.string().nullish() });

type Fault = (at: string, text: string) => void;

/** What one item says. */
type Said =
  | { as: 'system'; text: string }
  | { as: 'user'; parts: InputPart[] }
  | { as: 'assistant'; parts: AssistantPart[] }
  | { as: 'result'; result: CallResult };

/**
 * Throws `invalid_request` that names what cannot be taken by its path. `inSession`: results may come without the call that they
 * answer, since the session has it.
 */
export function toConversation(
  { input, instructions }: { input: string | readonly InputItem[]; instructions?: string | null | undefined },
  { inSession }: { inSession: boolean },
): Conversation {
  const items = typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : input;
  const system = [instructions ?? ''];
  const conversation: Conversation = { system: '', history: [], results: [], input: [] };
  const names = new Map<string, string>();
  const issues: Issue[] = [];
  const last = items.findLastIndex(isOfAssistant);
  for (const [index, item] of items.entries()) {
    const isNew = index > last;
    const fault: Fault = (at, message) => issues.push({ path: `input[${index}]${at === '' ? '' : `.${at}`}`, message });
    const said = readItem(item, fault, (schema) => parseItem(schema, item, index, issues));
    if (said === null) continue;
    if (said.as === 'system') system.push(said.text);
    else if (said.as === 'user') {
      if (isNew) for (const part of said.parts) conversation.input.push(part);
      else conversation.history.push({ role: 'user', parts: said.parts });
    } else if (said.as === 'assistant') {
      for (const part of said.parts) if (part.type === 'tool-call') names.set(part.callId, part.requested);
      addSaid(conversation.history, said.parts);
    } else {
      const { callId } = said.result;
      const requested = names.get(callId);
      const isKnown = requested !== undefined || (isNew && (inSession || readToolCallId(callId) !== null));
      if (!isKnown) fault('call_id', 'no item before this one is a call of this id');
      else if (isNew) conversation.results.push(said.result);
      else addResult(conversation.history, said.result, requested ?? '');
    }
  }
  if (issues.length === 0 && conversation.input.length === 0 && conversation.results.length === 0)
    issues.push({ path: 'input', message: 'must end with a user message, or with the outputs of calls' });
  if (issues.length > 0) throw invalidRequest(issues);
  return { ...conversation, system: system.filter((text) => text !== '').join('\n\n') };
}

/**
 * The session that the ids of calls lead to: of the outputs at the end, else of the newest call; null: no call is one of ours. Takes
 * items as they came, for it decides where a request goes. Throws `invalid_request` for outputs of two sessions.
 */
export function sessionOfItems(input: unknown): string | null {
  if (!Array.isArray(input)) return null;
  let found: string | null = null;
  for (let index = input.length - 1; index >= 0; index -= 1) {
    const item = (input[index] ?? {}) as { type?: unknown; role?: unknown; call_id?: unknown }; // Members are looked at one by one.
    const session = typeof item.call_id === 'string' ? (readToolCallId(item.call_id)?.session ?? null) : null;
    if (isOutput(item)) {
      if (found !== null && session !== null && session !== found)
        throw invalidRequest([
          {
            path: `input[${index}].call_id`,
            message: 'is of another session than the outputs after it: send the outputs of one session',
          },
        ]);
      found ??= session;
    } else if (isOfAssistant(item)) {
      found ??= session;
      if (found !== null) return found;
    }
  }
  return found;
}

/** A tool of a namespace as models know it that have none; `functions` is the namespace of tools that stand in no other. */
export function qualifiedName(namespace: string | null | undefined, name: string): string {
  return namespace == null || namespace === '' || namespace === 'functions' ? name : `${namespace}__${name}`;
}

/** System and developer messages. Takes an item as it came. */
export function isSystemItem(item: unknown): boolean {
  const { type = 'message', role } = (item ?? {}) as { type?: unknown; role?: unknown }; // Members are looked at one by one.
  return type === 'message' && (role === 'system' || role === 'developer');
}

/** Reasoning with a token that only we can read: its provider would refuse it. Takes an item as it came. */
export function isOwnReasoning(item: unknown): boolean {
  const { type, encrypted_content: token } = (item ?? {}) as { type?: unknown; encrypted_content?: unknown }; // Members are looked at one by one.
  return type === 'reasoning' && typeof token === 'string' && unpackNative(token) !== null;
}

function isOutput({ type }: { type?: unknown }): boolean {
  return type === 'function_call_output' || type === 'custom_tool_call_output';
}

function isOfAssistant({ type = 'message', role }: { type?: unknown; role?: unknown }): boolean {
  if (type === 'message') return role === 'assistant';
  return type === 'function_call' || type === 'custom_tool_call' || type === 'reasoning';
}

function parseItem<Schema extends z.ZodType>(schema: Schema, item: InputItem, index: number, issues: Issue[]): z.infer<Schema> | null {
  const parsed = schema.safeParse(item);
  if (parsed.success) return parsed.data;
  const base = pathText(['input', index]);
  for (const { path, message } of issuesOf(parsed.error.issues, item)) issues.push({ path: `${base}.${path}`, message });
  return null;
}

/** null: it says nothing, or its fault was told. */
function readItem(item: InputItem, fault: Fault, parse: <Schema extends z.ZodType>(schema: Schema) => z.infer<Schema> | null): Said | null {
  switch (item.type ?? 'message') {
    case 'message': {
      const message = parse(MessageItem);
      return message === null ? null : readMessage(message, fault);
    }
    case 'function_call': {
      const call = parse(CallItem);
      return call && { as: 'assistant', parts: [toCallPart(call.call_id, qualifiedName(call.namespace, call.name), call.arguments)] };
    }
    case 'custom_tool_call': {
      const call = parse(CustomCallItem);
      return (
        call && {
          as: 'assistant',
          parts: [toCallPart(call.call_id, qualifiedName(call.namespace, call.name), JSON.stringify({ input: call.input }))],
        }
      );
    }
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const output = parse(OutputItem);
      if (output === null) return null;
      return { as: 'result', result: { callId: output.call_id, content: toBlocks(output.output, fault), isError: false } };
    }
    case 'reasoning': {
      const reasoning = parse(ReasoningItem);
      return reasoning && { as: 'assistant', parts: reasoningParts(reasoning) };
    }
    case 'item_reference':
      fault(
        'type',
        'items are not kept one by one here: send the item itself (some clients do so with store: false), or name the answer that it was in by previous_response_id',
      );
      return null;
    case 'web_search_call':
    case 'file_search_call':
    case 'code_interpreter_call':
    case 'mcp_list_tools':
      // What a provider did by itself: what came of it, its answer says.
      return null;
    default:
      fault('type', `${quoted(item.type)} items are not taken here: only the provider that made them understands them, so leave them out`);
      return null;
  }
}

function readMessage({ role, content }: z.infer<typeof MessageItem>, fault: Fault): Said {
  if (role === 'user') return { as: 'user', parts: inputParts(content, fault) };
  const text = plainText(content, fault);
  if (role === 'assistant') return { as: 'assistant', parts: text === '' ? [] : [{ type: 'text', text }] };
  return { as: 'system', text };
}

/** A token of ours says what its provider wants back; a provider's own says nothing to anybody else. */
function reasoningParts({ summary, content, encrypted_content: token }: z.infer<typeof ReasoningItem>): AssistantPart[] {
  const texts = summary?.length ? summary : (content ?? []);
  const text = texts.map((part) => part.text ?? '').join('\n\n');
  const native = token == null ? null : unpackNative(token);
  return [...(text === '' ? [] : [{ type: 'reasoning' as const, text }]), ...(native === null ? [] : [native])];
}

/** A client's history holds finished calls, so nothing is repaired: what does not parse is kept as it came. */
function toCallPart(id: string, name: string, text: string): ToolCallPart {
  const reading = readArguments(text, { ended: true, length: false });
  const part = { type: 'tool-call', callId: id, requested: name, canonical: null, via: null, nativeId: id } as const;
  return reading.state === 'ok' ? { ...part, arguments: reading.arguments } : { ...part, arguments: null, raw: text };
}

/** Items that follow each other are one message. */
function addSaid(history: Message[], parts: readonly AssistantPart[]): void {
  const last = history.at(-1);
  if (last?.role === 'assistant') last.parts.push(...parts);
  else history.push({ role: 'assistant', parts: [...parts] });
}

function addResult(history: Message[], result: CallResult, requested: string): void {
  const part = { type: 'tool-result' as const, requested, canonical: null, ...result };
  const last = history.at(-1);
  // Results of one step are one message, in the order they came.
  if (last?.role === 'tool') last.parts.push(part);
  else history.push({ role: 'tool', parts: [part] });
}

const textTypes = new Set(['input_text', 'output_text', 'text', 'refusal']);

function plainText(content: Content, fault: Fault): string {
  if (typeof content === 'string') return content;
  const texts = content.map((part, index) => {
    if (!textTypes.has(part.type)) fault(`content[${index}].type`, `${quoted(part.type)} parts are not taken here: send text`);
    return part.text ?? part.refusal ?? '';
  });
  return texts.join('');
}

function inputParts(content: Content, fault: Fault): InputPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.flatMap((part, index): InputPart[] => {
    if (textTypes.has(part.type)) return [{ type: 'text', text: part.text ?? part.refusal ?? '' }];
    const image = readImage(part, `content[${index}]`, fault);
    return image === null ? [] : [image];
  });
}

function toBlocks(output: Content, fault: Fault): ContentBlock[] {
  if (typeof output === 'string') return [{ type: 'text', text: output }];
  return output.flatMap((part, index): ContentBlock[] => {
    if (textTypes.has(part.type)) return [{ type: 'text', text: part.text ?? part.refusal ?? '' }];
    const image = readImage(part, `output[${index}]`, fault);
    if (image === null) return [];
    if (image.data === undefined) return [{ type: 'resource_link', uri: image.url ?? '', name: 'image' }];
    return [{ type: 'image', data: image.data, mimeType: image.mediaType ?? 'image/png' }];
  });
}

function readImage({ type, image_url: url }: z.infer<typeof ContentPart>, path: string, fault: Fault): z.infer<typeof ImagePart> | null {
  if (type !== 'input_image') {
    fault(`${path}.type`, `${quoted(type)} parts are not taken here: send input_text or input_image`);
    return null;
  }
  if (url == null) {
    fault(`${path}.image_url`, 'is missing: files by id are the provider’s own, so send the image by URL or as data');
    return null;
  }
  const inline = /^data:([^;,]+);base64,(.*)$/s.exec(url);
  const image = ImagePart.safeParse(inline === null ? { type: 'image', url } : { type: 'image', mediaType: inline[1], data: inline[2] });
  if (image.success) return image.data;
  fault(`${path}.image_url`, image.error.issues[0]?.message ?? 'is no image');
  return null;
}

function quoted(text: string | undefined): string {
  return JSON.stringify((text ?? '').slice(0, 40));
}
