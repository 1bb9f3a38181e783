import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { excessOf } from '../../../src/core/json/json-text.ts';

describe('the depth of a text', () => {
  it('equals that of its value, whatever its strings contain', () => {
    const depthOf = (value: unknown): number =>
      value !== null && typeof value === 'object' ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
    const text = fc.string({ unit: fc.constantFrom('"', '\\', '[', '{', ']', '}', 'a') });
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 6 }, text, fc.array(tie('value'), { maxLength: 3 }), fc.dictionary(text, tie('value'), { maxKeys: 3 })),
    }));
    fc.assert(
      fc.property(value, (json) => {
        const depth = depthOf(json);
        expect(excessOf(JSON.stringify(json), depth, 1_000)).toBe(null);
        if (depth > 0) expect(excessOf(JSON.stringify(json), depth - 1, 1_000)).toBe('depth');
      }),
    );
  });

  it('is computed for a text of a million backslashes and quotes', () => {
    expect(excessOf(`"${'\\"'.repeat(500_000)}"`, 1, 1)).toBe(null);
    expect(excessOf('\\'.repeat(1_000_000), 1, 1)).toBe(null);
  });
});
