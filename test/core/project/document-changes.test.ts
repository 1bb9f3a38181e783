import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import { documentChanges } from '../../../src/core/project/document-changes.ts';

describe('the changes of a document', () => {
  it('are the smallest parts that differ, with their paths', () => {
    const before = { model: 'a/b', tools: [{ tool: 'x.y' }, { tool: 'x.z', aliases: ['z'] }], old: 1, same: { a: 1, b: 2 } };
    const after = { model: 'a/c', tools: [{ tool: 'x.y' }, { tool: 'x.z', aliases: ['z', 'zz'] }], same: { b: 2, a: 1 }, made: [] };
    expect(documentChanges(before, after)).toEqual([
      { path: 'model', before: '"a/b"', after: '"a/c"' },
      { path: 'tools[1].aliases[1]', after: '"zz"' },
      { path: 'old', before: '1' },
      { path: 'made', after: '[]' },
    ]);
    expect(documentChanges({ a: [] }, { a: {} })).toEqual([{ path: 'a', before: '[]', after: '{}' }]);
  });

  it('are limited in number and length', () => {
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`m${index}`, 'x'.repeat(10_000)]));
    const changes = documentChanges({}, many);
    expect(changes).toHaveLength(limits.maxShownChanges + 1);
    expect(changes.at(-1)).toEqual({ path: '…' });
    expect(JSON.stringify(changes).length).toBeLessThan(limits.maxShownChanges * 300);
  });
});
