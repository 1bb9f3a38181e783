import { beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import { createMasterKey } from '../../../src/storage/keys/master-key.ts';
import { createReadiness, type Readiness } from '../../../src/storage/published/readiness.ts';
import { fakeClock, keptLog } from '../../fakes/runtime.ts';

const masterKey = 'a master key of at least 32 characters';
const allOk = { storage: 'ok', kv: 'ok', keys: 'ok' };
const allReady = { checks: allOk, staleToolsets: 0 };

describe('the readiness checks', () => {
  let reads: number;
  let catalog: () => Promise<number>;
  /** What an object with earlier code still has. */
  let earlier: () => Promise<boolean>;
  let get: () => Promise<null>;
  let clock: ReturnType<typeof fakeClock>;
  let log: ReturnType<typeof keptLog>;
  beforeEach(() => {
    reads = 0;
    clock = fakeClock();
    log = keptLog();
    catalog = async () => 0;
    earlier = () => catalog().then(() => false);
    get = async () => null;
  });

  const build = (rootKey: string | null = 'root', master: string | null = masterKey): (() => Promise<Readiness>) =>
    createReadiness({
      settings: { rootKey },
      catalog: () => ({
        staleToolsets: (): Promise<number> => {
          reads += 1;
          return catalog();
        },
        isKeyCancelled: () => earlier(),
      }),
      // Only this overload is used.
      kv: { get: (() => get()) as unknown as KVNamespace['get'] },
      // Real keys are derived in the thread pool, which the clock of the test does not wait for.
      master: master === null ? createMasterKey(null) : { derive: async () => ({}) as CryptoKey },
      clock,
      log,
    });

  it('succeed when every part responds', async () => {
    expect(await build()()).toEqual(allReady);
  });

  it('count the toolsets that are compiled with the tools of another build', async () => {
    catalog = async () => 7;
    expect(await build()()).toEqual({ checks: allOk, staleToolsets: 7 });
  });

  it('succeed while the object of the Catalog has earlier code, which cannot count them', async () => {
    catalog = () => Promise.reject(new Error('there is no method staleToolsets'));
    earlier = async () => false;
    expect(await build()()).toEqual({ checks: allOk, staleToolsets: null });
    expect(log.lines).toEqual([expect.objectContaining({ level: 'error', fields: { cause: 'Error: there is no method staleToolsets' } })]);
  });

  it.each([
    ['storage', (): unknown => (catalog = () => Promise.reject(new Error('disk full'))), 'root', masterKey],
    ['kv', (): unknown => (get = () => Promise.reject(new Error('no such namespace'))), 'root', masterKey],
    ['keys', (): unknown => undefined, null, masterKey],
    ['keys', (): unknown => undefined, 'root', null],
  ] as const)('name %s if it fails, and log the cause', async (part, fail, rootKey, master) => {
    fail();
    const staleToolsets = part === 'storage' ? null : 0;
    expect(await build(rootKey, master)()).toEqual({ checks: { ...allOk, [part]: 'fail' }, staleToolsets });
    expect(log.lines).toEqual([expect.objectContaining({ level: 'error', fields: expect.objectContaining({ part }) })]);
  });

  it('fail when a part does not respond in time', async () => {
    catalog = () => new Promise(() => undefined);
    const checked = build()();
    await clock.advance(limits.readinessTimeoutMs);
    expect(await checked).toEqual({ checks: { ...allOk, storage: 'fail' }, staleToolsets: null });
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
