import { describe, expect, it } from 'vitest';
import { errorResult, textResult, type ToolResult } from '../../src/core/tools/tool.ts';
import type { InnerOutcome, InnerCalls } from '../../src/ports/inner-calls.ts';
import { sandbox } from '../sandbox/harness.ts';
import { toolBench } from './run-tool.ts';

const signal = new AbortController().signal;
const context = { signal, sandbox };

/** Results by tool name; a tool without one is unknown. */
function callsOf(answers: Record<string, (args: unknown) => ToolResult | 'waits'>) {
  const made: [string, unknown][] = [];
  const calls: InnerCalls = {
    tools: Object.keys(answers).map((name) => ({
      name,
      canonical: `s.${name}`,
      aliases: [],
      description: '',
      inputSchema: { type: 'object' },
    })),
    replay: { now: 1_000, seed: 'call_1' },
    async call(name, args): Promise<InnerOutcome> {
      made.push([name, args]);
      const result = answers[name]?.(args) ?? errorResult('unknown_tool', `There is no tool "${name}". Did you mean list?`);
      return result === 'waits' ? { waits: true } : { waits: false, result };
    },
  };
  return { calls, made };
}

const run = (code: string, answers: Parameters<typeof callsOf>[0] = {}) => {
  const { calls, made } = callsOf(answers);
  return toolBench({ ...context, calls })
    .run('builtin.run_code', { code })
    .then((result) => ({ ...result, made }));
};

const list = () =>
  textResult(
    JSON.stringify([
      { id: 1, open: true },
      { id: 2, open: false },
    ]),
  );

describe('run_code', () => {
  it('returns the value of the code, not the results of its calls', async () => {
    const { isError, text, structuredContent, made } = await run(
      'const { output } = await tools.list({ page: 1 }); return { open: JSON.parse(output).filter((one) => one.open).length };',
      { list },
    );
    expect({ isError, text, structuredContent, made }).toEqual({
      isError: false,
      text: '{"open":1}',
      structuredContent: { open: 1 },
      made: [['list', { page: 1 }]],
    });
  });

  it('shows the printed output as well', async () => {
    expect((await run('console.log("seen", 1); return "done"')).text).toBe('done\nconsole:\nseen 1');
  });

  it('accepts a code fence around the code', async () => {
    expect((await run('```js\nreturn 1 + 1\n```')).text).toBe('2');
  });

  it('says so if nothing is returned or printed', async () => {
    expect((await run('await tools.list()', { list })).text).toContain('The code returned nothing');
  });

  it('provides every name that the code calls, also those that only call resolution knows', async () => {
    const { text, made } = await run('return [(await tools["s.list"]({})).error, (await tools.lsit({})).code]', { list });
    expect(made.map(([name]) => name)).toEqual(['s.list', 'lsit']);
    expect(JSON.parse(text)).toEqual(['There is no tool "s.list". Did you mean list?', 'unknown_tool']);
  });

  it('starts with a thousand tools', async () => {
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`tool_${index}`, list]));
    expect((await run('return Object.keys(tools).length', many)).text).toBe('1000');
  });

  it('a failed call is data, and the code continues', async () => {
    const fail = () => errorResult('denied', 'Not run: a person said no.');
    const { text } = await run('const r = await tools.fail({}); return [r.success, r.code, r.error]', { fail });
    expect(JSON.parse(text)).toEqual([false, 'denied', 'Not run: a person said no.']);
  });

  it.each<[string, string, RegExp]>([
    ['syntax', 'return 1 +\n* 2', /SyntaxError: .*\(line \d\)[\s\S]*No tool was called before the failure\. Fix the code/],
    ['a throw', 'await tools.list({});\nthrow new Error("no such issue")', /no such issue[\s\S]*already made and are not undone: list\./],
    ['what cannot be sent', 'return () => 1', /returned a function; return plain data/],
    ['no end', 'while (true) {}', /No tool was called before the failure/],
    ['many calls', 'for (let i = 0; i < 3; i++) await tools.list({}); null.x', /not undone: list \(3 times\)/],
  ])('%s is reported with what to do', async (_what, code, said) => {
    const { isError, text } = await run(code, { list });
    expect(isError).toBe(true);
    expect(text).toMatch(said);
  });

  it('waits while one of its calls waits, and has no result then', async () => {
    expect(await run('return await tools.ask({})', { ask: () => 'waits' })).toMatchObject({ suspended: true });
  });

  it('fails in a context without a sandbox', async () => {
    const result = await toolBench({ signal }).run('builtin.run_code', { code: 'return 1' });
    expect(result).toMatchObject({ isError: true, code: 'tool_error', text: expect.stringContaining('Call the tools one by one.') });
  });
});
