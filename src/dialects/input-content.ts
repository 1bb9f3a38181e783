/** Input content that the dialects write alike: images, and what a tool result can contain of an input. */
import { ImagePart, type InputPart } from '../core/turn/message.ts';
import type { ContentBlock } from '../core/tools/tool.ts';

/** Reports a fault at a path relative to the current one. */
export type InputFault = (at: string, message: string) => void;

/** `url` may be a data URL. Returns nothing for an invalid image, after reporting it to `fault`. */
export function readImage(given: { url: string } | { mediaType: unknown; data: unknown }, fault: (message: string) => void): InputPart[] {
  const image = ImagePart.safeParse({ type: 'image', ...('url' in given ? inlineOf(given.url) : given) });
  if (image.success) return [image.data];
  fault(image.error.issues[0]?.message ?? 'is not an image');
  return [];
}

function inlineOf(url: string): object {
  const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  return data === undefined ? { url } : { mediaType, data };
}

/** Tool results cannot contain images by URL; those become links. */
export function toContentBlock(part: InputPart): ContentBlock {
  if (part.type === 'text') return part;
  const { data, mediaType = 'image/png', url = '' } = part;
  return data === undefined ? { type: 'resource_link', uri: url, name: 'image' } : { type: 'image', data, mimeType: mediaType };
}
