import { readdirSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { describeCorpus, readJson } from '../fixtures.ts';
import { toolOf } from '../fakes/known-tools.ts';
import { bodyOf, createHarness, type Harness } from './harness.ts';

let h: Harness;
beforeEach(async () => {
  h = createHarness({}, {}, [toolOf('docs', 'repos.search-2'), toolOf('docs', 'a%2Fb')]);
});

const nameOf = ({ canonical }: { canonical: string }) => canonical;

describe('/v1/tools', () => {
  it('shows each tool with its refId and its state', async () => {
    const { items } = await bodyOf(await h.send('GET', '/v1/tools'));
    for (const item of items) expect(item).toMatchObject({ refId: expect.stringMatching(/^[0-9a-f]{64}$/), state: 'ready' });
    const one = await bodyOf(await h.send('GET', '/v1/tools/builtin.bash'));
    expect(items.find(({ canonical }: { canonical: string }) => canonical === 'builtin.bash')).toEqual(one);
  });

  it.each([
    ['q=SEARCH%20docs', ['docs.search', 'docs.repos.search-2']],
    ['q=shell', ['builtin.bash']],
    ['kind=local', ['local.roll_dice']],
    ['server=docs&q=a%252f', ['docs.a%2Fb']],
    ['q=__proto__', []],
    ['q=', 'all'],
  ])('lists the tools that match ?%s', async (query, expected) => {
    const names = async (more: string) => (await bodyOf(await h.send('GET', `/v1/tools?${more}`))).items.map(nameOf);
    expect(new Set(await names(query))).toEqual(new Set(expected === 'all' ? await names('') : expected));
  });

  it('filters before it fills a page', async () => {
    const first = await bodyOf(await h.send('GET', '/v1/tools?q=search&limit=1'));
    const rest = await bodyOf(await h.send('GET', `/v1/tools?q=search&cursor=${first.nextCursor}`));
    expect([...first.items, ...rest.items].map(nameOf)).toEqual(['docs.repos.search-2', 'docs.search', 'web.search']);
    expect([first.items.length, rest.nextCursor]).toEqual([1, null]);
  });

  it('lists without schemas with fields=summary', async () => {
    const { items } = await bodyOf(await h.send('GET', '/v1/tools?fields=summary&q=bash'));
    const { inputSchema: _schema, ...rest } = await bodyOf(await h.send('GET', '/v1/tools/builtin.bash'));
    expect(items).toEqual([rest]);
  });

  it('filters the tools of a bound key, and finds no others', async () => {
    await h.send('PUT', '/v1/toolsets/demo', { tools: [{ tool: 'docs.search' }, { tool: 'builtin.bash' }] });
    const key = await h.key({ scopes: ['tools'], toolsets: ['demo'] });
    const { items } = await bodyOf(await h.send('GET', '/v1/tools?q=search', undefined, key));
    expect(items.map(nameOf)).toEqual(['docs.search']);
  });

  it.each([
    ['kind=none', 'kind'],
    [`q=${'x'.repeat(201)}`, 'q'],
    ['server=', 'server'],
    ['fields=names', 'fields'],
  ])('refuses ?%s', async (query, at) => {
    const answer = await h.send('GET', `/v1/tools?${query}`);
    expect([answer.status, (await bodyOf(answer)).issues[0].path]).toEqual([422, at]);
  });

  it('shows the fields of a UI tool', async () => {
    const camera = { label: 'Camera', description: 'Takes a photo.', category: 'upload', triggers: ['photo'], href: '/camera' };
    await h.send('PUT', '/v1/tools/ui.camera', camera);
    expect(await bodyOf(await h.send('GET', '/v1/tools/ui.camera'))).toMatchObject({ kind: 'ui', state: 'ready', ui: camera });
  });

  it('shows a bound key only the tools of its toolsets', async () => {
    await h.send('PUT', '/v1/toolsets/demo', { tools: [{ tool: 'docs.search' }] });
    const key = await h.key({ scopes: ['tools'], toolsets: ['demo'] });
    const { items } = await bodyOf(await h.send('GET', '/v1/tools', undefined, key));
    expect(items.map(({ canonical }: { canonical: string }) => canonical)).toEqual(['docs.search']);
    expect((await h.send('GET', '/v1/tools/web.search', undefined, key)).status).toBe(403);
    expect((await h.send('GET', '/v1/tools/web.search/aliases', undefined, key)).status).toBe(403);
    expect((await h.send('PUT', '/v1/tools/docs.search/aliases', { aliases: [] }, key)).status).toBe(403);
  });
});

describeCorpus('mcp-tools', (path) => {
  it('are listed in pages, the whole corpus and each once', async () => {
    const files = readdirSync(path).filter((name) => name !== 'index.json');
    for (const [index, file] of files.entries()) {
      const server = { kind: 'static', url: 'https://tools.example.com/call', tools: readJson<unknown[]>(`${path}/${file}`) };
      expect((await h.send('PUT', `/v1/servers/s${index}`, server)).status).toBe(201);
    }
    const seen = new Set<string>();
    let cursor = '';
    do {
      const { items, nextCursor } = await bodyOf(await h.send('GET', `/v1/tools?limit=200${cursor}`));
      for (const { canonical } of items) seen.add(canonical);
      cursor = nextCursor === null ? '' : `&cursor=${encodeURIComponent(nextCursor)}`;
    } while (cursor !== '');
    expect([...seen].filter((canonical) => /^s\d/.test(canonical))).toHaveLength(1472);
  });
});

describe('default aliases', () => {
  it.each(['docs.repos.search-2', 'docs.a%2Fb'])('are set for %s, whose name is encoded in the path', async (canonical) => {
    const path = `/v1/tools/${encodeURIComponent(canonical)}/aliases`;
    const made = await h.send('PUT', path, { aliases: ['find_repo'] });
    expect([made.status, made.headers.get('location'), await bodyOf(made)]).toEqual([201, path, { aliases: ['find_repo'] }]);
    expect(await bodyOf(await h.send('GET', made.headers.get('location') ?? ''))).toEqual({ aliases: ['find_repo'] });
    expect((await bodyOf(await h.send('GET', path.replace('/aliases', '')))).aliases).toEqual(['find_repo']);
    expect((await h.send('DELETE', path)).status).toBe(204);
    expect(await bodyOf(await h.send('GET', path))).toEqual({ aliases: [] });
  });

  it('are set for a tool of a server', async () => {
    const server = {
      kind: 'static',
      url: 'https://tools.example.com/call',
      tools: [{ name: 'users.list', inputSchema: { type: 'object' } }],
    };
    await h.send('PUT', '/v1/servers/acme', server);
    expect((await h.send('PUT', '/v1/tools/acme.users.list/aliases', { aliases: ['people'] })).status).toBe(201);
    await h.send('PUT', '/v1/toolsets/demo', { tools: [{ tool: 'acme.users.list' }] });
    const { tools } = await bodyOf(await h.send('GET', '/v1/toolsets/demo/tools'));
    expect(tools[0]).toMatchObject({ canonical: 'acme.users.list', wireName: expect.stringMatching(/^users_list_/) });
    const people = await bodyOf(await h.send('GET', '/v1/toolsets/demo/resolve?name=people'));
    expect(people).toMatchObject({ canonical: 'acme.users.list', aliases: ['people'] });
  });

  it('return warnings about toolsets that keep their names', async () => {
    const warnings = [{ path: 'toolsets.demo', message: 'keeps its names' }];
    const { put } = h.catalog;
    h.catalog.put = async (...write) => ({ ...(await put(...write)), warnings });
    expect(await bodyOf(await h.send('PUT', '/v1/tools/builtin.bash/aliases', { aliases: ['sh2'] }))).toEqual({
      aliases: ['sh2'],
      warnings,
    });
  });

  it.each([
    ['unknown', 'docs.none'],
    ['no name', 'x'],
  ])('are rejected for a tool that is %s', async (_what, canonical) => {
    expect((await h.send('PUT', `/v1/tools/${canonical}/aliases`, { aliases: [] })).status).toBeGreaterThanOrEqual(404);
  });
});
