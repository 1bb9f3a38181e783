/**
 * Converts parts of Gemini's API to neutral ones. A call without an id gets one by its place; a response without an id belongs to the first
 * unanswered call of its name. Wire: API reference "Content", "Part"; guides "Function calling" and "Thought signatures".
 */
import * as z from 'zod';
import { isRecord, type Json, listOf, recordOf, stringOf } from '../../core/json/wire-value.ts';
import { getOrBuild } from '../../core/memoize.ts';
import type { Dropped } from '../../core/model/dropped.ts';
import type { AssistantPart, ClientResult, InputPart } from '../../core/model/message.ts';
import { type Issue, issuePath, quoted } from '../../core/problem.ts';
import type { ContentBlock } from '../../core/tools/tool.ts';
import { parseRequestPart, readFile, toCallPart, toContentBlocks } from '../conversation.ts';
import { readCallFields } from '../openai-chat/own-fields.ts';
import { unpackThoughts } from './signature.ts';

type Path = readonly PropertyKey[];

/** `calls`: the ids so far, by name, of which the first `next` are answered. `provider`: as in `conversation.ts`. */
export type PartContext = {
  body: unknown;
  issues: Issue[];
  provider: string | null;
  dropped: Dropped | undefined;
  calls: Map<string, { ids: string[]; next: number }>;
  answered: Set<string>;
};

const FunctionCall = z.looseObject({
  id: z.string().nullish(),
  name: z.string().min(1),
  args: z.record(z.string(), z.unknown()).nullish(),
});
const FunctionResponse = z.looseObject({
  id: z.string().nullish(),
  name: z.string().min(1),
  response: z.record(z.string(), z.unknown()).nullish(),
  parts: z.array(z.looseObject({})).nullish(),
});
const Media = z.looseObject({
  mimeType: z.string().max(200).optional(),
  data: z.string().optional(),
  fileUri: z.string().optional(),
  displayName: z.string().max(255).nullish(),
});

/**
 * gemini-cli returns the id of a call behind the name of its tool. null: the part has none.
 */
export function callIdOf({ id, name }: Json): string | null {
  const given = stringOf(id);
  const prefix = `${stringOf(name)}__`;
  return given === '' ? null : given.startsWith(prefix) ? given.slice(prefix.length) : given;
}

/** Converts parts of a user, except responses. */
export function toInputParts(part: Json, path: Path, reading: PartContext): InputPart[] {
  if (typeof part.text === 'string') return [{ type: 'text', text: part.text }];
  for (const name of ['inlineData', 'fileData']) if (isRecord(part[name])) return readMedia(part[name], [...path, name], reading);
  if (ownParts.some((name) => part[name] !== undefined)) return [];
  const known = ['text', 'inlineData', 'fileData', 'functionResponse'].find((name) => part[name] !== undefined);
  return refuse([...path, ...(known === undefined ? [] : [known])], `must have text, inlineData, fileData or functionResponse`, reading);
}

/** Named by `fields.ts`. */
const ownParts = ['executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse'];

function refuse(path: Path, message: string, { issues }: PartContext): [] {
  issues.push({ path: issuePath(path), message });
  return [];
}

function readMedia(value: Json, path: Path, reading: PartContext): InputPart[] {
  const media = parseRequestPart(Media, value, path, reading);
  if (media === null) return [];
  const { mimeType: mediaType, data, fileUri, displayName: name } = media;
  if (data === undefined && (fileUri === undefined || isStoredFile(fileUri)))
    return refuse(path, fileUri === undefined ? 'has no data' : 'stored files are only for their own provider: send inlineData', reading);
  // Some clients write the alphabet of URLs.
  const source = data === undefined ? (fileUri ?? '') : data.replaceAll('-', '+').replaceAll('_', '/');
  return readFile({ source, mediaType, ...(name != null && { name }) }, (message) => refuse(path, message, reading));
}

/** Of Google's file services. */
function isStoredFile(uri: string): boolean {
  return !/^https?:/i.test(uri) || /^https:\/\/[\w.-]*googleapis\.com\/[\w/]*files\//i.test(uri);
}

/** null: not a response, after reporting it. */
export function toClientResult(part: Json, path: Path, reading: PartContext): ClientResult | null {
  const given = parseRequestPart(FunctionResponse, part.functionResponse, [...path, 'functionResponse'], reading);
  if (given === null) return null;
  const { name, parts } = given;
  const response = given.response ?? {};
  const callId = callIdOf(given) ?? firstOpen(name, reading) ?? name;
  reading.answered.add(callId);
  const media = listOf(parts).flatMap((one, place) => toInputParts(recordOf(one), [...path, 'functionResponse', 'parts', place], reading));
  const content: ContentBlock[] = [
    { type: 'text', text: textOf(response) },
    ...media.flatMap((one) => toContentBlocks(one, reading.dropped)),
  ];
  return { callId, content, isError: 'error' in response && !('output' in response) };
}

function firstOpen(name: string, { calls, answered }: PartContext): string | undefined {
  const ofName = calls.get(name);
  while (ofName !== undefined && answered.has(ofName.ids[ofName.next] ?? '')) ofName.next += 1;
  return ofName?.ids[ofName.next];
}

/** `output` and `error` are the fields of the reference, and `result` of its examples; otherwise all of the response is the output. */
function textOf(response: Json): string {
  const [only, ...others] = Object.keys(response);
  const value = others.length === 0 && ['output', 'error', 'result'].includes(only ?? '') ? response[only ?? ''] : response;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Converts the parts of a model. */
export function toModelParts(parts: readonly Json[], path: Path, reading: PartContext): AssistantPart[] {
  const read: AssistantPart[] = [];
  for (const [place, part] of parts.entries()) {
    const at = [...path, 'parts', place];
    const carried = unpackThoughts(part.thoughtSignature);
    if (carried !== null) {
      // A client that returns thoughts, too, has them twice.
      if (carried.before.some(({ type }) => type === 'reasoning')) while (read.at(-1)?.type === 'reasoning') read.pop();
      read.push(...carried.before);
    }
    const own = toModelPart(part, at, reading);
    read.push(...own, ...(carried?.after ?? []));
    if (carried === null && stringOf(part.thoughtSignature) !== '') read.push(...readSignature(part, reading));
  }
  return read;
}

/** A provider's own signature: that of a call is sent to it, also if its API is that of Chat Completions. */
function readSignature({ functionCall, thoughtSignature: signature }: Json, { provider, dropped }: PartContext): AssistantPart[] {
  if (functionCall !== undefined && provider !== null)
    return readCallFields({ extra_content: { google: { thought_signature: signature } } }, provider);
  dropped?.setting('callSignature', 'only the provider that created it understands it');
  return [];
}

function toModelPart(part: Json, path: Path, reading: PartContext): AssistantPart[] {
  if (isRecord(part.functionCall)) {
    const call = parseRequestPart(FunctionCall, part.functionCall, [...path, 'functionCall'], reading);
    if (call === null) return [];
    const id = callIdOf(call) ?? `call_${path.filter((step) => typeof step === 'number').join('_')}`;
    getOrBuild(reading.calls, call.name, Number.POSITIVE_INFINITY, () => ({ ids: [], next: 0 })).ids.push(id);
    return [toCallPart(id, call.name, call.args ?? {})];
  }
  if (typeof part.text === 'string') {
    if (part.text === '') return [];
    return [{ type: part.thought === true ? 'reasoning' : 'text', text: part.text }];
  }
  if (ownParts.some((name) => part[name] !== undefined)) return [];
  for (const name of ['inlineData', 'fileData']) {
    if (!isRecord(part[name])) continue;
    reading.dropped?.add(`contents[].parts[].${name} of the model`, 'models are not sent the images that they made');
    return [];
  }
  if (part.thoughtSignature !== undefined) return [];
  return refuse(path, `must have text or functionCall, not ${quoted(Object.keys(part).join(', '))}`, reading);
}
