import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { put, toolBench } from './run-tool.ts';
import { runs } from '../selection.ts';

const text = (bytes: Uint8Array): string => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);

function bench(content: string) {
  const { files, run } = toolBench();
  put(files, '/workspace/f', content);
  return {
    files,
    edit: (...edits: { oldText: string; newText: string; replaceAll?: boolean }[]) => run('builtin.edit_file', { path: 'f', edits }),
    content: () => text(files.read('/workspace/f')),
  };
}

describe('edit_file', () => {
  it('replaces an exact match, and shows the change', async () => {
    const { edit, content } = bench('one\ntwo\nthree\nfour\nfive\nsix\n');
    expect(await edit({ oldText: 'four', newText: 'FOUR' })).toMatchObject({
      isError: false,
      text: 'Edited /workspace/f: 1 place.\n--- /workspace/f\n+++ /workspace/f\n@@ -1,7 +1,7 @@\n one\n two\n three\n-four\n+FOUR\n five\n six\n ',
    });
    expect(content()).toBe('one\ntwo\nthree\nFOUR\nfive\nsix\n');
  });

  it('applies several edits in order, or none of them', async () => {
    const { edit, content } = bench('a b c');
    await edit({ oldText: 'a', newText: 'x' }, { oldText: 'x b', newText: 'y' });
    expect(content()).toBe('y c');
    const failed = await edit({ oldText: 'y', newText: 'z' }, { oldText: 'gone', newText: '' });
    expect(failed).toMatchObject({
      isError: true,
      code: 'tool_error',
      text: expect.stringContaining('edits[1].oldText was not found in the file'),
    });
    expect(content()).toBe('y c');
  });

  it('shows the nearest lines if the text is not found', async () => {
    const { edit } = bench('function alpha() {\n  return beta(1);\n}\n');
    expect((await edit({ oldText: '\treturn beta(1)\n', newText: '' })).text).toContain(
      'The closest match is at line 2:\n  return beta(1);\n}',
    );
  });

  it('reports how often and where an ambiguous text occurs, and replaces all on request', async () => {
    const { edit, content } = bench('x\ny x\nz\n');
    expect((await edit({ oldText: 'x', newText: 'w' })).text).toContain('occurs 2 times (lines 1, 2)');
    await edit({ oldText: 'x', newText: '$& $1', replaceAll: true });
    expect(content()).toBe('$& $1\ny $& $1\nz\n');
  });

  it('keeps line ends and the byte order mark', async () => {
    const { edit, content } = bench('\ufeffone\r\ntwo\r\nthree\r\n');
    await edit({ oldText: 'two\nthree', newText: '2\n3\n4' });
    expect(content()).toBe('\ufeffone\r\n2\r\n3\r\n4\r\n');
  });

  it('rejects non-text files, directories and edits without effect', async () => {
    const { files, edit } = bench('same');
    expect((await edit({ oldText: 'same', newText: 'same' })).text).toContain('is unchanged: the edits have no effect');
    files.write('/workspace/f', new Uint8Array([0xff, 0, 1]));
    expect((await edit({ oldText: 'a', newText: 'b' })).text).toContain('not a text file');
    files.write('/workspace/f', new Uint8Array([97, 0, 98]));
    expect((await edit({ oldText: 'a', newText: 'b' })).text).toContain('not a text file');
    files.remove('/workspace/f');
    expect((await edit({ oldText: 'a', newText: 'b' })).text).toContain('/workspace/f does not exist');
    files.makeDirectory('/workspace/f');
    expect((await edit({ oldText: 'a', newText: 'b' })).text).toContain('is a directory');
  });

  it('behaves like String.replaceAll for any texts', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('a', 'b', 'ab', '\n', 'é', '$&')),
        fc.array(fc.constantFrom('a', 'b', 'é'), { minLength: 1, maxLength: 2 }),
        fc.constantFrom('', 'x', '$1', 'aa'),
        async (parts, old, newText) => {
          const before = parts.join('');
          const oldText = old.join('');
          const { edit, content } = bench(before);
          const { isError } = await edit({ oldText, newText, replaceAll: true });
          expect(isError).toBe(!before.includes(oldText));
          expect(content()).toBe(before.split(oldText).join(newText));
        },
      ),
      { numRuns: runs(200) },
    );
  });
});
