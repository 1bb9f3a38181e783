import { describe, expect, it } from 'vitest';
import { describeCorpus, readJson } from '../fixtures.ts';
import { put, toolBench } from './run-tool.ts';

describe('the file tools', () => {
  it('write, read, list and delete one and the same file', async () => {
    const { run } = toolBench();
    expect(await run('builtin.write_file', { path: 'notes/a.txt', content: 'héllo' })).toMatchObject({
      isError: false,
      text: 'Created /workspace/notes/a.txt (6 bytes).',
      structuredContent: { path: '/workspace/notes/a.txt', bytes: 6, created: true },
    });
    expect((await run('builtin.write_file', { path: '/workspace/notes/a.txt', content: 'hi' })).text).toBe(
      'Replaced /workspace/notes/a.txt (2 bytes).',
    );
    expect((await run('builtin.read_file', { path: './notes//a.txt' })).text).toBe('hi');
    expect((await run('builtin.list_directory', {})).text).toBe('notes/');
    expect((await run('builtin.list_directory', { path: '.', recursive: true })).text).toBe('notes/\nnotes/a.txt\t2');
    expect((await run('builtin.delete_file', { path: 'notes/a.txt' })).text).toBe('Deleted /workspace/notes/a.txt.');
    expect((await run('builtin.list_directory', { path: 'notes' })).text).toBe('/workspace/notes is empty.');
  });

  it('read any bytes as base64 and say so when they are not text', async () => {
    const { files, run } = toolBench();
    files.write('/workspace/b', new Uint8Array([0xff, 0xfe, 0, 1]));
    expect(await run('builtin.read_file', { path: 'b' })).toMatchObject({
      isError: true,
      code: 'tool_error',
      text: expect.stringContaining('"base64"'),
    });
    expect((await run('builtin.read_file', { path: 'b', encoding: 'base64' })).text).toBe('//4AAQ==');
    expect((await run('builtin.read_file', { path: 'b', encoding: 'latin1' })).text).toBe('\u00ff\u00fe\u0000\u0001');
    await run('builtin.write_file', { path: 'l', content: 'caf\u00e9 \u0080', encoding: 'latin1' });
    expect((await run('builtin.read_file', { path: 'l', encoding: 'base64' })).text).toBe('Y2Fm6SCA');
    expect((await run('builtin.write_file', { path: 'l', content: '5 \u20ac', encoding: 'latin1' })).text).toContain('which latin1 lacks');
    await run('builtin.write_file', { path: 'l', content: 'caf\u00e9', encoding: 'utf8' });
    expect((await run('builtin.read_file', { path: 'l', encoding: 'utf8' })).text).toBe('caf\u00e9');
  });

  it('say what to do instead of a failed call', async () => {
    const { files, run } = toolBench();
    put(files, '/workspace/report.md', '1');
    put(files, '/workspace/src/main.ts', '1');
    const faults: [string, Record<string, unknown>, RegExp][] = [
      ['builtin.read_file', { path: 'reprot.md' }, /Did you mean report\.md\?/],
      ['builtin.read_file', { path: 'zzz' }, /\/workspace contains: report\.md, src\./],
      ['builtin.read_file', { path: 'no/such/file' }, /nor does the directory \/workspace\/no\/such/],
      ['builtin.read_file', { path: 'src' }, /is a directory\. Use list_directory/],
      ['builtin.read_file', { path: 'report.md/x' }, /\/workspace\/report\.md is a file/],
      ['builtin.read_file', { path: 'a\u0000b' }, /U\+0000/],
      ['builtin.write_file', { path: 'src', content: '' }, /is a directory/],
      ['builtin.write_file', { path: 'new/', content: '' }, /is a directory path/],
      ['builtin.write_file', { path: 'report.md/x', content: '' }, /is a file, not a directory/],
      ['builtin.write_file', { path: 'x', content: '\ud800' }, /lone surrogate/],
      ['builtin.list_directory', { path: 'report.md' }, /read_file/],
      ['builtin.list_directory', { path: 'srk' }, /Did you mean src\?/],
      ['builtin.delete_file', { path: 'src' }, /not empty/],
      ['builtin.delete_file', { path: 'gone' }, /does not exist/],
      ['builtin.delete_file', { path: '/workspace/src/../../tmp' }, /cannot be removed/],
    ];
    for (const [name, args, message] of faults) {
      expect(await run(name, args), JSON.stringify(args)).toMatchObject({
        isError: true,
        code: 'tool_error',
        text: expect.stringMatching(message),
      });
    }
  });

  it('list a limited number of files', async () => {
    const { files, run } = toolBench();
    for (let index = 0; index < 1200; index += 1) put(files, `/workspace/d/${index}`, '');
    const { text, structuredContent } = await run('builtin.list_directory', { path: 'd' });
    expect(text.split('\n')).toHaveLength(1001);
    expect(text).toContain('Only the first 1000');
    expect(structuredContent).toMatchObject({ truncated: true });
  });
});

describeCorpus('security/naughty-strings.json', (path) => {
  const strings = readJson<string[]>(path);

  it('is read back from a file unchanged', async () => {
    const { run } = toolBench();
    for (const content of strings) {
      await run('builtin.write_file', { path: 'f', content });
      expect((await run('builtin.read_file', { path: 'f' })).text).toBe(content);
    }
  });

  it('is a file name that is found again, or rejected with a reason', async () => {
    const { run } = toolBench();
    let stored = 0;
    for (const [index, name] of strings.entries()) {
      const path = `dir${index}/${name}`;
      const written = await run('builtin.write_file', { path, content: name });
      if (written.isError) {
        expect(written.code).toBe('tool_error');
        continue;
      }
      stored += 1;
      expect((await run('builtin.read_file', { path })).text).toBe(name);
    }
    expect(stored).toBeGreaterThan(400);
  });
});
