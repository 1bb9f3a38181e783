/** Whether the body of a response is text that a model can read, and its text. */

/** Decides by media type; if that is inconclusive, by whether the body decodes as UTF-8 without NULs. Returns null if it is not text. */
export function textOf(bytes: Uint8Array, type: string): string | null {
  if (/^text\/|[/+](json|xml|yaml|javascript|x-www-form-urlencoded|graphql|x-ndjson|toml|csv|html)\b/i.test(type))
    return decoderOf(type).decode(bytes, { stream: true });
  if ((type !== '' && !/^application\/octet-stream\b/i.test(type)) || bytes.includes(0)) return null;
  try {
    // The body may be cut inside a character: with `stream`, an incomplete last character is not an error.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes, { stream: true });
  } catch {
    // Not UTF-8.
    return null;
  }
}

function decoderOf(type: string): TextDecoder {
  const charset = /charset="?([\w-]{1,40})/i.exec(type)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(charset);
  } catch {
    // Unknown charset: UTF-8 at least decodes its ASCII.
    return new TextDecoder();
  }
}

/** Stands for a body that is not shown. */
export function describeBytes(bytes: Uint8Array, type: string): string {
  return `[${bytes.byteLength} bytes of ${type === '' ? 'binary data' : type.slice(0, 100)}, not shown]`;
}
