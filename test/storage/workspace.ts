/** An empty workspace in the Workers runtime, under a unique name: objects, alarms and KV outlive a test in their file. */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { readSettings } from '../../src/core/people/settings.ts';
import type { Settings } from '../../src/core/people/settings.ts';
import type { Bindings } from '../../src/storage/bindings.ts';
import { createCatalogClient } from '../../src/objects/catalog/client/catalog-client.ts';
import { createDirectory } from '../../src/storage/published/directory.ts';
import type { IsolateDirectory } from '../../src/storage/published/directory.ts';
import { objectName } from '../../src/storage/keys.ts';
import { fakeClock, keptLog } from '../fakes/runtime.ts';

// The generated type of `env` has classes where `Bindings` has untyped namespaces.
export const testEnv = env as unknown as Bindings;

let count = 0;

export async function emptyWorkspace(options: { env?: Partial<Bindings>; settings?: Partial<Settings> } = {}) {
  count += 1;
  const workspace = `w${count}-${crypto.randomUUID().slice(0, 8)}`;
  await createCatalogClient(testEnv, 'default').registerWorkspace(workspace);
  const bindings: Bindings = { ...testEnv, ...options.env };
  const settings: Settings = { ...readSettings(testEnv), ...options.settings };
  const clock = fakeClock(Date.now());
  const log = keptLog();
  /** Another isolate has another memory. */
  const isolate = (): IsolateDirectory => createDirectory({ env: bindings, settings, clock, log });
  const directory = isolate();
  const object = testEnv.CATALOG.get(testEnv.CATALOG.idFromName(await objectName(workspace, 'catalog', '')));
  return {
    workspace,
    bindings,
    settings,
    clock,
    log,
    directory,
    isolate,
    object,
    catalog: createCatalogClient(bindings, workspace, directory),
  };
}

/** Gives a Catalog object other bindings. It reads its settings on first use, and KV each time it publishes. */
export async function changeEnv(object: DurableObjectStub, changes: Partial<Bindings>): Promise<void> {
  await runInDurableObject(object, (instance) => {
    // `env` is protected outside of the object.
    const opened = instance as unknown as { env: Bindings };
    opened.env = { ...opened.env, ...changes };
  });
}
