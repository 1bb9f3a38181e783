/** Lines of a stream with a maximum length: `node:readline` collects a line of any length. */
import type { Readable } from 'node:stream';

/** Yields each line without its end. A longer line is yielded cut, and its rest is dropped. The last line need not end. */
export async function* readBoundedLines(stream: Readable, maxBytes: number): AsyncGenerator<string, void, undefined> {
  let parts: Buffer[] = [];
  let length = 0;
  const take = (bytes: Buffer): void => {
    const part = bytes.subarray(0, maxBytes - length);
    if (part.length > 0) parts.push(part);
    length += part.length;
  };
  const finish = (): string => {
    const line = Buffer.concat(parts).toString('utf8');
    parts = [];
    length = 0;
    return line.endsWith('\r') ? line.slice(0, -1) : line;
  };
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      take(chunk.subarray(from, end));
      from = end + 1;
      yield finish();
    }
    take(chunk.subarray(from));
  }
  if (length > 0) yield finish();
}
