/**
 * A workspace in Node, for tests of higher layers: the real Catalog over SQLite in memory, with its client and the directory of an isolate.
 * Time and the tools that are defined in code are the test's. What runs in other objects (sessions, shards) is not here.
 */
import { readSettings } from '../../src/core/people/settings.ts';
import type { ToolDefinition } from '../../src/core/tools/tool.ts';
import { defaultWorkspace } from '../../src/core/people/workspace.ts';
import { Catalog } from '../../src/objects/catalog/catalog.ts';
import type { AuditPort } from '../../src/ports/audit.ts';
import type { Clock } from '../../src/ports/runtime.ts';
import type { Bindings } from '../../src/storage/bindings.ts';
import { createCatalogClient } from '../../src/objects/catalog/client/catalog-client.ts';
import type { CatalogMethods } from '../../src/objects/catalog/client/catalog-methods.ts';
import { createDirectory, type IsolateDirectory } from '../../src/storage/published/directory.ts';
import { fakeAudit } from './audit.ts';
import { fakeClock } from './runtime.ts';
import { fakeSql, fakeTransactions } from './sql-storage.ts';

/**
 * `redeploy`: a new object over the same data, with the tools of another build, as after a deployment or a crash. `calls`: the audit of calls; `appendAudit` and `audit` are its methods. */
export type NodeCatalog = CatalogMethods & {
  redeploy(definitions: readonly ToolDefinition[]): void;
  directory: IsolateDirectory;
  /** Its tables. */
  sql: SqlStorage;
  /** The Catalog as this key calls it. */
  by(keyId: string): CatalogMethods;
  calls: AuditPort;
  appendAudit: AuditPort['append'];
  audit: AuditPort['list'];
};

export function createNodeCatalog(options: {
  definitions: readonly ToolDefinition[];
  rootKey?: string;
  /** Stands still, at the present time, by default. The alarm rings in it. */
  clock?: Clock;
}): NodeCatalog {
  const { definitions, rootKey = 'root-key-of-at-least-thirty-two-characters', clock = fakeClock(Date.now()) } = options;
  const sql = fakeSql([]);
  let current = () => definitions;
  let alarm = async (): Promise<void> => undefined;
  const state = objectState(sql, clock, () => alarm());
  const { bindings, restart } = nodeBindings(
    { MONIKER_ROOT_KEY: rootKey, MONIKER_MASTER_KEY: 'a master key of at least 32 characters' },
    (env) => {
      const catalog = new Catalog(state, env, { now: clock.now, definitions: current });
      alarm = () => catalog.alarm();
      return catalog;
    },
  );
  const redeploy = (of: readonly ToolDefinition[]): void => {
    current = () => of;
    restart();
  };
  const directory = createDirectory({ env: bindings, settings: readSettings(bindings), clock });
  const by = (keyId: string): CatalogMethods => createCatalogClient(bindings, { workspace: defaultWorkspace, keyId }, directory);
  const calls = fakeAudit(clock.now);
  return { ...by('root'), redeploy, sql, by, directory, calls, appendAudit: calls.append, audit: calls.list };
}

/** One namespace with one object, and KV. */
function nodeBindings(settings: Record<string, string>, build: (env: Bindings) => Catalog): { bindings: Bindings; restart(): void } {
  let object: Catalog | null = null;
  const bindings = {
    ...settings,
    KV: memoryKv(),
    CATALOG: {
      idFromName: (name: string) => name,
      get: () => {
        object ??= build(bindings);
        return { run: async (...call: Parameters<Catalog['run']>) => structuredClone(await object?.run(...structuredClone(call))) };
      },
    },
    // The parts that a Catalog uses without sessions.
  } as unknown as Bindings;
  return { bindings, restart: () => (object = null) };
}

function memoryKv(): Pick<KVNamespace, 'get' | 'put' | 'delete'> {
  const values = new Map<string, string>();
  const kv = {
    get: async (key: string) => values.get(key) ?? null,
    put: async (key: string, value: string) => void values.set(key, value),
    delete: async (key: string) => void values.delete(key),
  };
  // Only the reads of text.
  return kv as unknown as KVNamespace;
}

function objectState(sql: SqlStorage, clock: Clock, ring: () => Promise<void>): DurableObjectState {
  let cancel = (): void => undefined;
  const setAlarm = async (at: number | null): Promise<void> => {
    cancel();
    if (at !== null) cancel = clock.after(at - clock.now(), () => void ring());
  };
  const nothing = async (): Promise<void> => undefined;
  const state = {
    storage: { sql, ...fakeTransactions(sql), setAlarm, deleteAlarm: () => setAlarm(null), sync: nothing },
    waitUntil: (work: Promise<unknown>) => void work.catch(() => undefined),
    blockConcurrencyWhile: async <T>(work: () => Promise<T>) => await work(),
  };
  // The parts that a Catalog uses while it is not deleted.
  return state as unknown as DurableObjectState;
}
