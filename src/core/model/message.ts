/**
 * The neutral conversation: shown in the transcript view and read by the request mappings of providers. Call parts store the name
 * that the model used (`requested`) and the canonical name that it resolved to (`canonical`).
 */
import * as z from 'zod';
import { limits } from '../limits/limits.ts';
import { ContentBlock, ToolResultCode } from '../tools/tool.ts';

/** How long a provider caches the prompt up to a mark: its default, or its longer lifetime. */
export type CacheLifetime = '5m' | '1h';
/** Only in messages and tools that are sent to a model for a client that sets the marks itself. */
export type Marked = { cache?: CacheLifetime };

export const TextPart = z.strictObject({ type: z.literal('text'), text: z.string() }).meta({ id: 'TextPart' });
/**
 * An image, as base64 `data` or as `url`. Validated as far as possible without decoding: a stored message that every provider rejects
 * would make every later turn of its session fail.
 */
export const ImagePart = z
  .strictObject({
    type: z.literal('image'),
    mediaType: z
      .string()
      .regex(/^image\/[a-z0-9.+-]{1,100}$/i, { message: 'must be an image type, such as image/png' })
      .optional(),
    data: z.string().min(1).refine(isBase64, { message: 'must be base64' }).optional(),
    url: z
      .string()
      .refine((url) => /^data:image\/[^;,]{1,100};base64,/i.test(url) || isWebUrl(url), { message: 'must be an http(s) URL of an image' })
      .optional(),
  })
  .refine((part) => (part.data === undefined) !== (part.url === undefined), { message: 'give either data or url' })
  .meta({ id: 'ImagePart' });
/**
 * A document, a recording or another file, as base64 `data` or as `url`. A model that cannot take its type gets a note in its place; text is
 * sent as text.
 */
export const FilePart = z
  .strictObject({
    type: z.literal('file'),
    mediaType: z.string().regex(/^[a-z]+\/[a-z0-9.+-]{1,100}$/i, { message: 'must be a media type, such as application/pdf' }),
    data: z.string().min(1).refine(isBase64, { message: 'must be base64' }).optional(),
    url: z.string().refine(isWebUrl, { message: 'must be an http(s) URL of a file' }).optional(),
    name: z.string().max(255).optional().meta({ description: 'Name or title of the file.' }),
    context: z.string().optional().meta({ description: 'What the model is told about the file.' }),
    citations: z.boolean().optional().meta({ description: 'The answer cites the file, if the model can.' }),
  })
  .refine((part) => (part.data === undefined) !== (part.url === undefined), { message: 'give either data or url' })
  .meta({ id: 'FilePart' });
export type FilePart = z.infer<typeof FilePart>;
export const InputPart = z.discriminatedUnion('type', [TextPart, ImagePart, FilePart]);
export type InputPart = z.infer<typeof InputPart> & Marked;

export const ReasoningPart = z.object({ type: z.literal('reasoning'), text: z.string() }).meta({ id: 'ReasoningPart' });

export const Via = z.enum(['wire', 'canonical', 'alias', 'own', 'folded']).meta({ id: 'Via' });
export type Via = z.infer<typeof Via>;

export const ToolCallPart = z
  .object({
    type: z.literal('tool-call'),
    callId: z.string(),
    requested: z.string(),
    canonical: z.string().nullable(),
    via: Via.nullable(),
    /** null if the argument text was cut off or is not repairable; `raw` then has the text. */
    arguments: z.record(z.string(), z.unknown()).nullable(),
    raw: z.string().optional(),
    repaired: z.boolean().optional(),
    /** It stood in the text of a reply that could have native calls. */
    recovered: z.boolean().optional(),
    /** The provider's own id of this call, if it sent one. */
    nativeId: z.string().optional(),
  })
  .meta({ id: 'ToolCallPart' });
/**
 * `said`: set only in messages sent to a model where `requested` is the current name: the name that was originally used. A mark of a call is
 * sent with its result, since most APIs have no place for it.
 */
export type ToolCallPart = z.infer<typeof ToolCallPart> & Marked & { said?: string };

export const ToolResultPart = z
  .object({
    type: z.literal('tool-result'),
    callId: z.string(),
    requested: z.string(),
    canonical: z.string().nullable(),
    isError: z.boolean(),
    code: ToolResultCode.optional(),
    content: z.array(ContentBlock),
    structuredContent: z.unknown().optional().meta({ description: 'The data of a result without text.' }),
  })
  .meta({ id: 'ToolResultPart' });
export type ToolResultPart = z.infer<typeof ToolResultPart> & Marked;

/** The result of a client tool; `callId` is the id that the client has. */
export type ClientResult = Pick<ToolResultPart, 'callId' | 'content' | 'isError' | 'cache'>;

/** Data that a provider expects back unchanged, next to the neutral parts. Only the adapter of that provider reads it. */
export type NativePart = { type: 'native'; provider: string; data: unknown };

/** Text with a mark of the cache behind it. */
export type MarkedText = z.infer<typeof TextPart> & Marked;

export type AssistantPart = MarkedText | z.infer<typeof ReasoningPart> | ToolCallPart | NativePart;

export type Message =
  | { role: 'system'; parts: MarkedText[] }
  | { role: 'user'; parts: InputPart[] }
  /** `model`: the reference (`provider/model`) of the model that wrote it; absent if unknown, as in a client's history. */
  | { role: 'assistant'; parts: AssistantPart[]; model?: string }
  | { role: 'tool'; parts: ToolResultPart[] };

/** Returns trimmed text; '' for an empty part. For an image or a file, returns its data or URL. */
export function textOfInput(part: InputPart): string {
  if (part.type === 'text') return part.text.trim();
  return `[${part.type} ${part.mediaType ?? ''}]${part.data ?? part.url ?? ''}`;
}

/** Returns a block of a result as input: images, recordings, and files as base64. null: text, or a link. */
export function mediaOf(block: ContentBlock): Exclude<InputPart, { type: 'text' }> | null {
  if (block.type === 'image') return { type: 'image', mediaType: block.mimeType, data: block.data };
  if (block.type === 'audio') return { type: 'file', mediaType: block.mimeType, data: block.data };
  if (block.type !== 'resource' || block.resource.blob === undefined) return null;
  const { uri, mimeType = 'application/octet-stream', blob: data } = block.resource;
  if (mimeType.startsWith('image/')) return { type: 'image', mediaType: mimeType, data };
  return { type: 'file', mediaType: mimeType, data, name: uri.split('/').at(-1) ?? uri };
}

/**
 * Searches for a single invalid character: the usual pattern with groups of four overflows the stack on images of some megabytes.
 */
function isBase64(text: string): boolean {
  return text.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(text.slice(0, -2)) && /^[A-Za-z0-9+/]{0,2}={0,2}$/.test(text.slice(-2));
}

function isWebUrl(text: string): boolean {
  return text.length <= limits.maxUrlLength && /^https?:\/\//i.test(text) && URL.canParse(text);
}
