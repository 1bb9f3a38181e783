/** What a deployment with other tools in code does to stored toolsets: two builds of the same Catalog, over the same data. */
import { expect, it } from 'vitest';
import { limits } from '../../../../src/core/limits/limits.ts';
import { resolveName } from '../../../../src/core/toolset/alias-map.ts';
import { CanonicalName } from '../../../../src/core/names/names.ts';
import type { ToolDefinition } from '../../../../src/core/tools/tool.ts';
import { createNodeCatalog, type NodeCatalog } from '../../../fakes/node-catalog.ts';
import { fakeClock } from '../../../fakes/runtime.ts';
import { takeErrors } from '../../../service-errors.ts';
import { waitFor } from '../../../wait-for.ts';
import { defaultWorkspace } from '../../../../src/core/people/workspace.ts';

function shellTool(argument: string, more: Partial<ToolDefinition> = {}): ToolDefinition {
  const inputSchema = { type: 'object', properties: { [argument]: { type: 'string' } }, required: [argument], additionalProperties: false };
  const canonical = CanonicalName.parse('builtin.bash');
  return { canonical, server: 'builtin', name: 'bash', kind: 'builtin', description: 'Runs it.', inputSchema, aliases: ['shell'], ...more };
}

const greet: ToolDefinition = {
  ...shellTool('name'),
  canonical: CanonicalName.parse('local.greet'),
  server: 'local',
  kind: 'local',
  name: 'greet',
  aliases: [],
};
const before = [shellTool('command'), greet];
const after = [shellTool('script', { description: 'Runs a script.', aliases: ['terminal'], renamed: { command: 'script' } }), greet];

type Parts = Awaited<ReturnType<typeof start>>;

async function start(count = 1) {
  const clock = fakeClock(Date.now());
  const catalog = createNodeCatalog({ definitions: before, clock });
  const tools = [{ tool: 'builtin.bash' }, { tool: 'local.greet' }];
  for (let index = 0; index < count; index += 1) await catalog.put('toolset', nameOf(index), { tools });
  await clock.advance(limits.publishIntervalMs * 2);
  return { catalog, clock };
}

const nameOf = (index: number): string => `t${String(index).padStart(2, '0')}`;

/** Lets the jobs of the object run until this many toolsets are of another build. */
async function settle({ catalog, clock }: Parts, left = 0): Promise<void> {
  await waitFor(async () => {
    await clock.advance(limits.publishIntervalMs);
    expect(await catalog.staleToolsets()).toBe(left);
  });
}

async function revisions(catalog: NodeCatalog, count: number): Promise<number[]> {
  return await Promise.all(
    Array.from({ length: count }, async (_, index) => (await catalog.pointer(nameOf(index), undefined, false)).revision),
  );
}

const toolOf = async (catalog: NodeCatalog, name: string, tool: string) => {
  const { hash } = await catalog.pointer(name, undefined, false);
  const { tools } = JSON.parse(await catalog.editionText(hash));
  return tools.find(({ canonical }: { canonical: string }) => canonical === tool);
};

it('a deployment compiles every toolset again, as a new revision of the same version, without a write', async () => {
  const { catalog, clock } = await start(25);
  expect(await catalog.staleToolsets()).toBe(0);
  catalog.redeploy(after);
  expect(await catalog.staleToolsets()).toBe(25);
  await settle({ catalog, clock });
  expect(await revisions(catalog, 25)).toEqual(Array.from({ length: 25 }, () => 2));
  expect(await toolOf(catalog, 't07', 'builtin.bash')).toMatchObject({
    description: 'Runs a script.',
    inputSchema: { required: ['script'] },
    renamed: { command: 'script' },
    aliases: [{ name: 'terminal' }],
    wireName: 'bash',
  });
  const { names } = await catalog.directory.toolset(defaultWorkspace, 't07');
  expect(resolveName(names, 'terminal')).toMatchObject({ ok: true, canonical: 'builtin.bash' });
});

it('a build with the same tools compiles and publishes nothing', async () => {
  const { catalog, clock } = await start(3);
  catalog.redeploy(structuredClone(before));
  await settle({ catalog, clock });
  expect(await revisions(catalog, 3)).toEqual([1, 1, 1]);
});

it('a toolset whose tools are the same gets no revision, but the new build in its pointer', async () => {
  const { catalog, clock } = await start();
  await catalog.put('toolset', 'other', { tools: [{ tool: 'local.greet' }] });
  const { hash, build } = await catalog.pointer('other', undefined, false);
  catalog.redeploy(after);
  await settle({ catalog, clock });
  const pointer = await catalog.pointer('other', undefined, false);
  expect(pointer).toMatchObject({ revision: 1, hash });
  expect(pointer.build).not.toBe(build);
});

it('a tool that the code does not have any more is missing with the reason, and ready again with a build that has it', async () => {
  const { catalog, clock } = await start();
  await catalog.put('made-tool', 'made.hello', {
    description: 'Greets.',
    implementation: 'return tools.greet({name: "x"});',
    uses: ['local.greet'],
  });
  catalog.redeploy([shellTool('command')]);
  await settle({ catalog, clock });
  expect(await toolOf(catalog, 't00', 'local.greet')).toMatchObject({ state: 'missing', wireName: 'greet' });
  expect(await toolOf(catalog, 't00', 'builtin.bash')).toMatchObject({ state: 'ready' });
  const { names } = (await catalog.directory.made(defaultWorkspace)) ?? {};
  expect(names?.edition.tools[0]?.made?.uses).toMatchObject([{ canonical: 'local.greet', state: 'missing' }]);
  const document = { tools: [{ tool: 'local.greet' }] };
  const { warnings } = await catalog.put('toolset', 'later', document);
  expect(warnings).toEqual([
    { path: 'tools[0].tool', message: expect.stringContaining('the code of this service does not define it any more') },
  ]);
  catalog.redeploy(before);
  await settle({ catalog, clock });
  expect(await toolOf(catalog, 't00', 'local.greet')).toMatchObject({ state: 'ready' });
});

it('a renamed argument is renamed in the rules of entries, too', async () => {
  const { catalog, clock } = await start();
  const rules = { default: { command: 'ls' }, rename: { line: 'command' } };
  await catalog.put('toolset', 'ruled', { tools: [{ tool: 'builtin.bash', arguments: rules }] });
  catalog.redeploy(after);
  await settle({ catalog, clock });
  expect(await toolOf(catalog, 'ruled', 'builtin.bash')).toMatchObject({
    arguments: { default: { script: 'ls' }, rename: { line: 'script' } },
    inputSchema: { properties: { line: { type: 'string' } } },
  });
  expect((await catalog.get('toolset', 'ruled')).body).toMatchObject({ tools: [{ arguments: rules }] });
});

it('a toolset that cannot be compiled keeps its edition and says why, until it is written again', async () => {
  const { catalog, clock } = await start(3);
  await catalog.put('toolset', 'preset', { tools: [{ tool: 'builtin.bash', arguments: { preset: { command: 'ls' } } }] });
  catalog.redeploy([shellTool('script'), greet]);
  await settle({ catalog, clock }, 1);
  expect(takeErrors()).toMatchObject([{ message: 'a toolset keeps the edition of an earlier build', toolset: 'preset' }]);
  expect(await catalog.pointer('preset', undefined, false)).toMatchObject({ revision: 1, stale: expect.stringContaining('command') });
  expect(await catalog.pointer('t00', undefined, false)).not.toHaveProperty('stale');
  await catalog.put('toolset', 'preset', { tools: [{ tool: 'builtin.bash', arguments: { preset: { script: 'ls' } } }] });
  expect(await catalog.staleToolsets()).toBe(0);
  expect(await catalog.pointer('preset', undefined, false)).not.toHaveProperty('stale');
});

const breakAt = (catalog: NodeCatalog, name: string): void => {
  const broken = `CREATE TRIGGER broken BEFORE UPDATE ON toolset_versions WHEN new.name = '${name}' BEGIN SELECT RAISE(ABORT, 'died'); END`;
  catalog.sql.exec(broken);
};

it.each([0, 1, 9, 10, 14, 29])('a run that dies at toolset %i is continued by the next object, and compiles nothing twice', async (at) => {
  const { catalog, clock } = await start(30);
  catalog.redeploy(after);
  breakAt(catalog, nameOf(at));
  // The first request starts the object.
  expect(await catalog.staleToolsets()).toBe(30);
  await waitFor(async () => {
    await clock.advance(limits.publishIntervalMs);
    expect(takeErrors().map(({ cause }) => cause)).toContainEqual(expect.stringContaining('died'));
  });
  expect(await catalog.staleToolsets()).toBe(30 - at);
  catalog.sql.exec('DROP TRIGGER broken');
  catalog.redeploy(after);
  await settle({ catalog, clock });
  expect(await revisions(catalog, 30)).toEqual(Array.from({ length: 30 }, () => 2));
  takeErrors();
});

it('a toolset at which each run dies is left out with that reason, and the others are compiled', async () => {
  const { catalog, clock } = await start(3);
  catalog.redeploy(after);
  breakAt(catalog, 't01');
  await settle({ catalog, clock }, 1);
  expect(await revisions(catalog, 3)).toEqual([2, 1, 2]);
  expect(await catalog.pointer('t01', undefined, false)).toMatchObject({ stale: 'compiling it did not end' });
  takeErrors();
});

it('a write in the middle of a run wins over it', async () => {
  const { catalog, clock } = await start(25);
  catalog.redeploy(after);
  expect(await catalog.staleToolsets()).toBe(25);
  await clock.advance(limits.publishIntervalMs);
  const writing = Array.from({ length: 25 }, (_, index) => catalog.put('toolset', nameOf(index), { tools: [{ tool: 'local.greet' }] }));
  await Promise.all(writing);
  await settle({ catalog, clock });
  for (let index = 0; index < 25; index += 1)
    expect(await catalog.pointer(nameOf(index), undefined, false)).toMatchObject({ version: 2, revision: 1 });
});
