/**
 * Calls a workspace's Catalog: `callCatalog` one method, `createCatalogClient` as the ports `Catalog` and `Triggers`. Applies the timeout,
 * retries and invalidations of the method's row in `catalog-methods.ts`.
 */
import { limits } from '../core/limits.ts';
import { getOrBuild, memoizeByObject } from '../core/memoize.ts';
import { Problem, unwrap } from '../core/problem.ts';
import type { CatalogCaller, CatalogPort } from '../ports/catalog.ts';
import { withTimeout } from '../engine/timeout.ts';
import { systemClock } from '../platform/clock.ts';
import type { Bindings } from './bindings.ts';
import {
  catalogMethods,
  closedAfterDeleteReason,
  type CatalogMethod,
  type CatalogMethods,
  type CatalogRpc,
  type DocumentCaches,
  type MethodArguments,
  type MethodResult,
  type MethodRow,
} from './catalog-methods.ts';
import { objectName } from './keys.ts';

/** `caller`: as in `CatalogCaller`. After a write, `caches` are invalidated, so that the isolate reads its own writes. */
export function createCatalogClient(bindings: Bindings, caller: CatalogCaller, caches?: DocumentCaches): CatalogMethods {
  const workspace = workspaceOf(caller);
  const client: Partial<Record<CatalogMethod, unknown>> = {};
  for (const method of Object.keys(catalogMethods) as CatalogMethod[]) {
    client[method] = (...args: MethodArguments<typeof method>) => {
      const called = callCatalog(bindings, caller, method, args);
      const invalidations = rowOf(method).invalidates?.(...args) ?? [];
      if (invalidations.length === 0 || caches === undefined) return called;
      return invalidateAfter(called, () => {
        for (const [kind, name] of invalidations) caches.invalidate(kind, workspace, name);
      });
    };
  }
  // The table has every method, and `callCatalog` returns what the method does.
  return client as CatalogMethods;
}

/** Returns the catalogs by caller, cached for callers without a key. */
export function createCatalogs(bindings: Bindings, caches: DocumentCaches): (caller: CatalogCaller) => CatalogPort {
  const known = new Map<string, CatalogPort>();
  return (caller) => {
    if (typeof caller !== 'string') return createCatalogClient(bindings, { workspace: caller.workspace, keyId: caller.keyId }, caches);
    return getOrBuild(known, caller, Number.POSITIVE_INFINITY, () => createCatalogClient(bindings, caller, caches));
  };
}

/**
 * A method with `retry` is called a second time when the platform marks its failure as retryable (the object was moved or updated); others
 * are called once, since they may have run.
 */
export async function callCatalog<Name extends CatalogMethod>(
  bindings: Bindings,
  caller: CatalogCaller,
  method: Name,
  args: MethodArguments<Name>,
): Promise<MethodResult<Name>> {
  const id = await catalogId(bindings, workspaceOf(caller));
  const { retry, waitMs } = rowOf(method);
  const timeoutMs = limits.catalogTimeoutMs + (waitMs?.(...args) ?? 0);
  for (let failures = 0; ; failures += 1) {
    await waitUntilClosed(bindings, workspaceOf(caller));
    try {
      // The namespace is untyped here, because the class is on a higher floor, where `implements CatalogRpc` is checked.
      const catalog = bindings.CATALOG.get(id) as unknown as CatalogRpc;
      return unwrap(await withTimeout(systemClock, catalog.run(caller, method, args), timeoutMs, catalogTimedOut));
    } catch (error) {
      if (wasClosed(error)) endedAt(bindings.CATALOG).set(workspaceOf(caller), systemClock.now());
      if (error instanceof Problem || failures >= maxRetries) throw error;
      if (!wasClosed(error) && !(retry && failures === 0 && isRetryable(error))) throw error;
    }
  }
}

async function catalogId({ CATALOG }: Bindings, workspace: string): Promise<DurableObjectId> {
  const ids = idsOf(CATALOG);
  const known = ids.get(workspace);
  if (known !== undefined) return known;
  const id = CATALOG.idFromName(await objectName(workspace, 'catalog', ''));
  return getOrBuild(ids, workspace, limits.maxCachedNames, () => id);
}

/**
 * SQLite removes the write-ahead log with the last connection to the database. The requests that waited when the Catalog ended itself hold the
 * old connection for a moment, and the next object would open a second one: it is not called before.
 */
const closeMs = 50;
const endedAt = memoizeByObject((_namespace: object) => new Map<string, number>());

async function waitUntilClosed({ CATALOG }: Bindings, workspace: string): Promise<void> {
  const ended = endedAt(CATALOG).get(workspace);
  if (ended === undefined) return;
  // A clock that was set back must not delay more.
  const waitMs = Math.min(ended + closeMs - systemClock.now(), closeMs);
  if (waitMs > 0) await systemClock.sleep(waitMs);
  endedAt(CATALOG).delete(workspace);
}

const idsOf = memoizeByObject((_namespace: object) => new Map<string, DurableObjectId>());

const maxRetries = 3;

/** The row's functions take the arguments of its method, which TypeScript cannot follow for a variable name. */
function rowOf(method: CatalogMethod): MethodRow<readonly unknown[]> {
  return catalogMethods[method] as MethodRow<readonly unknown[]>;
}

function workspaceOf(caller: CatalogCaller): string {
  return typeof caller === 'string' ? caller : caller.workspace;
}

/** True when the Catalog ended itself. It does so only while it runs nothing, so the call was not started, and a write can be sent again. */
export function wasClosed(error: unknown): boolean {
  return error instanceof Error && error.message.includes(closedAfterDeleteReason);
}

/** True for failures that the runtime marks as retryable; an overloaded object is not called again. */
export function isRetryable(error: unknown): boolean {
  return (
    error instanceof Error && 'retryable' in error && error.retryable === true && !('overloaded' in error && error.overloaded === true)
  );
}

function catalogTimedOut(): never {
  throw new Problem('internal', 'The catalog did not respond in time. Try again.');
}

/** Invalidates after the write, unless it was refused. After a timeout or a broken connection the write may have been made. */
async function invalidateAfter<T>(write: Promise<T>, invalidate: () => void): Promise<T> {
  try {
    const answer = await write;
    invalidate();
    return answer;
  } catch (error) {
    if (!(error instanceof Problem) || error.code === 'internal') invalidate();
    throw error;
  }
}
