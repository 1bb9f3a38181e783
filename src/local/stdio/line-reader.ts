/** Splits the bytes of a process into lines of UTF-8, with a maximum length. */

/** The part of a discarded line that is passed on, at its beginning and its end. */
const edgeBytes = 200;

/** Returns a listener for chunks. A line over `maxBytes` is discarded, and `onLong` receives its edges. Empty lines are skipped. */
export function createLineReader(
  maxBytes: number,
  onLine: (line: string) => void,
  onLong: (edges: string) => void,
): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  let length = 0;
  let head: Buffer | null = null;
  let tail = Buffer.alloc(0);

  const add = (part: Buffer): void => {
    length += part.length;
    if (head === null && length <= maxBytes) {
      parts.push(part);
      return;
    }
    if (head === null) {
      // Copied: a slice would keep the whole chunk in memory.
      head = Buffer.from(Buffer.concat(parts).subarray(0, edgeBytes));
      parts = [];
    }
    tail = Buffer.from(Buffer.concat([tail, part.subarray(-edgeBytes)]).subarray(-edgeBytes));
  };
  const finish = (): void => {
    if (head !== null) onLong(`${head.toString('utf8')} … ${tail.toString('utf8')}`);
    else if (length > 0) onLine(Buffer.concat(parts).toString('utf8').replace(/\r$/, ''));
    parts = [];
    length = 0;
    head = null;
    tail = Buffer.alloc(0);
  };

  return (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      if (end > start) add(chunk.subarray(start, end));
      finish();
      start = end + 1;
    }
    if (start < chunk.length) add(chunk.subarray(start));
  };
}
