import { describe, expect, it } from 'vitest';
import { parseEventStream, type ServerSentEvent } from '../../client/src/sse.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

/** Parses the stream in chunks of `size` bytes. */
async function parse(input: string | Uint8Array, size = Number.POSITIVE_INFINITY): Promise<ServerSentEvent[]> {
  const whole = typeof input === 'string' ? bytes(input) : input;
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < whole.length; at += size) controller.enqueue(whole.subarray(at, Math.min(whole.length, at + size)));
      controller.close();
    },
  });
  const events = [];
  for await (const event of parseEventStream(stream)) events.push(event);
  return events;
}
const event = (data: string, more: Partial<ServerSentEvent> = {}): ServerSentEvent => ({
  id: '',
  event: 'message',
  data,
  retry: null,
  ...more,
});

describe('the parser of server-sent events', () => {
  const text = [
    '\uFEFF: a comment\n\n',
    'id: 1\nevent: text-delta\ndata: {"text":"grüß 🎉"}\n\n',
    'id: 2\r\ndata: one\r\ndata: two\r\ndata:\r\n\r\n',
    'data:no space\rdata:  two spaces\r\r',
    'unknown: x\nid\ndata\n\n',
    'retry: 250\n\n',
    'retry: soon\n\nevent: empty\n\nid: nu\0l\ndata: last\n\n',
    'data: cut off',
  ].join('');
  const expected = [
    event('{"text":"grüß 🎉"}', { id: '1', event: 'text-delta' }),
    event('one\ntwo\n', { id: '2' }),
    event('no space\n two spaces', { id: '2' }),
    event(''),
    event('', { retry: 250 }),
    event('last'),
  ];

  it.each([Number.POSITIVE_INFINITY, 1, 2, 3, 5, 7, 64])('reads all line endings and fields in chunks of %d bytes', async (size) => {
    expect(await parse(text, size)).toEqual(expected);
  });

  it('takes a carriage return at the end of a chunk and a line feed in the next one as one line ending', async () => {
    expect(await parse('data: a\r\n\r\ndata: b\r\n\r\n', 8)).toEqual([event('a'), event('b')]);
  });

  it('rejects an event that is too long, in one line or in many', async () => {
    const line = 'x'.repeat(1024 * 1024);
    await expect(parse(`data: ${line.repeat(33)}`, 4 * 1024 * 1024)).rejects.toThrow(RangeError);
    await expect(parse(`data: ${line}\n`.repeat(33), 4 * 1024 * 1024)).rejects.toThrow(RangeError);
  });

  it('cancels the stream when the reader stops, and passes on its failure', async () => {
    let cancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(bytes('data: x\n\n')),
      cancel: () => {
        cancelled = true;
      },
    });
    for await (const _ of parseEventStream(endless)) break;
    expect(cancelled).toBe(true);
    const broken = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new TypeError('terminated')) });
    await expect(parseEventStream(broken).next()).rejects.toThrow('terminated');
  });
});
