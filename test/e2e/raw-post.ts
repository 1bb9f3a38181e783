/** Sends a POST byte by byte as given, including requests that `fetch` would correct or reject. */
import { request } from 'node:http';

export type RawPost = {
  method?: string;
  headers: Record<string, string | string[]>;
  body: string | Uint8Array;
  /** Sends chunks of this many bytes, without `content-length`. */
  chunked?: number;
};

// Tests read responses of many shapes; their assertions check them.
// biome-ignore lint/suspicious/noExplicitAny: see above
export type RawAnswer = { status: number; headers: Record<string, unknown>; text: string; json: any };

/** `url` of the service; `path` without the query string. The `date` header is omitted from the response. */
export function rawPost(url: string, path: string, { method = 'POST', headers, body, chunked }: RawPost): Promise<RawAnswer> {
  const bytes = Buffer.from(body);
  const { hostname, port } = new URL(url);
  const length = chunked === undefined && headers['content-length'] === undefined ? { 'content-length': String(bytes.byteLength) } : {};
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers: { ...headers, ...length }, timeout: 90_000 }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('error', reject);
      answer.on('end', () => {
        const text = Buffer.concat(parts).toString('utf8');
        const { date: _date, ...rest } = answer.headers;
        resolve({ status: answer.statusCode ?? 0, headers: rest, text, json: parse(text) });
      });
    });
    sent.on('timeout', () => sent.destroy(new Error(`no response from ${path}`)));
    sent.on('error', reject);
    const size = chunked ?? Math.max(bytes.byteLength, 1);
    for (let start = 0; start < bytes.byteLength; start += size) sent.write(bytes.subarray(start, start + size));
    sent.end();
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The body is a page or text, which the test reads.
    return null;
  }
}
