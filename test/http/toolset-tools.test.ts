import { beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../src/core/limits/limits.ts';
import { takeErrors } from '../service-errors.ts';
import { waitFor } from '../wait-for.ts';
import { toolOf } from '../fakes/known-tools.ts';
import { bodyOf, createHarness, problemIn } from './harness.ts';

const pages = {
  oneOf: [
    { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    { type: 'object', properties: { path: { type: 'string', default: '/' } }, required: ['path'] },
  ],
};
const h = createHarness({}, {}, [
  toolOf('odd', 'pages', { inputSchema: pages, description: 'Pages.' }),
  toolOf('odd', 'list', { inputSchema: { type: 'array', items: {} } }),
  toolOf('wise', 'get_it', {
    description: 'See `look_up`.',
    source: { state: 'ready', trusted: true, pin: '', instructions: 'Begin with `look_up`.' },
  }),
  toolOf('wise', 'look_up'),
]);
const toolset = { tools: [{ tool: 'odd.pages' }, { tool: 'odd.list' }, { tool: 'builtin.bash', name: 'shell', aliases: [] }] };
const toolsFor = async (query: string) => await bodyOf(await h.send('GET', `/v1/toolsets/odd/tools${query}`));

beforeAll(async () => {
  expect((await h.send('PUT', '/v1/toolsets/odd', toolset)).status).toBe(201);
  const put = async (name: string, body: unknown) => expect((await h.send('PUT', `/v1/providers/${name}`, body)).status).toBe(201);
  await put('vertex', {
    kind: 'gemini',
    baseUrl: 'https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/google',
    profile: { schemas: 'gemini-openapi' },
  });
  await put('small', { kind: 'openai-compatible', baseUrl: 'http://small.example/v1', profile: { protocol: 'text' } });
  await put('cohere', { kind: 'cohere', profile: { maxTools: 1 } });
});

describe('the tools of a toolset as a provider receives them', () => {
  const united = {
    type: 'object',
    properties: { id: { type: 'string' }, path: { type: 'string', default: '/' } },
    description: 'Needed: id; or path.',
  };
  const inWords = { ...united, properties: { id: { type: 'string' }, path: { type: 'string', description: '(default: /)' } } };

  it.each([
    ['openai', { type: 'function', function: { name: 'pages', description: 'Pages.', parameters: united } }],
    ['openai-responses', { type: 'function', name: 'pages', description: 'Pages.', parameters: united, strict: false }],
    ['anthropic', { name: 'pages', description: 'Pages.', input_schema: united }],
    ['gemini', { name: 'pages', description: 'Pages.', parametersJsonSchema: inWords }],
    ['vertex', { name: 'pages', description: 'Pages.', parameters: inWords }],
    ['cohere', { type: 'function', function: { name: 'pages', description: 'Pages.', parameters: united } }],
    ['ollama', { type: 'function', function: { name: 'pages', description: 'Pages.', parameters: inWords } }],
    [
      'openai-compatible',
      { type: 'function', function: { name: 'pages', description: 'Pages.', parameters: { type: 'object', properties: {}, ...pages } } },
    ],
  ])('are in the format of %s', async (provider, definition) => {
    const body = await toolsFor(`?provider=${provider}`);
    expect(body.tools[0]).toMatchObject({ canonical: 'odd.pages', wireName: 'pages', state: 'ready' });
    expect(body.tools[0].definition).toEqual(definition);
    expect(body.tools[0].tokens).toBe(Math.ceil(JSON.stringify(definition).length / 4));
    expect(body.promptTokens).toBe(Math.ceil(body.prompt.length / 4));
    expect(body.tokens).toBe(body.tools.reduce((sum: number, tool: { tokens: number }) => sum + tool.tokens, body.promptTokens));
    expect(body.tokenizer).toContain('4 characters');
    expect(body.provider).toBe(provider);
  });

  it('have the changes by path', async () => {
    const body = await toolsFor('?provider=gemini');
    expect(body.tools[0].changes).toEqual([
      { path: '/oneOf', message: 'converted to anyOf: more than one alternative may match' },
      { path: '', message: '2 alternatives are merged into one list of fields' },
      { path: '/properties/path/default', message: 'not supported: moved to the description' },
    ]);
    expect(body.tools[2]).toMatchObject({ wireName: 'shell', changes: [] });
  });

  it('name a tool that cannot be sent, with the reason, and show the rest', async () => {
    const body = await toolsFor('?provider=anthropic');
    expect(body.tools.map((tool: { wireName: string; definition: unknown }) => [tool.wireName, tool.definition !== null])).toEqual([
      ['pages', true],
      ['list', false],
      ['shell', true],
    ]);
    expect(body.tools[1]).toMatchObject({ canonical: 'odd.list', state: 'ready', tokens: 0 });
    expect(body.warnings).toEqual([
      {
        path: 'tools[1].tool',
        message: 'odd.list is not sent to anthropic as list: its input schema accepts a value of type array, but arguments are an object',
      },
      { path: 'tools', message: 'for anthropic: converted to anyOf: more than one alternative may match (once, in pages)' },
      { path: 'tools', message: 'for anthropic: 2 alternatives are merged into one list of fields (once, in pages)' },
    ]);
    expect(body.tools[1].left).toContain('type array');
  });

  it('follow the profile of a configured provider, which takes precedence over the kind of its name', async () => {
    const body = await toolsFor('?provider=cohere');
    expect(body.tools.map((tool: { definition: unknown }) => tool.definition !== null)).toEqual([true, false, false]);
    expect(body.warnings[1]).toEqual({
      path: 'tools[2].tool',
      message: 'builtin.bash is not sent to cohere as shell: the provider accepts 1 tools per request',
    });
  });

  it('are one definition in code mode, and declarations in the prompt', async () => {
    const [plain, body] = [await toolsFor('?provider=openai'), await toolsFor('?provider=openai&codeMode=true')];
    const [first, ...others] = body.tools;
    expect(first).toMatchObject({ canonical: 'builtin.run_code', entry: null, definition: { function: { name: 'run_code' } } });
    expect(others.map(({ wireName, definition }: { wireName: string; definition: unknown }) => [wireName, definition])).toEqual([
      ['pages', null],
      ['list', null],
      ['shell', null],
    ]);
    expect(others[0].left).toBe('it is called from the code of run_code, and described in the prompt');
    expect(body.prompt).toContain('pages(args?: { id: string } | { /** (default "/") */ path: string }): Result;');
    expect(body.tokens).toBe(first.tokens + body.promptTokens);
    expect(body.warnings).not.toContainEqual(expect.objectContaining({ message: expect.stringContaining('is not sent') }));
    expect(plain.tools).toHaveLength(3);
  });

  it('mention each other under current names, also in instructions of a trusted server', async () => {
    const wise = { tools: [{ tool: 'wise.get_it' }, { tool: 'wise.look_up', name: 'find_it' }] };
    expect((await h.send('PUT', '/v1/toolsets/wise', wise)).status).toBe(201);
    const { tools, prompt } = await bodyOf(await h.send('GET', '/v1/toolsets/wise/tools?provider=anthropic'));
    expect(tools[0].definition.description).toBe('See `find_it`.');
    expect(prompt).toMatch(/^## Instructions of wise\nBegin with `find_it`\.\n\n## Tool names\n[\s\S]*- find_it = wise\.look_up/);
  });

  it('are in the prompt with the text protocol, requested or by provider', async () => {
    const text = await toolsFor('?provider=text');
    expect(text.prompt).toContain('<tool_call>');
    expect(text.prompt).toContain(JSON.stringify(text.tools[0].definition));
    expect(text.tools[0].definition).toEqual({ name: 'pages', description: 'Pages.', parameters: pages });
    expect(text.tokens).toBeGreaterThan(text.tools.reduce((sum: number, tool: { tokens: number }) => sum + tool.tokens, 0));
    const small = await toolsFor('?provider=small');
    expect({ ...small, provider: 'text' }).toEqual(text);
  });

  it('follow known properties of a model', async () => {
    expect((await toolsFor('?provider=openai-compatible&model=gemma-2b-it')).prompt).toContain('<tool_call>');
    expect((await toolsFor('?provider=openai-compatible&model=other')).prompt).not.toContain('<tool_call>');
    expect(await problemIn(await h.send('GET', '/v1/toolsets/odd/tools?provider=openai-compatible&model='))).toBe(
      '422 invalid_request at model',
    );
  });

  it('are not shown for an unknown provider', async () => {
    const answer = await h.send('GET', '/v1/toolsets/odd/tools?provider=nobody');
    expect([answer.status, (await bodyOf(answer)).code]).toEqual([404, 'model_not_found']);
  });
});

it('say why a toolset still has the tools of an earlier build', async () => {
  const taking = (argument: string) =>
    toolOf('local', 'wipe', {
      kind: 'local',
      inputSchema: { type: 'object', properties: { [argument]: { type: 'string' } }, additionalProperties: false },
    });
  const service = createHarness({}, {}, [taking('path')]);
  const preset = { tools: [{ tool: 'local.wipe', arguments: { preset: { path: '/tmp' } } }] };
  expect((await service.send('PUT', '/v1/toolsets/preset', preset)).status).toBe(201);
  service.catalog.redeploy([taking('folder')]);
  const message =
    'are those of an earlier build of this service, because the toolset cannot be compiled for this one: tools[0].arguments.preset.path:';
  await waitFor(async () => {
    expect(await service.catalog.staleToolsets()).toBe(1);
    await service.clock.advance(limits.publishedTtlMs);
    const { warnings } = await bodyOf(await service.send('GET', '/v1/toolsets/preset/tools'));
    expect(warnings[0]).toEqual({ path: 'tools', message: expect.stringContaining(message) });
  });
  takeErrors();
});
