/** Definitions of tools in the forms of the APIs and libraries, and toolsets of HyperTool. */
import { describe, expect, it } from 'vitest';
import type { ImportResult } from '../../../src/core/import/draft.ts';
import { readImport } from '../../../src/formats/read-import.ts';

function read(value: unknown, fileName = 'x.json'): ImportResult {
  return readImport(new TextEncoder().encode(JSON.stringify(value)), { fileName });
}

const reasons = ({ skipped }: ImportResult): Record<string, string> =>
  Object.fromEntries(skipped.map(({ name, reason }) => [name, reason]));
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const tool = { name: 'get_weather', description: 'Weather of a city.', inputSchema: schema };
const { name, description } = tool;

describe('a definition', () => {
  it.each([
    ['OpenAI Chat Completions', [{ type: 'function', function: { name, description, parameters: schema } }]],
    ['OpenAI Responses', [{ type: 'function', name, description, parameters: schema }]],
    ['OpenAI functions', { functions: [{ name, description, parameters: schema }] }],
    ['Anthropic', [{ type: 'custom', name, description, input_schema: schema }]],
    ['MCP', { tools: [{ name, description, inputSchema: schema }] }],
    ['Gemini', { tools: [{ functionDeclarations: [{ name, description, parametersJsonSchema: schema }] }] }],
    [
      'Gemini, one tool',
      {
        function_declarations: [
          { name, description, parameters: { type: 'OBJECT', properties: { city: { type: 'STRING' } }, required: ['city'] } },
        ],
      },
    ],
    ['the AI SDK', { tools: { [name]: { description, inputSchema: schema } } }],
    ['the AI SDK, without an object around', { [name]: { description, parameters: { jsonSchema: schema } } }],
    ['LangChain', [{ name, description, args_schema: schema }]],
    ['LangChain, with its arguments', { tools: [{ name, description, args: { city: { type: 'string' } } }] }],
  ])('of %s becomes a tool of a static server', (form, value) => {
    const result = read(value);
    expect([result.format, result.skipped]).toEqual(['openai-functions', []]);
    const { required: _required, ...loose } = schema;
    const inputSchema = form.includes('arguments') ? loose : schema;
    const [server] = Object.values(result.project.servers ?? {});
    expect(server).toMatchObject({ kind: 'static', tools: [{ ...tool, inputSchema }] });
  });

  it('loses nothing that is not said', () => {
    const result = read({
      model: 'gpt-5',
      tools: [
        {
          type: 'function',
          function: { name, description, parameters: schema, strict: true, odd: 1 },
          cache_control: { type: 'ephemeral' },
        },
        { name: 'later', input_schema: schema, defer_loading: true, input_examples: [{ city: 'Bern' }] },
        { type: 'web_search_20250305', name: 'web_search', max_uses: 5 },
        { googleSearch: {} },
        { functionDeclarations: [{ name: 'now', behavior: 'NON_BLOCKING' }], codeExecution: {} },
        { type: 'custom', name: 'grammar', description: 'Takes text.', format: { type: 'grammar' } },
        { type: 'mcp', server_label: 'docs', server_url: 'https://docs.example.com/mcp' },
        { name, input_schema: schema },
      ],
    });
    expect(Object.keys(reasons(result)).toSorted()).toEqual(
      [
        'model',
        'tools[0].cache_control',
        'tools[0].function.odd',
        'tools[0].function.strict',
        'tools[1].defer_loading',
        'tools[1].input_examples',
        'tools[2]',
        'tools[3]',
        'tools[4].codeExecution',
        'tools[4].functionDeclarations[0].behavior',
        'tools[5]',
        'tools[6]',
        'tools[7]',
      ].toSorted(),
    );
    expect(Object.values(result.project.servers ?? {})[0]).toMatchObject({ tools: [{ name }, { name: 'later' }, { name: 'now' }] });
  });

  it('keeps its output, title and annotations', () => {
    const { project } = read([{ ...tool, title: 'Weather', outputSchema: schema, annotations: { readOnlyHint: true } }]);
    expect(Object.values(project.servers ?? {})[0]).toMatchObject({
      tools: [{ title: 'Weather', outputSchema: schema, annotations: { readOnlyHint: true } }],
    });
  });

  it('keeps a schema that only looks like one of Gemini', () => {
    const odd = { type: 'object', properties: { type: { type: 'string', default: { type: 'STRING' } } } };
    const { project } = read([{ name, description, parameters: odd }]);
    expect(Object.values(project.servers ?? {})[0]).toMatchObject({ tools: [{ inputSchema: odd }] });
  });

  it('with a schema of Zod is skipped', () => {
    const result = read({ tools: { [name]: { description, inputSchema: { _def: { typeName: 'ZodObject' } } } } });
    expect(reasons(result)).toEqual({ [`tools.${name}`]: expect.stringContaining('no JSON Schema') });
  });
});

describe('a persona of HyperTool', () => {
  const persona = {
    name: 'shop',
    description: 'Works for the shop.',
    toolsets: [
      { name: 'reading', toolIds: ['git.status', 'docs.search', 'git.status', 'odd'] },
      { name: 'writing', toolIds: ['git.commit'] },
    ],
    defaultToolset: 'reading',
    version: '1.0',
    metadata: { author: 'Ada' },
  };

  it('becomes toolsets with its name', () => {
    const result = read(persona, 'shop/persona.yaml');
    expect(result.format).toBe('hypertool');
    expect(result.project.toolsets).toEqual({
      'shop-reading': { description: 'Works for the shop.', tools: [{ tool: 'git.status' }, { tool: 'docs.search' }] },
      'shop-writing': { description: 'Works for the shop.', tools: [{ tool: 'git.commit' }] },
    });
    expect(result.warnings).toEqual([{ path: 'defaultToolset', message: expect.stringContaining('/mcp/shop-reading') }]);
    expect(Object.keys(reasons(result))).toEqual(['toolsets[0].toolIds[2]', 'toolsets[0].toolIds[3]']);
  });

  it('says which default it does not have, and what it does not know', () => {
    const result = read({ ...persona, defaultToolset: 'missing', odd: 1 });
    expect(Object.keys(reasons(result))).toEqual(expect.arrayContaining(['defaultToolset', 'odd']));
  });
});

it('names what a parameter of a made tool cannot have', () => {
  const result = read([
    { name: 'count', description: 'Counts.', implementation: 'return 1;', parameters: [{ name: 'unit', type: 'string', enum: ['a'] }] },
  ]);
  expect(Object.keys(result.project.tools ?? {})).toEqual(['made.count']);
  expect(Object.keys(reasons(result))).toEqual(['[0].parameters[0].enum']);
});
