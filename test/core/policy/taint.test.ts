import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTaintMarks, isTainted, joinTaint, type Taint } from '../../../src/core/policy/taint.ts';

type Mark = { label: 'private' | 'untrusted'; by: string; origin: string | undefined };
const mark: fc.Arbitrary<Mark> = fc.record({
  label: fc.constantFrom('private' as const, 'untrusted' as const),
  by: fc.constantFrom('a file', 'a page', 'a tool'),
  origin: fc.constantFrom(undefined, 'server tracker', 'host tracker'),
});

function marked(marks: readonly Mark[]): Taint {
  const kept = createTaintMarks();
  for (const { label, by, origin } of marks) kept.mark(label, by, origin);
  return kept.read();
}

describe('the taint of a conversation', () => {
  it('keeps the first source of each label and never shrinks', () => {
    fc.assert(
      fc.property(fc.array(mark, { maxLength: 12 }), (marks) => {
        const { private: read, untrusted } = marked(marks);
        expect(read).toBe(marks.find(({ label }) => label === 'private')?.by ?? null);
        expect(untrusted).toBe(marks.find(({ label }) => label === 'untrusted')?.by ?? null);
        expect(isTainted(marked(marks))).toBe(new Set(marks.map(({ label }) => label)).size === 2);
      }),
    );
  });

  it('names an origin only if everything private came from it', () => {
    fc.assert(
      fc.property(fc.array(mark, { maxLength: 12 }), (marks) => {
        const origins = new Set(marks.filter(({ label }) => label === 'private').map(({ origin }) => origin));
        expect(marked(marks).origin).toBe(origins.size === 1 ? [...origins][0] : undefined);
      }),
    );
  });

  it('is the same whether marked at once or joined from two', () => {
    fc.assert(
      fc.property(fc.array(mark, { maxLength: 8 }), fc.array(mark, { maxLength: 8 }), (before, after) => {
        expect(joinTaint(marked(before), marked(after))).toEqual(marked([...before, ...after]));
      }),
    );
  });
});
