/**
 * The neutral conversation: what the transcript view shows and what providers' request mappings read. Names in call parts
 * are kept as the model said them (`requested`) beside what they meant (`canonical`).
 */
import { z } from 'zod';
import { limits } from './limits.ts';
import { ContentBlock, ToolResultCode } from './tool.ts';

export const TextPart = z.strictObject({ type: z.literal('text'), text: z.string() }).meta({ id: 'TextPart' });
/**
 * An image by base64 `data` or by `url`, one of the two. Checked here as far as that goes without decoding: a stored message that
 * every provider refuses would end each later turn of its session.
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
export const InputPart = z.discriminatedUnion('type', [TextPart, ImagePart]);
export type InputPart = z.infer<typeof InputPart>;

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
    /** null when the argument text was cut or beyond repair; `raw` then has it. */
    arguments: z.record(z.string(), z.unknown()).nullable(),
    raw: z.string().optional(),
    repaired: z.boolean().optional(),
    /** The provider's own id of this call, when it gave one. */
    nativeId: z.string().optional(),
  })
  .meta({ id: 'ToolCallPart' });
/** `said`: only in what a model is sent, where `requested` is the name of today: the one that was said. */
export type ToolCallPart = z.infer<typeof ToolCallPart> & { said?: string };

export const ToolResultPart = z
  .object({
    type: z.literal('tool-result'),
    callId: z.string(),
    requested: z.string(),
    canonical: z.string().nullable(),
    isError: z.boolean(),
    code: ToolResultCode.optional(),
    content: z.array(ContentBlock),
  })
  .meta({ id: 'ToolResultPart' });
export type ToolResultPart = z.infer<typeof ToolResultPart>;

/** What a caller's own tool answered; `callId` as the caller has it. */
export type ClientResult = Pick<ToolResultPart, 'callId' | 'content' | 'isError'>;

/** What a provider wants back unchanged, beside the neutral parts; only that provider's adapter reads it. */
export type NativePart = { type: 'native'; provider: string; data: unknown };

export type AssistantPart = z.infer<typeof TextPart> | z.infer<typeof ReasoningPart> | ToolCallPart | NativePart;

export type Message =
  | { role: 'system'; parts: { type: 'text'; text: string }[] }
  | { role: 'user'; parts: InputPart[] }
  /** `model`: the ref (`provider/model`) that said it; absent where nobody knows, as in a client's history. */
  | { role: 'assistant'; parts: AssistantPart[]; model?: string }
  | { role: 'tool'; parts: ToolResultPart[] };

/** Trimmed; '' where it says nothing. An image is its data, or its URL. */
export function textOfInput(part: InputPart): string {
  if (part.type === 'text') return part.text.trim();
  return `[image ${part.mediaType ?? ''}]${part.data ?? part.url ?? ''}`;
}

/** One pass for a foreign character: the usual pattern in groups of four runs out of stack on images of some megabytes. */
function isBase64(text: string): boolean {
  return text.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(text.slice(0, -2)) && /^[A-Za-z0-9+/]{0,2}={0,2}$/.test(text.slice(-2));
}

function isWebUrl(text: string): boolean {
  return text.length <= limits.maxUrlLength && /^https?:\/\//i.test(text) && URL.canParse(text);
}
