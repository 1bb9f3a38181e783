/**
 * Converts the `input` of a Responses request to a neutral conversation. Items that only their provider understands are rejected with their
 * path; requests forwarded unchanged to that provider do not use this file. Wire: OpenAI API reference, "Responses: create", `input` (SDK
 * 7.57).
 */
import * as z from 'zod';
import type { Dropped } from '../../core/model/dropped.ts';
import type { AssistantPart, ClientResult, InputPart, MarkedText } from '../../core/model/message.ts';
import { unpackNative } from '../../core/model/native-token.ts';
import { readApprovalId } from '../../core/text/reference.ts';
import { joinParagraphs } from '../../core/text/paragraphs.ts';
import { quoted, type Issue } from '../../core/problem.ts';
import { type Json, recordOf } from '../../core/json/wire-value.ts';
import {
  type ClientDecision,
  type ConversationBuilder,
  type ConversationOptions,
  createConversation,
  toCallPart,
  type CallMention,
  sessionOfMentions,
  type InputFault,
  joinTexts,
  lastMark,
  marked,
  markReader,
  type ReadMark,
  readFile,
  readImage,
  parseRequestPart,
  toContentBlocks,
  readDecision,
} from '../conversation.ts';
import { ofProvider } from './fields.ts';
import { readCompaction } from './issued.ts';
import { isOfItemTool, qualifiedName, readItemCall, readItemResult } from './item-tools.ts';

/** Any item. The fields are validated by its type. */
export const InputItem = z.looseObject({ type: z.string().optional() });
export type InputItem = z.infer<typeof InputItem>;

const ContentPart = z.looseObject({
  type: z.string(),
  text: z.string().nullish(),
  refusal: z.string().nullish(),
  image_url: z.string().nullish(),
  filename: z.string().nullish(),
  file_data: z.string().nullish(),
  file_url: z.string().nullish(),
  input_audio: z.looseObject({ data: z.string(), format: z.string().nullish() }).nullish(),
});
/** null and absent are empty. */
const Content = z.union([z.string(), z.array(ContentPart)]).nullish();
type Content = z.infer<typeof Content>;

const MessageItem = z.looseObject({ role: z.enum(['user', 'assistant', 'system', 'developer']), content: Content });
/** Some agents send an object. */
const Arguments = z.union([z.string(), z.record(z.string(), z.unknown())]).nullish();
const CallItem = z.looseObject({ call_id: z.string().min(1), name: z.string(), namespace: z.string().nullish(), arguments: Arguments });
const CustomCallItem = z.looseObject({ call_id: z.string().min(1), name: z.string(), namespace: z.string().nullish(), input: z.string() });
const OutputItem = z.looseObject({ call_id: z.string().min(1), output: Content });
const ApprovalRequestItem = z.looseObject({ id: z.string() });
const ApprovalItem = z.looseObject({ approval_request_id: z.string(), approve: z.boolean(), reason: z.string().nullish() });
const Texts = z.array(z.looseObject({ text: z.string().nullish() }));
const ReasoningItem = z.looseObject({ summary: Texts.nullish(), content: Texts.nullish(), encrypted_content: z.string().nullish() });

/** The content of one item. */
type Said =
  | { as: 'system'; parts: MarkedText[] }
  | { as: 'user'; parts: InputPart[] }
  | { as: 'assistant'; parts: AssistantPart[] }
  | { as: 'result'; result: ClientResult }
  | { as: 'decision'; decision: Omit<ClientDecision, 'path'> };

/** Throws `invalid_request` with the path of what is not supported. */
export function toResponsesConversation(
  body: { input: string | readonly InputItem[]; instructions?: string | null | undefined },
  options: ConversationOptions,
  dropped?: Dropped,
): ConversationBuilder {
  const { input, instructions } = body;
  const items = typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : input;
  const conversation = createConversation(options);
  const mark = markReader(options);
  conversation.addSystem({ type: 'text', text: instructions ?? '' });
  const issues: Issue[] = [];
  const last = items.findLastIndex(isOfAssistant);
  const callIds = callsById(items);
  for (const [index, item] of items.entries()) {
    const isNew = index > last;
    const fault: InputFault = (at, message) => issues.push({ path: `input[${index}]${at === '' ? '' : `.${at}`}`, message });
    const { encrypted_content: sealed } = item;
    if (typeof sealed === 'string' && unpackNative(sealed) === null && item.type !== 'compaction')
      dropped?.add('input[].encrypted_content', 'only its provider can read it');
    const parse: Parse = (schema) => parseRequestPart(schema, item, ['input', index], { body: { input: items }, issues });
    const content = readItem(item, { fault, dropped, mark, parse });
    if (content === null) continue;
    if (content.as === 'system') conversation.addSystem(...content.parts);
    else if (content.as === 'user') conversation.addInput(content.parts, isNew);
    else if (content.as === 'assistant') conversation.addAssistant(content.parts, true);
    else if (content.as === 'decision')
      conversation.addDecision({ ...content.decision, path: `input[${index}].approval_request_id` }, isNew);
    else conversation.addResult({ ...content.result, callId: callIds.get(content.result.callId) ?? content.result.callId }, isNew);
  }
  return conversation.finish(issues, { path: 'input', message: 'must have an item that is not empty' }, mark(body));
}

/** The ids of calls by the ids of their items, which the result of a local shell may have instead. */
function callsById(items: readonly InputItem[]): ReadonlyMap<unknown, string> {
  return new Map(
    items.flatMap((item): [unknown, string][] => {
      const call = readItemCall(item);
      return call === null ? [] : [[item.id, call.id]];
    }),
  );
}

export const sessionOfItems = (input: unknown): string | null => sessionOfMentions(input, callMentions);

function* callMentions(items: readonly unknown[]): Generator<CallMention> {
  for (let index = items.length - 1; index >= 0; index -= 1) {
    const item = recordOf(items[index]);
    const mention = { id: item.call_id ?? readItemResult(item)?.callId, path: `input[${index}].call_id` };
    const { type, approval_request_id: approval } = item;
    if (type === 'mcp_approval_response') yield { by: 'result', id: approval, path: `input[${index}].approval_request_id` };
    else if (type === 'mcp_approval_request') yield { by: 'assistant', id: item.id, path: `input[${index}].id` };
    else if (isOutput(item)) yield { by: 'result', ...mention };
    else if (isOfAssistant(item)) yield { by: 'assistant', ...mention };
  }
}

/** System and developer messages. Takes an unvalidated item. */
export function isSystemItem(item: unknown): boolean {
  const { type = 'message', role } = recordOf(item);
  return type === 'message' && (role === 'system' || role === 'developer');
}

function isOutput(item: Json): boolean {
  return item.type === 'function_call_output' || item.type === 'custom_tool_call_output' || readItemResult(item) !== null;
}

export function isOfAssistant(item: Json): boolean {
  const { type = 'message', role } = item;
  if (type === 'message') return role === 'assistant';
  const isCall = type === 'function_call' || type === 'custom_tool_call' || readItemCall(item) !== null;
  return isCall || type === 'reasoning' || type === 'compaction' || type === 'image_generation_call' || type === 'mcp_approval_request';
}

type Parse = <Schema extends z.ZodType>(schema: Schema) => z.infer<Schema> | null;
type Reading = { fault: InputFault; dropped: Dropped | undefined; mark: ReadMark; parse: Parse };

/** null: the item has no content, or its fault was reported. */
function readItem(item: InputItem, reading: Reading): Said | null {
  const { fault, dropped, parse } = reading;
  switch (item.type ?? 'message') {
    case 'message': {
      const message = parse(MessageItem);
      return message === null ? null : readMessage(message, reading);
    }
    case 'function_call': {
      const call = parse(CallItem);
      return call && { as: 'assistant', parts: [toCallPart(call.call_id, qualifiedName(call.namespace, call.name), call.arguments ?? '')] };
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
      const parts = inputParts(output.output, 'output', reading);
      const content = parts.flatMap((part) => toContentBlocks(part, dropped));
      return { as: 'result', result: { callId: output.call_id, content, isError: false, ...lastMark(parts) } };
    }
    case 'reasoning': {
      const reasoning = parse(ReasoningItem);
      return reasoning && { as: 'assistant', parts: reasoningParts(reasoning) };
    }
    case 'mcp_approval_request': {
      const request = parse(ApprovalRequestItem);
      if (request === null) return null;
      if (readApprovalId(request.id) === null) fault('id', notOurs);
      return { as: 'assistant', parts: [] };
    }
    case 'mcp_approval_response': {
      const response = parse(ApprovalItem);
      if (response === null) return null;
      const question = readApprovalId(response.approval_request_id);
      const { approve, reason } = response;
      if (question !== null)
        return { as: 'decision', decision: { ...question, ...readDecision(approve, reason, (message) => fault('reason', message)) } };
      fault('approval_request_id', notOurs);
      return null;
    }
    case 'compaction': {
      const text = readCompaction(item);
      if (text !== null) return { as: 'assistant', parts: [{ type: 'text', text }] };
      fault('encrypted_content', 'can be read only by the provider that compacted the conversation: send the items before it instead');
      return null;
    }
    case 'additional_tools':
      return null;
    case 'image_generation_call':
      return { as: 'assistant', parts: [] };
    default: {
      const call = readItemCall(item);
      if (call !== null) return { as: 'assistant', parts: [toCallPart(call.id, call.name, call.arguments)] };
      const result = readItemResult(item);
      if (result !== null) return { as: 'result', result };
      // Other kinds were dropped or refused by the table (`fields.ts`).
      if (!isOfItemTool(item)) return null;
      if (item.execution === 'server') dropped?.add(`input[].${item.type}`, ofProvider);
      else fault('call_id', 'is missing');
      return null;
    }
  }
}

const notOurs = 'is not the id of an approval of this service: only the provider that created it understands it, so remove the item';

function readMessage({ role, content }: z.infer<typeof MessageItem>, reading: Reading): Said {
  if (role === 'user') return { as: 'user', parts: inputParts(content, 'content', reading) };
  const parts = textParts(content, reading);
  return role === 'assistant' ? { as: 'assistant', parts } : { as: 'system', parts };
}

/** Our token contains data for the provider; a provider's own token is useless to others. */
function reasoningParts({ summary, content, encrypted_content: token }: z.infer<typeof ReasoningItem>): AssistantPart[] {
  const texts = summary?.length ? summary : (content ?? []);
  const text = joinParagraphs(...texts.map((part) => part.text));
  const native = token == null ? null : unpackNative(token);
  return [...(text === '' ? [] : [{ type: 'reasoning' as const, text }]), ...(native === null ? [] : [native])];
}

const textTypes = new Set(['input_text', 'output_text', 'text', 'refusal']);

function textParts(content: Content, { fault, mark }: Reading): MarkedText[] {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
  const texts = parts.map((part, index) => {
    if (!textTypes.has(part.type)) fault(`content[${index}].type`, `${quoted(part.type)} parts are not supported: send text`);
    return toText(part, mark);
  });
  return joinTexts(texts);
}

function toText(part: Pick<z.infer<typeof ContentPart>, 'text' | 'refusal'>, mark: ReadMark): MarkedText {
  return { type: 'text', text: part.text ?? part.refusal ?? '', ...mark(part) };
}

/** `field`: the field that contains the content. */
function inputParts(content: Content, field: string, { fault, mark }: Reading): InputPart[] {
  if (content == null) return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.flatMap((part, index): InputPart[] => {
    if (textTypes.has(part.type)) return [toText(part, mark)];
    return marked(mediaParts(part, `${field}[${index}]`, fault), mark(part));
  });
}

function mediaParts(part: z.infer<typeof ContentPart>, path: string, fault: InputFault): InputPart[] {
  const { type, image_url: image, filename, file_data: data, file_url: url, input_audio: audio } = part;
  const found = (field: string) => (message: string) => fault(`${path}.${field}`, message);
  if (type === 'input_image') {
    if (image != null) return readImage({ url: image }, found('image_url'));
    found('image_url')('is missing: files by id are not supported, so send the image by URL or as a data URL');
  } else if (type === 'input_file') {
    const source = data ?? url;
    if (source != null)
      return readFile({ source, ...(filename != null && { name: filename }) }, found(data == null ? 'file_url' : 'file_data'));
    found('file_data')('is missing: files by id are not supported, so send the file itself or its URL');
  } else if (type === 'input_audio' && audio != null) {
    return readFile({ source: audio.data, mediaType: `audio/${(audio.format ?? 'wav').replace('mp3', 'mpeg')}` }, found('input_audio'));
  } else found('type')(`${quoted(type)} parts are not supported: send input_text, input_image or input_file`);
  return [];
}
