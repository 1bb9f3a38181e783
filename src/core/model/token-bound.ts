/**
 * The most tokens that a request can use, known before it is sent: limits reserve it, so that calls in flight cannot exceed them together. It
 * is read from the body that the provider receives, in the format of any of its APIs.
 */
import { isDeeperThan, isRecord, type Json, listOf, recordOf } from '../json/wire-value.ts';
import { limits } from '../limits/limits.ts';
import { invalidRequest } from '../problem.ts';
import { utf8Length } from '../text/utf8.ts';

export type TokenBound = { inputTokens: number; outputTokens: number };

/** What a provider adds itself, such as the prompt that explains tools to the model. */
const addedTokens = 1_000;
/** Of a file, whose pages may be read as images, and of what the provider reads elsewhere: the conversation of a response that it has stored, or results of a server that it calls. */
const referencedTokens = 100_000;
/** Recorded sound has many bytes for each token. */
const soundBytesPerToken = 16;

/** Text counts one token for each byte, which no tokenizer exceeds. `imageTokens`: of an image, by value or by reference. Throws `invalid_request` for too many levels. */
export function inputBound(body: Json, imageTokens: number): number {
  if (isDeeperThan(body, limits.maxJsonDepth)) throw invalidRequest([{ path: '', message: `has more than ${limits.maxJsonDepth} levels` }]);
  const { previous_response_id: previous, conversation, cachedContent, cached_content, mcp_servers: servers, prompt } = body;
  const stored = [previous, conversation, cachedContent ?? cached_content, servers, isRecord(prompt) ? prompt : null].filter(
    (value) => value != null,
  );
  return addedTokens + stored.length * referencedTokens + tokensOf(body, 'body', imageTokens);
}

/** Of a form: fields are text, and files sound or images. */
export function formBound(fields: Iterable<string | { size: number }>, imageTokens: number): number {
  let tokens = addedTokens;
  for (const field of fields)
    tokens += typeof field === 'string' ? utf8Length(field) : Math.max(imageTokens, Math.ceil(field.size / soundBytesPerToken));
  return tokens;
}

/** The number of answers that a request asks for. Some servers read a number in a text. */
export function choicesOf({ n, generationConfig, generation_config }: Json): number {
  // Gemini takes both spellings.
  const { candidateCount, candidate_count } = { ...recordOf(generation_config), ...recordOf(generationConfig) };
  const count = Math.ceil(Number(n ?? candidateCount ?? candidate_count ?? 1));
  return Number.isNaN(count) ? 1 : Math.max(1, count);
}

/** Members of a body, a message and a block that contain messages or blocks. Elsewhere an object that looks like an image is text. */
const conversations: ReadonlySet<string> = new Set(['messages', 'contents', 'input', 'system']);
const contents: ReadonlySet<string> = new Set(['content', 'parts', 'output']);

/** `place`: whether the value is the body, part of a conversation, or text of any form. */
function tokensOf(value: unknown, place: 'body' | 'content' | 'text', imageTokens: number): number {
  if (typeof value === 'string') return utf8Length(value) + 2;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + 1 + tokensOf(item, place, imageTokens), 2);
  if (!isRecord(value)) return String(value).length;
  if (place === 'content') {
    const media = mediaOf(value);
    if (media !== null) return mediaTokens(value, media, imageTokens);
  }
  const inner = place === 'body' ? conversations : contents;
  return Object.entries(value).reduce((sum, [name, member]) => {
    const isContent = place !== 'text' && ((typeof member === 'object' && inner.has(name)) || name === 'functionResponse');
    return sum + utf8Length(name) + 4 + tokensOf(member, isContent ? 'content' : 'text', imageTokens);
  }, 2);
}

type Media = 'image' | 'sound' | 'file';

/** By the `type` of a block; Gemini's parts have none. A message has a role, and other members of it are text. */
const mediaTypes: Readonly<Record<string, Media>> = Object.assign(Object.create(null) as Record<string, Media>, {
  ...{ image: 'image', image_url: 'image', input_image: 'image', computer_screenshot: 'image' },
  ...{ input_audio: 'sound', audio: 'sound', audio_url: 'sound' },
  ...{ document: 'file', file: 'file', input_file: 'file', container_upload: 'file', item_reference: 'file', video_url: 'file' },
});

function mediaOf({ role, type, inlineData, fileData }: Json): Media | null {
  if (role !== undefined) return null;
  if (typeof type === 'string') return mediaTypes[type] ?? null;
  if (inlineData === undefined && fileData === undefined) return null;
  const { mimeType } = { ...recordOf(inlineData), ...recordOf(fileData) };
  const [kind] = String(mimeType).split('/');
  return kind === 'image' ? 'image' : kind === 'audio' ? 'sound' : 'file';
}

/** Data of an image is not read as text; data of a file may be. */
function mediaTokens(block: Json, media: Media, imageTokens: number): number {
  const { data, other, isReference } = measureMedia(block);
  if (media === 'image') return imageTokens + other;
  if (isReference) return referencedTokens + other;
  if (media === 'sound') return other + Math.ceil(data / soundBytesPerToken);
  return other + (data > 0 ? Math.max(data, referencedTokens) : 0);
}

type Measure = { data: number; other: number; isReference: boolean };

/** The bytes of base64 in a block, those of its other texts, and whether it names something elsewhere. */
function measureMedia(value: unknown, sum: Measure = { data: 0, other: 0, isReference: false }, name = ''): Measure {
  if (typeof value === 'string') {
    if (!texts.has(name) && /^(data:[^,]{0,200},)?[A-Za-z0-9+/_=-]{64,}$/.test(value)) sum.data += value.length;
    else sum.other += utf8Length(value) + 2;
  } else if (isRecord(value)) {
    for (const [inner, member] of Object.entries(value)) {
      sum.other += utf8Length(inner) + 4;
      sum.isReference ||= references.has(inner) && typeof member === 'string' && !member.startsWith('data:');
      measureMedia(member, sum, inner);
    }
  } else for (const item of listOf(value)) measureMedia(item, sum, name);
  return sum;
}

/** Members of a block that are text also if they look like base64. */
const texts: ReadonlySet<string> = new Set(['text', 'content']);
const references: ReadonlySet<string> = new Set(['url', 'file_id', 'file_url', 'fileUri', 'id']);
