import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createCompileCache } from '../../src/sandbox/compile.ts';

it('keeps the most recently used entries within its byte limit, including sources', () => {
  const most = 3_000;
  const size = (source: string, bytes: number): number => bytes + source.length * 2 + 200;
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 3_200 })), { maxLength: 60 }), (steps) => {
      const kept = createCompileCache<number>(most);
      let model: { source: string; bytes: number }[] = [];
      for (const [number, bytes] of steps) {
        const source = 'x'.repeat(number);
        const before = model.find((entry) => entry.source === source);
        model = model.filter((entry) => entry.source !== source);
        if (bytes % 2 === 0) {
          expect(kept.get(source)).toBe(before?.bytes ?? null);
          if (before !== undefined) model.push(before);
          continue;
        }
        kept.set(source, bytes, bytes);
        if (size(source, bytes) <= most) model.push({ source, bytes });
        while (model.reduce((sum, entry) => sum + size(entry.source, entry.bytes), 0) > most) model.shift();
      }
      for (const entry of [...model]) expect(kept.get(entry.source)).toBe(entry.bytes);
    }),
  );
});
