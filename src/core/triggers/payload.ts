/** What was sent, read by its media type: JSON, a form (with JSON in `payload`, as Slack and GitHub send it), or text. */

/** `value` is what templates and filters see. `text`: as it came; `isJson`: it is JSON as a whole. */
export type Payload = { text: string; value: unknown; isJson: boolean };

/** Throws `unsupported_media_type` (multipart, another charset than UTF-8, compressed), `invalid_json` and `invalid_request` (nested too deep, too many values). */
export function readPayload(_body: Uint8Array, _headers: { contentType: string | null; contentEncoding: string | null }): Payload {
  throw new Error('not built yet');
}
