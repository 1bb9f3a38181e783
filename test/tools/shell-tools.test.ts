/** What the shell offers besides files: other tools, the network and its own limits. */
import { recordOf } from '../../src/core/json/wire-value.ts';
import { describe, expect, it } from 'vitest';
import { errorResult, textResult, type ToolResult } from '../../src/core/tools/tool.ts';
import type { FileSystem } from '../../src/ports/file-system.ts';
import type { InnerOutcome, InnerCalls } from '../../src/ports/inner-calls.ts';
import type { ResultStore } from '../../src/ports/result-store.ts';
import { saveOutput, maxStoredOutputs } from '../../src/tools/bash.ts';
import { toolBench } from './run-tool.ts';

type Call = { name: string; args: unknown; files: FileSystem | undefined };

function innerCalls(answer: (call: Call) => InnerOutcome): InnerCalls & { made: Call[] } {
  const made: Call[] = [];
  return {
    made,
    tools: [
      {
        name: 'add',
        canonical: 'local.add',
        // A wire name that is an alias is also listed as one.
        aliases: ['add', 'plus'],
        description: 'Adds numbers.',
        inputSchema: { type: 'object', properties: { a: { type: 'number' }, note: { type: 'string' }, tags: { type: 'array' } } },
      },
      { name: 'mail', canonical: 'office.mail', aliases: [], description: 'Sends a letter.', inputSchema: { type: 'object' } },
    ],
    replay: { now: 0, seed: '' },
    async call(name, args, options) {
      const call = { name, args, files: options?.files };
      made.push(call);
      return answer(call);
    },
  };
}

const done = (result: ToolResult): InnerOutcome => ({ waits: false, result });
const noResults: ResultStore = { keep: () => undefined, read: () => null } as unknown as ResultStore;

describe('the tool command', () => {
  it('calls a tool with arguments in each form', async () => {
    const calls = innerCalls(() => done(textResult('ok')));
    const { run } = toolBench({ calls });
    const { structuredContent } = await run('builtin.bash', {
      command: `tool add --json '{"a": 1, "note": "ž"}'; tool add a=2 note=3 tags='["x"]'; echo '{"a": 3, "note": "ř"}' | tool add`,
    });
    expect(structuredContent).toMatchObject({ stdout: 'ok\nok\nok\n', exitCode: 0 });
    expect(calls.made.map(({ args }) => args)).toEqual([
      { a: 1, note: 'ž' },
      { a: 2, note: '3', tags: ['x'] },
      { a: 3, note: 'ř' },
    ]);
  });

  it('works on the files of the script', async () => {
    const calls = innerCalls(({ files }) => {
      files?.write('/workspace/made', new TextEncoder().encode('by a tool'));
      return done(textResult(new TextDecoder().decode(files?.read('/workspace/in'))));
    });
    const { run, files } = toolBench({ calls });
    expect(recordOf((await run('builtin.bash', { command: 'echo mine > in; tool add; cat made' })).structuredContent).stdout).toBe(
      'mine\nby a tool',
    );
    expect(new TextDecoder().decode(files.read('/workspace/made'))).toBe('by a tool');
  });

  it('reports errors on stderr and by its exit code', async () => {
    const calls = innerCalls(({ name }) => done(errorResult(name === 'add' ? 'tool_error' : 'unknown_tool', `${name} went wrong`)));
    const { run } = toolBench({ calls });
    const { structuredContent } = await run('builtin.bash', {
      command: 'tool add; echo $?; tool nope; echo $?; tool add x; echo $?; tool add a=x',
    });
    expect(structuredContent).toMatchObject({ stdout: '1\n127\n2\n', exitCode: 2 });
    expect(recordOf(structuredContent).stderr).toContain('add went wrong\nnope went wrong\n');
    expect(recordOf(structuredContent).stderr).toContain('a: x is not number.');
  });

  it('prints the structured result when asked to', async () => {
    const calls = innerCalls(() => done({ isError: false, content: [{ type: 'text', text: 'three' }], structuredContent: { sum: 3 } }));
    const { run } = toolBench({ calls });
    expect(
      recordOf((await run('builtin.bash', { command: 'tool add a=1 --structured | jq .sum; tool add' })).structuredContent).stdout,
    ).toBe('3\nthree\n');
  });

  it('lists, finds and explains', async () => {
    const { run } = toolBench({ calls: innerCalls(() => done(textResult(''))) });
    const found = await run('builtin.bash', { command: 'tool --list; tool find letter; tool --help plus; tool find zebra' });
    const { stdout } = recordOf(found.structuredContent);
    expect(stdout).toContain('add\tAdds numbers.\nmail\tSends a letter.\nmail\tSends a letter.\nadd (aliases: plus), local.add');
    expect((await toolBench().run('builtin.bash', { command: 'tool add' })).text).toContain('no other tools can be called');
  });

  it('ends the script when a call has to wait, and saves none of its files', async () => {
    const calls = innerCalls(() => ({ waits: true }));
    const { run, files } = toolBench({ calls });
    const answer = await run('builtin.bash', { command: 'echo 1 > before; tool mail; echo 2 > after; tool add' });
    expect(answer).toMatchObject({ suspended: true });
    expect(calls.made).toHaveLength(1);
    expect(files.list('/workspace')).toEqual([]);
  });

  it('does not count toward the timeout of the script', async () => {
    const slow = (): Promise<InnerOutcome> => new Promise((resolve) => setTimeout(() => resolve(done(textResult('slow'))), 1_300));
    const calls: InnerCalls = { ...innerCalls(() => done(textResult(''))), call: slow };
    const { run } = toolBench({ calls });
    // The interpreter's own timeout would end it a second later.
    const waited = await run('builtin.bash', { command: 'tool add; echo on', timeout: 200 });
    expect(waited.structuredContent).toMatchObject({ stdout: 'slow\non\n', exitCode: 0 });
    const { code } = await run('builtin.bash', { command: 'tool add; while true; do :; done', timeout: 200 });
    expect(code).toBe('timeout');
  });

  it('is rejected after the script has sent a request, which would be sent twice', async () => {
    const calls = innerCalls(() => done(textResult('')));
    const { run } = toolBench({ calls, fetch: async () => new Response('') });
    const { structuredContent } = await run('builtin.bash', {
      command: 'curl -s https://a.example/; tool add; curl -s -d x https://a.example/; tool add',
    });
    expect(structuredContent).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('has already sent POST https://a.example/') });
    expect(calls.made).toHaveLength(1);
  });
});

describe('curl and wget', () => {
  it('go through the outbound client', async () => {
    const sent: { method: string; url: string; body: string; key: string | null }[] = [];
    const { run, files } = toolBench({
      async fetch(request) {
        sent.push({ method: request.method, url: request.url, body: await request.text(), key: request.headers.get('idempotency-key') });
        return new Response(new Uint8Array([0xff, 0, 10]), { headers: { 'content-type': 'x/y', 'set-cookie': 'a=b' } });
      },
    });
    const { structuredContent } = await run('builtin.bash', {
      command: `curl -sS https://a.example/x -o f; curl -s -X POST -d '{"ž":1}' https://b.example -o g; wget -q https://c.example/d/h; wget -qO- https://d.example | wc -c; curl -sI https://e.example`,
    });
    expect(structuredContent).toMatchObject({ exitCode: 0, stderr: '' });
    expect(sent.map(({ method, url, body }) => `${method} ${url} ${body}`)).toEqual([
      'GET https://a.example/x ',
      'POST https://b.example/ {"ž":1}',
      'GET https://c.example/d/h ',
      'GET https://d.example/ ',
      'HEAD https://e.example/ ',
    ]);
    expect(sent.map(({ key }) => key)).toEqual([1, 2, 3, 4, 5].map((number) => `call_1.${number}`));
    for (const name of ['f', 'g', 'h']) expect([...files.read(`/workspace/${name}`)], name).toEqual([0xff, 0, 10]);
    expect(recordOf(structuredContent).stdout).not.toContain('set-cookie');
  });

  it('reject credentials, other protocols, forged hosts and bodies that are not text', async () => {
    let asked = 0;
    const { run, files } = toolBench({
      async fetch() {
        asked += 1;
        return new Response('');
      },
    });
    files.write('/workspace/bin', new Uint8Array([0xff, 0xfe]));
    const commands = [
      'curl -u a:b https://a.example',
      "curl -H 'Authorization: Bearer x' https://a.example",
      "curl -H 'Host: internal' https://a.example",
      'curl -b a=b https://a.example',
      'curl file:///etc/passwd',
      'curl https://a:b@a.example',
      'curl --resolve a.example:80:127.0.0.1 http://a.example/',
      'curl -x http://127.0.0.1:3128 http://a.example/',
      'curl --data-binary @bin https://a.example',
      'wget --post-data=x https://a.example',
    ];
    for (const command of commands) {
      const { structuredContent } = await run('builtin.bash', { command });
      expect([command, recordOf(structuredContent).exitCode === 0, recordOf(structuredContent).stderr === '']).toEqual([
        command,
        false,
        false,
      ]);
    }
    expect(asked).toBe(0);
  });

  it('abort a response that is too long or takes too long', async () => {
    const { run } = toolBench({
      fetch: (request) =>
        request.url.includes('slow')
          ? new Promise(() => undefined)
          : Promise.resolve(new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1024 * 1024)) }))),
    });
    const { structuredContent } = await run('builtin.bash', {
      command: 'curl https://a.example/long; curl -m 0.05 https://a.example/slow',
    });
    expect(structuredContent).toMatchObject({
      exitCode: 28,
      stderr: expect.stringMatching(/longer than \d+ bytes[\s\S]*aborted after 50 ms/),
    });
  });
});

describe('a script', () => {
  it('is rejected if it has a background job', async () => {
    const commands = [
      'echo 1 > f; sleep 1 &',
      'f() { echo & }; f',
      'echo $(ls &)',
      ':(){ :|:& };:',
      'nohup ls',
      'sleep 1; jobs',
      'ls; disown',
      'if true; then (ls &) fi',
    ];
    for (const command of commands) {
      const { run, files } = toolBench();
      expect(await run('builtin.bash', { command }), command).toMatchObject({
        isError: true,
        code: 'tool_error',
        text: expect.stringMatching(/^Not run: .*background job/),
      });
      expect(files.list('/workspace'), command).toEqual([]);
    }
    const { run } = toolBench();
    const fine = `echo "a & b" 2>&1 && echo 'c &' &> f; cat f |& cat; echo $((3 & 1)); cat <<E\nx & y\nE\nwait; echo nohup`;
    expect((await run('builtin.bash', { command: fine })).structuredContent).toMatchObject({
      stdout: 'a & b\nc &\n1\nx & y\nnohup\n',
      exitCode: 0,
    });
  });

  it('gives the same result with yield points', async () => {
    const { run } = toolBench();
    const command = `f() { echo "in $?"; return 3; }; false; f; echo $?; until false; do echo "was $?"; break; done
set -e; i=0; while ((i < 3)); do ((i += 1)); false || echo $i; done; while [ $i -lt 5 ]; do i=$((i+1)); continue; done; echo $i
g() { return 4; }; g || echo $?; for x in a b; do echo $x; done | while read y; do echo "<$y>"; done`;
    expect((await run('builtin.bash', { command })).structuredContent).toMatchObject({
      stdout: 'in 1\n3\nwas 1\n1\n2\n3\n5\n4\n<a>\n<b>\n',
      stderr: '',
      exitCode: 0,
    });
  });

  it('lets others run while its loop is busy', async () => {
    const { run } = toolBench();
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 0);
    const { code } = await run('builtin.bash', { command: 'while :; do :; done' });
    clearInterval(timer);
    expect([code, turns > 10]).toEqual(['limit_reached', true]);
  });

  it('reports an unsupported pattern instead of continuing as if nothing had matched', async () => {
    const { run } = toolBench();
    const command = `echo aa b > f; sed -E 's/(.)\\1/x/' f; echo $?; jq -n '"aa" | test("(?=a)")'; echo $?; awk '/(?=a)/' f; echo $?; find . -regex '(?=a)'; echo $?
awk -F'(' '{ print NF }' f; sed -E 's/(a)a/\\1/; s/*x/y/' f; sed 's/a*/x/' f | sed -n '/^[x]/p'; echo $?`;
    const { structuredContent } = await run('builtin.bash', { command });
    expect(String(recordOf(structuredContent).stderr).match(/^\w+: pattern not supported by this shell: \S+/gm)).toEqual(
      expect.arrayContaining([
        'sed: pattern not supported by this shell: (.)\\1',
        'jq: pattern not supported by this shell: (?=a)',
        'awk: pattern not supported by this shell: (?=a)',
        'find: pattern not supported by this shell: (?=a)',
      ]),
    );
    expect(recordOf(structuredContent).stdout).toMatch(/^aa b\n2\nfalse\n2\n2\n2\n1\n/);
  });

  it('saves long output in one of a few files', async () => {
    const { run, files } = toolBench({ results: noResults });
    const { text, structuredContent } = await run('builtin.bash', { command: 'seq 1 20000' });
    expect(text).toContain('bytes of stdout are in /workspace/.tmp/output-call_1.txt');
    expect(recordOf(structuredContent).stdoutFile).toBe('/workspace/.tmp/output-call_1.txt');
    expect(new TextDecoder().decode(files.read('/workspace/.tmp/output-call_1.txt')).split('\n')).toHaveLength(20_001);
    // Without a session the file could not be read.
    const stateless = toolBench();
    expect((await stateless.run('builtin.bash', { command: 'seq 1 20000' })).structuredContent).not.toHaveProperty('stdoutFile');
    expect(stateless.files.list('/workspace')).toEqual([]);
    for (let index = 0; index < 20; index += 1) saveOutput(files, '/workspace/.tmp', `call_${index}.1/é`, 'x');
    expect(files.list('/workspace/.tmp')).toHaveLength(maxStoredOutputs);
    expect(files.stat('/workspace/.tmp/output-call_19.1__.txt')).not.toBeNull();
  });
});
