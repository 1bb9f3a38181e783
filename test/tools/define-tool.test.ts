import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { EditionTool } from '../../src/core/toolset/edition-tool.ts';
import { CanonicalName } from '../../src/core/names/names.ts';
import { Problem } from '../../src/core/problem.ts';
import type { ToolContext } from '../../src/ports/tool-executor.ts';
import { createMemoryFiles } from '../../src/storage/files/memory-files.ts';
import { defineTool, ToolFault, type ToolSpec } from '../../src/tools/define-tool.ts';
import { createCodeExecutor } from '../../src/tools/executor.ts';
import { codeTools, register, toolDefinitions } from '../../src/tools/registry.ts';
import { isConfigurationTool, configurationTools } from '../../src/core/names/reserved-names.ts';
import { checkInput } from '../../src/core/schema/input-schema.ts';

const context = { signal: new AbortController().signal, files: createMemoryFiles() } as unknown as ToolContext;

function tool(spec: Partial<ToolSpec<z.ZodObject>>) {
  return defineTool({ name: 'greet', description: 'Greets.', input: z.object({ name: z.string() }), run: () => 'hi', ...spec });
}

/** Runs a tool as `engine/call/call-tool.ts` does. */
async function run(spec: Partial<ToolSpec<z.ZodObject>>, args: Record<string, unknown> = { name: 'Ada' }) {
  const executor = createCodeExecutor(register([], [tool(spec)]));
  return await executor.execute({ canonical: CanonicalName.parse('local.greet') } as EditionTool, args, context);
}

describe('a tool in code', () => {
  it('may return text, JSON, a result or nothing, synchronously or not', async () => {
    expect(await run({ run: ({ name }) => `hi ${String(name)}` })).toEqual({ isError: false, content: [{ type: 'text', text: 'hi Ada' }] });
    expect(await run({ run: async () => ({ a: 1 }) })).toEqual({
      isError: false,
      content: [{ type: 'text', text: '{"a":1}' }],
      structuredContent: { a: 1 },
    });
    expect(await run({ run: () => [1, 2] })).toEqual({ isError: false, content: [{ type: 'text', text: '[1,2]' }] });
    expect(await run({ run: () => undefined })).toEqual({ isError: false, content: [{ type: 'text', text: 'null' }] });
    const own = { isError: true, content: [{ type: 'text' as const, text: 'no' }] };
    expect(await run({ run: () => own })).toEqual(own);
  });

  it('receives its arguments with defaults filled in, typed by its schema', async () => {
    const counted = defineTool({
      name: 'count',
      description: 'Counts.',
      input: z.object({ to: z.number().int().default(3) }),
      run: ({ to }) => 'x'.repeat(to),
    });
    expect(counted.inputSchema).toEqual({
      type: 'object',
      properties: { to: { type: 'integer', default: 3, minimum: expect.any(Number), maximum: expect.any(Number) } },
      additionalProperties: false,
    });
    expect((await counted.execute({}, context)).content).toEqual([{ type: 'text', text: 'xxx' }]);
  });

  it('does not run with invalid arguments, and reports every issue by path', async () => {
    let ran = false;
    const note = (): string => {
      ran = true;
      return 'x';
    };
    const result = await run({ input: z.object({ list: z.array(z.string()) }), run: note }, { list: [1] });
    expect(result).toMatchObject({ isError: true, code: 'invalid_arguments', issues: [{ path: 'list[0]' }] });
    expect(ran).toBe(false);
  });

  it('returns expected failures as results, and rethrows all others', async () => {
    expect(await run({ run: () => Promise.reject(new ToolFault('Use another name.')) })).toMatchObject({
      isError: true,
      code: 'tool_error',
      content: [{ text: 'Use another name.' }],
    });
    expect(await run({ run: (_, { files }) => String(files.read('/none')) })).toMatchObject({
      code: 'tool_error',
      content: [{ text: 'There is no /none.' }],
    });
    const refused = new Problem('upstream_error', 'Not public.');
    expect(await run({ run: () => Promise.reject(refused) })).toMatchObject({ code: 'tool_error', content: [{ text: 'Not public.' }] });
    await expect(run({ run: () => Promise.reject(new TypeError('x is not a function')) })).rejects.toThrow('not a function');
    await expect(
      run({
        run: () => {
          throw new TypeError('at once');
        },
      }),
    ).rejects.toThrow('at once');
  });

  it('ends at its own timeout even if it ignores the signal', async () => {
    let signal: AbortSignal | undefined;
    const hang = (_: unknown, own: ToolContext): Promise<string> => {
      signal = own.signal;
      return new Promise(() => {});
    };
    const result = await run({ timeoutMs: 5, run: hang });
    expect(result).toMatchObject({ isError: true, code: 'timeout', content: [{ text: expect.stringContaining('local.greet') }] });
    expect(signal?.aborted).toBe(true);
  });

  it('is rejected if its definition is invalid', () => {
    expect(() => tool({ name: 'no spaces' })).toThrow(/"no spaces" cannot be a name/);
    expect(() => tool({ name: 'constructor' })).toThrow(/constructor/);
    expect(() => tool({ aliases: ['Shell'] })).toThrow(/greet.*lower case/);
    expect(() => tool({ aliases: ['a:b'] })).toThrow(/":"/);
    expect(() => tool({ aliases: ['aa', 'aa'] })).toThrow(/duplicate alias/);
    expect(() => tool({ description: ' ' })).toThrow(/description/);
    expect(() => tool({ input: z.string() as unknown as z.ZodObject })).toThrow(/z\.object/);
  });

  it('may have names of other tools, but not their canonical name', () => {
    const terminal = tool({ name: 'terminalRun', aliases: ['bash', 'shell', 'run'] });
    const bash = tool({ name: 'bash', aliases: ['shell'] });
    expect(register([bash], [terminal, bash]).map(({ canonical }) => canonical)).toEqual([
      'builtin.bash',
      'local.terminalRun',
      'local.bash',
    ]);
    expect(() => register([], [terminal, terminal])).toThrow('Two tools are called local.terminalRun. Give one of them another name');
  });
});

describe('the registry', () => {
  it('lists the tools of this code base by canonical name, with their own aliases', () => {
    const others = toolDefinitions().filter(({ canonical }) => !isConfigurationTool(canonical));
    expect(others.map(({ canonical, aliases }) => [canonical, ...aliases])).toEqual([
      ['builtin.bash', 'shell', 'exec'],
      ['builtin.create_tool'],
      ['builtin.delete_file'],
      ['builtin.edit_file'],
      ['builtin.fetch_result'],
      ['builtin.find_tools'],
      ['builtin.http_request'],
      ['builtin.list_directory'],
      ['builtin.read_file'],
      ['builtin.run_code'],
      ['builtin.use_skill'],
      ['builtin.write_file'],
      ['local.calculate'],
      ['local.current_time'],
    ]);
  });

  it('has the thirteen configuration tools, under their reserved names', () => {
    const found = toolDefinitions().filter(({ canonical }) => isConfigurationTool(canonical));
    expect(found.map(({ name }) => name).sort()).toEqual([...configurationTools].sort());
  });

  it('describes every field to the model, and rejects unknown ones', () => {
    for (const { canonical, inputSchema, description } of toolDefinitions()) {
      expect(description.length, canonical).toBeGreaterThan(20);
      expect(Object.keys(inputSchema)).not.toContain('$schema');
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(checkInput(inputSchema, { nonsense: 1 }).map((issue) => issue.path)).toContain('nonsense');
    }
  });

  it('returns an error for a tool that this version lacks', async () => {
    const executor = createCodeExecutor(codeTools());
    expect(await executor.execute({ canonical: 'builtin.gone' } as EditionTool, {}, context)).toMatchObject({
      isError: true,
      code: 'tool_error',
    });
  });
});
