import { describe, expect, it } from 'vitest';
import { applyChanges, copyFiles, copyInParts, openImage } from '../../../src/storage/files/file-image.ts';
import { createMemoryFiles } from '../../../src/storage/files/memory-files.ts';
import type { FileChange } from '../../../src/ports/file-space.ts';
import type { FileSystem } from '../../../src/ports/file-system.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const textAt = (files: FileSystem, path: string) => new TextDecoder().decode(files.read(path));

/** Files with a folder, as a space has them. */
function original(): FileSystem {
  const files = createMemoryFiles(() => 1);
  files.write('/workspace/a.txt', bytes('one'));
  files.write('/workspace/d/e/f.txt', bytes('deep'), { mode: 0o600, own: false });
  return files;
}

async function copyOf(files: FileSystem) {
  const applied: (readonly FileChange[])[] = [];
  const port = {
    load: async () => copyFiles(files),
    apply: async (changes: readonly FileChange[]) => {
      applied.push(changes);
      applyChanges(files, changes);
    },
  };
  return { ...(await openImage(port, () => 1)), applied };
}

describe('a copy in parts', () => {
  it('has every file and directory, in parts that fit in an RPC', async () => {
    const [from, to] = [createMemoryFiles(), createMemoryFiles()];
    const content = new Uint8Array(7 * 1_024 * 1_024).fill(1);
    for (const name of ['a', 'b', 'c', 'd', 'e']) from.write(`/workspace/deep/${name}`, content);
    from.makeDirectory('/workspace/empty');
    from.write('/workspace/run.sh', new TextEncoder().encode('echo'), { mode: 0o755, own: false });
    const sizes: number[] = [];
    await copyInParts(from, async (part) => {
      sizes.push(part.reduce((sum, { file }) => sum + (file?.content.length ?? 0), 0));
      applyChanges(to, part);
    });
    expect(to.paths()).toEqual(from.paths());
    for (const path of from.paths()) expect(to.stat(path)).toMatchObject({ ...from.stat(path), modifiedAt: expect.any(Number) });
    expect(sizes.length).toBe(3);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(16 * 1_024 * 1_024);
  });

  it('is nothing for a session without files', async () => {
    await copyInParts(createMemoryFiles(), async () => expect.unreachable());
  });
});

describe('a copy of files', () => {
  it('has every file with its mode and owner, and no changes at first', async () => {
    const { files: copy, save, applied } = await copyOf(original());
    expect([textAt(copy, '/workspace/d/e/f.txt'), copy.stat('/workspace/d/e/f.txt')]).toMatchObject(['deep', { mode: 0o600, own: false }]);
    await save();
    expect(applied).toEqual([]);
  });

  it('gives back exactly what was changed, also in the same millisecond and of the same size', async () => {
    const files = original();
    const { files: copy, save } = await copyOf(files);
    copy.write('/workspace/a.txt', bytes('two'));
    copy.remove('/workspace/d', { recursive: true });
    copy.write('/workspace/d', bytes('now a file'));
    copy.write('/tmp/new/x', bytes('x'));
    // Another call has added a file meanwhile.
    files.write('/workspace/other.txt', bytes('kept'));
    await save();
    expect(textAt(files, '/workspace/a.txt')).toBe('two');
    expect(textAt(files, '/workspace/d')).toBe('now a file');
    expect(textAt(files, '/tmp/new/x')).toBe('x');
    expect(textAt(files, '/workspace/other.txt')).toBe('kept');
  });

  it('is refused for files that are too large', () => {
    const files = createMemoryFiles(() => 1);
    for (const name of ['a', 'b']) files.write(`/workspace/${name}`, new Uint8Array(9 * 1024 * 1024));
    expect(() => copyFiles(files)).toThrow(expect.objectContaining({ code: 'body_too_large' }));
  });
});
