/** A parser of server-sent events (WHATWG HTML §9.2.6) over the bytes of a response. It knows nothing of what the events mean. */

export type ServerSentEvent = { id: string; event: string; data: string; retry: number | null };

/** Characters of one event or one line. The service cuts tool results at 64 kB, and documents at 16 MB. */
const maxEventLength = 32 * 1024 * 1024;

/**
 * Yields each event, and each `retry` without an event (`data` is then empty). `id` is the last one of the stream so far. An event
 * without its final blank line is dropped, as the specification says. Cancels the stream when the caller stops reading.
 */
export async function* parseEventStream(stream: ReadableStream<Uint8Array>): AsyncGenerator<ServerSentEvent, void, undefined> {
  const reader = stream.getReader();
  // Removes a byte order mark, and joins characters that were cut between chunks.
  const decoder = new TextDecoder();
  const push = createParser();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* push(decoder.decode(value, { stream: true }));
    }
  } finally {
    await reader.cancel().catch(() => undefined); // The connection may have failed already.
  }
}

/** Takes the text in chunks of any size and returns the events that each chunk completes. */
export function createParser(): (chunk: string) => ServerSentEvent[] {
  let rest = '';
  let endsWithReturn = false;
  let id = '';
  let event = '';
  let data: string[] = [];
  let length = 0;
  let retry: number | null = null;

  function take(line: string): ServerSentEvent | null {
    if (line === '') {
      const found = data.length > 0 || retry !== null ? { id, event: event || 'message', data: data.join('\n'), retry } : null;
      [event, data, retry, length] = ['', [], null, 0];
      return found;
    }
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === 'event') event = value;
    else if (field === 'data') {
      length = requireShort(length + value.length + 1);
      data.push(value);
    } else if (field === 'id' && !value.includes('\0')) id = value;
    else if (field === 'retry' && /^\d+$/.test(value)) retry = Number(value);
    return null; // Other fields, and comments, whose field is empty, have no meaning.
  }

  return (chunk) => {
    if (chunk === '') return [];
    // The CR of a CRLF ended a line of the previous chunk.
    const text = endsWithReturn && chunk.startsWith('\n') ? chunk.slice(1) : chunk;
    endsWithReturn = chunk.endsWith('\r');
    const lines = text.split(/\r\n|\r|\n/);
    lines[0] = rest + lines[0];
    rest = lines.pop() ?? '';
    requireShort(rest.length);
    return lines.map(take).filter((found) => found !== null);
  };
}

function requireShort(length: number): number {
  if (length > maxEventLength) throw new RangeError(`The stream has an event of more than ${maxEventLength} characters`);
  return length;
}
