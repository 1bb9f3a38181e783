import { beforeEach, describe, expect, it } from 'vitest';
import { toolDefinitions } from '../../../src/tools/registry.ts';
import { definitionPin } from '../../../src/core/tools/tool.ts';
import { toolOf } from '../../fakes/known-tools.ts';
import { configurationBench, someTools, type Bench } from './bench.ts';

let bench: Bench;
beforeEach(() => {
  bench = configurationBench();
});

const build = (tools: unknown, more: object = {}) => bench.run('build-toolset', { name: 'dev', tools, ...more });
const stored = async () => (await bench.catalog.list('toolset', { limit: 50 })).items.map(({ name }) => name);
const status = { namespacedName: 'git.status' };

/** A rejected request stores nothing. */
async function errorOf(tools: unknown, more: object = {}): Promise<string> {
  const { isError, json, text } = await build(tools, more);
  expect(isError).toBe(true);
  expect(json.meta.success).toBe(false);
  expect(text).toContain(json.meta.error);
  expect(await stored()).toEqual([]);
  return json.meta.error;
}

describe('build-toolset', () => {
  it('saves tools under the given names, and returns all names of each', async () => {
    const { isError, json, text } = await build([{ ...status, alias: 'gs', aliases: ['git_status'] }, { namespacedName: 'docker.ps' }], {
      description: 'For work.',
    });
    expect(isError).toBe(false);
    expect(json).toMatchObject({
      meta: { success: true, toolsetName: 'dev', autoEquipped: false },
      toolset: {
        name: 'dev',
        description: 'For work.',
        version: 1,
        toolCount: 2,
        totalTools: 2,
        totalServers: 2,
        active: false,
        servers: [
          { name: 'git', enabled: true, toolCount: 1 },
          { name: 'docker', enabled: true, toolCount: 1 },
        ],
        tools: [
          { namespacedName: 'git.status', server: 'git', active: true, alias: 'gs', aliases: ['gs', 'git_status'], wireName: 'gs' },
          { namespacedName: 'docker.ps', server: 'docker', active: true, aliases: [], wireName: 'ps' },
        ],
      },
    });
    for (const part of ['gs = git.status (aliases: git_status)', 'ps = docker.ps']) expect(text).toContain(part);
    expect((await bench.catalog.get('toolset', 'dev')).body.tools).toEqual([
      { tool: 'git.status', aliases: ['gs', 'git_status'] },
      { tool: 'docker.ps' },
    ]);
    expect(await bench.catalog.equipment('root')).toEqual({ toolset: null, mode: 'configuration' });
  });

  it('documents the alias with its form and an example', () => {
    const schema = toolDefinitions().find(({ name }) => name === 'build-toolset')?.inputSchema as {
      properties: { tools: { items: unknown } };
    };
    expect(schema.properties.tools.items).toMatchObject({
      properties: { alias: { type: 'string', pattern: '^[a-z][a-z0-9_-]{1,63}$', examples: ['git_status'] } },
    });
  });

  it('names a tool by its definition alone, and trims an alias', async () => {
    const refId = await definitionPin(someTools[0] ?? toolOf('no', 'tool'));
    const { json } = await build([{ refId, alias: ' git_status ' }]);
    expect(json.toolset.tools).toMatchObject([{ namespacedName: 'git.status', refId, wireName: 'git_status' }]);
  });

  it('has a specific message for each kind of invalid name', async () => {
    const blank = await errorOf([status], { name: '  ' });
    const illegal = await errorOf([status], { name: 'Test_Toolset' });
    const missing = await errorOf([status], { name: undefined });
    expect(blank).toContain('is empty');
    expect(illegal).toContain('use test-toolset');
    expect(missing).toBe('name: is missing');
    for (const name of ['--', '-a', 'a_b', 'x'.repeat(51)])
      expect(await errorOf([status], { name }), name).toContain('is not a valid name');
  });

  it('rejects an empty list of tools', async () => {
    expect(await errorOf([])).toMatch(/^tools: is empty/);
    expect(await errorOf(undefined)).toBe('tools: is missing');
  });

  it('reports every unknown entry by its index', async () => {
    const error = await errorOf([{}, { namespacedName: '' }, { refId: 'abcde' }, status, { refId: '0'.repeat(64) }]);
    for (const part of [
      'tools[0]: names no tool',
      'tools[1].namespacedName',
      'tools[2].refId: must be 64',
      'tools[4].refId: matches no current definition',
    ])
      expect(error).toContain(part);
    expect(error).not.toContain('tools[3]');
    expect(error).not.toContain('[object');
  });

  it('suggests similar names for an unknown tool', async () => {
    expect(await errorOf([{ namespacedName: 'git.statos' }])).toBe(
      'tools[0].namespacedName: there is no tool "git.statos"; did you mean git.status, git.log?',
    );
  });

  it('rejects a name and a definition of two different tools', async () => {
    const refId = await definitionPin(someTools[0] ?? toolOf('no', 'tool'));
    expect(await errorOf([{ namespacedName: 'docker.ps', refId }])).toContain(
      'tools[0].refId: is the definition of git.status, not of docker.ps',
    );
  });

  it('reports what is wrong with an alias, with its path', async () => {
    expect(await errorOf([status, { namespacedName: 'git.log', alias: 'GitLog' }])).toMatch(/^tools\[1\]\.alias: .*capitals/);
    expect(await errorOf([{ ...status, alias: 'gs', aliases: ['ok_name', 'not ok'] }])).toMatch(/^tools\[0\]\.aliases\[1\]: .*a space/);
    expect(await errorOf([{ ...status, aliases: ['a:b'] }])).toMatch(/^tools\[0\]\.aliases\[0\]: .*":"/);
    expect(await errorOf([{ ...status, alias: 'constructor' }])).toMatch(/^tools\[0\]\.alias: /);
    expect(await errorOf([{ ...status, alias: '' }])).toMatch(/^tools\[0\]\.alias: /);
    expect(await errorOf([{ ...status, alias: 5 }])).toMatch(/^tools\[0\]\.alias: /);
  });

  it('rejects a duplicate alias, with both paths and a free name', async () => {
    const error = await errorOf([
      { ...status, alias: 'st' },
      { namespacedName: 'docker.ps', alias: 'st' },
    ]);
    expect(error).toMatch(/^tools\[1\]\.alias: "st" is also claimed by git\.status at tools\[0\]\.alias; .*such as "[a-z_]+"/);
    const folded = await errorOf([
      { ...status, aliases: ['gs', 'work-tree'] },
      { namespacedName: 'docker.ps', aliases: ['work_tree'] },
    ]);
    expect(folded).toMatch(/^tools\[1\]\.aliases\[0\]: /);
    expect(folded).toContain('tools[0].aliases[1]');
  });

  it("rejects an alias that is another entry's own name, wire name or flattened name, also if that entry is given by refId", async () => {
    const ps = { refId: await definitionPin(someTools[2] ?? toolOf('no', 'tool')) };
    for (const tools of [
      [{ ...status, alias: 'ps' }, ps],
      [ps, { ...status, alias: 'ps' }],
    ]) {
      const at = tools.indexOf(ps);
      expect(await errorOf(tools)).toContain(`tools[${1 - at}].alias: "ps" is also claimed by docker.ps at tools[${at}]`);
    }
    expect(await errorOf([{ ...status, aliases: ['Bad', 'docker_ps'] }, ps])).toMatch(/^tools\[0\]\.aliases\[1\]: "docker_ps" reads like/);
    expect(await errorOf([{ ...status, alias: 'docker_ps' }, ps])).toMatch(/^tools\[0\]\.alias: "docker_ps" reads like docker\.ps/);
    expect(
      await errorOf([
        { ...status, aliases: ['gs', 'containers'] },
        { ...ps, alias: 'containers' },
      ]),
    ).toMatch(/^tools\[1\]\.alias: /);
  });

  it('rejects names reserved for Moniker’s own tools', async () => {
    expect(await errorOf([{ ...status, alias: 'build-toolset' }])).toMatch(
      /^tools\[0\]\.alias: "build-toolset" is also claimed by builtin\.build-toolset/,
    );
    expect(await errorOf([{ ...status, alias: 'find_tools' }])).toContain('builtin.find_tools');
  });

  it('accepts a tool twice under different names, otherwise reports the first entry', async () => {
    expect(await errorOf([status, status])).toMatch(/^tools\[1\]: git\.status has the name "status" twice, also at tools\[0\]/);
    const { json } = await build([status, { ...status, alias: 'again' }]);
    expect(json.toolset.tools.map(({ wireName }: { wireName: string }) => wireName)).toEqual(['status', 'again']);
    expect(json.meta.warnings.join()).toContain('git.status is also listed at tools[0]');
  });

  it('warns about sixty tools, and saves them', async () => {
    const many = Array.from({ length: 60 }, (_item, index) =>
      toolOf('many', `tool_${index}`, { description: `Number ${index} of its kind.` }),
    );
    bench = configurationBench(many);
    const { json } = await build(many.map(({ canonical }) => ({ namespacedName: canonical })));
    expect(json.toolset.toolCount).toBe(60);
    expect(json.meta.warnings.join()).toContain('list fewer tools');
  });

  it('says what to do if the name is already used', async () => {
    await build([status]);
    const { isError, json } = await build([{ namespacedName: 'docker.ps' }]);
    expect([isError, json.meta.success]).toEqual([true, false]);
    for (const part of ['rename-toolset', 'update-toolset', 'delete-toolset']) expect(json.meta.error).toContain(part);
    expect((await bench.catalog.get('toolset', 'dev')).version).toBe(1);
  });

  it('equips the new toolset on request, and changes nothing on failure', async () => {
    await build([status], { name: 'one', autoEquip: true });
    expect(await bench.catalog.equipment('root')).toEqual({ toolset: 'one', mode: 'normal' });
    await bench.run('enter-configuration-mode');
    const { json } = await build([{ ...status, alias: 'Bad' }], { autoEquip: true });
    expect(json.meta).toEqual({ success: false, error: expect.any(String) });
    expect(await bench.catalog.equipment('root')).toEqual({ toolset: 'one', mode: 'configuration' });
    expect(await stored()).toEqual(['one']);
  });

  it('stores four toolsets built concurrently, and one of two with the same name', async () => {
    const names = ['a1', 'a2', 'a3', 'a4'];
    const built = await Promise.all(names.map((name) => build([status], { name })));
    expect(built.map(({ json }) => json.meta.success)).toEqual([true, true, true, true]);
    expect(await stored()).toEqual(names);
  });

  it('distinguishes `a.b_c` and `a-b.c`, which flatten to the same name', async () => {
    bench = configurationBench([toolOf('a', 'b_c', { description: 'One.' }), toolOf('a-b', 'c', { description: 'Another.' })]);
    const { json } = await build([{ namespacedName: 'a.b_c' }, { namespacedName: 'a-b.c' }]);
    expect(json.toolset.tools.map(({ wireName, namespacedName }: Record<string, string>) => [wireName, namespacedName])).toEqual([
      ['b_c', 'a.b_c'],
      ['c', 'a-b.c'],
    ]);
  });

  it('never accepts approval, presets or secrets', async () => {
    for (const more of [{ approval: 'never' }, { arguments: { preset: { a: 1 } } }, { name: 'x1' }]) {
      bench = configurationBench();
      expect(await errorOf([{ ...status, ...more }])).toMatch(/^tools\[0\]\.\w+: unknown field/);
    }
  });
});
