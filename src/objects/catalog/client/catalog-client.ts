/**
 * Calls a workspace's Catalog: `callCatalog` one method, `createCatalogClient` as the ports `Catalog` and `Triggers`. Applies the timeout,
 * retries and invalidations of the method's row in `catalog-methods.ts`.
 */
import { limits } from '../../../core/limits/limits.ts';
import { getOrBuild } from '../../../core/memoize.ts';
import { Problem } from '../../../core/problem.ts';
import { callObject, type ObjectBinding, objectClient } from '../../shared/object-client.ts';
import type { ArgumentsOf } from '../../../ports/remote.ts';
import type { CatalogCaller, CatalogPort } from '../../../ports/catalog.ts';
import type { Bindings } from '../../../storage/bindings.ts';
import {
  catalogMethods,
  type CatalogMethod,
  type CatalogMethods,
  type CatalogRpc,
  type CatalogRow,
  type DocumentCaches,
  type MethodArguments,
  type MethodResult,
} from './catalog-methods.ts';
import { objectPlace } from '../../shared/object-place.ts';

/** `caller`: as in `CatalogCaller`. After a write, `caches` are invalidated, so that the isolate reads its own writes. */
export function createCatalogClient(bindings: Bindings, caller: CatalogCaller, caches?: DocumentCaches): CatalogMethods {
  const binding = catalogOf(bindings, caller);
  if (caches === undefined) return objectClient(binding, catalogMethods);
  const onEnd = <Name extends CatalogMethod>(method: Name, args: MethodArguments<Name>, error?: unknown): void => {
    // Not after a refusal. After a timeout or a broken connection the write may have been made.
    if (error instanceof Problem && error.code !== 'internal') return;
    const row: CatalogRow<ArgumentsOf<CatalogMethods, Name>> = catalogMethods[method];
    for (const [kind, name] of row.invalidates?.(...args) ?? []) caches.invalidate(kind, workspaceOf(caller), name);
  };
  return objectClient({ ...binding, onEnd }, catalogMethods);
}

/** Returns the catalogs by caller, cached for callers without a key. */
export function createCatalogs(bindings: Bindings, caches: DocumentCaches): (caller: CatalogCaller) => CatalogPort {
  const known = new Map<string, CatalogPort>();
  return (caller) => {
    if (typeof caller !== 'string') return createCatalogClient(bindings, { workspace: caller.workspace, keyId: caller.keyId }, caches);
    return getOrBuild(known, caller, Number.POSITIVE_INFINITY, () => createCatalogClient(bindings, caller, caches));
  };
}

export async function callCatalog<Name extends CatalogMethod>(
  bindings: Bindings,
  caller: CatalogCaller,
  method: Name,
  args: MethodArguments<Name>,
): Promise<MethodResult<Name>> {
  return await callObject(catalogOf(bindings, caller), catalogMethods, method, args);
}

function catalogOf({ CATALOG }: Bindings, caller: CatalogCaller): ObjectBinding<CatalogMethods, CatalogRpc> {
  return {
    ...objectPlace(CATALOG, workspaceOf(caller), 'catalog', ''),
    what: 'The catalog',
    timeoutMs: limits.catalogTimeoutMs,
    send: (catalog, method, args) => catalog.run(caller, method, args),
  };
}

function workspaceOf(caller: CatalogCaller): string {
  return typeof caller === 'string' ? caller : caller.workspace;
}
