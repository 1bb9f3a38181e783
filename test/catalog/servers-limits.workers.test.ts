/** Servers as large as they may be: what fits works, what does not is refused with its place, and nothing of it is kept. */
import { describe, expect, it } from 'vitest';
import { limits } from '../../src/core/limits.ts';
import { pages, refusal } from '../contracts/catalog.ts';
import { emptyWorkspace } from '../storage/workspace.ts';

function server(count: number, descriptionLength: number, mark = 'x'): Record<string, unknown> {
  const tools = Array.from({ length: count }, (_, index) => ({
    name: `tool_${index}`,
    description: `Tool ${index}. ${mark.repeat(descriptionLength)}`,
    inputSchema: { type: 'object' },
  }));
  return { kind: 'static', url: 'https://tools.example.com/call', tools };
}

describe('a workspace', () => {
  it('takes a listing as large as a body may be, page by page, and no more definitions than it can keep', async () => {
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

    // All of them change at once: the accepted ones stay, each with what it would become.
    const other = server(limits.maxServerTools, 100, 'y');
    await catalog.put('server', 'large', other);
    expect((await directory.server(workspace, 'large')).held).toHaveLength(limits.maxServerTools);
    const { pointer, names } = await directory.toolset(workspace, 'most');
    expect(pointer).toMatchObject({ version: 1, revision: 2 });
    expect(names.edition.tools.every(({ state, held }) => state === 'held' && held?.changes.length === 1)).toBe(true);
  });

  it('sends pages of held tools as short as any, however often one long path stands in what changed', async () => {
    const { catalog } = await emptyWorkspace();
    const key = 'é'.repeat(1_900);
    const large = (value: number) => {
      const parts = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`p${index}`, { const: value }]));
      const tools = Array.from({ length: 60 }, (_, index) => ({
        name: `tool_${index}`,
        description: 'Does one thing.',
        inputSchema: { type: 'object', properties: { [key]: { type: 'object', properties: parts } } },
      }));
      return { kind: 'static', url: 'https://tools.example.com/call', tools };
    };
    await catalog.put('server', 'long', large(1));
    await catalog.put('server', 'long', large(2));
    const first = await catalog.serverTools('long', { limit: 200 });
    expect(first.items[0]?.held?.changes).toHaveLength(50);
    expect(JSON.stringify(first.items).length).toBeLessThan(1.1 * limits.listPageBytes);
    expect(await pages((page) => catalog.serverTools('long', page), 200)).toHaveLength(60);
  });

  it('knows so many tools of all its servers together', async () => {
    const { catalog } = await emptyWorkspace();
    const servers = limits.maxWorkspaceTools / limits.maxServerTools;
    for (let index = 0; index < servers; index++) await catalog.put('server', `s${index}`, server(limits.maxServerTools, 0));
    const problem = await refusal(catalog.put('server', 'more', server(1, 0)));
    expect(problem).toMatchObject({
      code: 'invalid_request',
      extra: { issues: [{ path: 'tools', message: expect.stringContaining(`${limits.maxWorkspaceTools}`) }] },
    });
    expect(await pages((page) => catalog.tools(page), 200)).toHaveLength(limits.maxWorkspaceTools + (await builtins()));
    await catalog.remove('server', 's0');
    expect(await catalog.put('server', 'more', server(1, 0))).toMatchObject({ created: true });
  });
});

async function builtins(): Promise<number> {
  const { catalog } = await emptyWorkspace();
  return (await pages((page) => catalog.tools(page), 200)).length;
}
