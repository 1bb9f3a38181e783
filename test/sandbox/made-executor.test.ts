/** Made tools as `callTool` runs them. */
import { describe, expect, it } from 'vitest';
import type { EditionTool } from '../../src/core/toolset/edition-tool.ts';
import { contentText, textResult } from '../../src/core/tools/tool.ts';
import type { InnerOutcome, InnerCalls } from '../../src/ports/inner-calls.ts';
import type { ToolContext } from '../../src/ports/tool-executor.ts';
import { createMadeExecutor } from '../../src/sandbox/made-executor.ts';
import { sandbox } from './harness.ts';

const executor = createMadeExecutor();
const inputSchema = { type: 'object', properties: { path: { type: 'string' }, times: { type: 'number', default: 2 } } };

function callsOf(answer: (name: string, args: unknown) => InnerOutcome): InnerCalls {
  const tools = [{ name: 'read_file', canonical: 'builtin.read_file', aliases: [], description: '', inputSchema: {} }];
  return { tools, replay: { now: 0, seed: 'x' }, call: async (name, args) => answer(name, args) };
}

async function run(
  implementation: string,
  args: Record<string, unknown> = {},
  calls: InnerCalls | null = callsOf(() => ({ waits: false, result: textResult('text') })),
) {
  // The executor reads no other fields of the tool and the context.
  const tool = { canonical: 'made.report', inputSchema, made: { implementation, uses: [] } } as unknown as EditionTool;
  const answer = await executor.execute(tool, args, { signal: new AbortController().signal, calls, sandbox } as ToolContext);
  return { ...answer, text: contentText(answer.content) };
}

describe('a made tool', () => {
  it('returns the text that its code returns', async () => {
    expect(await run('return (await tools.read_file({ path: args.path })).output', { path: 'a' })).toMatchObject({
      isError: false,
      text: 'text',
    });
  });

  it('calls its tools by the names in its code: own, canonical, and any spelling of them', async () => {
    const called: string[] = [];
    const calls = callsOf((name) => {
      called.push(name);
      return { waits: false, result: textResult('text') };
    });
    const code = 'for (const name of args.names) await tools[name]({}); return (await tools.ReadFile({})).output';
    expect(await run(code, { names: ['read_file', 'builtin.read_file'] }, calls)).toMatchObject({ isError: false, text: 'text' });
    expect(called).toEqual(['read_file', 'builtin.read_file', 'ReadFile']);
  });

  it('returns data as data, also if it looks like a failed result', async () => {
    const answer = await run("return { success: false, error: 'x' }");
    expect(answer).toMatchObject({ isError: false, structuredContent: { success: false, error: 'x' } });
  });

  it('gets the defaults of its parameters', async () => {
    expect((await run('return args')).structuredContent).toEqual({ times: 2 });
    expect((await run('return args', { times: 5 })).structuredContent).toEqual({ times: 5 });
  });

  it('adds a hint only if it did nothing at all', async () => {
    const hint = '[made.report called no tool and returned nothing. Its code is the body of a function; end it with `return`.]';
    expect((await run('async function main() { return await tools.read_file({}) }')).content).toEqual([
      { type: 'text', text: 'null' },
      { type: 'text', text: hint },
    ]);
    expect((await run('await tools.read_file({})')).text).toBe('null');
    expect((await run('return 0')).text).toBe('0');
  });

  it('returns console output apart from its value', async () => {
    expect((await run("console.log('seen'); return 'done'")).content).toEqual([
      { type: 'text', text: 'done' },
      { type: 'text', text: 'console:\nseen' },
    ]);
  });

  it('fails with its name, the message and the line', async () => {
    expect(await run("\nthrow new Error('no')")).toMatchObject({
      isError: true,
      code: 'tool_error',
      text: 'made.report failed: Error: no (line 2)',
    });
    expect(await run('while (true) {}')).toMatchObject({ isError: true, code: 'timeout' });
    expect(await run('await new Promise(() => {})')).toMatchObject({ isError: true, code: 'limit_reached' });
  });

  it('is suspended while a call that it made waits', async () => {
    expect(
      await run(
        'return await tools.read_file({})',
        {},
        callsOf(() => ({ waits: true })),
      ),
    ).toMatchObject({ suspended: true });
  });

  it('returns an error where no tool can be called', async () => {
    expect(await run('return 1', {}, null)).toMatchObject({ isError: true, code: 'tool_error' });
  });
});
