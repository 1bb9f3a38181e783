/** A web search that a client declares, over real HTTP: at the provider of another API, as a tool of the toolset, and refused. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apis, keyOf, refOf, startFakeProviders, type FakeProviders, type StartedStory, type Wire } from './fake-providers.ts';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
let providers: FakeProviders;
const tool = {
  name: 'lookup',
  description: 'Searches.',
  inputSchema: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] },
};
const entry = { tool: 'web.lookup', standsFor: 'web_search', approval: 'never', arguments: { rename: { query: 'q' } } };

beforeAll(async () => {
  providers = await startFakeProviders();
  await providers.putAll(service.call);
  const server = { kind: 'static', url: 'http://127.0.0.1:9/none', tools: [tool], trusted: true };
  expect((await service.call('PUT', '/v1/servers/web', server)).status).toBe(201);
  expect((await service.call('PUT', '/v1/toolsets/searching', { tools: [entry] })).status).toBe(201);
});
afterAll(() => providers.close());

/** The provider refuses what it does not know; its answer is of no interest. */
const lastBody = (story: StartedStory) =>
  JSON.parse(story.heard.at(-1)?.text ?? '{}') as { tools?: { type?: string; name?: string; function?: { name: string } }[] };
const ask = async (wire: Wire, mark: string, more: object, headers: Record<string, string> = {}) =>
  await service.call('POST', '/v1/responses', { model: refOf(wire), input: mark, tools: [{ type: 'web_search' }], ...more }, headers);

describe('a web search of a request', () => {
  it('runs at a provider of Messages whose profile has one', async () => {
    const { kind, model } = apis.anthropic;
    const document = {
      kind,
      baseUrl: providers.urlOf('anthropic'),
      apiKey: keyOf('anthropic'),
      models: [model],
      profile: { webSearch: true },
    };
    await service.call('PUT', '/v1/providers/searching', document);
    const story = providers.start('search there', {
      say: () => ({ text: 'x' }),
      faults: { 0: async () => Response.json({ error: { message: 'seen' } }, { status: 400 }) },
    });
    await ask('anthropic', story.mark, {
      model: `searching/${model}`,
      tools: [{ type: 'web_search', filters: { allowed_domains: ['a.example'] } }],
    });
    expect(lastBody(story).tools).toEqual([{ type: 'web_search_20250305', name: 'web_search', allowed_domains: ['a.example'] }]);
  });

  it('is a tool of the toolset for a model without one, under its name there', async () => {
    const story = providers.start('search here', {
      say: (_understood, index) => (index === 0 ? { calls: [{ name: 'lookup', arguments: { query: 'weather' } }] } : { text: 'Sunny.' }),
    });
    const answer = await ask('openai', story.mark, {}, { 'x-moniker-toolset': 'searching' });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.headers.get('x-moniker-dropped')).toBe('tools.web_search');
    expect(story.understood[0]?.tools).toEqual(['lookup']);
    expect(story.understood[1]?.messages.at(-1)?.role).toBe('tool');
    expect(answer.text).toContain('Sunny.');
    const { items } = (await service.call('GET', '/v1/audit?limit=20')).json;
    expect(JSON.stringify(items)).toContain('web.lookup');
  });

  it('of Gemini’s API runs as the tool of the toolset, too', async () => {
    const story = providers.start('search of gemini', {
      say: (_understood, index) => (index === 0 ? { calls: [{ name: 'lookup', arguments: { query: 'weather' } }] } : { text: 'Sunny.' }),
    });
    const body = { contents: [{ role: 'user', parts: [{ text: story.mark }] }], tools: [{ google_search: {} }] };
    const path = `/v1beta/models/${refOf('openai')}:generateContent`;
    const answer = await service.call('POST', path, body, { 'x-moniker-toolset': 'searching' });
    expect([answer.status, answer.headers.get('x-moniker-dropped')]).toEqual([200, 'tools[].googleSearch']);
    expect(story.understood[0]?.tools).toEqual(['lookup']);
    expect(answer.text).toContain('Sunny.');
    const refused = await service.call('POST', path, body);
    expect([refused.status, refused.text.includes('tools[0].googleSearch')]).toEqual([422, true]);
  });

  it.each([
    ['without a search at the provider and in the toolset', 'demo', {}, 'tools[0]'],
    [
      'with a restriction that the toolset’s tool cannot keep',
      'searching',
      { filters: { allowed_domains: ['a.example'] } },
      'tools[0].filters.allowed_domains',
    ],
    ['without a toolset', undefined, {}, 'tools[0]'],
  ])('is refused before a model is asked, with its place, %s', async (_what, toolset, options, path) => {
    const story = providers.start('search refused', { say: () => ({ text: 'x' }) });
    const headers: Record<string, string> = toolset === undefined ? {} : { 'x-moniker-toolset': toolset };
    const answer = await ask('openai', story.mark, { tools: [{ type: 'web_search', ...options }] }, headers);
    expect([answer.status, answer.json.error.param]).toEqual([422, path]);
    expect(answer.json.error.message).toContain(toolset === 'searching' ? 'takes no restrictions' : 'standsFor');
    expect(story.heard).toEqual([]);
  });
});

describe('an entry that stands for a web search', () => {
  const argument = (name: string) => ({ ...entry, name, arguments: { rename: { [name]: 'q' } } });
  it.each([
    ['a second one', [entry, { ...argument('other'), name: 'again' }], 'tools[1].standsFor'],
    ['a tool without a query', [argument('other')], 'tools[0].standsFor'],
    ['a tool that requires more', [{ tool: 'builtin.write_file', standsFor: 'web_search' }], 'tools[0].standsFor'],
    ['another service', [{ ...entry, standsFor: 'weather' }], 'tools[0].standsFor'],
    ['a wildcard', [{ tool: 'web.*', standsFor: 'web_search' }], 'tools[0].standsFor'],
  ])('is refused for %s', async (_what, tools, path) => {
    const { status, json } = await service.call('PUT', '/v1/toolsets/wrong', { tools });
    expect([status, json.issues.map((issue: { path: string }) => issue.path)]).toEqual([422, [path]]);
  });
});
