import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../src/core/limits/limits.ts';
import { Problem } from '../../src/core/problem.ts';
import { readSkillZip, maxZipEntries } from '../../src/formats/zip.ts';
import { renamed, withField, zipOf } from './zips.ts';
import { runs } from '../selection.ts';

const skill = '---\nname: pdf\ndescription: Reads.\n---\nDo it.\n';

function refusal(archive: Uint8Array): { detail: string; issues: { path: string; message: string }[] } {
  try {
    readSkillZip(archive);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { detail: error.detail, issues: error.extra.issues as { path: string; message: string }[] };
  }
  throw new Error('the archive was taken');
}

describe('a zip archive', () => {
  it('is read with SKILL.md at the top, or in the only folder there', () => {
    const files = { content: skill, resources: [{ path: 'scripts/a.sh', text: 'ls\n' }], warnings: [] };
    expect(readSkillZip(zipOf({ 'SKILL.md': skill, 'scripts/a.sh': 'ls\n' }))).toEqual(files);
    expect(readSkillZip(zipOf({ 'pdf-main/SKILL.md': skill, 'pdf-main/scripts/a.sh': 'ls\n' }))).toEqual(files);
  });

  it('keeps bytes that are not text as base64', () => {
    const { resources } = readSkillZip(zipOf({ 'SKILL.md': skill, 'logo.bin': new Uint8Array([0, 255, 1]) }));
    expect(resources).toEqual([{ path: 'logo.bin', base64: 'AP8B' }]);
  });

  it('skips files of operating systems, with one warning', () => {
    const { resources, warnings } = readSkillZip(
      zipOf({ 'a/SKILL.md': skill, 'a/.DS_Store': 'x', '__MACOSX/a/._SKILL.md': 'x', 'a/x.txt': 'x' }),
    );
    expect(resources.map(({ path }) => path)).toEqual(['x.txt']);
    expect(warnings).toEqual([{ path: 'resources', message: expect.stringContaining('and 1 more were skipped') }]);
  });

  const honest = zipOf({ 'SKILL.md': skill, 'aa/file.txt': 'x'.repeat(1000), 'bb/file.txt': 'y' });
  it.each([
    ['climbs', renamed(honest, 'aa/file.txt', '../file.txt'), '../file.txt', 'leaves its folder'],
    ['is absolute', renamed(honest, 'aa/file.txt', '/a/file.txt'), '/a/file.txt', 'is absolute'],
    ['has a drive', renamed(honest, 'aa/file.txt', 'C:/file.txt'), 'C:/file.txt', 'drive letter'],
    ['has backslashes', renamed(honest, 'aa/file.txt', 'aa\\file.txt'), 'aa\\file.txt', 'backslash'],
    ['is there twice', renamed(honest, 'aa/file.txt', 'bb/file.txt'), 'bb/file.txt', 'twice'],
    ['is encrypted', withField(honest, 'aa/file.txt', 8, 1, 2), 'aa/file.txt', 'is encrypted'],
    ['has another method', withField(honest, 'aa/file.txt', 10, 12, 2), 'aa/file.txt', 'method 12'],
    ['is a link', withField(honest, 'aa/file.txt', 38, (0o120777 << 16) >>> 0, 4), 'aa/file.txt', 'symbolic link'],
    ['is a device', withField(honest, 'aa/file.txt', 38, (0o020666 << 16) >>> 0, 4), 'aa/file.txt', 'not a regular file'],
    ['is larger than declared', withField(honest, 'aa/file.txt', 24, 10, 4), 'aa/file.txt', 'does not match the directory'],
    ['is smaller than declared', withField(honest, 'aa/file.txt', 24, 2000, 4), 'aa/file.txt', 'does not match the directory'],
    ['differs from its checksum', withField(honest, 'aa/file.txt', 16, 7, 4), 'aa/file.txt', 'does not match the directory'],
    ['is declared too large', withField(honest, 'aa/file.txt', 24, limits.maxSkillFileBytes + 1, 4), 'aa/file.txt', 'at most'],
    ['lies beyond the end', withField(honest, 'aa/file.txt', 42, 0x7fffffff, 4), 'aa/file.txt', 'does not match the directory'],
    ['is cut off', withField(honest, 'aa/file.txt', 20, 0x7fffffff, 4), 'aa/file.txt', 'truncated'],
  ])('with an entry that %s is rejected with its name', (_what, archive, path, message) => {
    const { issues, detail } = refusal(archive);
    expect(issues[0]).toEqual({ path: expect.stringContaining(path), message: expect.stringContaining(message) });
    expect(detail).toContain(JSON.stringify(issues[0]?.path));
  });

  it('with long names is reported with shortened names', () => {
    const { issues, detail } = refusal(zipOf({ [`/${'x'.repeat(60_000)}`]: '', [`/${'y'.repeat(60_000)}`]: '' }));
    expect(issues.map(({ path }) => path.length)).toEqual([limits.maxSkillPathBytes, limits.maxSkillPathBytes]);
    expect(detail.length).toBeLessThan(300);
  });

  it('that is a bomb is rejected at the size that it claims', () => {
    const bomb = zipOf({ 'SKILL.md': skill, 'bomb.txt': new Uint8Array(50 * 1024 * 1024) });
    expect(refusal(bomb).issues[0]?.message).toContain('at most');
    const lying = withField(bomb, 'bomb.txt', 24, 100, 4);
    expect(refusal(lying).issues[0]).toEqual({ path: 'bomb.txt', message: expect.stringContaining('does not match the directory') });
  });

  it('that exceeds the limits of a skill is rejected before anything is unpacked', () => {
    const files = Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`f${index}.txt`, 'x'.repeat(limits.maxSkillFileBytes)]));
    expect(refusal(zipOf({ 'SKILL.md': skill, ...files })).issues[0]?.message).toContain(`at most ${limits.maxSkillBytes}`);
    const many = Object.fromEntries(Array.from({ length: maxZipEntries + 1 }, (_, index) => [`${index}`, '']));
    expect(refusal(zipOf(many)).issues[0]?.message).toContain('entries');
  });

  it.each([
    ['nothing', new Uint8Array(0)],
    ['text', new TextEncoder().encode('this is no archive at all, but long enough')],
    ['an archive without its end', honest.subarray(0, honest.byteLength - 4)],
    ['an archive without SKILL.md', zipOf({ 'a.txt': 'x' })],
    ['SKILL.md in one of two folders', zipOf({ 'a/SKILL.md': skill, 'b/x.txt': 'x' })],
    ['SKILL.md two folders down', zipOf({ 'a/b/SKILL.md': skill })],
    ['SKILL.md that is no text', zipOf({ 'SKILL.md': new Uint8Array([255, 254]) })],
    ['an empty archive', zipOf({})],
  ])('%s is rejected', (_what, archive) => {
    expect(refusal(archive).issues).not.toEqual([]);
  });

  it('is read or rejected, whichever byte is changed', () => {
    const archive = zipOf({ 'SKILL.md': skill, 'a.txt': 'hello' });
    fc.assert(
      fc.property(fc.nat(archive.byteLength - 1), fc.nat(255), (at, byte) => {
        const changed = archive.slice();
        changed[at] = byte;
        try {
          readSkillZip(changed);
        } catch (error) {
          expect(error).toBeInstanceOf(Problem);
        }
      }),
      { numRuns: runs(500) },
    );
  });
});
