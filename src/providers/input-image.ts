/**
 * An image of the input in the forms that APIs ask for. Which types an API takes, and whether it takes images at all, is for its adapter
 * and the profile.
 */
import type { InputPart } from '../core/message.ts';

export type InputImage = Extract<InputPart, { type: 'image' }>;

/** Where it is, or all of it as a data URL. */
export function imageUrl(image: InputImage): string {
  return image.url ?? dataUrl(imageType(image), image.data ?? '');
}

export function dataUrl(mediaType: string, data: string): string {
  return `data:${mediaType};base64,${data}`;
}

/** Its type and bytes; null where only its URL is known. */
export function inlineImage(image: InputImage): { mediaType: string; data: string } | null {
  const [, urlType, urlData] = /^data:([^;,]+);base64,(.*)$/is.exec(image.url ?? '') ?? [];
  const data = image.data ?? urlData;
  return data === undefined
    ? null
    : { mediaType: imageType({ ...image, data, ...(urlType !== undefined && { mediaType: urlType }) }), data };
}

/** What stands in its place for a model that does not see it. */
export function imageNote(image: InputImage): string {
  return `[image: ${inlineImage(image)?.mediaType ?? image.url}]`;
}

/** As told; otherwise by the first bytes, since APIs compare the two. */
function imageType({ mediaType, data = '' }: InputImage): string {
  if (mediaType !== undefined) return mediaType.toLowerCase().replace(/^image\/jpg$/, 'image/jpeg');
  if (data.startsWith('/9j/')) return 'image/jpeg';
  if (data.startsWith('R0lGOD')) return 'image/gif';
  return data.startsWith('UklGR') ? 'image/webp' : 'image/png';
}
