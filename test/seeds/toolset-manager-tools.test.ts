/**
 * The examples of configuration tools from the seed "toolsets over MCP servers", good and bad (input → expected), as this product responds.
 * Where the contract differs, the test says "Differs: …". `toolset-manager.test.ts` covers names and documents.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { configurationBench, type Bench } from '../tools/configuration/bench.ts';
import { toolDefinitions } from '../../src/tools/registry.ts';

let bench: Bench;
beforeEach(() => {
  bench = configurationBench();
});

const build = (name: string, more: object = {}) => bench.run('build-toolset', { name, tools: [{ namespacedName: 'git.status' }], ...more });
const equipment = () => bench.catalog.equipment('root');

it('has the tools of the seed under their names, each with an output schema', () => {
  const tools = new Map(toolDefinitions().map((tool) => [tool.canonical as string, tool]));
  for (const name of [
    'list-available-tools',
    'build-toolset',
    'list-saved-toolsets',
    'equip-toolset',
    'delete-toolset',
    'unequip-toolset',
    'get-active-toolset',
    'add-tool-annotation',
    'enter-configuration-mode',
    'exit-configuration-mode',
  ]) {
    expect(tools.get(`builtin.${name}`), name).toMatchObject({ inputSchema: { type: 'object' }, outputSchema: { type: 'object' } });
  }
});

describe('the good examples', () => {
  it('a failed build with autoEquip does not change the mode, a successful one does', async () => {
    await build('Bad Name', { autoEquip: true });
    expect(await equipment()).toEqual({ toolset: null, mode: 'configuration' });
    await build('good', { autoEquip: true });
    expect(await equipment()).toEqual({ toolset: 'good', mode: 'normal' });
  });

  it('an alias is shown wherever its toolset is, and the tool next to it keeps its name. Differs: "ps", not "docker_ps"', async () => {
    await bench.run('build-toolset', {
      name: 'dev',
      tools: [{ namespacedName: 'git.status', alias: 'git_status' }, { namespacedName: 'docker.ps' }],
      autoEquip: true,
    });
    const { json: saved } = await bench.run('list-saved-toolsets');
    const { json: active } = await bench.run('get-active-toolset');
    for (const tools of [saved.toolsets[0].tools, active.toolset.tools])
      expect(tools).toMatchObject([{ alias: 'git_status', wireName: 'git_status' }, { wireName: 'ps' }]);
    expect(active.exposedTools).toMatchObject([
      { server: 'git', tools: [{ alias: 'git_status' }] },
      { server: 'docker', tools: [{ wireName: 'ps' }] },
    ]);
  });

  it('the same reference twice is reported with its index. Differs: an error if both would have one name', async () => {
    const same = { namespacedName: 'git.status' };
    const { json } = await bench.run('build-toolset', { name: 'dev', tools: [same, same] });
    expect(json.meta.error).toMatch(/^tools\[1\]: /);
  });
});

describe('the bad examples', () => {
  it('leaving configuration mode twice does not enter it', async () => {
    await build('dev', { autoEquip: true });
    await bench.run('exit-configuration-mode');
    await bench.run('exit-configuration-mode');
    expect((await equipment()).mode).toBe('normal');
  });

  it('equipping leaves configuration mode', async () => {
    await build('dev');
    await bench.run('enter-configuration-mode');
    await bench.run('equip-toolset', { name: 'dev' });
    expect((await equipment()).mode).toBe('normal');
  });

  it('a toolset equipped by one key is not equipped for another', async () => {
    await build('dev', { autoEquip: true });
    const other = await bench.key({ scopes: ['toolsets'] });
    expect((await bench.run('get-active-toolset', {}, other)).json.equipped).toBe(false);
  });

  it('listing the tools changes none of them', async () => {
    await build('dev', { autoEquip: true });
    await bench.run('add-tool-annotation', {
      toolRef: { namespacedName: 'git.status' },
      notes: [{ name: 'when', note: 'Before a commit.' }],
    });
    const before = await bench.catalog.tool('git.status');
    const lists: unknown[] = [];
    for (let times = 0; times < 3; times += 1) lists.push((await bench.run('list-available-tools')).json);
    expect(lists[1]).toEqual(lists[0]);
    expect(lists[2]).toEqual(lists[0]);
    expect(await bench.catalog.tool('git.status')).toEqual(before);
  });

  it('all of four parallel builds are stored', async () => {
    await Promise.all(['a1', 'a2', 'a3', 'a4'].map((name) => build(name)));
    expect((await bench.run('list-saved-toolsets')).json.toolsets).toHaveLength(4);
  });

  it('invalid references are reported with a message', async () => {
    const { json } = await bench.run('build-toolset', { name: 'dev', tools: [{}, 'text', null] });
    expect(json.meta.error).toMatch(/tools\[1\].*tools\[2\]/);
    expect(json.meta.error).not.toContain('[object');
  });

  it('"constructor" is an ordinary name: it does not exist before it is built, and then it does', async () => {
    expect((await bench.run('delete-toolset', { name: 'constructor', confirm: true })).json.success).toBe(false);
    expect((await build('constructor')).json.meta.success).toBe(true);
    expect((await bench.run('delete-toolset', { name: 'constructor', confirm: true })).json.success).toBe(true);
  });

  it('notes of a tool with an alias are kept, and can be removed', async () => {
    await bench.run('build-toolset', { name: 'dev', tools: [{ namespacedName: 'git.status', alias: 'gs' }], autoEquip: true });
    const toolRef = { namespacedName: 'git.status' };
    await bench.run('add-tool-annotation', { toolRef, notes: [{ name: 'when', note: 'Before a commit.' }] });
    const told = async () => (await bench.catalog.directory.toolset('default', 'dev')).names.tools[0]?.description;
    expect(await told()).toContain('- when: Before a commit.');
    await bench.run('remove-tool-annotation', { toolRef, names: ['when'] });
    expect(await told()).toBe('Shows the working tree.');
  });

  it('reports an alias that equals the name of a tool outside the toolset', async () => {
    const { json } = await bench.run('build-toolset', { name: 'dev', tools: [{ namespacedName: 'git.status', alias: 'ps' }] });
    expect(json.meta.warnings).toEqual([expect.stringContaining('"ps" is also the own name of docker.ps')]);
  });

  it('errors also have a structured form, as each tool declares it', async () => {
    // Every result is checked against the schema: here one error of each tool.
    const bad = { unknown: true };
    for (const { canonical, name } of toolDefinitions().filter(({ outputSchema }) => outputSchema !== undefined))
      expect((await bench.run(name, bad)).isError, canonical).toBe(true);
  });
});
