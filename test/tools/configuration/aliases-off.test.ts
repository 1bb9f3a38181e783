/** `MONIKER_ALIASES=off`: the configuration tools report the names that tools can be called by, which are their own. */
import { expect, it } from 'vitest';
import { buildAliasMap } from '../../../src/core/toolset/alias-map.ts';
import { toolOf } from '../../fakes/known-tools.ts';
import { configurationBench } from './bench.ts';

const tools = [toolOf('git', 'search'), toolOf('web', 'search'), toolOf('docker', 'ps', { aliases: ['containers'] })];

it('shows the served name of each tool, also if two share one, and warns that aliases are off', async () => {
  const bench = configurationBench(tools, undefined, { aliases: false });
  const wanted = [{ namespacedName: 'git.search', alias: 'find' }, { namespacedName: 'web.search' }, { namespacedName: 'docker.ps' }];
  const { json, text } = await bench.run('build-toolset', { name: 'dev', tools: wanted, autoEquip: true });
  const { names } = await bench.catalog.directory.toolset('default', 'dev');
  const served = buildAliasMap(names.edition, { aliases: false }).tools.map(({ canonical, wireName }) => [canonical, wireName]);
  const told = (rows: { namespacedName: string; wireName: string }[]) => rows.map((row) => [row.namespacedName, row.wireName]);
  expect(told(json.toolset.tools)).toEqual(served);
  expect(new Set(served.map(([, name]) => name)).size).toBe(3);
  expect(json.meta.warnings[0]).toContain('MONIKER_ALIASES=off');
  expect(text).not.toMatch(/= find|aliases: /);
  const active = (await bench.run('get-active-toolset')).json;
  expect(told(active.exposedTools.flatMap((server: { tools: [] }) => server.tools)).sort()).toEqual(served.sort());
  const docker = (await bench.run('list-available-tools', { server: 'docker' })).json.toolsByServer[0].tools[0];
  expect(docker).toMatchObject({ wireName: 'ps', aliases: [] });
  expect(docker).not.toHaveProperty('alias');
});
