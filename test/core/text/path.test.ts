import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import { baseName, isInside, joinPath, parentPath, resolvePath } from '../../../src/core/text/path.ts';
import { describeCorpus, readJson, readJsonLines } from '../../fixtures.ts';

describe('a path', () => {
  it('resolves from /workspace unless it is absolute', () => {
    expect(resolvePath('a/../b')).toEqual({ ok: true, path: '/workspace/b' });
    expect(resolvePath('/a/./b/')).toEqual({ ok: true, path: '/a/b' });
    expect(resolvePath('../..', '/x/y/z')).toEqual({ ok: true, path: '/x' });
  });

  it('is normal after one resolution, and never climbs past the root', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('..', '.', '', 'a', 'b', '...')), (segments) => {
        const first = resolvePath(segments.join('/'));
        if (!first.ok) throw new Error(first.reason);
        expect(resolvePath(first.path, '/elsewhere')).toEqual(first);
        expect(first.path).toMatch(/^\/([^/]+(\/[^/]+)*)?$/);
        expect(first.path.split('/')).not.toContain('..');
      }),
    );
  });

  it('is inside a directory by whole segments', () => {
    expect(isInside('/workspace/a')).toBe(true);
    expect(isInside('/workspace')).toBe(true);
    expect(isInside('/workspace2')).toBe(false);
    expect(isInside('/anything', '/')).toBe(true);
  });

  it('can be split and joined again', () => {
    for (const path of ['/a', '/a/b', '/workspace/x/y']) expect(joinPath(parentPath(path), baseName(path))).toBe(path);
    expect(parentPath('/')).toBe('/');
  });
});

type Row = { id: string; class: string; cwd: string; root: string; input: string; expect: string; resolved?: string };

describeCorpus('security/path-cases.jsonl', (path) => {
  // Our file systems have no links: what rows of class `symlink` set up cannot be created (see bash.test.ts).
  const rows = readJsonLines<Row>(path).filter((row) => row.class !== 'symlink');

  it('is resolved, located and refused as in each row', () => {
    expect(rows.length).toBe(90);
    const wrong = rows.filter((row) => {
      const result = resolvePath(row.input, row.cwd);
      if (row.expect === 'reject') return result.ok;
      return !result.ok || result.path !== row.resolved || isInside(result.path, row.root) !== (row.expect === 'inside');
    });
    expect(wrong).toEqual([]);
  });
});

describeCorpus('security/path-payloads.json', (path) => {
  it('stays inside the file system or is refused, without decoding', () => {
    const payloads = Object.values(readJson<{ sources: Record<string, string[]> }>(path).sources).flat();
    expect(payloads.length).toBeGreaterThan(600);
    for (const payload of payloads) {
      const result = resolvePath(payload);
      if (!result.ok) continue;
      expect(result.path.split('/').filter((segment) => segment === '..' || segment === '.')).toEqual([]);
      expect(result.path.length).toBeLessThanOrEqual(limits.maxPathBytes);
      if (payload.includes('%') && !payload.includes('/')) expect(result.path).toBe(`/workspace/${payload}`);
    }
  });
});

describeCorpus('security/naughty-strings.json', (path) => {
  it('is one segment, several, or refused; never throws', () => {
    const texts = readJson<string[]>(path);
    expect(texts.length).toBeGreaterThan(400);
    for (const text of texts) {
      const result = resolvePath(text);
      if (result.ok) expect(resolvePath(result.path)).toEqual(result);
    }
  });
});
