import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFrameCount } from '../../../src/core/text/frame-count.ts';
import { runs } from '../../selection.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('the count of frames', () => {
  it.each([
    ['', 0, true],
    ['data: 1\n\n', 1, true],
    ['data: 1\r\n\r\nevent: a\r\ndata: 2\r\n\r\n', 2, true],
    [': heartbeat\n\n', 0, true],
    [': note\ndata: 1\n\n', 1, true],
    ['\n\n\ndata: 1\n\n\n', 1, true],
    ['data: 1\n', 0, false],
    ['data: 1\n\ndata', 1, false],
    [': heart', 0, false],
  ])('of %j is %i, and the end is whole: %s', (text, count, isWhole) => {
    const frames = createFrameCount();
    frames.add(bytes(text));
    expect([frames.count(), frames.isWhole()]).toEqual([count, isWhole]);
  });

  it('is the same however the stream is cut', () => {
    const line = fc.constantFrom('data: x', 'event: y', ': note', '', '', 'id: é', '\r');
    fc.assert(
      fc.property(fc.array(line), fc.constantFrom('\n', '\r\n'), fc.array(fc.nat(9)), (lines, lineEnd, sizes) => {
        const whole = bytes(lines.join(lineEnd));
        const once = createFrameCount();
        once.add(whole);
        const inPieces = createFrameCount();
        let from = 0;
        for (const size of sizes) {
          inPieces.add(whole.subarray(from, from + size));
          from = Math.min(from + size, whole.byteLength);
        }
        inPieces.add(whole.subarray(from));
        expect([inPieces.count(), inPieces.isWhole()]).toEqual([once.count(), once.isWhole()]);
      }),
      { numRuns: runs(300) },
    );
  });
});
