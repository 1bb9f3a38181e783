/** What users say and tools give, as far as the dialects write it alike: images, and what of an input a tool's result can hold. */
import { ImagePart, type InputPart } from '../core/message.ts';
import type { ContentBlock } from '../core/tool.ts';

/** Notes what is wrong at a place below the one at hand. */
export type Fault = (at: string, message: string) => void;

/** `url` may hold all of the image. Nothing where it is none: `fault` has been told. */
export function readImage(given: { url: string } | { mediaType: unknown; data: unknown }, fault: (message: string) => void): InputPart[] {
  const image = ImagePart.safeParse({ type: 'image', ...('url' in given ? inlineOf(given.url) : given) });
  if (image.success) return [image.data];
  fault(image.error.issues[0]?.message ?? 'is no image');
  return [];
}

function inlineOf(url: string): object {
  const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  return data === undefined ? { url } : { mediaType, data };
}

/** Results have no images by address: those are links. */
export function toContentBlock(part: InputPart): ContentBlock {
  if (part.type === 'text') return part;
  const { data, mediaType = 'image/png', url = '' } = part;
  return data === undefined ? { type: 'resource_link', uri: url, name: 'image' } : { type: 'image', data, mimeType: mediaType };
}
