/** A deployment over the data of another build, with the real objects, KV and alarms. */
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { expect, it } from 'vitest';
import { resolveName } from '../../../../src/core/toolset/alias-map.ts';
import { buildOf } from '../../../../src/core/tools/code-tools.ts';
import type { ToolDefinition } from '../../../../src/core/tools/tool.ts';
import { callCatalog } from '../../../../src/objects/catalog/client/catalog-client.ts';
import type { CatalogMethods } from '../../../../src/objects/catalog/client/catalog-methods.ts';
import { Catalog } from '../../../../src/objects/catalog/catalog.ts';
import { kvKeys } from '../../../../src/storage/keys.ts';
import { createBuildCheck } from '../../../../src/storage/published/build-check.ts';
import { createDirectory } from '../../../../src/storage/published/directory.ts';
import { toolDefinitions } from '../../../../src/tools/registry.ts';
import { keptLog } from '../../../fakes/runtime.ts';
import { emptyWorkspace, testEnv } from '../../../storage/workspace.ts';
import { waitFor } from '../../../wait-for.ts';

/** Tools of an earlier build: one was removed since, and one was described differently. */
const earlier = (): ToolDefinition[] =>
  toolDefinitions().flatMap((tool) => {
    const old = { ...tool, description: `Earlier: ${tool.description}` };
    if (tool.canonical !== 'local.calculate') return [old];
    return [old, { ...old, canonical: 'local.gone' as ToolDefinition['canonical'], name: 'gone', aliases: [] }];
  });

type Workspace = Awaited<ReturnType<typeof emptyWorkspace>>;

/** Runs a method as the object of the earlier build does, over the same storage. */
async function asEarlier<Name extends 'put' | 'staleToolsets'>(
  { object, workspace }: Workspace,
  method: Name,
  args: Parameters<CatalogMethods[Name]>,
) {
  return await runInDurableObject(object, async (_instance, state) => {
    const other = new Catalog(state, testEnv, { now: () => Date.now(), definitions: earlier });
    // Only these methods are called, with their own arguments.
    return await other.run(workspace, method, args as never);
  });
}

async function writtenEarlier(): Promise<Workspace> {
  const parts = await emptyWorkspace();
  for (const name of ['one', 'two'])
    await asEarlier(parts, 'put', ['toolset', name, { tools: [{ tool: 'local.calculate' }, { tool: 'local.gone' }] }]);
  expect(await testEnv.KV.get(kvKeys.toolset(parts.workspace, 'two'))).toContain(buildOf(earlier));
  // The object of this build starts.
  await evictDurableObject(parts.object);
  return parts;
}

async function compiled({ object, workspace }: Workspace): Promise<void> {
  await waitFor(async () => {
    await runDurableObjectAlarm(object);
    for (const name of ['one', 'two']) expect(await testEnv.KV.get(kvKeys.toolset(workspace, name))).toContain(buildOf(toolDefinitions));
  });
}

it('the first reader of a toolset has all toolsets of the workspace compiled again, and waits for nothing', async () => {
  const parts = await writtenEarlier();
  const { workspace, bindings, settings, clock } = parts;
  const work: Promise<unknown>[] = [];
  const ask = (name: string) => callCatalog(bindings, name, 'staleToolsets', []);
  const checkBuild = createBuildCheck({
    ...{ clock, log: keptLog(), ask, build: () => buildOf(toolDefinitions), background: (one: Promise<unknown>) => void work.push(one) },
  });
  const isolate = () => createDirectory({ env: bindings, settings, clock, checkBuild });
  const first = await isolate().toolset(workspace, 'one');
  expect(resolveName(first.names, 'gone')).toMatchObject({ ok: true, tool: { state: 'ready' } });
  await clock.advance(1_000);
  await Promise.all(work);
  await compiled(parts);
  const { names, pointer } = await isolate().toolset(workspace, 'two');
  expect(pointer).toMatchObject({ version: 1, revision: 2 });
  expect(resolveName(names, 'gone')).toMatchObject({ ok: true, tool: { state: 'missing' } });
  expect(resolveName(names, 'calculate')).toMatchObject({
    ok: true,
    tool: { state: 'ready', description: expect.not.stringContaining('Earlier') },
  });
});

it('an object that is ended in the middle continues when it is started again', async () => {
  const parts = await writtenEarlier();
  expect(await parts.catalog.staleToolsets()).toBe(2);
  const alarm = runDurableObjectAlarm(parts.object).catch(() => undefined);
  await evictDurableObject(parts.object).catch(() => undefined);
  await alarm;
  await compiled(parts);
  expect(await parts.catalog.staleToolsets()).toBe(0);
  expect(await parts.catalog.pointer('one', undefined, false)).toMatchObject({ version: 1, revision: 2 });
});

it('a reader of the other build changes nothing while both run', async () => {
  const parts = await writtenEarlier();
  await parts.catalog.staleToolsets();
  await compiled(parts);
  for (let round = 0; round < 5; round += 1) expect(await parts.catalog.staleToolsets()).toBe(0);
  await runDurableObjectAlarm(parts.object);
  expect(await parts.catalog.pointer('one', undefined, false)).toMatchObject({ revision: 2, build: buildOf(toolDefinitions) });
});
