import { describe, expect, it } from 'vitest';
import { bash, maxScriptMs } from '../../src/tools/bash.ts';
import { put, toolBench } from './run-tool.ts';
import { shell } from './shell.ts';
import { onBusyMachine } from '../busy-machine.ts';
import { otherTasks } from '../wait-for.ts';

describe('the shell', () => {
  it('accepts any timeout, and its schema names the one that it uses at most', async () => {
    const { timeout } = (bash.inputSchema as { properties: Record<string, { description?: string; default?: number; maximum?: number }> })
      .properties;
    expect(timeout).toMatchObject({ default: maxScriptMs, description: expect.stringContaining(String(maxScriptMs)) });
    const { run } = shell();
    expect(await run('builtin.bash', { command: 'echo hello', timeout: 1_200_000 })).toMatchObject({
      isError: false,
      text: 'hello\nexit code: 0',
    });
  });

  it('returns stdout, stderr and the exit code', async () => {
    const { run } = shell();
    expect(await run('builtin.bash', { command: 'echo hello; echo oh >&2; exit 3' })).toEqual({
      isError: false,
      content: [{ type: 'text', text: 'hello\nstderr:\noh\nexit code: 3' }],
      text: 'hello\nstderr:\noh\nexit code: 3',
      structuredContent: { stdout: 'hello\n', stderr: 'oh\n', exitCode: 3 },
    });
  });

  it('works on the files of the session, which persist', async () => {
    const { files, sh } = shell();
    await sh('mkdir -p src && echo one > src/x && echo two >> src/x && cp src/x y && mv y z && rm a.txt && chmod 755 z');
    expect(new TextDecoder().decode(files.read('/workspace/z'))).toBe('one\ntwo\n');
    expect(files.stat('/workspace/z')?.mode).toBe(0o755);
    expect(files.stat('/workspace/a.txt')).toBeNull();
    expect((await sh('cat src/x | sort -r; ls; pwd; echo ~')).out).toBe('two\none\nself.sh\nsrc\nz\n/workspace\n/workspace\n');
  });

  it('preserves bytes', async () => {
    const { files, sh } = shell();
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    files.write('/workspace/bin', bytes);
    await sh('cat bin > copy; cp bin copy2; base64 bin > text; base64 -d text > copy3');
    for (const copy of ['copy', 'copy2', 'copy3']) expect([...files.read(`/workspace/${copy}`)], copy).toEqual([...bytes]);
    put(files, '/workspace/utf', 'žluťoučký 🐎\n');
    await sh('cat utf > utf2; echo "řeka 🐎" > utf3');
    expect(new TextDecoder().decode(files.read('/workspace/utf2'))).toBe('žluťoučký 🐎\n');
    expect(new TextDecoder().decode(files.read('/workspace/utf3'))).toBe('řeka 🐎\n');
  });

  it('discards writes to devices, and rejects writes to its own folders', async () => {
    const { files, sh } = shell();
    expect(
      (
        await sh(
          'echo x > /dev/null; echo y >> /dev/null; cat /dev/null; echo a > /dev/stdout; echo b > /dev/stderr; cat nope 2>/dev/null; ls /bin/ls',
        )
      ).out,
    ).toBe('a\n/bin/ls\n');
    for (const command of ['echo x > /bin/ls', 'rm /bin/ls', 'mkdir /dev/x', 'mv a.txt /usr/a.txt', 'cp a.txt /proc/a']) {
      const { exitCode, err } = await sh(command);
      expect([command, exitCode === 0, err === '']).toEqual([command, false, false]);
    }
    expect(files.paths()).toEqual(['/', '/tmp', '/workspace', '/workspace/a.txt', '/workspace/self.sh']);
  });

  it('starts in the given directory, with fresh state for every call', async () => {
    const { run, files } = shell();
    put(files, '/workspace/sub/f', '1');
    expect((await run('builtin.bash', { command: 'pwd; x=5; cd /', cwd: 'sub' })).text).toContain('/workspace/sub');
    expect((await run('builtin.bash', { command: 'pwd; echo "x=$x"' })).text).toContain('/workspace\nx=\n');
    expect(await run('builtin.bash', { command: 'pwd', cwd: 'nowhere' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('/workspace/nowhere does not exist'),
    });
    expect(await run('builtin.bash', { command: 'pwd', cwd: 'a.txt' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('is a file'),
    });
  });

  it('rejects links with a reason', async () => {
    const { files, sh } = shell();
    for (const command of ['ln -s /etc/passwd l', 'ln -s / r', 'ln a.txt hard']) {
      expect(await sh(command)).toMatchObject({ exitCode: 1, err: expect.stringContaining('links are not supported') });
    }
    expect(files.list('/workspace').map((entry) => entry.name)).toEqual(['a.txt', 'self.sh']);
  });

  it('keeps the output printed before a redirection that cannot be opened', async () => {
    const { out, err, exitCode } = await shell().sh('echo before; echo x > a.txt/below; echo after');
    expect([out, exitCode]).toEqual(['before\n', 1]);
    expect(err).toContain('ENOTDIR');
  });

  it('shows head and tail of long output', async () => {
    const { files, sh } = shell();
    put(files, '/workspace/long', `first\n${'middle\n'.repeat(20_000)}last\n`);
    const { out, text } = await sh('cat long');
    expect(out.startsWith('first\n') && out.endsWith('last\n')).toBe(true);
    expect(text).toMatch(/\[… \d+ of 140011 bytes left out …\]/);
    expect(text.length).toBeLessThan(64 * 1024);
  });

  it('ends a busy script by count and a sleeping one by time', { retry: onBusyMachine }, async () => {
    const { sh } = shell();
    expect(await sh('echo started; while true; do :; done')).toMatchObject({
      isError: true,
      code: 'limit_reached',
      out: 'started\n',
      text: expect.stringContaining('fewer commands'),
    });
    const { run } = toolBench();
    expect(await run('builtin.bash', { command: 'echo started; sleep 100', timeout: 1000 })).toMatchObject({
      isError: true,
      code: 'timeout',
      structuredContent: { stdout: 'started\n', exitCode: 124 },
    });
  });

  it('ends when the call is aborted', async () => {
    const controller = new AbortController();
    const { run } = toolBench({ signal: controller.signal });
    const running = run('builtin.bash', { command: 'sleep 100' });
    void otherTasks().then(() => controller.abort(new Error('cancelled')));
    expect((await running).structuredContent).toMatchObject({ exitCode: expect.not.closeTo(0) });
  });

  it('saves the changes made before a timeout, and none of a cancelled script', async () => {
    const { run, files } = toolBench();
    await run('builtin.bash', { command: 'echo 1 > done; sleep 100; echo 2 > never', timeout: 300 });
    expect(files.paths().slice(3)).toEqual(['/workspace/done']);
    const controller = new AbortController();
    const cancelled = toolBench({ signal: controller.signal });
    const running = cancelled.run('builtin.bash', { command: 'echo 1 > done; sleep 100' });
    void otherTasks().then(() => controller.abort(new Error('cancelled')));
    await running;
    expect(cancelled.files.paths().slice(3)).toEqual([]);
  });

  it('saves the changes of concurrent scripts', async () => {
    const { run, files } = toolBench();
    const scripts = [1, 2, 3].map((number) => `echo ${number} >> log; sleep 0.01; echo ${number} > own${number}`);
    await Promise.all(scripts.map((command) => run('builtin.bash', { command })));
    expect(new TextDecoder().decode(files.read('/workspace/log')).split('\n').toSorted()).toEqual(['', '1', '2', '3']);
    expect(files.paths().slice(3)).toEqual(['log', 'own1', 'own2', 'own3'].map((name) => `/workspace/${name}`));
  });

  it('reports changes that conflict with those of another call, and saves none', { retry: onBusyMachine }, async () => {
    const { run, files } = shell();
    // The interpreter is loaded with the first script.
    await run('builtin.bash', { command: 'true' });
    const running = run('builtin.bash', { command: 'echo more >> a.txt; echo 1 > b; sleep 0.4' });
    setTimeout(() => files.remove('/workspace/a.txt'), 50);
    expect(await running).toMatchObject({ isError: true, code: 'tool_error', text: expect.stringContaining('changed by another call') });
    expect(files.stat('/workspace/b')).toBeNull();
  });

  it('does not change the globals of the isolate', async () => {
    const before = [globalThis.Function, globalThis.setTimeout, globalThis.WebAssembly, globalThis.process];
    await shell().sh('echo hi');
    expect([globalThis.Function, globalThis.setTimeout, globalThis.WebAssembly, globalThis.process]).toEqual(before);
  });
});
