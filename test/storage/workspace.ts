/** An empty workspace `default` in the Workers runtime: a Catalog object of its own, and KV without the others' leftovers. */
import { env } from 'cloudflare:workers';
import { readSettings } from '../../src/core/settings.ts';
import type { Settings } from '../../src/core/settings.ts';
import type { Bindings } from '../../src/storage/bindings.ts';
import { createCatalogClient } from '../../src/storage/catalog-client.ts';
import { createDirectory } from '../../src/storage/directory.ts';
import type { IsolateDirectory } from '../../src/storage/directory.ts';
import { objectName } from '../../src/storage/keys.ts';
import { keptLog, fakeClock } from '../fakes/runtime.ts';

// The generated type of `env` has classes where `Bindings` has untyped namespaces.
export const testEnv = env as unknown as Bindings;

let count = 0;

export async function emptyWorkspace(options: { env?: Partial<Bindings>; settings?: Partial<Settings> } = {}) {
  await emptyKv();
  count += 1;
  const suffix = `-${count}`;
  const namespace = {
    idFromName: (name: string) => testEnv.CATALOG.idFromName(name + suffix),
    get: (id: DurableObjectId) => testEnv.CATALOG.get(id),
  } as DurableObjectNamespace;
  const bindings: Bindings = { ...testEnv, CATALOG: namespace, ...options.env };
  const settings: Settings = { ...readSettings(testEnv), ...options.settings };
  const clock = fakeClock(Date.now());
  const log = keptLog();
  /** Another isolate has its own. */
  const isolate = (): IsolateDirectory => createDirectory({ env: bindings, settings, clock, log });
  const directory = isolate();
  const object = testEnv.CATALOG.get(testEnv.CATALOG.idFromName((await objectName('default', 'catalog', '')) + suffix));
  return { bindings, settings, clock, log, directory, isolate, object, catalog: createCatalogClient(bindings, 'default', directory) };
}

async function emptyKv(): Promise<void> {
  for (;;) {
    const { keys, list_complete } = await testEnv.KV.list();
    await Promise.all(keys.map(({ name }) => testEnv.KV.delete(name)));
    if (list_complete) return;
  }
}
