import { beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import { createMasterKey } from '../../../src/storage/keys/master-key.ts';
import { Problem } from '../../../src/core/problem.ts';
import { createReadiness, type Readiness } from '../../../src/storage/published/readiness.ts';
import { statusCounts } from '../../../src/core/servers/server-state.ts';
import { fakeClock, keptLog } from '../../fakes/runtime.ts';

const masterKey = 'a master key of at least 32 characters';
const allOk = { storage: 'ok', kv: 'ok', keys: 'ok', disk: 'ok' };
const healthy = statusCounts(['ok', 'ok', 'failing']);
const allReady = { checks: allOk, staleToolsets: 0, servers: healthy };

describe('the readiness checks', () => {
  let reads: number;
  let catalog: () => Promise<number>;
  /** What an object with earlier code still has. */
  let earlier: () => Promise<boolean>;
  let statuses: () => Promise<ReturnType<typeof statusCounts>>;
  let counted: number;
  let problem: Problem | null;
  let get: () => Promise<null>;
  let clock: ReturnType<typeof fakeClock>;
  let log: ReturnType<typeof keptLog>;
  beforeEach(() => {
    reads = 0;
    clock = fakeClock();
    log = keptLog();
    catalog = async () => 0;
    earlier = () => catalog().then(() => false);
    statuses = async () => healthy;
    counted = 0;
    get = async () => null;
    problem = null;
  });

  const build = (rootKey: string | null = 'root', master: string | null = masterKey): (() => Promise<Readiness>) =>
    createReadiness({
      settings: { rootKey },
      catalog: () => ({
        staleToolsets: (): Promise<number> => {
          reads += 1;
          return catalog();
        },
        serverStatuses: async () => {
          counted += 1;
          return await statuses();
        },
        isKeyCancelled: () => earlier(),
      }),
      // Only this overload is used.
      kv: { get: (() => get()) as unknown as KVNamespace['get'] },
      // Real keys are derived in the thread pool, which the clock of the test does not wait for.
      master: master === null ? createMasterKey(null) : { derive: async () => ({}) as CryptoKey },
      host: { storageProblem: () => problem },
      clock,
      log,
    });

  it('succeed when every part responds', async () => {
    expect(await build()()).toEqual(allReady);
  });

  it('fail for the disk while the launcher reports that nothing can be stored', async () => {
    problem = new Problem('insufficient_storage', 'full');
    expect((await build()()).checks).toEqual({ ...allOk, disk: 'fail' });
    expect(log.lines.map(({ fields }) => fields?.part)).toEqual(['disk']);
  });

  it('count the toolsets that are compiled with the tools of another build', async () => {
    catalog = async () => 7;
    expect(await build()()).toEqual({ checks: allOk, staleToolsets: 7, servers: healthy });
  });

  it('count servers by health, at most every 10 s', async () => {
    const readiness = build();
    for (let second = 0; second < 25; second += 1) {
      expect((await readiness()).servers).toEqual({ ok: 2, degraded: 0, failing: 1, unauthorized: 0, unknown: 0 });
      await clock.advance(1_000);
    }
    expect(counted).toBe(3);
  });

  it('succeed while the object of the Catalog has earlier code, which cannot count them', async () => {
    catalog = () => Promise.reject(new Error('there is no method staleToolsets'));
    earlier = async () => false;
    expect(await build()()).toEqual({ checks: allOk, staleToolsets: null, servers: null });
    expect(log.lines).toEqual([expect.objectContaining({ level: 'error', fields: { cause: 'Error: there is no method staleToolsets' } })]);
  });

  it.each([
    ['storage', (): unknown => (catalog = () => Promise.reject(new Error('disk full'))), 'root', masterKey],
    ['kv', (): unknown => (get = () => Promise.reject(new Error('no such namespace'))), 'root', masterKey],
    ['keys', (): unknown => undefined, null, masterKey],
    ['keys', (): unknown => undefined, 'root', null],
  ] as const)('name %s if it fails, and log the cause', async (part, fail, rootKey, master) => {
    fail();
    const counts = part === 'storage' ? { staleToolsets: null, servers: null } : { staleToolsets: 0, servers: healthy };
    expect(await build(rootKey, master)()).toEqual({ checks: { ...allOk, [part]: 'fail' }, ...counts });
    expect(log.lines).toEqual([expect.objectContaining({ level: 'error', fields: expect.objectContaining({ part }) })]);
  });

  it('fail when a part does not respond in time', async () => {
    catalog = () => new Promise(() => undefined);
    const checked = build()();
    await clock.advance(limits.readinessTimeoutMs);
    expect(await checked).toEqual({ checks: { ...allOk, storage: 'fail' }, staleToolsets: null, servers: null });
  });

  it('run once a second, however often they are requested', async () => {
    const ready = build();
    for (let count = 0; count < 100; count += 1) await ready();
    expect(reads).toBe(1);
    await clock.advance(limits.readinessCacheMs);
    await ready();
    expect(reads).toBe(2);
  });

  it('run once for parallel requests, which all receive the result', async () => {
    let respond = (_cancelled: number): void => undefined;
    catalog = () => new Promise((resolve) => (respond = resolve));
    const ready = build();
    const all = Array.from({ length: 50 }, () => ready());
    await clock.advance(1);
    respond(0);
    for (let step = 0; step < 10; step += 1) await clock.advance(100);
    expect(await Promise.all(all)).toEqual(Array.from({ length: 50 }, () => allReady));
    expect(reads).toBe(1);
  });
});
