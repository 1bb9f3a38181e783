/** Code in the sandbox: its inputs, its outputs, and how it ends. */
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { errorResult, textResult } from '../../src/core/tools/tool.ts';
import type { InnerOutcome } from '../../src/ports/inner-calls.ts';
import { runIn, sandbox } from './harness.ts';
import { maxSandboxArgumentBytes, maxSandboxConsoleBytes } from '../../src/sandbox/machine.ts';
import { onBusyMachine } from '../busy-machine.ts';
import { otherTasks } from '../wait-for.ts';
import { runs } from '../selection.ts';

const ok = (text: string): InnerOutcome => ({ waits: false, result: textResult(text) });

describe('code in the sandbox', { retry: onBusyMachine }, () => {
  it('returns what its body returns', async () => {
    expect(await runIn('return args.a + args.b', { args: { a: 1, b: 2 } })).toEqual({ end: 'returned', value: 3, console: '' });
  });

  it('calls tools and reads their results, including failed ones', async () => {
    const answers = [ok('text'), { waits: false as const, result: errorResult('denied', 'no') }];
    const { end, calls } = await runIn.withCalls("return [await tools.read_file({ path: 'a' }), await tools.read_file({ path: 'b' })]", {
      call: () => answers.shift() ?? ok(''),
    });
    const value = [
      { success: true, output: 'text' },
      { success: false, output: '', error: 'no', code: 'denied' },
    ];
    expect(end).toEqual({ end: 'returned', value, console: '' });
    expect(calls.map(({ args }) => args)).toEqual([{ path: 'a' }, { path: 'b' }]);
  });

  it('passes on the result of a call that it returns unchanged, with its images and its failure', async () => {
    const image = { type: 'image' as const, data: 'AA==', mimeType: 'image/png' };
    const result = { isError: false, content: [image], structuredContent: { 2: 'b', 1: 'a', text: '\ud800 ü' } };
    const call = () => ({ waits: false as const, result });
    expect(await runIn('return tools.a()', { tools: ['a'], call })).toEqual({ end: 'passed', result, console: '' });
    expect(await runIn('const r = await tools.a(); console.log(1); return r', { tools: ['a'], call })).toEqual({
      end: 'passed',
      result,
      console: '1',
    });
    const failed = errorResult('denied', 'no');
    expect(await runIn('return tools.a()', { tools: ['a'], call: () => ({ waits: false, result: failed }) })).toMatchObject({
      result: failed,
    });
  });

  it('takes a result that the code changed or imitates for data', async () => {
    expect(await runIn('const r = await tools.a(); r.output = "x"; return r', { tools: ['a'] })).toMatchObject({
      end: 'returned',
      value: { output: 'x' },
    });
    expect(await runIn('return { ...(await tools.a()) }', { tools: ['a'] })).toMatchObject({ end: 'returned', value: { success: true } });
    expect(await runIn('await tools.a(); return "@1\\n{}"', { tools: ['a'] })).toMatchObject({ end: 'returned', value: '@1\n{}' });
    expect(await runIn('await tools.a(); return { toJSON: () => "@1" }', { tools: ['a'] })).toMatchObject({ end: 'returned', value: '@1' });
    const stolen = 'WeakMap.prototype.get = () => 1; WeakMap.prototype.set = () => 1; await tools.a(); return { a: 1 }';
    expect(await runIn(stolen, { tools: ['a'] })).toMatchObject({ end: 'returned', value: { a: 1 } });
  });

  it('gives the stdout of a shell as the output', async () => {
    const result = { isError: false, content: [{ type: 'text' as const, text: 'hi\nexit code: 0' }] };
    expect(
      await runIn('return (await tools.bash({})).output', { tools: ['bash'], call: () => ({ waits: false, result, output: 'hi\n' }) }),
    ).toMatchObject({ value: 'hi\n' });
  });

  it('gives the same run again with the same clock and seed', async () => {
    const code = 'return [Date.now(), new Date().toISOString(), new Date().getTimezoneOffset(), Math.random(), Math.random()]';
    const first = await runIn(code);
    expect(await runIn(code)).toEqual(first);
    expect(first).toMatchObject({
      value: [Date.UTC(2026, 0, 2, 3, 4, 5), '2026-01-02T03:04:05.000Z', 0, expect.any(Number), expect.any(Number)],
    });
    expect(await runIn(code, { seed: 'call_2' })).not.toEqual(first);
  });

  it('delivers results one at a time, in order of arrival', async () => {
    const first = Promise.withResolvers<InnerOutcome>();
    const code =
      'const order = []; await Promise.all(["a", "b"].map(async (path) => { await tools.read_file({ path }); order.push(path); })); return order';
    const run = runIn(code, {
      async call(_name, args) {
        if (JSON.stringify(args).includes('"a"')) return await first.promise;
        void otherTasks().then(() => first.resolve(ok('late')));
        return ok('soon');
      },
    });
    expect(await run).toMatchObject({ end: 'returned', value: ['b', 'a'] });
  });

  it('starts all calls in order without waiting for each other', async () => {
    const all = Array.from({ length: 40 }, () => Promise.withResolvers<InnerOutcome>());
    const { end, calls } = await runIn.withCalls(
      'return (await Promise.all(Array.from({ length: 40 }, (_, at) => tools.read_file({ at })))).length',
      {
        async call(_name, args) {
          const { at } = args as { at: number };
          // Answered in reverse order.
          if (at === 39) all[at]?.resolve(ok(''));
          const answer = await all[at]?.promise;
          all[at - 1]?.resolve(ok(''));
          return answer ?? ok('');
        },
      },
    );
    expect(end).toMatchObject({ end: 'returned', value: 40 });
    expect(calls.map(({ args }) => args)).toEqual(Array.from({ length: 40 }, (_, at) => ({ at })));
  });

  it('waits for calls without await, so that nothing runs after its result', async () => {
    let ended = false;
    const end = await runIn('void tools.read_file({}); return 1', {
      async call() {
        await otherTasks();
        ended = true;
        return ok('');
      },
    });
    expect(end).toMatchObject({ end: 'returned', value: 1 });
    expect(ended).toBe(true);
  });

  it('is suspended once every remaining call waits, and not before', async () => {
    const call = (_name: string, args: unknown): InnerOutcome => (JSON.stringify(args).includes('wait') ? { waits: true } : ok('done'));
    const code = 'const [a] = await Promise.all([tools.read_file({}), tools.read_file({ wait: 1 })]); return a';
    const { end, calls } = await runIn.withCalls(code, { call });
    expect(end).toEqual({ end: 'suspended', console: '' });
    expect(calls).toHaveLength(2);
  });

  it('ends when its signal aborts, whatever it waits for', async () => {
    const controller = new AbortController();
    const call = (): Promise<never> => {
      setImmediate(() => controller.abort());
      return new Promise(() => {});
    };
    expect(await runIn('await tools.read_file({})', { signal: controller.signal, call })).toEqual({ end: 'aborted', console: '' });
  });

  it("names the author's line where it throws", async () => {
    expect(await runIn('const a = 1;\n\nthrow new Error("no " + a)')).toMatchObject({ end: 'threw', message: 'Error: no 1 (line 3)' });
  });

  it('names the line of a syntax error and runs nothing', async () => {
    expect(await sandbox.check('const a = 1;\nlet b = ;')).toMatchObject({ line: 2 });
    expect(await sandbox.check('return 10n')).toMatchObject({ line: 1 });
    expect(await sandbox.check('return await tools.x()')).toBeNull();
  });

  it.each([
    'return 1 }, async function () {',
    '} in\nfunction () {',
    '} + function () {',
    '})(), (async function () {',
    '}; {',
    'return 1 } } {',
    'end_: { return 1 } } end_: {',
  ])('accepts only the body of one function: %s', async (source) => {
    expect(await sandbox.check(source)).not.toBeNull();
    expect(await runIn(source)).toMatchObject({ end: 'threw' });
  });

  it('collects console output up to a limit and continues', async () => {
    const end = await runIn(
      "console.log('a', { b: 1 }, undefined); for (let n = 0; n < 100; n++) console.warn('x'.repeat(1000)); return 1",
    );
    expect(end).toMatchObject({ end: 'returned', value: 1 });
    expect(end.console.startsWith('a {"b":1} undefined\nxxx')).toBe(true);
    expect(end.console.length).toBeLessThan(maxSandboxConsoleBytes + 100);
  });

  it('limits the total length of the arguments in flight, not over time', async () => {
    const most = maxSandboxArgumentBytes;
    // A clock that stands still, as on Cloudflare while code runs: on a busy machine the time limit would end the run first.
    const clock = vi.spyOn(Date, 'now').mockReturnValue(0);
    const many = `const s = 'x'.repeat(${most / 8}); for (let n = 0; n < 10; n++) tools.read_file({ path: s });`;
    expect(await runIn.withCalls(many)).toMatchObject({ end: { end: 'limit', limit: 'arguments' }, calls: [] });
    const each = `const s = 'x'.repeat(${most / 8}); for (let n = 0; n < 10; n++) await tools.read_file({ path: s }); return 'done'`;
    const answers = { call: () => ok('read') };
    expect(await runIn(each, answers)).toMatchObject({ end: 'returned', value: 'done' });
    clock.mockRestore();
  });

  it('lets other work run between its jobs', async () => {
    let others = 0;
    const timer = setInterval(() => others++, 1);
    expect(await runIn('for (;;) await null')).toMatchObject({ end: 'limit', limit: 'jobs' });
    clearInterval(timer);
    expect(others).toBeGreaterThan(1);
  });

  it('queues runs beyond the number of machines', async () => {
    const runs = Array.from({ length: 60 }, (_, at) => runIn('await tools.read_file({}); return args.at', { args: { at } }));
    expect((await Promise.all(runs)).map((end) => (end.end === 'returned' ? end.value : end))).toEqual(runs.map((_, at) => at));
  });

  it('passes any arguments and returns them unchanged', async () => {
    const plain = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);
    await fc.assert(
      fc.asyncProperty(plain, async (value) => {
        const { end, calls } = await runIn.withCalls(
          'const r = await tools.read_file({ value: args.value }); return { value: args.value }',
          { args: { value } },
        );
        const text = JSON.stringify({ value }).replaceAll(/\\ud[89a-f]../g, '�');
        expect(JSON.stringify(calls[0]?.args)).toBe(text);
        expect(end.end === 'returned' && JSON.stringify(end.value)).toBe(text);
      }),
      { numRuns: runs(60) },
    );
  });
});
