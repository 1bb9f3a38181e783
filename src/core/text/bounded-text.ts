/** A text of a document, limited in UTF-8 bytes. JSON Schema's `maxLength` counts characters, so the schema alone cannot say it. */
import * as z from 'zod';
import { utf8Length } from './utf8.ts';

export function boundedText(maxBytes: number): z.ZodString {
  return z
    .string()
    .max(maxBytes)
    .refine((text) => utf8Length(text) <= maxBytes, { message: `must be at most ${maxBytes} bytes` });
}
