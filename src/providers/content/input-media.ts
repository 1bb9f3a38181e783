/**
 * Images and files of the input and of results: which of them a model takes, the forms that APIs share, and what a model gets in place of the
 * others. The profile decides by model; the adapter, which forms its API has.
 */
import type { Json } from '../../core/json/wire-value.ts';
import { type FilePart, type InputPart, mediaOf } from '../../core/model/message.ts';
import type { Profile } from '../../core/model/provider-profile.ts';
import { type ProviderWire, wireSettings } from '../../core/model/wire-settings.ts';
import { fromBase64 } from '../../core/text/bytes.ts';
import { type ContentBlock, contentText } from '../../core/tools/tool.ts';
import type { ChatRequest } from '../../ports/chat-model.ts';
import { markIn, markOf } from './cache-marks.ts';

export type InputImage = Extract<InputPart, { type: 'image' }>;
type Media = Exclude<InputPart, { type: 'text' }>;
type Takes = (part: Media) => boolean;

/** Returns the image's URL, or all of it as a data URL. */
export function imageUrl(image: InputImage): string {
  return image.url ?? dataUrl(imageType(image), image.data ?? '');
}

export function dataUrl(mediaType: string, data: string): string {
  return `data:${mediaType};base64,${data}`;
}

/** Returns type and bytes; null if only the URL is known. */
export function inlineImage(image: InputImage): { mediaType: string; data: string } | null {
  const [, urlType, urlData] = /^data:([^;,]+);base64,(.*)$/is.exec(image.url ?? '') ?? [];
  const data = image.data ?? urlData;
  return data === undefined
    ? null
    : { mediaType: imageType({ ...image, data, ...(urlType !== undefined && { mediaType: urlType }) }), data };
}

/** The declared type, otherwise detected from the first bytes, because APIs check that they match. */
function imageType({ mediaType, data = '' }: InputImage): string {
  if (mediaType !== undefined) return mediaType.toLowerCase().replace(/^image\/jpg$/, 'image/jpeg');
  if (data.startsWith('/9j/')) return 'image/jpeg';
  if (data.startsWith('R0lGOD')) return 'image/gif';
  return data.startsWith('UklGR') ? 'image/webp' : 'image/png';
}

// ---- What a model takes ----

/** Returns whether the API has the part, and the model takes it; a file by URL only if its API fetches it. */
export function takesMedia(part: Media, profile: Pick<Profile, 'images' | 'files'>, wire: ProviderWire): boolean {
  const kind = part.type === 'image' ? 'image' : fileKind(part);
  const isUrl = part.type === 'image' ? inlineImage(part) === null : part.url !== undefined;
  if (kind === null || !wireSettings[wire].has(isUrl ? `${kind}Url` : kind)) return false;
  if (kind === 'image') return profile.images;
  return profile.files.includes(kind) && (!isUrl || profile.files.includes('url'));
}

/** Not all models that see images see those of tools. */
export function takesInResult(part: Media, profile: Pick<Profile, 'images' | 'imagesInResults' | 'files'>, wire: ProviderWire): boolean {
  return takesMedia(part, profile, wire) && (part.type !== 'image' || profile.imagesInResults);
}

export function fileKind({ mediaType }: FilePart): 'pdf' | 'audio' | 'video' | null {
  const [, kind] = /^(audio|video)\//i.exec(mediaType) ?? [];
  return mediaType.toLowerCase() === 'application/pdf' ? 'pdf' : ((kind?.toLowerCase() as 'audio' | 'video' | undefined) ?? null);
}

/** Returns the text of a file of text, which every model takes; null for other files. */
export function textOfFile({ mediaType, data }: FilePart): string | null {
  const isText = /^text\/|^application\/(json|xml|yaml|x-yaml|toml|javascript|x-sh|sql)$|\+(json|xml)$/i.test(mediaType);
  const bytes = data === undefined || !isText ? null : fromBase64(data);
  return bytes === null ? null : new TextDecoder().decode(bytes);
}

/** Returns a file of text with what it is called. */
export function titledText(file: FilePart, text: string): string {
  return [file.name, file.context, text].filter((line) => line !== undefined && line !== '').join('\n');
}

/** Returns the text in place of a part that the model does not take, and reports it. */
export function mediaNote(part: Media, { dropped }: Pick<ChatRequest, 'dropped'>): string {
  const type = part.type === 'image' ? (inlineImage(part)?.mediaType ?? 'image URL') : part.mediaType;
  dropped?.add(type, 'the model does not take it, and is told so in its place');
  if (part.type === 'image') return `[image: ${inlineImage(part)?.mediaType ?? part.url}]`;
  return titledText(part, `[file: ${part.url ?? type}]`);
}

/** What an API can say about a file. */
type About = 'name' | 'context';

/**
 * Returns the input with a text in place of each part that is not taken, also of files of text. `about`: what the API has fields for; the rest
 * of what is known about a file is text before it.
 */
export function shownInput(
  parts: readonly InputPart[],
  request: Pick<ChatRequest, 'dropped'>,
  takes: Takes,
  about: readonly About[],
): InputPart[] {
  return parts.flatMap((part): InputPart[] => {
    if (part.type === 'text') return [part];
    const shown = shownMedia(part, request, takes);
    if (shown.type !== 'file') return [shown];
    const head = (['name', 'context'] as const).flatMap((field) => (about.includes(field) ? [] : (shown[field] ?? [])));
    return head.length === 0 ? [shown] : [{ type: 'text', text: head.join('\n') }, shown];
  });
}

function shownMedia(part: Media, request: Pick<ChatRequest, 'dropped'>, takes: Takes): InputPart {
  if (takes(part)) return part;
  const text = part.type === 'file' ? textOfFile(part) : null;
  const shown = text === null || part.type !== 'file' ? mediaNote(part, request) : titledText(part, text);
  return { ...markIn(part), type: 'text', text: shown };
}

// ---- Results ----

/** Returns the content of a result in order: its text, with notes, and the media that `takes` takes. */
export function shownResult(content: readonly ContentBlock[], request: Pick<ChatRequest, 'dropped'>, takes: Takes): InputPart[] {
  return content.map((block) => {
    const media = mediaOf(block);
    return media === null ? { type: 'text', text: contentText([block]) } : shownMedia(media, request, takes);
  });
}

/** For APIs whose results contain text: the text, the media that `fits` the result, too, and those that follow in a user message. */
export function splitResult(
  content: readonly ContentBlock[],
  request: Pick<ChatRequest, 'dropped'>,
  takes: Takes,
  fits: Takes = () => false,
): { text: string; inside: Media[]; behind: Media[] } {
  const texts: string[] = [];
  const inside: Media[] = [];
  const behind: Media[] = [];
  for (const part of shownResult(content, request, takes)) {
    if (part.type === 'text') texts.push(part.text);
    else if (fits(part)) inside.push(part);
    else {
      texts.push(`[${part.type}: ${part.mediaType}]`);
      behind.push(part);
    }
  }
  return { text: texts.join('\n'), inside, behind };
}

// ---- Chat Completions ----

/** Returns a user's content in the form of Chat Completions, which Cohere has, too: text, or parts for a model that takes them. */
export function chatContent(
  parts: readonly InputPart[],
  request: Pick<ChatRequest, 'dropped'>,
  profile: Profile,
  wire: ProviderWire,
): string | Json[] {
  const shown = shownInput(parts, request, (part) => takesMedia(part, profile, wire), ['name']);
  return chatParts(shown, profile);
}

export function chatParts(parts: readonly InputPart[], profile: Profile): string | Json[] {
  return plainText(parts, profile) ?? parts.map(chatPart);
}

/** null: there are other parts, or marks that the model is sent. */
export function plainText(parts: readonly InputPart[], { cacheMarks }: Profile, separator = '\n\n'): string | null {
  const isPlain = parts.every((part) => part.type === 'text' && (part.cache === undefined || cacheMarks === 'none'));
  return isPlain ? parts.map((part) => (part.type === 'text' ? part.text : '')).join(separator) : null;
}

/** `file` and `input_audio`: OpenAI API reference; `file_data` as a URL, and `video_url`: OpenRouter's guides "PDF Inputs" and "Video Inputs". */
export function chatPart(part: InputPart): Json {
  return { ...toChatPart(part), ...markOf(part) };
}

function toChatPart(part: InputPart): Json {
  if (part.type === 'text') return { type: 'text', text: part.text };
  if (part.type === 'image') return { type: 'image_url', image_url: { url: imageUrl(part) } };
  const { mediaType, data = '', name = 'file', url = dataUrl(mediaType, data) } = part;
  const kind = fileKind(part);
  if (kind === 'video') return { type: 'video_url', video_url: { url } };
  if (kind === 'audio')
    return { type: 'input_audio', input_audio: { data, format: mediaType.replace(/^audio\/(x-)?/i, '').replace('mpeg', 'mp3') } };
  return { type: 'file', file: { filename: withEnding(name, mediaType), file_data: url } };
}

/** OpenAI judges the type by the ending of the name. */
export function withEnding(name: string, mediaType: string): string {
  return mediaType === 'application/pdf' && !/\.pdf$/i.test(name) ? `${name}.pdf` : name;
}
