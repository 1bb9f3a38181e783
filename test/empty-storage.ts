/**
 * Runs before each test file in the Workers runtime: the file starts with empty storage, and no cache has what an earlier file stored.
 * Durable Objects with random names may remain; no other file knows them.
 */
import { reset, runInDurableObject } from 'cloudflare:test';
import { inject } from 'vitest';
import { objectName } from '../src/storage/keys.ts';
import { forgetModulesWithMemory, rememberSources } from './module-runner.ts';
import { testEnv } from './storage/workspace.ts';

rememberSources();
// `reset` empties only objects that are in memory, and the runtime evicts idle ones: the two that files share are loaded first.
const catalog = testEnv.CATALOG.get(testEnv.CATALOG.idFromName(await objectName('default', 'catalog', '')));
await runInDurableObject(catalog, () => undefined);
await testEnv.KV.list({ limit: 1 });
await reset();
forgetModulesWithMemory();
// In the test runtime a request cannot await an import that another request began, so that none is left to begin.
await import('../src/worker.ts');
for (const path of inject('lateModules')) await import(/* @vite-ignore */ path);
const { loadRoutes, routeModules } = await import('../src/http/route-modules.ts');
await loadRoutes(routeModules);
