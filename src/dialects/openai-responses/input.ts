/**
 * Converts the `input` of a Responses request to a neutral conversation. Items that only their provider understands are rejected with their
 * path; requests forwarded unchanged to that provider do not use this file. Wire: OpenAI API reference, "Responses: create", `input` (SDK
 * 7.57).
 */
import { z } from 'zod';
import { parsePart, issuePath } from '../../core/issues.ts';
import type { AssistantPart, ClientResult, InputPart } from '../../core/turn/message.ts';
import { unpackNative } from '../../core/model/native-token.ts';
import { joinParagraphs } from '../../core/text/paragraphs.ts';
import { invalidRequest, quoted, type Issue } from '../../core/problem.ts';
import { recordOf } from '../../core/json/wire-value.ts';
import {
  type ConversationBuilder,
  createConversation,
  toCallPart,
  type CallMention,
  sessionOfMentions,
  type InputFault,
  readImage,
  toContentBlock,
} from '../conversation.ts';

/** Any item. The fields are validated by its type. */
export const InputItem = z.looseObject({ type: z.string().optional() });
export type InputItem = z.infer<typeof InputItem>;

const ContentPart = z.looseObject({
  type: z.string(),
  text: z.string().nullish(),
  refusal: z.string().nullish(),
  image_url: z.string().nullish(),
});
const Content = z.union([z.string(), z.array(ContentPart)]);
type Content = z.infer<typeof Content>;

const MessageItem = z.looseObject({ role: z.enum(['user', 'assistant', 'system', 'developer']), content: Content });
const CallItem = z.looseObject({ call_id: z.string().min(1), name: z.string(), namespace: z.string().nullish(), arguments: z.string() });
const CustomCallItem = z.looseObject({ call_id: z.string().min(1), name: z.string(), namespace: z.string().nullish(), input: z.string() });
const OutputItem = z.looseObject({ call_id: z.string().min(1), output: Content });
const Texts = z.array(z.looseObject({ text: z.string().nullish() }));
const ReasoningItem = z.looseObject({ summary: Texts.nullish(), content: Texts.nullish(), encrypted_content: z.string().nullish() });

/** The content of one item. */
type Said =
  | { as: 'system'; text: string }
  | { as: 'user'; parts: InputPart[] }
  | { as: 'assistant'; parts: AssistantPart[] }
  | { as: 'result'; result: ClientResult };

/**
 * Throws `invalid_request` with the path of what is not supported. `inSession`: results without their call are allowed, since the session
 * has it.
 */
export function toResponsesConversation(
  { input, instructions }: { input: string | readonly InputItem[]; instructions?: string | null | undefined },
  { inSession }: { inSession: boolean },
): ConversationBuilder {
  const items = typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : input;
  const conversation = createConversation({ inSession });
  conversation.addSystem(instructions ?? '');
  const issues: Issue[] = [];
  const last = items.findLastIndex(isOfAssistant);
  for (const [index, item] of items.entries()) {
    const isNew = index > last;
    const fault: InputFault = (at, message) => issues.push({ path: `input[${index}]${at === '' ? '' : `.${at}`}`, message });
    const content = readItem(item, fault, (schema) => parseItem(schema, item, index, issues));
    if (content === null) continue;
    if (content.as === 'system') conversation.addSystem(content.text);
    else if (content.as === 'user') conversation.addInput(content.parts, isNew);
    else if (content.as === 'assistant') conversation.addAssistant(content.parts, true);
    else if (!conversation.addResult(content.result, isNew)) fault('call_id', 'no earlier item is a call with this id');
  }
  if (issues.length === 0 && conversation.saysNothingNew())
    issues.push({ path: 'input', message: 'must end with a user message or with the outputs of calls' });
  if (issues.length > 0) throw invalidRequest(issues);
  return conversation.whole();
}

export const sessionOfItems = (input: unknown): string | null => sessionOfMentions(input, callMentions);

function* callMentions(items: readonly unknown[]): Generator<CallMention> {
  for (let index = items.length - 1; index >= 0; index -= 1) {
    const item = recordOf(items[index]);
    const mention = { id: item.call_id, path: `input[${index}].call_id` };
    if (isOutput(item)) yield { by: 'result', ...mention };
    else if (isOfAssistant(item)) yield { by: 'assistant', ...mention };
  }
}

/** The name of a namespaced tool for models without namespaces. `functions` is the namespace of tools that have none. */
export function qualifiedName(namespace: string | null | undefined, name: string): string {
  return namespace == null || namespace === '' || namespace === 'functions' ? name : `${namespace}__${name}`;
}

/** System and developer messages. Takes an unvalidated item. */
export function isSystemItem(item: unknown): boolean {
  const { type = 'message', role } = recordOf(item);
  return type === 'message' && (role === 'system' || role === 'developer');
}

/** Reasoning with a token that only this service can read; its provider would reject it. Takes an unvalidated item. */
export function isIssuedReasoning(item: unknown): boolean {
  const { type, encrypted_content: token } = recordOf(item);
  return type === 'reasoning' && typeof token === 'string' && unpackNative(token) !== null;
}

function isOutput({ type }: { type?: unknown }): boolean {
  return type === 'function_call_output' || type === 'custom_tool_call_output';
}

function isOfAssistant({ type = 'message', role }: { type?: unknown; role?: unknown }): boolean {
  if (type === 'message') return role === 'assistant';
  return type === 'function_call' || type === 'custom_tool_call' || type === 'reasoning' || type === 'image_generation_call';
}

function parseItem<Schema extends z.ZodType>(schema: Schema, item: InputItem, index: number, issues: Issue[]): z.infer<Schema> | null {
  const parsed = parsePart(schema, item);
  if ('data' in parsed) return parsed.data;
  const base = issuePath(['input', index]);
  for (const { path, message } of parsed.issues) issues.push({ path: `${base}.${path}`, message });
  return null;
}

/** null: the item has no content, or its fault was reported. */
function readItem(
  item: InputItem,
  fault: InputFault,
  parse: <Schema extends z.ZodType>(schema: Schema) => z.infer<Schema> | null,
): Said | null {
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
        'single items are not stored here: send the item itself (some clients do so with store: false), or refer to its answer by previous_response_id',
      );
      return null;
    case 'image_generation_call':
      // Models are not sent their images again.
      return { as: 'assistant', parts: [] };
    case 'web_search_call':
    case 'file_search_call':
    case 'code_interpreter_call':
    case 'mcp_list_tools':
      // The provider's own work; its answer contains the result.
      return null;
    default:
      fault(
        'type',
        `${quoted(item.type ?? '')} items are not supported: only the provider that created them understands them, so remove them`,
      );
      return null;
  }
}

function readMessage({ role, content }: z.infer<typeof MessageItem>, fault: InputFault): Said {
  if (role === 'user') return { as: 'user', parts: inputParts(content, 'content', fault) };
  const text = plainText(content, fault);
  if (role === 'assistant') return { as: 'assistant', parts: text === '' ? [] : [{ type: 'text', text }] };
  return { as: 'system', text };
}

/** Our token contains data for the provider; a provider's own token is useless to others. */
function reasoningParts({ summary, content, encrypted_content: token }: z.infer<typeof ReasoningItem>): AssistantPart[] {
  const texts = summary?.length ? summary : (content ?? []);
  const text = joinParagraphs(...texts.map((part) => part.text));
  const native = token == null ? null : unpackNative(token);
  return [...(text === '' ? [] : [{ type: 'reasoning' as const, text }]), ...(native === null ? [] : [native])];
}

const textTypes = new Set(['input_text', 'output_text', 'text', 'refusal']);

function plainText(content: Content, fault: InputFault): string {
  if (typeof content === 'string') return content;
  const texts = content.map((part, index) => {
    if (!textTypes.has(part.type)) fault(`content[${index}].type`, `${quoted(part.type)} parts are not supported: send text`);
    return part.text ?? part.refusal ?? '';
  });
  return texts.join('');
}

/** `field`: the field that contains the content. */
function inputParts(content: Content, field: string, fault: InputFault): InputPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.flatMap((part, index): InputPart[] => {
    if (textTypes.has(part.type)) return [{ type: 'text', text: part.text ?? part.refusal ?? '' }];
    return imageParts(part, `${field}[${index}]`, fault);
  });
}

function imageParts({ type, image_url: url }: z.infer<typeof ContentPart>, path: string, fault: InputFault): InputPart[] {
  if (type !== 'input_image') fault(`${path}.type`, `${quoted(type)} parts are not supported: send input_text or input_image`);
  else if (url == null) fault(`${path}.image_url`, 'is missing: files by id are not supported, so send the image by URL or as a data URL');
  else return readImage({ url }, (message) => fault(`${path}.image_url`, message));
  return [];
}
