/**
 * Servers at their size limits: within the limit everything works, above it the request is rejected with its path and nothing is stored.
 */
import { describe, expect, it } from 'vitest';
import { limits } from '../../../../src/core/limits/limits.ts';
import { utf8Length } from '../../../../src/core/text/utf8.ts';
import { kvKeys } from '../../../../src/storage/keys.ts';
import { pages, refusal } from '../../../contracts/catalog/workspace.ts';
import { emptyWorkspace, testEnv } from '../../../storage/workspace.ts';
import { maxWorkspaceTools } from '../../../../src/core/listing/listing-size.ts';
import { maxEditionBytes } from '../../../../src/core/toolset/edition.ts';

function server(count: number, descriptionLength: number, mark = 'x'): Record<string, unknown> {
  const tools = Array.from({ length: count }, (_, index) => ({
    name: `tool_${index}`,
    description: `Tool ${index}. ${mark.repeat(descriptionLength)}`,
    inputSchema: { type: 'object' },
  }));
  return { kind: 'static', updates: 'review', url: 'https://tools.example.com/call', tools };
}

describe('a workspace', () => {
  it('accepts a listing of the maximum body size, paged, and limits the definitions', async () => {
    const { catalog, directory, workspace } = await emptyWorkspace();
    const large = server(limits.maxServerTools, 4_700);
    expect(JSON.stringify(large).length).toBeGreaterThan(0.9 * limits.maxLargeBodyBytes);
    await catalog.put('server', 'large', large);
    expect(await catalog.put('server', 'large', large)).toMatchObject({ changed: false });
    expect(await pages((page) => catalog.serverTools('large', page), 200)).toHaveLength(limits.maxServerTools);
    const toolset = { tools: Array.from({ length: 1_000 }, (_, index) => ({ tool: `large.tool_${index}` })) };
    await catalog.put('toolset', 'most', toolset);
    const problem = await refusal(catalog.put('server', 'second', large));
    expect(problem).toMatchObject({
      code: 'invalid_request',
      extra: { issues: [{ path: 'tools', message: expect.stringContaining('characters') }] },
    });
    await expect(catalog.get('server', 'second')).rejects.toMatchObject({ code: 'not_found' });

    // All definitions change at once: the accepted ones remain, each with its held change.
    const other = server(limits.maxServerTools, 100, 'y');
    await catalog.put('server', 'large', other);
    expect((await directory.server(workspace, 'large')).held).toHaveLength(limits.maxServerTools);
    const { pointer, names } = await directory.toolset(workspace, 'most');
    expect(pointer).toMatchObject({ version: 1, revision: 2 });
    expect(names.edition.tools.every(({ state, held }) => state === 'held' && held?.changes.length === 1)).toBe(true);
  });

  it('limits pages of held tools, however often a long path is in the changes', async () => {
    const { catalog } = await emptyWorkspace();
    const key = 'é'.repeat(1_900);
    const large = (value: number) => {
      const parts = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`p${index}`, { const: value }]));
      const tools = Array.from({ length: 60 }, (_, index) => ({
        name: `tool_${index}`,
        description: 'Does one thing.',
        inputSchema: { type: 'object', properties: { [key]: { type: 'object', properties: parts } } },
      }));
      return { kind: 'static', updates: 'review', url: 'https://tools.example.com/call', tools };
    };
    await catalog.put('server', 'long', large(1));
    await catalog.put('server', 'long', large(2));
    const first = await catalog.serverTools('long', { limit: 200 });
    expect(first.items[0]?.held?.changes).toHaveLength(50);
    // Each path is truncated, or these few would exceed a page.
    expect(first.items).toHaveLength(60);
    expect(JSON.stringify(first.items).length).toBeLessThan(limits.listPageBytes / 2);
    expect(await pages((page) => catalog.serverTools('long', page), 200)).toHaveLength(60);
  });

  it('supports editions of the maximum size, with original schemas, in KV or not', async () => {
    const { catalog, isolate, workspace } = await emptyWorkspace();
    const tools = Array.from({ length: 1_000 }, (_, index) => ({
      name: `tool_${index}`,
      description: `Does ${index}.`,
      inputSchema: {
        type: 'object',
        properties: { owner: { type: 'string' }, topic: { type: 'string', description: '話'.repeat(1_450) } },
      },
    }));
    await catalog.put('server', 'wide', { kind: 'static', updates: 'review', url: 'https://tools.example.com/call', tools });
    const entries = tools.map(({ name }) => ({ tool: `wide.${name}`, arguments: { preset: { owner: 'me' } } }));
    await catalog.put('toolset', 'wide', { tools: entries });
    const { names, pointer } = await isolate().toolset(workspace, 'wide');
    expect(utf8Length(JSON.stringify(names.edition))).toBeGreaterThan(0.85 * maxEditionBytes);
    expect(names.tools[999]).toMatchObject({ canonical: 'wide.tool_999', sourceSchema: { properties: { owner: { type: 'string' } } } });
    await testEnv.KV.delete(kvKeys.edition(workspace, pointer.hash));
    expect((await isolate().toolset(workspace, 'wide')).names.tools).toEqual(names.tools);
    const larger = entries.map((entry) => ({
      ...entry,
      notes: Array.from({ length: 2 }, (_, index) => ({ name: `n${index}`, note: 'x'.repeat(490) })),
    }));
    expect(await refusal(catalog.put('toolset', 'wide', { tools: larger }))).toMatchObject({ code: 'invalid_request' });
    expect((await isolate().toolset(workspace, 'wide')).pointer).toEqual(pointer);
  });

  it('supports binary skills of the maximum size, in pages', async () => {
    const { catalog, isolate, workspace } = await emptyWorkspace();
    const base64 = btoa(String.fromCharCode(...Array.from({ length: 8_000 }, (_, index) => (index * 7) % 256)));
    const resources = Array.from({ length: 61 }, (_, index) => ({ path: `files/${index}.bin`, base64 }));
    const names = Array.from({ length: 8 }, (_, index) => `skill-${index}`);
    for (const name of names) {
      const content = `---\nname: ${name}\ndescription: Is large.\n---\n${'"\\'.repeat(10_000)}`;
      await catalog.put('skill', name, { content, resources });
    }
    const skill = await isolate().skill(workspace, 'skill-7');
    expect(skill.resources.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(488_000);
    expect((await pages((page) => catalog.list('skill', page), 200)).map(({ name }) => name)).toEqual(names);
    const content = '---\nname: skill-7\ndescription: Is large.\n---\nText.';
    const over = [...resources, ...resources.slice(0, 4).map(({ base64 }, index) => ({ path: `more/${index}`, base64 }))];
    expect(await refusal(catalog.put('skill', 'skill-7', { content, resources: over }))).toMatchObject({ code: 'invalid_request' });
    expect(await isolate().skill(workspace, 'skill-7')).toEqual(skill);
  });

  it('limits the tools of all its servers together', async () => {
    const { catalog } = await emptyWorkspace();
    const servers = maxWorkspaceTools / limits.maxServerTools;
    for (let index = 0; index < servers; index++) await catalog.put('server', `s${index}`, server(limits.maxServerTools, 0));
    const problem = await refusal(catalog.put('server', 'more', server(1, 0)));
    expect(problem).toMatchObject({
      code: 'invalid_request',
      extra: { issues: [{ path: 'tools', message: expect.stringContaining(`${maxWorkspaceTools}`) }] },
    });
    expect(await pages((page) => catalog.tools(page), 200)).toHaveLength(maxWorkspaceTools + (await builtins()));
    await catalog.remove('server', 's0');
    expect(await catalog.put('server', 'more', server(1, 0))).toMatchObject({ created: true });
  });
});

async function builtins(): Promise<number> {
  const { catalog } = await emptyWorkspace();
  return (await pages((page) => catalog.tools(page), 200)).length;
}
