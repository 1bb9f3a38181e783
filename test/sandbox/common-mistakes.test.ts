/** Common mistakes in code that people and models write: each works anyway or gets an error that says what to write. */
import { describe, expect, it } from 'vitest';
import { runIn, sandbox } from './harness.ts';

const threw = async (code: string): Promise<string> => {
  const end = await runIn(code);
  expect(end).toMatchObject({ end: 'threw' });
  return 'message' in end ? end.message : '';
};

describe('a call that was not awaited', () => {
  it.each([
    'return tools.read_file({ path: "a" }).output',
    'const file = tools.read_file({ path: "a" });\nif (!file.success) return 1',
    'return { file: tools.read_file({ path: "a" }) }',
    'return [tools.read_file({ path: "a" })]',
  ])('throws a helpful error where its result is read: %j', async (code) => {
    expect(await threw(code)).toContain('write await in front of the call');
  });

  it('is awaited when it is returned, and is an ordinary promise', async () => {
    expect(await runIn('return tools.read_file({ path: "a" })')).toMatchObject({
      end: 'passed',
      result: { content: [{ text: 'text of a' }] },
    });
    const code =
      'const call = tools.read_file({ path: "a" }); return [call instanceof Promise, (await Promise.all([call]))[0].output, await call.then((file) => file.output)]';
    expect(await runIn(code)).toMatchObject({ end: 'returned', value: [true, 'text of a', 'text of a'] });
  });
});

describe('a canonical name', () => {
  const tools = ['read_file', 'builtin.read_file', 'docs', 'docs.search', '__proto__.x'];

  it('can be called in brackets or as a JavaScript member', async () => {
    const code = 'return [await tools["builtin.read_file"]({}), await tools.builtin.read_file({})].length';
    const { end, calls } = await runIn.withCalls(code, { tools });
    expect([end, calls.map(({ name }) => name)]).toEqual([
      { end: 'returned', value: 2, console: '' },
      ['builtin.read_file', 'builtin.read_file'],
    ]);
  });

  it('hides no tool and reaches no prototype', async () => {
    const code = 'return [typeof tools.docs, typeof tools.docs.search, typeof ({}).x, Object.keys(tools).length]';
    expect(await runIn(code, { tools })).toMatchObject({ value: ['function', 'undefined', 'undefined', tools.length] });
  });
});

describe('an unavailable global', () => {
  it.each(['return await fetch("https://a.example")', 'const fs = require("fs")', 'return read_file({})'])(
    'is reported with what is available: %s',
    async (code) => {
      expect(await threw(code)).toMatch(
        /^ReferenceError: \w+ is not defined; available are args, console and the tools, called as await tools\.<name>\(\{…\}\) \(line 1\)$/,
      );
    },
  );

  it('an early end of the code is reported with its last line', async () => {
    expect(await sandbox.check('const a = 1;\nreturn (')).toEqual({
      line: 2,
      message: 'the code ends too early: a bracket or block is not closed',
    });
    expect(await sandbox.check('if (true) {')).toEqual({ line: 1, message: expect.any(String) });
    expect(await sandbox.check('const b = ;')).toMatchObject({ line: 1, message: expect.stringContaining("';'") });
  });
});
