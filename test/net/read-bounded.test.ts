import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readBounded } from '../../src/net/read-bounded.ts';

describe('reading a foreign body', () => {
  it('returns the bytes, complete or cut at the limit, for any chunking', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 20 })), fc.nat(60), async (pieces, bound) => {
        const whole = pieces.flatMap((piece) => [...piece]);
        const body = new ReadableStream<Uint8Array>({
          start(controller) {
            for (const piece of pieces) controller.enqueue(piece);
            controller.close();
          },
        });
        const { bytes, truncated } = await readBounded(new Response(body), bound);
        expect([...bytes]).toEqual(whole.slice(0, bound));
        expect(truncated).toBe(whole.length > bound);
      }),
    );
  });

  it('cancels an endless body at the limit', async () => {
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(1000)),
      cancel: () => {
        cancelled = true;
      },
    });
    const { bytes, truncated } = await readBounded(new Response(body), 2500);
    expect([bytes.byteLength, truncated, cancelled]).toEqual([2500, true, true]);
  });

  it('counts after decompression', async () => {
    const bomb = new Blob([gzipSync(new Uint8Array(5_000_000))]).stream().pipeThrough(new DecompressionStream('gzip'));
    const { bytes, truncated } = await readBounded(new Response(bomb), 10_000);
    expect([bytes.byteLength, truncated]).toEqual([10_000, true]);
  });

  it.each([
    ['a chunked body', { 'transfer-encoding': 'chunked' }],
    ['a compressed body', { 'content-encoding': 'gzip' }],
  ])('does not believe the length of %s', async (_what, more) => {
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1000;
        controller.enqueue(new Uint8Array(1000));
      },
    });
    const response = new Response(body, { headers: { 'content-length': '10', ...more } });
    const { bytes, truncated } = await readBounded(response, 2500);
    expect([bytes.byteLength, truncated]).toEqual([2500, true]);
    expect(sent).toBeLessThan(5000);
  });

  it('reads a body of declared length at once', async () => {
    const response = new Response('hello', { headers: { 'content-length': '5' } });
    expect(await readBounded(response, 10)).toEqual({ bytes: new TextEncoder().encode('hello'), truncated: false });
    const long = new Response('hello', { headers: { 'content-length': '5' } });
    expect(await readBounded(long, 4)).toEqual({ bytes: new TextEncoder().encode('hell'), truncated: true });
    const broken = new ReadableStream({ start: (controller) => controller.error(new Error('gone')) });
    await expect(readBounded(new Response(broken, { headers: { 'content-length': '5' } }), 10)).rejects.toThrow('broke off');
  });

  it('reads an absent body as empty', async () => {
    expect(await readBounded(new Response(null, { status: 204 }), 10)).toEqual({ bytes: new Uint8Array(), truncated: false });
  });
});
