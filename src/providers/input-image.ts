/**
 * The forms of an input image that APIs require. The adapter and the profile decide which types an API accepts, and whether it accepts
 * images at all.
 */
import type { InputPart } from '../core/turn/message.ts';

export type InputImage = Extract<InputPart, { type: 'image' }>;

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

/** Returns the text that replaces an image for a model without vision. */
export function imageNote(image: InputImage): string {
  return `[image: ${inlineImage(image)?.mediaType ?? image.url}]`;
}

/** The declared type, otherwise detected from the first bytes, because APIs check that they match. */
function imageType({ mediaType, data = '' }: InputImage): string {
  if (mediaType !== undefined) return mediaType.toLowerCase().replace(/^image\/jpg$/, 'image/jpeg');
  if (data.startsWith('/9j/')) return 'image/jpeg';
  if (data.startsWith('R0lGOD')) return 'image/gif';
  return data.startsWith('UklGR') ? 'image/webp' : 'image/png';
}
