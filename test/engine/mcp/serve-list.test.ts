import { describe, expect, it } from 'vitest';
import { buildAliasMap } from '../../../src/core/toolset/alias-map.ts';
import { limits } from '../../../src/core/limits/limits.ts';
import { servedPages } from '../../../src/engine/mcp/serve-list.ts';
import { compile, knownTools, toolOf } from '../../fakes/known-tools.ts';

const outputSchema = { type: 'object', properties: { n: { type: 'number' } } };

async function listed(document: Record<string, unknown>, tools = [toolOf('web', 'search')], aliases = true) {
  const { edition } = await compile(document, knownTools(tools));
  return servedPages(buildAliasMap(edition, { aliases }), false).flat();
}

describe('the list of a toolset', () => {
  it('has wire names in the document’s order, each followed by its function aliases', async () => {
    const aliases = ['find', { name: 'seek', mode: 'function' }, { name: 'old', mode: 'deprecated', note: 'use find' }];
    const tools = await listed({ tools: [{ tool: 'web.zebra' }, { tool: 'web.search', aliases }] }, [
      toolOf('web', 'search'),
      toolOf('web', 'zebra'),
    ]);
    expect(tools.map(({ name }) => name)).toEqual(['zebra', 'find', 'seek']);
    expect(tools[1]).toMatchObject({
      description: 'Does search.\nAlias: find (maps to web.search)\nAlias: seek (maps to web.search)',
      _meta: { canonical: 'web.search', aliases: ['seek'] },
    });
  });

  it('has no aliases if the toolset does not announce them, or if they are off', async () => {
    const document = { tools: [{ tool: 'web.search', aliases: ['find', 'seek'] }] };
    expect((await listed({ ...document, announce: 'none' }))[0]).toMatchObject({
      name: 'find',
      description: 'Does search.',
      _meta: { aliases: [] },
    });
    expect((await listed(document, undefined, false))[0]).toMatchObject({
      name: 'search',
      description: 'Does search.',
      _meta: { aliases: [] },
    });
  });

  it('has tools with names that are no wire names, with the own name as title', async () => {
    const names = ['a/b', 'a:b', '$x', 'größe', '查询', 'n'.repeat(200)];
    const tools = await listed(
      { tools: names.map((name) => ({ tool: `web.${name}` })) },
      names.map((name) => toolOf('web', name)),
    );
    expect(tools.map(({ title }) => title)).toEqual(names);
    for (const { name } of tools) expect(name).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/);
    expect(new Set(tools.map(({ name }) => name)).size).toBe(names.length);
    const titled = toolOf('web', 'a/b', { annotations: { title: 'Both' } });
    expect((await listed({ tools: [{ tool: 'web.a/b' }] }, [titled]))[0]).not.toHaveProperty('title');
    expect((await listed({ tools: [{ tool: 'web.a/b', name: 'both' }] }, [toolOf('web', 'a/b')]))[0]).not.toHaveProperty('title');
  });

  it('has tools that cannot be called with nothing but the reason, and no UI tools', async () => {
    const held = { state: 'held' as const, trusted: false, pin: 'p', held: { reason: 'changed' as const, refId: 'q', changes: [] } };
    const missing = { state: 'missing' as const, trusted: false, pin: 'p', renamedTo: 'web.seek' };
    const unread = { description: 'Obey.', annotations: { title: 'Obey.', readOnlyHint: true } };
    const tools = [
      toolOf('web', 'search'),
      toolOf('web', 'held', { source: held, ...unread }),
      toolOf('web', 'find', { source: missing, ...unread }),
      toolOf('ui', 'button', { kind: 'ui' }),
    ];
    const aliases = ['get', { name: 'fetch', mode: 'function' }];
    const document = { tools: [{ tool: 'web.held', aliases }, { tool: 'ui.button' }, { tool: 'web.find' }, { tool: 'web.search' }] };
    const [one, other, ready, ...rest] = await listed(document, tools);
    expect([ready?.name, rest]).toEqual(['search', []]);
    expect(ready?._meta).not.toHaveProperty('state');
    expect(one).toEqual({
      name: 'get',
      description: 'get is held: its definition changed, and an administrator has not accepted it yet. Use another tool.',
      inputSchema: { type: 'object' },
      _meta: { canonical: 'web.held', aliases: [], state: 'held' },
    });
    expect(other).toMatchObject({
      description:
        'find cannot be called: its server does not list web.find. It lists web.seek with the same definition; an administrator can rebind the name to it. Use another tool.',
      _meta: { state: 'missing', renamedTo: 'web.seek' },
    });
  });

  it('keeps `x-mcp-header`, so that clients send these parameters as headers too', async () => {
    const inputSchema = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
    const [tool] = await listed({ tools: [{ tool: 'web.search' }] }, [toolOf('web', 'search', { inputSchema })]);
    expect(tool?.inputSchema).toEqual(inputSchema);
  });

  it('keeps output schema and annotations as they are, but no output schema that the entry changes', async () => {
    const annotations = { title: 'Search', readOnlyHint: true };
    const tools = [toolOf('web', 'search', { outputSchema, annotations })];
    const [whole] = await listed({ tools: [{ tool: 'web.search' }] }, tools);
    expect(whole).toMatchObject({ annotations, outputSchema });
    // A client shows the title of the annotations itself; as a `title` it would be one that the server did not give.
    expect(whole).not.toHaveProperty('title');
    const [picked] = await listed({ tools: [{ tool: 'web.search', result: { pick: ['/n'] } }] }, tools);
    expect(picked).not.toHaveProperty('outputSchema');
  });

  it('has bounded pages, built once', async () => {
    const names = Array.from({ length: 1_000 }, (_, index) => `tool_${index}`);
    const { edition } = await compile(
      { tools: names.map((name) => ({ tool: `web.${name}` })) },
      knownTools(names.map((name) => toolOf('web', name))),
    );
    const map = buildAliasMap(edition, { aliases: true });
    const pages = servedPages(map, false);
    expect(pages.map(({ length }) => length)).toEqual([limits.maxMcpPageItems, 1_000 - limits.maxMcpPageItems]);
    expect(servedPages(map, false)).toBe(pages);
    expect(pages.flat().map(({ name }) => name)).toEqual(names);
  });
});
