/**
 * Fields of an assistant message of Chat Completions that only the provider that sent them understands, and requires back: reasoning with
 * signatures (OpenRouter's `reasoning_details`, GitHub Copilot's `reasoning_opaque`, LiteLLM's `thinking_blocks`) and thought signatures of
 * Gemini (`extra_content` of Google, `provider_specific_fields` of LiteLLM). They are read from replies and from the histories of clients, and
 * written to both. Claude's signed thinking is kept as Anthropic's own API has it, so that it passes between both APIs. Data of other APIs
 * travels as tokens (`core/model/native-token.ts`) in LiteLLM's fields, which clients that know them send back.
 * Sources: docs.litellm.ai `reasoning_content` and `blog/gemini_3`; BerriAI/litellm#29428, whose streams have pieces of blocks; OpenRouter's
 * guide "Reasoning Tokens"; BerriAI/litellm#35021; Google's guide "Thought signatures".
 */
import { isRecord, type Json, listOf, mapItems, mapMembers, recordOf, stringOf } from '../../core/json/wire-value.ts';
import type { AssistantPart, NativePart } from '../../core/model/message.ts';
import { nativeTokenPrefix, packNative, unpackNative } from '../../core/model/native-token.ts';
import { isIssuedBlock } from '../anthropic/blocks.ts';
import type { AnswerPart } from '../answer-message.ts';

/** The data of a `native` part. `callFields`: of the call before it. `inText`: the tag in which the reasoning before it stood in the text. */
export type ChatNative = { api: 'openai-chat'; fields?: Json; callFields?: Json; inText?: string };

const ofMessage = ['reasoning_details', 'reasoning_opaque', 'extra_content', 'provider_specific_fields'] as const;
const ofCall = ['extra_content', 'provider_specific_fields'] as const;

/** Adds the fields of a message, or of a piece of one; objects are joined. */
export function addOwnFields(fields: Json, message: Json, names: readonly string[] = ofMessage): Json {
  for (const name of names) {
    const value = message[name];
    if (value != null) fields[name] = isRecord(value) ? { ...recordOf(fields[name]), ...withoutBlocks(value) } : value;
  }
  return fields;
}

/** LiteLLM repeats the blocks of a message there. */
function withoutBlocks({ thinking_blocks: _blocks, ...rest }: Json): Json {
  return rest;
}

/** LiteLLM also puts them into the function. */
export function ownFieldsOfCall(call: Json): Json | null {
  const fields = addOwnFields(addOwnFields({}, recordOf(call.function), ['provider_specific_fields']), call, ofCall);
  return Object.keys(fields).length === 0 ? null : fields;
}

/** null: data of another API, from before the provider's kind was changed. Clients supply it, too, so other fields are not returned. */
export function readChatNative(data: unknown): { fields: Json; callFields: Json; inText: string | null } | null {
  if (!isRecord(data) || data.api !== 'openai-chat') return null;
  // Release 0.1.0 stored three fields under names of its own.
  const { fields, callFields, inText, reasoningDetails, extra, callExtra } = data;
  return {
    inText: stringOf(inText) || null,
    fields: addOwnFields({}, { reasoning_details: reasoningDetails, extra_content: extra, ...recordOf(fields) }),
    callFields: addOwnFields({}, { extra_content: callExtra, ...recordOf(callFields) }, ofCall),
  };
}

/** Returns the data of a block. It only goes back in this form to servers that sent it so: others refuse the field. */
export function blockNative(block: Json): Json | null {
  const { type, signature } = block;
  if (type === 'redacted_thinking') return { api: 'anthropic', inChat: true, type: 'block', block };
  return stringOf(signature) === '' ? null : { api: 'anthropic', inChat: true, type: 'thinking', signature };
}

/** Returns Claude's signed or redacted thinking as a block; null: other data. `thinking`: the text that it signs. */
export function toThinkingBlock(native: unknown, thinking: string): Json | null {
  const { api, type, signature, block } = recordOf(native);
  if (api !== 'anthropic') return null;
  if (type === 'thinking' && stringOf(signature) !== '') return { type, thinking, signature };
  return type === 'block' && recordOf(block).type === 'redacted_thinking' ? recordOf(block) : null;
}

/** Reads blocks, or all pieces of a stream: the signature ends a block. */
function readThinkingBlocks(blocks: unknown, provider: string | null): AssistantPart[] {
  const parts: AssistantPart[] = [];
  let thinking = '';
  const endText = (): void => {
    if (thinking !== '') parts.push({ type: 'reasoning', text: thinking });
    thinking = '';
  };
  for (const block of listOf(blocks).map(recordOf)) {
    thinking += stringOf(block.thinking);
    const data = blockNative(block);
    const issued = unpackNative(stringOf(block.signature) || stringOf(block.data));
    if (data === null) continue;
    endText();
    if (issued !== null) parts.push(issued);
    else if (provider !== null) parts.push({ type: 'native', provider, data });
  }
  endText();
  return parts;
}

/** The fields in which providers send reasoning, and clients return it: the first one that a message has counts. */
const reasoningFields = ['reasoning_content', 'reasoning', 'reasoning_text', 'thinking_blocks', 'reasoning_details'] as const;

/** Reads the reasoning of a client's message. */
export function readReasoning(message: Json, provider: string | null): AssistantPart[] {
  const signed = readThinkingBlocks(message.thinking_blocks, provider);
  if (signed.length > 0) return signed;
  const { reasoning_content: content, reasoning, reasoning_text: copilots, reasoning_details: details } = message;
  const inDetails = listOf(details).map((detail) => stringOf(recordOf(detail).text) || stringOf(recordOf(detail).summary));
  // Mistral's form.
  const inContent = listOf(message.content).map((part) => joinText(recordOf(part).thinking));
  const text = stringOf(content) || stringOf(reasoning) || stringOf(copilots) || inContent.join('') || inDetails.join('');
  return text === '' ? [] : [{ type: 'reasoning', text }];
}

/** Returns the field that has the reasoning of the messages; `content` if none has. */
export function reasoningFieldOf(messages: readonly Json[]): string {
  const field = reasoningFields.find((name) => messages.some((message) => message[name] != null));
  return field ?? (messages.some(isOfParts) ? 'content[].thinking' : 'content');
}

function isOfParts({ content }: Json): boolean {
  return Array.isArray(content) && content.some((part) => recordOf(part).type === 'thinking');
}

function joinText(parts: unknown): string {
  return (
    stringOf(parts) ||
    listOf(parts)
      .map((part) => stringOf(recordOf(part).text))
      .join('')
  );
}

/** Returns what a message of a client has for the provider, behind the message's own parts. */
export function readMessageFields(message: Json, provider: string | null): NativePart[] {
  const fields = addOwnFields({}, message);
  return provider === null || Object.keys(fields).length === 0 ? [] : [{ type: 'native', provider, data: { api: 'openai-chat', fields } }];
}

/** The same of a call. A signature of Gemini also passes to Google's own API. */
export function readCallFields(call: Json, provider: string | null): NativePart[] {
  const callFields = ownFieldsOfCall(call);
  const signature = signatureIn(callFields);
  const issued = signature === null ? null : unpackNative(signature);
  if (issued !== null) return [issued];
  if (provider === null || callFields === null) return [];
  const own: NativePart = { type: 'native', provider, data: { api: 'openai-chat', callFields } };
  if (signature === null) return [own];
  return [own, { type: 'native', provider, data: { api: 'gemini', of: 'call', thoughtSignature: signature } }];
}

/** Returns a thought signature in one of its three places. */
export function signatureIn(callFields: Json | null): string | null {
  const { thought_signature: one, thought_signatures: several } = recordOf(callFields?.provider_specific_fields);
  const signature =
    stringOf(one) || stringOf(listOf(several)[0]) || stringOf(recordOf(recordOf(callFields?.extra_content).google).thought_signature);
  return signature === '' ? null : signature;
}

/**
 * Returns the fields in which a client carries provider data to its next request; `call`: of the call before it. `before`: the part before
 * the data. What belongs to a place in the text has no field.
 */
export function carriedFields(part: NativePart, before: AnswerPart | undefined): { fields?: Json; call?: Json } {
  const own = readChatNative(part.data);
  if (own !== null) return { fields: own.fields, call: own.callFields };
  const thinking = before?.type === 'reasoning' ? before.text : '';
  const block = toThinkingBlock(part.data, thinking);
  if (block !== null) return { fields: { thinking_blocks: [block] } };
  if (before !== undefined && before.type !== 'reasoning' && before.type !== 'native' && before.type !== 'call') return {};
  const token = packNative(part);
  if (token === null) return {};
  if (before?.type === 'call') return { call: { provider_specific_fields: { thought_signature: token } } };
  const carrier =
    before?.type === 'reasoning' ? { type: 'thinking', thinking, signature: token } : { type: 'redacted_thinking', data: token };
  return { fields: { thinking_blocks: [carrier] } };
}

/** Returns the request without tokens, which its provider would not understand; the same object if it has none. */
export function withoutChatTokens(body: Readonly<Json>): Readonly<Json> {
  const bareCall = (call: unknown): unknown => {
    if (!isRecord(call) || !signatureIn(call)?.startsWith(nativeTokenPrefix)) return call;
    const { provider_specific_fields: _token, ...rest } = call;
    return rest;
  };
  const bare = (value: unknown, name: string): unknown => {
    if (!Array.isArray(value)) return value;
    if (name === 'tool_calls') return mapItems(value, bareCall);
    if (name !== 'thinking_blocks') return value;
    const own = mapItems(value, (block) => (isIssuedBlock(block) ? undefined : block));
    return own === value || own.length > 0 ? own : undefined;
  };
  const messages = listOf(body.messages);
  const own = mapItems(messages, (message) => (isRecord(message) ? mapMembers(message, bare) : message));
  return own === messages ? body : { ...body, messages: own };
}
