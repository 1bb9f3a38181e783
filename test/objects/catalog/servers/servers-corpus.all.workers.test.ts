/**
 * Real servers' lists, and definitions that change after they were accepted. Both corpora are next to the checkout; without them the tests
 * are skipped.
 */
import { describe, expect, it } from 'vitest';
import type { ServerTool } from '../../../../src/core/servers/server-tool.ts';
import type { CatalogPort } from '../../../../src/ports/catalog.ts';
import { pages } from '../../../contracts/catalog/workspace.ts';
import { emptyWorkspace } from '../../../storage/workspace.ts';
import { isSkipped } from '../../../selection.ts';
import { printStatistics } from '../../../statistics.ts';

declare global {
  interface ImportMeta {
    // Vite's glob import; the bundler reads the files, since the Workers runtime has no file system.
    glob<Module>(pattern: string, options: { eager: true }): Record<string, Module>;
  }
}

type Listed = Record<string, unknown> & { name: string };
type PinCase = { id: string; first: Listed; second?: Listed; sequence?: string[]; expect: string };

const url = 'https://tools.example.com/call';
const lists = import.meta.glob<{ default: Listed[] }>('../../../../shared/fixtures/mcp-tools/*.json', { eager: true });
const pinning = import.meta.glob<{ default: { cases: PinCase[] } }>('../../../../shared/fixtures/security/tool-pinning.json', {
  eager: true,
});

const servers = new Map(
  Object.entries(lists).flatMap(([path, { default: tools }]): [string, Listed[]][] => {
    const file = path.slice(path.lastIndexOf('/') + 1, -'.json'.length);
    // Some start with a digit.
    return file === 'index' ? [] : [[/^[a-z]/.test(file) ? file : `s-${file}`, tools]];
  }),
);
const cases = Object.values(pinning).flatMap((module) => module.default.cases);

async function toolsOf(catalog: CatalogPort, server: string): Promise<Map<string, ServerTool>> {
  return new Map((await pages((page) => catalog.serverTools(server, page), 200)).map((tool) => [tool.name, tool]));
}

describe.skipIf(isSkipped(servers.size === 0, 'corpus mcp-tools', '../shared/fixtures is not beside this checkout'))(
  'the public servers in one workspace',
  () => {
    it('are all listed, in pages and by name, and each toolset has only its own held tools', async () => {
      const { catalog, directory, workspace } = await emptyWorkspace();
      const canonicals: string[] = [];
      for (const [name, tools] of servers) {
        await catalog.put('server', name, { kind: 'static', url, tools });
        const listed = [...(await toolsOf(catalog, name)).values()];
        canonicals.push(...listed.filter(({ state }) => state !== 'refused').map(({ canonical }) => canonical));
      }
      const known = await pages((page) => catalog.tools(page), 200);
      expect(known.filter(({ kind }) => kind === 'static').map(({ canonical }) => canonical as string)).toEqual([...canonicals].sort());
      const states = known.flatMap(({ source }) => source?.state ?? []);
      printStatistics(
        `${servers.size} servers, ${states.length} tools: ${states.filter((state) => state === 'held').length} held at first sight`,
      );

      const entries = canonicals.map((tool, index) => ({ tool, name: `t_${index}` }));
      for (const [name, from, to] of [
        ['small', 0, 100],
        ['first', 0, 1_000],
        ['rest', 1_000, canonicals.length],
      ] as const) {
        await catalog.put('toolset', name, { tools: entries.slice(from, to) });
      }
      const own = (await toolsOf(catalog, 'github')).get('actions_get');
      expect(own).toMatchObject({ state: 'ready' });
      const toolset = canonicals.indexOf('github.actions_get') < 1_000 ? 'first' : 'rest';
      const others = ['small', 'first', 'rest'].filter(
        (name) => name !== toolset && (name !== 'small' || canonicals.indexOf('github.actions_get') >= 100),
      );
      const tools = (servers.get('github') ?? []).map((tool) => (tool.name === 'actions_get' ? { ...tool, description: 'Other.' } : tool));
      await catalog.put('server', 'github', { kind: 'static', url, tools });
      const { names, pointer } = await directory.toolset(workspace, toolset);
      expect(pointer).toMatchObject({ version: 1, revision: 2 });
      expect(names.edition.tools.filter(({ held }) => held?.reason === 'changed').map(({ canonical }) => canonical as string)).toEqual([
        'github.actions_get',
      ]);
      for (const name of others) expect((await directory.toolset(workspace, name)).pointer).toMatchObject({ version: 1, revision: 1 });
      expect((await directory.server(workspace, 'github')).held).toContain('actions_get');
    });
  },
);

describe.skipIf(isSkipped(cases.length === 0, 'corpus security/tool-pinning.json', '../shared/fixtures is not beside this checkout'))(
  'a definition that changes after it was accepted',
  () => {
    const ofMcp = new Set(['same-url-new-server-identity']);

    it('is held as each case expects', async () => {
      const verdicts: string[] = [];
      for (const { id, first, second, sequence, expect: wanted } of cases) {
        if (ofMcp.has(id)) continue;
        const { catalog, directory, workspace } = await emptyWorkspace();
        // An empty list is not a valid listing, so another tool is always added.
        const list = (...tools: Listed[]) =>
          catalog.put('server', 'facts', { kind: 'static', url, tools: [{ ...first, name: 'another', description: id }, ...tools] });
        const changed = { ...first, description: `${String(first.description)} Changed.` };
        const steps = { list: [first], empty: [], changed: [changed] };
        await list(first);
        await catalog.put('toolset', 'daily', { tools: [{ tool: 'facts.get_fact' }] });
        const seen: string[] = [];
        for (const step of sequence ?? []) {
          await list(...(steps[step as keyof typeof steps] ?? expect.fail(`the step ${step}`)));
          seen.push((await toolsOf(catalog, 'facts')).get('get_fact')?.state ?? 'gone');
        }
        if (sequence === undefined) await list(second ?? changed);
        const tools = await toolsOf(catalog, 'facts');
        const { held } = await directory.server(workspace, 'facts');
        const [compiled] = (await directory.toolset(workspace, 'daily')).names.edition.tools;
        const state = tools.get('get_fact')?.state;
        switch (wanted) {
          case 'same-pin':
            expect([id, state, compiled?.state, held]).toEqual([id, 'ready', 'ready', []]);
            break;
          case 'held':
            expect([id, state, compiled?.state, held]).toEqual([id, 'held', 'held', ['get_fact']]);
            expect(tools.get('get_fact')?.held?.changes.length).toBeGreaterThan(0);
            break;
          case 'held-every-time':
            expect([id, seen]).toEqual([id, ['ready', 'held', 'ready', 'held']]);
            break;
          case 'new-tool-held':
            expect([id, state, tools.get(second?.name ?? '')?.state]).toEqual([id, 'missing', 'held']);
            expect(tools.get('get_fact')?.renamedTo).toBe(`facts.${second?.name}`);
            break;
          case 'call-refused-or-call-uses-pinned-schema':
            expect([id, held, compiled?.inputSchema, compiled?.description]).toEqual([
              id,
              ['get_fact'],
              first.inputSchema,
              first.description,
            ]);
            break;
          default:
            expect.fail(`${id} wants ${wanted}`);
        }
        verdicts.push(wanted);
      }
      printStatistics(
        `tool-pinning: ${verdicts.length} of ${cases.length} rows as they say; ${ofMcp.size} is of MCP (${[...ofMcp].join()})`,
      );
      expect(verdicts.length + ofMcp.size).toBe(cases.length);
    });
  },
);
