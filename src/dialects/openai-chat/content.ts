/** The content of a Chat Completions message as neutral parts. `request.ts` reads the messages. */
import * as z from 'zod';
import type { InputPart, MarkedText } from '../../core/model/message.ts';
import { quoted } from '../../core/problem.ts';
import { type InputFault, joinTexts, marked, type ReadMark, readFile, readImage } from '../conversation.ts';

const UrlPart = z.union([z.string(), z.looseObject({ url: z.string() })]).nullish();
const ContentPart = z.looseObject({
  type: z.string(),
  // The Agents SDK of OpenAI sends null for the fields that a part does not have.
  text: z.string().nullish(),
  refusal: z.string().nullish(),
  image_url: UrlPart,
  // Of OpenRouter and vLLM.
  video_url: UrlPart,
  audio_url: UrlPart,
  input_audio: z.looseObject({ data: z.string(), format: z.string().nullish() }).nullish(),
  file: z.looseObject({ filename: z.string().nullish(), file_data: z.string().nullish(), file_id: z.string().nullish() }).nullish(),
});
/** null and absent are empty. */
export const ChatContent = z.union([z.string(), z.array(ContentPart)]).nullish();

type Message = { content?: z.infer<typeof ChatContent> };

/** The text of a message, in several parts if there are marks of the cache in it. `other`: receives the parts that are no text. */
export function textParts(message: Message, mark: ReadMark, other: (type: string, index: number) => void): MarkedText[] {
  const { content } = message;
  if (content == null) return [];
  if (typeof content === 'string') return joinTexts([{ type: 'text', text: content, ...mark(message) }]);
  const texts = content.map((part, index): MarkedText => {
    if (!textTypes.has(part.type)) other(part.type, index);
    return { type: 'text', text: part.text ?? part.refusal ?? '', ...mark(part) };
  });
  return joinTexts(marked(texts, mark(message)));
}

const textTypes: ReadonlySet<string> = new Set(['text', 'refusal', 'input_text', 'output_text']);

export function inputParts(message: Message, fault: InputFault, mark: ReadMark): InputPart[] {
  const { content } = message;
  if (content == null) return [];
  if (typeof content === 'string') return [{ type: 'text', text: content, ...mark(message) }];
  const parts = content.flatMap((part, index): InputPart[] => {
    const text = textTypes.has(part.type) ? (part.text ?? part.refusal) : null;
    if (text != null) return [{ type: 'text', text, ...mark(part) }];
    return marked(mediaParts(part, `content[${index}]`, fault), mark(part));
  });
  return marked(parts, mark(message));
}

/** Guides "Images and vision", "File inputs" and "Audio and speech" of OpenAI. */
function mediaParts(part: z.infer<typeof ContentPart>, path: string, fault: InputFault): InputPart[] {
  const { type, image_url: image, video_url: video, audio_url: sound, input_audio: audio, file } = part;
  const found = (field: string) => (message: string) => fault(`${path}.${field}`, message);
  if (type === 'image_url' && image != null) return readImage({ url: urlOf(image) }, found('image_url'));
  if (type === 'video_url' && video != null) return readFile({ source: urlOf(video), mediaType: 'video/mp4' }, found('video_url'));
  if (type === 'audio_url' && sound != null) return readFile({ source: urlOf(sound), mediaType: 'audio/wav' }, found('audio_url'));
  if (type === 'input_audio' && audio != null)
    return readFile({ source: audio.data, mediaType: `audio/${(audio.format ?? 'wav').replace('mp3', 'mpeg')}` }, found('input_audio'));
  if (type === 'file' && file != null) {
    // LiteLLM takes the URL of a file as its id.
    const source = file.file_data ?? (/^https?:/i.test(file.file_id ?? '') ? file.file_id : null);
    if (source != null) return readFile({ source, ...(file.filename != null && { name: file.filename }) }, found('file'));
    found('file.file_data')('is missing: stored files are not supported, so send the file itself');
    return [];
  }
  fault(`${path}.type`, `${quoted(type)} parts are not supported: send text, image_url, file or input_audio`);
  return [];
}

function urlOf(given: string | { url: string }): string {
  return typeof given === 'string' ? given : given.url;
}
