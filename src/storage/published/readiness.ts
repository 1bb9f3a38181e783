/**
 * Whether the service can do its work: `/readyz`. Each part is checked with one small operation and a timeout. Results are cached for a
 * second and checks never run side by side, so that requests without a key cannot multiply the load.
 */
import type { CatalogPort } from '../../ports/catalog.ts';
import type { Clock, Logger } from '../../ports/runtime.ts';
import type { ServerStatuses } from '../../core/servers/server-state.ts';
import { missingRootKey } from '../../core/people/missing-keys.ts';
import type { Settings } from '../../core/people/settings.ts';
import { limits } from '../../core/limits/limits.ts';
import type { ServiceHost } from '../../engine/host.ts';
import { withTimeout } from '../../engine/timeout.ts';
import { doubtOfClock } from '../../platform/settled-clock.ts';
import type { MasterKey } from '../keys/master-key.ts';
import { rootPrincipal } from './principals.ts';

type Verdict = 'ok' | 'fail';
/**
 * `storage`: the Catalog. `kv`: reads from KV. `keys`: the root key and the master key are set, and keys can be derived. `disk`: the launcher
 * reports no trouble of the disk; `ok` without one.
 */
type Checks = Readonly<Record<'storage' | 'kv' | 'keys' | 'disk', Verdict>>;
/**
 * Of the first workspace, null if they could not be counted. `staleToolsets`: how many are compiled with the tools of another build. `servers`: by
 * health; a failing server of tools does not make the service unready.
 */
type Counts = { staleToolsets: number | null; servers: ServerStatuses | null };
/** `clock`: why the clock of the machine is not trusted, if it is not; the service is ready. */
export type Readiness = { checks: Checks; clock?: string } & Counts;

type ReadinessParts = {
  settings: Pick<Settings, 'rootKey'>;
  catalog: (workspace: string) => Pick<CatalogPort, 'staleToolsets' | 'serverStatuses' | 'isKeyCancelled'>;
  kv: Pick<KVNamespace, 'get'>;
  master: Pick<MasterKey, 'derive'>;
  host: Pick<ServiceHost, 'storageProblem'>;
  clock: Clock;
  log: Logger;
};

const pollMs = 50;
/** Counting servers reads a row of each. */
const countEveryMs = 10_000;
const nothingReady: Readiness = { checks: { storage: 'fail', kv: 'fail', keys: 'fail', disk: 'fail' }, staleToolsets: null, servers: null };

export function createReadiness({ settings, catalog, kv, master, host, clock, log }: ReadinessParts): () => Promise<Readiness> {
  // Values, not promises: a promise belongs to the request that created it.
  let last: { at: number; readiness: Readiness } | null = null;
  let checkingSince = Number.NEGATIVE_INFINITY;
  let counted: { at: number; servers: ServerStatuses } | null = null;

  const verdictOf = async (part: string, check: () => Promise<unknown>): Promise<Verdict> => {
    const late = (): never => {
      throw new Error(`no response within ${limits.readinessTimeoutMs} ms`);
    };
    try {
      await withTimeout(clock, check(), limits.readinessTimeoutMs, late);
      return 'ok';
    } catch (error) {
      log.error('a readiness check failed', { part, cause: String(error) });
      return 'fail';
    }
  };

  const checkAll = async (): Promise<Readiness> => {
    let staleToolsets: number | null = null;
    let servers: ServerStatuses | null = null;
    const [doubt, storage, read, keys, disk] = await Promise.all([
      doubtOfClock(),
      verdictOf('storage', async () => {
        const { staleToolsets: count, serverStatuses, isKeyCancelled } = catalog(rootPrincipal.workspace);
        try {
          const recent = counted !== null && clock.now() - counted.at < countEveryMs ? counted : null;
          [staleToolsets, servers] = await Promise.all([count(), recent?.servers ?? serverStatuses()]);
          counted = recent ?? { at: clock.now(), servers };
        } catch (error) {
          // While a deployment is rolled out, the object may have earlier code, which cannot count them and is ready.
          await isKeyCancelled('readyz');
          log.error('stale toolsets, or servers by health, could not be counted', { cause: String(error) });
        }
      }),
      verdictOf('kv', () => kv.get('readyz')),
      verdictOf('keys', async () => {
        if (settings.rootKey === null) throw missingRootKey();
        await master.derive(rootPrincipal.workspace, 'key-check');
      }),
      verdictOf('disk', async () => {
        const problem = host.storageProblem();
        if (problem !== null) throw problem;
      }),
    ]);
    return { checks: { storage, kv: read, keys, disk }, staleToolsets, servers, ...(doubt !== null && { clock: doubt }) };
  };

  const isFresh = (): boolean => last !== null && clock.now() - last.at < limits.readinessCacheMs;
  const isChecking = (): boolean => clock.now() - checkingSince < 2 * limits.readinessTimeoutMs;

  return async () => {
    for (const until = clock.now() + 2 * limits.readinessTimeoutMs; isChecking() && !isFresh() && clock.now() < until; )
      await clock.sleep(pollMs);
    if (isFresh()) return last?.readiness ?? nothingReady;
    // Requests that waited together: one of them checks, the others report what is known.
    if (isChecking()) return last?.readiness ?? nothingReady;
    checkingSince = clock.now();
    try {
      const readiness = await checkAll();
      last = { at: clock.now(), readiness };
      return readiness;
    } finally {
      checkingSince = Number.NEGATIVE_INFINITY;
    }
  };
}
