import { transformSync } from 'esbuild';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildAliasMap } from '../../../src/core/toolset/alias-map.ts';
import {
  declareTool,
  toolDeclarations,
  maxDeclarationLength,
  maxDeclarationsTokens,
  maxNamedToolsTokens,
} from '../../../src/core/turn/tool-declarations.ts';
import type { ToolDefinition } from '../../../src/core/tools/tool.ts';
import { charactersPerToken } from '../../../src/core/limits/units.ts';
import { corpusEntries, corpusTools } from '../../fakes/corpus-tools.ts';
import { compile, knownTools, toolOf } from '../../fakes/known-tools.ts';
import { describeCorpus } from '../../fixtures.ts';
import { blankComments } from '../../source-text.ts';
import { runs, sample } from '../../selection.ts';

type Entry = { tool: string; name?: string; aliases?: unknown[]; alwaysOffered?: boolean };

async function namesOf(tools: readonly ToolDefinition[], more: object = {}, entries?: readonly Entry[]) {
  const listed = entries ?? tools.map(({ canonical }) => ({ tool: canonical, aliases: [] }));
  const { edition } = await compile({ tools: listed, ...more }, knownTools(tools));
  return buildAliasMap(edition, { aliases: true });
}

const codeOf = (text: string): string => /^```ts\n(.*)\n```$/s.exec(text)?.[1] ?? '';

/** Returns the members of `tools`, in order; throws if TypeScript cannot parse the text, or if it contains more than types. */
function membersOf(code: string): string[] {
  // Types compile to nothing; text that escaped from them would not.
  expect(transformSync(code, { loader: 'ts' }).code).toBe('');
  const bare = blankComments(code, { strings: true });
  const from = bare.indexOf('tools: {') + 'tools: {'.length;
  const members: string[] = [];
  let depth = 0;
  let start = from;
  for (let at = from; depth >= 0 && at < bare.length; at++) {
    const char = bare.charAt(at);
    if ('([{'.includes(char)) depth += 1;
    if (')]}'.includes(char)) depth -= 1;
    if (char !== ';' || depth > 0) continue;
    const begin = start + bare.slice(start).search(/\S/);
    members.push(/^(?:[\w$]+|"[^"]*")(?=\()/.exec(code.slice(begin, at))?.[0].replaceAll('"', '') ?? code.slice(begin, at));
    start = at + 1;
  }
  return members;
}

const membersOfOne = (declaration: string) =>
  membersOf(`type Result<T = unknown> = Promise<T>;\ndeclare const tools: {\n${declaration}\n};`);

describe('the declaration of a tool', () => {
  const declare = async (more: Partial<ToolDefinition>, entry: Omit<Entry, 'tool'> = { aliases: [] }) => {
    const tool = toolOf('s', 'do-it', { description: '', ...more });
    const names = await namesOf([tool], {}, [{ tool: tool.canonical, ...entry }]);
    const [made] = names.tools;
    if (made === undefined) throw new Error('there is one');
    return declareTool(names, made);
  };

  it('is one comment line and the signature', async () => {
    const inputSchema = {
      type: 'object',
      properties: { path: { type: 'string', description: 'The file' }, 'max-size': { type: 'integer', default: 20 } },
      required: ['path'],
    };
    const outputSchema = { type: 'object', properties: { lines: { type: 'array', items: { type: 'string' } } }, required: ['lines'] };
    const text = await declare({ description: 'Reads\na file.', inputSchema, outputSchema }, { name: 'read', aliases: ['cat'] });
    expect(text).toBe(
      [
        '/** Reads a file. (also: cat) */',
        'read(args: { /** The file */ path: string; /** (default 20) */ "max-size"?: number }): Result<{ lines: string[] }>;',
      ].join('\n'),
    );
  });

  it('quotes names that are not identifiers and omits empty parts', async () => {
    expect(await declare({ inputSchema: { type: 'object', properties: {}, additionalProperties: false } })).toBe('"do-it"(): Result;');
    expect(await declare({ inputSchema: { type: 'object' } })).toBe('"do-it"(args?: Record<string, unknown>): Result;');
  });

  it('reduces the detail of a long schema until it fits', async () => {
    const described = (length: number, count: number) => ({
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: count }, (_, index) => [
          `argument_${index}`,
          { type: 'string', description: `${index} ${'x'.repeat(length)}` },
        ]),
      ),
    });
    const whole = await declare({ inputSchema: described(10, 10) });
    const bare = await declare({ inputSchema: described(100, 50) });
    const none = await declare({
      inputSchema: {
        type: 'object',
        properties: Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`a${index}${'y'.repeat(60)}`, {}])),
      },
    });
    expect(whole).toContain('/** 3 xxxxxxxxxx */ argument_3?: string');
    expect(bare).toContain('argument_3?: string; argument_4');
    expect(none).toBe('"do-it"(args?: Record<string, unknown>): Result;');
    for (const text of [whole, bare, none]) expect(text.length).toBeLessThanOrEqual(maxDeclarationLength);
  });

  it('stays one declaration, whatever a server puts in it', async () => {
    const words = fc.string({
      unit: fc.constantFrom('*', '/', '`', '\n', '\u2028', '\u200b', '"', "'", '\\', '}', ')', ';', '${', '//', 'a', '\ud800'),
    });
    const value = fc.oneof(words, fc.double(), fc.boolean(), fc.constant(null));
    const schema = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 3 },
        fc.record({ description: words, format: words, default: value, enum: fc.array(value) }, { requiredKeys: [] }),
        fc.record({ type: fc.constantFrom('string', 'integer', 'null', 'odd'), const: value }, { requiredKeys: ['type'] }),
        fc.record({ type: fc.constant('array'), items: tie('node'), prefixItems: fc.array(tie('node')) }, { requiredKeys: ['type'] }),
        fc.record(
          { anyOf: fc.array(tie('node')), oneOf: fc.array(tie('node')), allOf: fc.array(tie('node')), $ref: words },
          { requiredKeys: [] },
        ),
        fc.record(
          {
            type: fc.constant('object'),
            properties: fc.dictionary(words, tie('node')),
            additionalProperties: fc.oneof(tie('node'), fc.boolean()),
          },
          { requiredKeys: ['type'] },
        ),
        fc.anything(),
      ),
    })).node;
    const names = await namesOf([toolOf('s', 'do-it')]);
    const [tool] = names.tools;
    if (tool === undefined) throw new Error('there is one');
    fc.assert(
      fc.property(words, fc.dictionary(words, schema), schema, (description, properties, outputSchema) => {
        const inputSchema = { type: 'object', properties };
        const output = typeof outputSchema === 'object' && outputSchema !== null && !Array.isArray(outputSchema) ? { outputSchema } : {};
        // Definitions arrive as JSON.
        const foreign = JSON.parse(JSON.stringify({ description, inputSchema, ...output }));
        const text = declareTool(names, { ...tool, ...foreign });
        expect(membersOfOne(text)).toEqual(['do-it']);
        expect(text.split(/[\n\u2028\u2029]/).length).toBeLessThanOrEqual(2);
        expect(text).not.toContain('```');
      }),
      { numRuns: runs(150) },
    );
  });
});

describe('the declarations of a plan', () => {
  const many = (count: number, description = 'Does it.') =>
    Array.from({ length: count }, (_, index) => toolOf('s', `tool_${index}`, { description }));

  it('are in the order of the toolset, always-offered tools first', async () => {
    const tools = many(4);
    const names = await namesOf(
      tools,
      {},
      tools.map(({ canonical }, index) => ({ tool: canonical, aliases: [], alwaysOffered: index === 2 })),
    );
    expect(membersOf(codeOf(toolDeclarations(names).text))).toEqual(['tool_2', 'tool_0', 'tool_1', 'tool_3']);
  });

  it('contain a repeated argument comment only once', async () => {
    const inputSchema = { type: 'object', properties: { owner: { type: 'string', description: 'Who has it' } } };
    const { text } = toolDeclarations(await namesOf(many(3).map((tool) => ({ ...tool, inputSchema }))));
    expect(text.split('/** Who has it */')).toHaveLength(2);
    expect(text.split('owner?: string')).toHaveLength(4);
  });

  it('leave out held tools, UI tools and injected tools', async () => {
    const tools = [
      toolOf('s', 'one'),
      toolOf('ui', 'chart', { kind: 'ui' }),
      toolOf('s', 'two', { source: { state: 'held', trusted: false, pin: '' } }),
      ...['run_code', 'fetch_result', 'find_tools', 'use_skill', 'create_tool'].map((name) => toolOf('builtin', name, { kind: 'builtin' })),
    ];
    expect(membersOf(codeOf(toolDeclarations(await namesOf(tools)).text))).toEqual(['one', 'create_tool']);
  });

  it('become names and then a count beyond the budget, with a way to find the rest', async () => {
    const names = await namesOf(many(600, 'Does what it does, and does it well enough for whoever wants it done.'), {
      onDemandAbove: 1_000,
    });
    const { text, declared, named, total } = toolDeclarations(names);
    expect(total).toBe(600);
    expect(declared).toBeGreaterThan(50);
    expect(named).toBeGreaterThan(50);
    expect(text).toContain(`// ${total - declared} more; \`await tools.find_tools({ query })\` returns their declarations:`);
    expect(text).toContain(`// tools.tool_${declared}: Does what it does`);
    expect(text).toContain(`// … and ${total - declared - named} more that are not listed here`);
    expect(membersOf(codeOf(text))).toHaveLength(declared);
    const most = maxDeclarationsTokens + maxNamedToolsTokens + 200;
    expect(text.length / charactersPerToken).toBeLessThan(most);
    expect(toolDeclarations(buildAliasMap(names.edition, { aliases: true })).text).toBe(text);
  });

  it('of an on-demand toolset cover its always-offered tools', async () => {
    const tools = many(70);
    const names = await namesOf(
      tools,
      {},
      tools.map(({ canonical }, index) => ({ tool: canonical, aliases: [], alwaysOffered: index === 69 })),
    );
    const made = toolDeclarations(names);
    expect(membersOf(codeOf(made.text))).toEqual(['tool_69']);
    expect(made).toMatchObject({ declared: 1, named: 69, total: 70 });
  });
});

describeCorpus('mcp-tools', (path) => {
  it('of all tools parse as TypeScript, each as one member', async () => {
    const tools = corpusTools(path);
    let read = 0;
    // A toolset has at most a thousand.
    for (const part of [tools.slice(0, 750), tools.slice(750)]) {
      const names = await namesOf(part, {}, corpusEntries(part));
      for (const tool of sample('declarations of the corpus', names.tools, (_, index) => index % 4 === 0)) {
        const text = declareTool(names, tool);
        expect(membersOfOne(text), tool.canonical).toEqual([tool.wireName]);
        expect(text.length).toBeLessThanOrEqual(maxDeclarationLength);
        // None is so large that its arguments are omitted.
        if (Object.keys(tool.inputSchema.properties ?? {}).length > 0) expect(text).not.toContain('(args?: Record<string, unknown>)');
        read += 1;
      }
    }
    expect(tools.length).toBeGreaterThan(1_400);
    expect(read).toBeGreaterThan(350);
  });
});
