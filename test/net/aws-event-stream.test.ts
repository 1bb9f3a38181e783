import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../src/core/limits/limits.ts';
import { AwsEventStream } from '../../src/net/aws-event-stream.ts';
import { eventMessage } from '../fakes/upstreams/clouds.ts';

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const readAll = (chunks: readonly Uint8Array[]) => {
  const stream = new AwsEventStream();
  const read = chunks.flatMap((chunk) => [...stream.push(chunk)]);
  return [...read, ...stream.end()].map(({ headers, payload }) => [headers[':event-type'], text(payload)]);
};
/** The prelude of a message, with its checksum. */
const prelude = (total: number, headerBytes: number): Uint8Array => {
  const bytes = eventMessage({}, '').slice(0, 12);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, total);
  view.setUint32(4, headerBytes);
  view.setUint32(8, crc32(bytes.subarray(0, 8)));
  return bytes;
};

describe('an event stream of AWS', () => {
  it('is read in any chunking', () => {
    const message = fc.record({ name: fc.string({ maxLength: 20 }), payload: fc.string({ maxLength: 300, unit: 'binary' }) });
    fc.assert(
      fc.property(fc.array(message, { maxLength: 6 }), fc.integer({ min: 1, max: 400 }), (messages, size) => {
        const bytes = messages.flatMap(({ name, payload }) => [...eventMessage({ ':event-type': name }, payload)]);
        const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
          Uint8Array.from(bytes.slice(at * size, (at + 1) * size)),
        );
        expect(readAll(chunks)).toEqual(messages.map(({ name, payload }) => [name, text(new TextEncoder().encode(payload))]));
      }),
    );
  });

  it('skips header values that are no texts', () => {
    // A boolean, a byte, a timestamp and a UUID before the text (Smithy, "Amazon Event Stream", "Header value types").
    const values = [
      [0],
      [2, 7],
      [8, 0, 0, 0, 0, 0, 0, 0, 1],
      [9, ...Array.from({ length: 16 }, () => 3)],
      [6, 0, 2, 1, 2],
      [7, 0, 1, 0x58],
    ];
    const headers = values.flatMap((value, at) => [1, 0x61 + at, ...value]);
    const head = prelude(16 + headers.length, headers.length);
    const body = Uint8Array.from([...head, ...headers]);
    const end = new Uint8Array(4);
    new DataView(end.buffer).setUint32(0, crc32(body));
    const [message] = new AwsEventStream().push(Uint8Array.from([...body, ...end]));
    expect(message?.headers).toEqual({ f: 'X' });
  });

  it.each([
    ['a length above the limit', prelude(limits.maxSseMessageBytes + 1, 0)],
    ['more headers than bytes', prelude(40, 30)],
    ['a length of nothing', prelude(0, 0)],
    ['a wrong checksum', Uint8Array.from([...prelude(40, 4).slice(0, 8), 1, 2, 3, 4])],
    ['text in place of messages', new TextEncoder().encode('data: {"a": 1}\n\n')],
  ])('with %s is refused before more of it is stored', (_case, bytes) => {
    expect(() => [...new AwsEventStream().push(bytes)]).toThrow(expect.objectContaining({ code: 'upstream_error' }));
  });

  it('that ends within a message is refused, after what came before', () => {
    const whole = eventMessage({ ':event-type': 'a' }, '{}');
    const stream = new AwsEventStream();
    expect([...stream.push(whole), ...stream.push(whole.subarray(0, 9))]).toHaveLength(1);
    expect(() => [...stream.end()]).toThrow('in the middle');
  });

  it('with headers that are cut off is refused', () => {
    const body = Uint8Array.from([...prelude(16 + 4, 4), 3, 0x61, 0x62, 0x63]);
    const end = new Uint8Array(4);
    new DataView(end.buffer).setUint32(0, crc32(body));
    expect(() => [...new AwsEventStream().push(Uint8Array.from([...body, ...end]))]).toThrow('cut off');
  });
});
