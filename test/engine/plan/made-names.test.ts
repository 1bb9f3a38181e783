/** Made tools that an agent is offered beside its toolset: which, under what names, and how they stay fixed for a turn. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { AliasMap } from '../../../src/core/toolset/alias-map.ts';
import { resolveName } from '../../../src/core/toolset/alias-map.ts';
import type { Plan } from '../../../src/core/turn/plan.ts';
import type { Principal } from '../../../src/core/people/principal.ts';
import { selectMadeTools, turnNames } from '../../../src/engine/plan/plan-names.ts';
import { planTurn, type PlanRequest } from '../../../src/engine/plan/plan-turn.ts';
import { createNodeCatalog, type NodeCatalog } from '../../fakes/node-catalog.ts';
import { toolOf } from '../../fakes/known-tools.ts';

const root: Principal = { workspace: 'default', keyId: 'root', scopes: ['admin'] };
const own = (name: string) => toolOf('builtin', name, { kind: 'builtin' });

let catalog: NodeCatalog;
beforeEach(async () => {
  catalog = createNodeCatalog({ definitions: [own('bash'), own('read_file'), own('write_file'), toolOf('docs', 'search')] });
  await catalog.put('toolset', 'desk', {
    tools: [{ tool: 'builtin.read_file' }, { tool: 'builtin.write_file' }, { tool: 'docs.search', name: 'lookup', aliases: ['seek'] }],
  });
  await catalog.put('agent', 'helper', { model: 'rehearsal/default', toolset: 'desk', made: true });
});

const make = (name: string, calls: readonly string[], more = {}) =>
  catalog.put('made-tool', `made.${name}`, {
    description: `Does ${name}.`,
    implementation: calls.map((call) => `await tools.${call}({});`).join('\n') || 'return 1',
    ...more,
  });
const plan = (request: PlanRequest = { agent: 'helper' }, aliases = true) =>
  planTurn({ directory: catalog.directory, aliases }, root, request);
const tableOf = async (planned: Plan): Promise<AliasMap | null> => {
  const { directory } = catalog;
  const names = planned.edition === undefined ? null : (await directory.edition('default', planned.edition)).names;
  return turnNames(names, planned, planned.made === undefined ? null : (await directory.edition('default', planned.made)).names);
};
const offered = async (planned: Plan): Promise<string[]> => ((await tableOf(planned))?.tools ?? []).map(({ canonical }) => canonical);
const left = async (agent = 'helper') => {
  const planned = await plan({ agent });
  const names = await tableOf({ ...planned, madeAllow: [] });
  return selectMadeTools(names, (await catalog.directory.made('default'))?.names as AliasMap).omitted;
};
const base = ['builtin.read_file', 'builtin.write_file', 'docs.search'];

describe('an agent with made tools', () => {
  it('is offered those whose own tools it has, after its toolset', async () => {
    await make('reader', ['read_file']);
    await make('runner', ['read_file', 'bash']);
    await make('alone', []);
    expect(await offered(await plan())).toEqual([...base, 'made.alone', 'made.reader']);
    expect(await left()).toEqual([{ canonical: 'made.runner', why: 'it calls builtin.bash, which is not one of the agent’s tools' }]);
  });

  it('is offered one that calls another made tool if it has the tools of both', async () => {
    await make('reader', ['read_file']);
    await make('twice', ['reader']);
    await make('runner', ['bash']);
    await make('over', ['runner']);
    expect(await offered(await plan())).toEqual([...base, 'made.reader', 'made.twice']);
    expect(await left()).toContainEqual({
      canonical: 'made.over',
      why: 'it calls made.runner, which is omitted: it calls builtin.bash, which is not one of the agent’s tools',
    });
  });

  it('finds them by their aliases, and is shown the aliases without another meaning', async () => {
    await make('reader', ['read_file'], { aliases: ['peruse', 'seek'] });
    const table = (await tableOf(await plan())) as AliasMap;
    expect(resolveName(table, 'peruse')).toMatchObject({ canonical: 'made.reader', via: 'alias', wireName: 'reader' });
    expect(resolveName(table, 'made.reader')).toMatchObject({ canonical: 'made.reader', via: 'canonical' });
    expect(resolveName(table, 'seek')).toMatchObject({ canonical: 'docs.search', via: 'alias' });
  });

  it.each(['lookup', 'search', 'seek', 'look_up'])(
    'is not offered one called %s, which is the name of a tool of its toolset',
    async (name) => {
      await make(name, ['read_file']);
      expect(await offered(await plan())).toEqual(base);
      expect(await left()).toEqual([{ canonical: `made.${name}`, why: `"${name}" already means docs.search in this toolset` }]);
    },
  );

  it('has one that its toolset lists as listed there, and not a second time where its own list omits it', async () => {
    await make('reader', ['read_file']);
    await catalog.put('toolset', 'desk', { tools: [{ tool: 'builtin.read_file' }, { tool: 'made.reader', name: 'peruse' }] });
    expect(await offered(await plan())).toEqual(['builtin.read_file', 'made.reader']);
    await catalog.put('agent', 'helper', { model: 'rehearsal/default', toolset: 'desk', made: true, tools: ['read_file'] });
    expect(await offered(await plan())).toEqual(['builtin.read_file']);
  });

  it('counts only the tools that its own list allows', async () => {
    await make('reader', ['read_file']);
    await make('writer', ['write_file']);
    await catalog.put('agent', 'helper', { model: 'rehearsal/default', toolset: 'desk', made: true, tools: ['readFile'] });
    expect(await offered(await plan())).toEqual(['builtin.read_file', 'made.reader']);
  });

  it('has those that call no tools if it has no toolset', async () => {
    await make('alone', []);
    await make('reader', ['read_file']);
    await make('over', ['alone']);
    await catalog.put('agent', 'bare', { model: 'rehearsal/default', made: true });
    expect(await offered(await plan({ agent: 'bare' }))).toEqual(['made.alone', 'made.over']);
  });

  it('has only those that the request names, if the request names its tools', async () => {
    await make('reader', ['read_file']);
    await make('alone', []);
    const allowed = (...names: string[]) => plan({ agent: 'helper', allowed: names.map((name) => ({ name, path: 'tools' })) });
    expect(await offered(await allowed('lookup', 'Reader'))).toEqual(['docs.search', 'made.reader']);
    expect(await offered(await allowed('lookup'))).toEqual(['docs.search']);
    await expect(allowed('runner')).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('has the same ones for the whole turn, and the current ones in the next', async () => {
    await make('reader', ['read_file']);
    const first = await plan();
    await make('reader', ['write_file']);
    await make('alone', []);
    expect((await tableOf(first))?.tools.at(-1)?.made?.uses.map(({ canonical }) => canonical)).toEqual(['builtin.read_file']);
    expect(await offered(first)).toEqual([...base, 'made.reader']);
    expect(await offered(await plan())).toEqual([...base, 'made.alone', 'made.reader']);
    await catalog.remove('made-tool', 'made.reader');
    expect(await offered(await plan())).toEqual([...base, 'made.alone']);
  });

  it('lacks one whose name a client tool has', async () => {
    await make('reader', ['read_file']);
    const brought = { name: 'Reader', description: '', inputSchema: { type: 'object' } };
    const table = await tableOf(await plan({ agent: 'helper', tools: [brought] }));
    expect(table?.tools.map(({ canonical }) => canonical)).toEqual([...base, 'client.Reader']);
  });

  it('has them by their own names only if aliases are off', async () => {
    await make('reader', ['read_file'], { aliases: ['peruse'] });
    const table = (await tableOf(await plan({ agent: 'helper' }, false))) as AliasMap;
    expect(resolveName(table, 'reader')).toMatchObject({ ok: true, canonical: 'made.reader' });
    expect(resolveName(table, 'peruse')).toMatchObject({ ok: false });
  });
});

it('offers no made tools to an agent without the setting, nor to a bare model', async () => {
  await make('alone', []);
  await catalog.put('agent', 'plain', { model: 'rehearsal/default', toolset: 'desk' });
  expect(await offered(await plan({ agent: 'plain' }))).toEqual(base);
  expect(await offered(await plan({ model: 'rehearsal/default', toolset: 'desk' }))).toEqual(base);
});
