/**
 * Runs before each test file in the Workers runtime: the file starts with empty storage, and no cache has what an earlier file stored.
 * Durable Objects with random names may remain; no other file knows them.
 */
import { reset, runInDurableObject } from 'cloudflare:test';
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
// These are imported here because, in the test runtime, a request cannot await an import that another request began.
await import('../src/worker.ts');
await import('../src/http/mount-routes.ts');
await import('../src/http/openapi.ts');
const { loadRoutes, routeModules } = await import('../src/http/route-modules.ts');
await loadRoutes(routeModules);
await import('../src/tools/shell/run-shell-script.ts');
await import('../src/formats/write-yaml.ts');
await import('../src/storage/backup/write-archive.ts');
await import('../src/storage/backup/restore-archive.ts');
await import('../src/http-tools/openapi/source.ts');
await import('../src/providers/model-list.ts');
await import('../src/formats/zip.ts');
await import('../src/platform/compile-redaction.ts');
await import('../src/platform/text-patterns.ts');
await import('../src/formats/read-import.ts');
await import('../src/engine/project/apply-project.ts');
await import('../src/engine/project/import-project.ts');
await import('../src/sign-in/oidc.ts');
await import('../src/sign-in/github.ts');
await import('../src/objects/catalog/keys/reseal.ts');
await import('../src/mcp/authorization/clients.ts');
await import('../src/mcp/authorization/authorization-request.ts');
