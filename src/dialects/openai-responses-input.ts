/**
 * The `input` of a Responses request as a neutral conversation. Items that only their provider understands are refused by path: where
 * the request goes to that provider as it is, nobody comes here. Wire: OpenAI API reference, "Responses: create", `input` (SDK 7.57).
 */
import { z } from 'zod';
import { parsePart, pathText } from '../core/issues.ts';
import type { AssistantPart, ClientResult, InputPart } from '../core/message.ts';
import { unpackNative } from '../core/native-token.ts';
import { joinParagraphs } from '../core/paragraphs.ts';
import { invalidRequest, quoted, type Issue } from '../core/problem.ts';
import { recordOf } from '../core/wire-value.ts';
import { type Conversation, createConversation, toCallPart } from './conversation.ts';
import { type Fault, readImage, toContentBlock } from './input-content.ts';
import { type CallMention, sessionOfMentions } from './session-of-calls.ts';

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

/** What one item says. */
type Said =
  | { as: 'system'; text: string }
  | { as: 'user'; parts: InputPart[] }
  | { as: 'assistant'; parts: AssistantPart[] }
  | { as: 'result'; result: ClientResult };

/**
 * Throws `invalid_request` that names what cannot be taken by its path. `inSession`: results may come without the call that they
 * answer, since the session has it.
 */
export function toConversation(
  { input, instructions }: { input: string | readonly InputItem[]; instructions?: string | null | undefined },
  { inSession }: { inSession: boolean },
): Conversation {
  const items = typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : input;
  const conversation = createConversation({ inSession });
  conversation.addSystem(instructions ?? '');
  const issues: Issue[] = [];
  const last = items.findLastIndex(isOfAssistant);
  for (const [index, item] of items.entries()) {
    const isNew = index > last;
    const fault: Fault = (at, message) => issues.push({ path: `input[${index}]${at === '' ? '' : `.${at}`}`, message });
    const said = readItem(item, fault, (schema) => parseItem(schema, item, index, issues));
    if (said === null) continue;
    if (said.as === 'system') conversation.addSystem(said.text);
    else if (said.as === 'user') conversation.addInput(said.parts, isNew);
    else if (said.as === 'assistant') conversation.addAssistant(said.parts, true);
    else if (!conversation.addResult(said.result, isNew)) fault('call_id', 'no item before this one is a call of this id');
  }
  if (issues.length === 0 && conversation.saysNothingNew())
    issues.push({ path: 'input', message: 'must end with a user message, or with the outputs of calls' });
  if (issues.length > 0) throw invalidRequest(issues);
  return conversation.whole();
}

/** The session that the ids of calls lead to (`session-of-calls.ts`). Takes items as they came, for it decides where a request goes. */
export function sessionOfItems(input: unknown): string | null {
  return Array.isArray(input) ? sessionOfMentions(callMentions(input)) : null;
}

function* callMentions(items: readonly unknown[]): Generator<CallMention> {
  for (let index = items.length - 1; index >= 0; index -= 1) {
    const item = recordOf(items[index]);
    const mention = { id: item.call_id, path: `input[${index}].call_id` };
    if (isOutput(item)) yield { by: 'result', ...mention };
    else if (isOfAssistant(item)) yield { by: 'assistant', ...mention };
  }
}

/** A tool of a namespace as models know it that have none; `functions` is the namespace of tools that stand in no other. */
export function qualifiedName(namespace: string | null | undefined, name: string): string {
  return namespace == null || namespace === '' || namespace === 'functions' ? name : `${namespace}__${name}`;
}

/** System and developer messages. Takes an item as it came. */
export function isSystemItem(item: unknown): boolean {
  const { type = 'message', role } = recordOf(item);
  return type === 'message' && (role === 'system' || role === 'developer');
}

/** Reasoning with a token that only we can read: its provider would refuse it. Takes an item as it came. */
export function isOwnReasoning(item: unknown): boolean {
  const { type, encrypted_content: token } = recordOf(item);
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
  const parsed = parsePart(schema, item);
  if ('data' in parsed) return parsed.data;
  const base = pathText(['input', index]);
  for (const { path, message } of parsed.issues) issues.push({ path: `${base}.${path}`, message });
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
        call && { as: 'assistant', parts: [toCallPart(call.call_id, qualifiedName(call.namespace, call.name), { input: call.input })] }
      );
    }
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const output = parse(OutputItem);
      if (output === null) return null;
      const content = inputParts(output.output, 'output', fault).map(toContentBlock);
      return { as: 'result', result: { callId: output.call_id, content, isError: false } };
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
      fault(
        'type',
        `${quoted(item.type ?? '')} items are not taken here: only the provider that made them understands them, so leave them out`,
      );
      return null;
  }
}

function readMessage({ role, content }: z.infer<typeof MessageItem>, fault: Fault): Said {
  if (role === 'user') return { as: 'user', parts: inputParts(content, 'content', fault) };
  const text = plainText(content, fault);
  if (role === 'assistant') return { as: 'assistant', parts: text === '' ? [] : [{ type: 'text', text }] };
  return { as: 'system', text };
}

/** A token of ours says what its provider wants back; a provider's own says nothing to anybody else. */
function reasoningParts({ summary, content, encrypted_content: token }: z.infer<typeof ReasoningItem>): AssistantPart[] {
  const texts = summary?.length ? summary : (content ?? []);
  const text = joinParagraphs(...texts.map((part) => part.text));
  const native = token == null ? null : unpackNative(token);
  return [...(text === '' ? [] : [{ type: 'reasoning' as const, text }]), ...(native === null ? [] : [native])];
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

/** `field`: what they are the content of. */
function inputParts(content: Content, field: string, fault: Fault): InputPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.flatMap((part, index): InputPart[] => {
    if (textTypes.has(part.type)) return [{ type: 'text', text: part.text ?? part.refusal ?? '' }];
    return imageParts(part, `${field}[${index}]`, fault);
  });
}

function imageParts({ type, image_url: url }: z.infer<typeof ContentPart>, path: string, fault: Fault): InputPart[] {
  if (type !== 'input_image') fault(`${path}.type`, `${quoted(type)} parts are not taken here: send input_text or input_image`);
  else if (url == null) fault(`${path}.image_url`, 'is missing: files by id are the provider’s own, so send the image by URL or as data');
  else return readImage({ url }, (message) => fault(`${path}.image_url`, message));
  return [];
}
