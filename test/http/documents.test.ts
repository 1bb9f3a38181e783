/** Agents, providers, secrets and tools: their common behavior, and what each must not show. */
import { beforeEach, describe, expect, it } from 'vitest';
import { bodyOf, createHarness, demo, type Harness, problemIn } from './harness.ts';

let h: Harness;
beforeEach(() => {
  h = createHarness();
});

const agent = { model: 'rehearsal/default', instructions: 'Help.' };
const provider = {
  kind: 'openai-compatible',
  baseUrl: 'https://models.example/v1',
  apiKey: 'sk-canary-provider',
  models: ['small', 'a/b'],
};
const secret = { value: 'canary-secret', hosts: ['api.example.com'] };

describe.each([
  ['agents', 'helper', agent, { model: 'rehearsal/default', instructions: 'Other.' }],
  ['providers', 'acme', provider, { ...provider, models: ['large'] }],
  ['secrets', 'GH_TOKEN', secret, { ...secret, hosts: ['other.example.com'] }],
])('/v1/%s', (kind, name, first, second) => {
  const path = `/v1/${kind}/${name}`;

  it('is created, changed, listed and deleted conditionally', async () => {
    const made = await h.send('PUT', path, first, { 'if-none-match': '*' });
    expect([made.status, made.headers.get('etag'), made.headers.get('location'), (await bodyOf(made)).name]).toEqual([
      201,
      '"1"',
      path,
      name,
    ]);
    const changed = await h.send('PUT', path, second, { 'if-match': '"1"' });
    expect([changed.status, changed.headers.get('etag')]).toEqual([200, '"2"']);
    expect((await h.send('PUT', path, first, { 'if-match': '"1"' })).status).toBe(412);
    expect((await bodyOf(await h.send('GET', `/v1/${kind}`))).items.slice(0, 1)).toEqual([expect.objectContaining({ name })]);
    expect((await h.send('GET', path, undefined, { 'if-none-match': '"2"' })).status).toBe(304);
    expect((await h.send('DELETE', path, undefined, { 'if-match': '"1"' })).status).toBe(412);
    expect((await h.send('DELETE', path)).status).toBe(204);
    expect((await h.send('GET', path)).status).toBe(404);
  });

  it('rejects unknown fields, wrong types and bodies that are not objects', async () => {
    for (const body of [{ ...first, surprise: 1 }, {}, [], 'null', '"x"', '7', `{"__proto__":${JSON.stringify(first)}}`]) {
      expect((await h.send('PUT', path, body)).status, JSON.stringify(body)).toBe(422);
    }
    for (const bad of ['a%20b', 'x'.repeat(200), '%F0%9F%98%80', '..%2fx'])
      expect((await h.send('PUT', `/v1/${kind}/${bad}`, first)).status, bad).toBe(422);
  });
});

describe('write-only values', () => {
  it('are in no response', async () => {
    const answers = [
      await h.send('PUT', '/v1/providers/acme', provider),
      await h.send('PUT', '/v1/secrets/GH', secret),
      await h.send('GET', '/v1/providers/acme'),
      await h.send('GET', '/v1/providers'),
      await h.send('GET', '/v1/secrets/GH'),
      await h.send('GET', '/v1/secrets'),
    ];
    for (const answer of answers) expect(await answer.text()).not.toContain('canary');
    expect(JSON.stringify(h.log.lines)).not.toContain('canary');
  });

  it('a provider shows that it has a key, keeps it, and accepts its own output', async () => {
    await h.send('PUT', '/v1/providers/acme', provider);
    const shown = await bodyOf(await h.send('GET', '/v1/providers/acme'));
    expect(shown).toEqual({
      name: 'acme',
      kind: 'openai-compatible',
      baseUrl: provider.baseUrl,
      models: provider.models,
      hasApiKey: true,
      source: 'document',
    });
    const again = await h.send('PUT', '/v1/providers/acme', shown);
    expect([again.status, await bodyOf(again)]).toEqual([200, shown]);
    const moved = await h.send('PUT', '/v1/providers/acme', { ...shown, baseUrl: 'https://elsewhere.example/v1' });
    expect([moved.status, (await bodyOf(moved)).issues[0].path]).toEqual([422, 'apiKey']);
  });
});

it('an agent’s models and toolset are names with a checked format', async () => {
  for (const [body, path] of [
    [{ ...agent, model: 'default/' }, 'model'],
    [{ ...agent, model: 'a/b\nc' }, 'model'],
    [{ ...agent, toolset: 'Demo' }, 'toolset'],
    [{ ...agent, name: 'other' }, 'name'],
    [{ ...agent, limits: { maxSteps: 17 } }, 'limits.maxSteps'],
    [{ ...agent, tools: ['ok', 7] }, 'tools[1]'],
  ] as const) {
    const answer = await h.send('PUT', '/v1/agents/helper', body);
    expect([answer.status, (await bodyOf(answer)).issues[0].path]).toEqual([422, path]);
  }
});

describe('/v1/tools', () => {
  it('lists all known tools by page', async () => {
    const first = await bodyOf(await h.send('GET', '/v1/tools?limit=2'));
    expect(first.items.map((item: { canonical: string }) => item.canonical)).toEqual(['builtin.bash', 'builtin.read_file']);
    const second = await bodyOf(await h.send('GET', `/v1/tools?limit=2&cursor=${encodeURIComponent(first.nextCursor)}`));
    expect(second.items[0].canonical).toBe('docs.search');
    expect(await bodyOf(await h.send('GET', '/v1/tools/builtin.bash'))).toMatchObject({
      server: 'builtin',
      name: 'bash',
      aliases: ['shell'],
    });
    expect((await bodyOf(await h.send('GET', '/v1/tools/builtin.nix'))).code).toBe('unknown_tool');
  });

  it('has default aliases that can be set and reset', async () => {
    const path = '/v1/tools/builtin.bash/aliases';
    const own = await h.send('GET', path);
    expect([own.headers.get('etag'), await bodyOf(own)]).toEqual([null, { aliases: ['shell'] }]);
    const set = await h.send('PUT', path, { aliases: ['term'] });
    expect([set.status, set.headers.get('etag'), await bodyOf(set)]).toEqual([201, '"1"', { aliases: ['term'] }]);
    expect((await h.send('PUT', path, { aliases: ['term', 'run'] }, { 'if-match': '"9"' })).status).toBe(412);
    expect(await bodyOf(await h.send('GET', path))).toEqual({ aliases: ['term'] });
    expect((await h.send('DELETE', path)).status).toBe(204);
    expect(await bodyOf(await h.send('GET', path))).toEqual({ aliases: ['shell'] });
    expect((await h.send('PUT', '/v1/tools/builtin.nix/aliases', { aliases: [] })).status).toBe(404);
    expect(await problemIn(await h.send('PUT', path, { aliases: 'term' }))).toBe('422 invalid_request at aliases');
  });
});

it('/v1/models lists agents, then the providers’ models, for clients of both shapes', async () => {
  await h.send('PUT', '/v1/toolsets/demo', demo);
  await h.send('PUT', '/v1/agents/helper', { ...agent, toolset: 'demo' });
  await h.send('PUT', '/v1/providers/acme', provider);
  const { object, data, ...page } = await bodyOf(await h.send('GET', '/v1/models?api-version=2'));
  expect(object).toBe('list');
  expect(page).toEqual({ unavailable: [], has_more: false, first_id: 'agent/helper', last_id: 'rehearsal/default' });
  expect(data.map((model: { id: string }) => model.id)).toEqual(['agent/helper', 'acme/small', 'acme/a/b', 'rehearsal/default']);
  expect(data[0]).toEqual({
    ...{ id: 'agent/helper', object: 'model', created: expect.any(Number), owned_by: 'moniker' },
    ...{ type: 'model', display_name: 'agent/helper', created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) },
  });
  expect((await h.send('GET', '/v1/models/acme/a/b')).status).toBe(200);
  expect((await h.send('GET', '/v1/models/acme%2Fa%2Fb')).status).toBe(200);
});

it('warnings of a write are only in its response', async () => {
  const warnings = [{ path: 'tools[1]', message: '"nonesuch" matches no tool of the toolset "demo".' }];
  const { catalog } = h;
  const warning = createHarness(
    {},
    { catalog: () => ({ ...catalog, put: async (...write) => ({ ...(await catalog.put(...write)), warnings }) }) },
  );
  expect(await bodyOf(await warning.send('PUT', '/v1/agents/helper', agent))).toMatchObject({ name: 'helper', warnings });
  expect(await bodyOf(await warning.send('GET', '/v1/agents/helper'))).not.toHaveProperty('warnings');
});
