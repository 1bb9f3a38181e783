/** Deletes and overwrites are judged by their effect, through `callTool`: bash, the file tools, and a corpus of shell commands. */
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { describeCorpus, readJsonLines } from '../fixtures.ts';
import { policyDoor } from './policy-door.ts';
import { printStatistics } from '../statistics.ts';
import { runs } from '../selection.ts';

describe('deleting', () => {
  it('requires approval for files that existed before the call, however they are deleted', async () => {
    for (const [command, target] of [
      ['rm a.txt', '/workspace/a.txt'],
      ['mv a.txt $TMPDIR; rm -r $TMPDIR', '/workspace/.tmp'],
      ['mkdir .tmp; mv a.txt .tmp/x; rm .tmp/x', '/workspace/.tmp/x'],
      ['find . -type f -delete', '/workspace/a.txt'],
      ['rm -rf d', '/workspace/d'],
      ['mkdir e; mv d e; rm -rf e', '/workspace/e'],
      ['rm -rf /workspace/* ', '/workspace/a.txt'],
      ['echo x > n; mv a.txt m; rm n m', '/workspace/m'],
    ] as const) {
      const { bash, paths } = policyDoor();
      const before = paths();
      expect([command, (await bash(command)).asked]).toEqual([command, expect.objectContaining({ kind: 'delete-file', target })]);
      expect(paths()).toEqual(before);
    }
  });

  it('requires one approval for a folder, with the number of files in it', async () => {
    const { bash, files } = policyDoor();
    files.write('/workspace/d/y', new Uint8Array([1]));
    expect((await bash('rm -rf d')).asked?.reason).toBe('It deletes the 2 files in /workspace/d, which cannot be undone');
  });

  it('requires approval for files of the session too, after the call that created them has ended', async () => {
    const { bash } = policyDoor();
    expect((await bash('echo x > n')).asked).toBeNull();
    expect((await bash('rm n')).asked).toMatchObject({ target: '/workspace/n' });
  });

  it.each(['rm -rf /', 'rm -fr /*', 'cd /; rm -rf .', 'rm -rf /workspace', 'find / -delete'])(
    'of everything waits, and once approved leaves the permanent folders: %s',
    async (command) => {
      const { bash, paths, text } = policyDoor();
      expect((await bash(command)).asked).toMatchObject({ kind: 'delete-file' });
      expect(text('a.txt')).toBe('a.txt\n');
      await bash(command, { approved: true });
      expect(paths()).toEqual(['/', '/tmp', '/workspace']);
    },
  );
});

describe('overwriting', () => {
  it.each([
    '> a.txt',
    ': > a.txt',
    'echo x > a.txt',
    'echo x >| a.txt',
    'cp /dev/null a.txt',
    'cp b.txt a.txt',
    'mv b.txt a.txt',
    'truncate -s 0 a.txt',
    'sed -i s/a/b/ a.txt',
    'echo x | sort -o a.txt',
    'echo x | tee a.txt',
    'cat > a.txt <<E\nnew\nE',
    'echo new > n; mv n a.txt',
    'mv a.txt z; echo x > z',
    'cp a.txt n; mv n a.txt; > a.txt',
  ])('requires approval for files of the caller, which stay intact until then: %s', async (command) => {
    const { bash, paths, text } = policyDoor();
    const before = paths();
    const { asked } = await bash(command);
    expect(asked).toMatchObject({ kind: 'overwrite-file' });
    expect([paths(), text('a.txt'), text('b.txt')]).toEqual([before, 'a.txt\n', 'b.txt\n']);
  });

  it("requires no approval where nothing is lost: the same bytes, an empty file, the session's own file, and one it overwrote with approval", async () => {
    const { bash, files, call } = policyDoor();
    files.write('/workspace/empty', new Uint8Array(), { own: false });
    for (const command of ['sed -i s/z/y/ b.txt', 'echo x > empty', 'echo 1 > n', 'echo 2 > n', 'sed -i s/2/3/ n'])
      expect([command, (await bash(command)).asked]).toEqual([command, null]);
    expect((await call('write_file', { path: 'a.txt', content: 'a.txt\n' })).asked).toBeNull();
    expect(files.stat('/workspace/a.txt')?.own).toBe(false);
    const change = { path: 'a.txt', content: 'other' };
    expect((await call('write_file', change)).asked).toMatchObject({ kind: 'overwrite-file', target: '/workspace/a.txt' });
    expect((await call('write_file', change, { approved: true })).isError).toBe(false);
    expect((await call('write_file', { path: 'a.txt', content: 'third' })).asked).toBeNull();
  });

  it('keeps the owner of a file that is moved, appended to or has its attributes changed', async () => {
    const { bash, files } = policyDoor();
    await bash('mv a.txt z; echo x >> z; chmod 600 z; mv d e');
    expect([files.stat('/workspace/z')?.own, files.stat('/workspace/e/x')?.own]).toEqual([false, false]);
    expect((await bash('echo x > z')).asked).toMatchObject({ kind: 'overwrite-file' });
    await bash('cp z copy');
    expect(files.stat('/workspace/copy')?.own).toBe(true);
  });

  it('fails if the caller writes the file while the script runs', async () => {
    const { files } = policyDoor();
    const overlay = files.overlay();
    overlay.write('/workspace/n', new Uint8Array([1]));
    files.write('/workspace/n', new Uint8Array([2, 3]), { own: false });
    expect(() => overlay.commit()).toThrow(expect.objectContaining({ name: 'FileError' }));
    expect(files.read('/workspace/n')).toEqual(new Uint8Array([2, 3]));
  });
});

describe('any script', () => {
  const name = fc.constantFrom('a.txt', 'b.txt', 'd/x', 'n', 'm', 'd', 'e', '.tmp/t', 'e/x');
  const step = fc.oneof(
    fc
      .tuple(
        fc.constantFrom(
          'echo new >',
          'echo more >>',
          'rm -f',
          'rm -rf',
          ': >',
          'truncate -s 1',
          'mkdir -p',
          'sed -i s/x/y/',
          'tee',
          'touch',
        ),
        name,
      )
      .map(([command, path]) => (command === 'tee' ? `echo y | tee ${path}` : `${command} ${path}`)),
    fc.tuple(fc.constantFrom('mv', 'mv -n', 'cp', 'cp -r'), name, name).map(([command, from, to]) => `${command} ${from} ${to}`),
  );

  it('requires approval before it loses content that it did not create', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 7 }), async (steps) => {
        const { bash, given } = policyDoor();
        const before = given();
        const { asked } = await bash(steps.join('\n'));
        const after = given();
        const lost = before.filter((content) => !after.some((now) => now.startsWith(content)));
        if (asked === null) expect(lost).toEqual([]);
        else expect(after).toEqual(before);
      }),
      { numRuns: runs(150) },
    );
  });
});

describeCorpus('security/bash-hostile.jsonl', (path) => {
  type Row = { id: string; class: string; command: string };
  const rows = readJsonLines<Row>(path);
  const of = (kind: string): Row[] => rows.filter((row) => row.class === kind);
  const tally = { rows: 0, asExpected: 0, exceptions: [] as string[] };
  const count = (ok: boolean, row: Row, why: string): void => {
    tally.rows += 1;
    if (ok) tally.asExpected += 1;
    else tally.exceptions.push(`${row.id}: ${why}`);
  };

  it.each(of('delete'))('$id waits, or deletes nothing: $command', async (row) => {
    const { bash, paths, text } = policyDoor();
    const before = paths();
    const { asked } = await bash(row.command);
    expect(before.filter((file) => !paths().includes(file))).toEqual([]);
    expect(text('a.txt')).toBe('a.txt\n');
    // Whether it would have deleted anything: run again with approval.
    const free = policyDoor();
    await free.bash(row.command, { approved: true });
    const effective = before.some((file) => !free.paths().includes(file));
    expect(asked?.kind ?? null).toBe(effective ? 'delete-file' : null);
    count(true, row, '');
  });

  it.each(of('overwrite'))('$id waits where content would be lost: $command', async (row) => {
    const { bash, given } = policyDoor();
    const before = given();
    const { asked } = await bash(row.command);
    expect(given()).toEqual(before);
    const free = policyDoor();
    await free.bash(row.command, { approved: true });
    const lost = before.some((content) => !free.given().includes(content));
    const leaves = free.paths().some((file) => file.startsWith('/tmp/'));
    expect(asked?.kind ?? null).toBe(leaves ? 'write-outside' : lost ? 'overwrite-file' : null);
    count(true, row, '');
  });

  it.each([...of('outside'), ...of('privileged')])('$id waits, or is not supported by this shell: $command', async (row) => {
    const { bash, paths } = policyDoor();
    const before = paths();
    const { asked, exitCode } = await bash(row.command);
    if (asked !== null) expect(paths()).toEqual(before);
    expect(paths().filter((file) => !file.startsWith('/workspace'))).toEqual(['/', '/tmp']);
    const unsupported = exitCode !== 0;
    count(asked !== null || unsupported, row, `does nothing outside (exit code ${exitCode})`);
    if (asked === null && !unsupported) expect(['outside-087', 'outside-088', 'privileged-191']).toContain(row.id);
  });

  it.each(of('harmless'))('$id requires no approval: $command', async (row) => {
    const { bash } = policyDoor();
    expect((await bash(row.command)).asked).toBeNull();
    count(true, row, '');
  });

  afterAll(() => printStatistics(`bash-hostile: ${tally.rows} rows, ${tally.asExpected} as expected, exceptions:`, tally.exceptions));
});
