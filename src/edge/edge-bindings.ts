/**
 * The bindings of an edge handler: in-memory stand-ins for KV and the Durable Objects of `wrangler.toml`, behind the same interfaces. The
 * Catalog is `edge-catalog.ts`; objects that would have to store something refuse.
 */
import { toOutcome } from '../core/problem.ts';
import { MB } from '../core/limits/units.ts';
import type { AuditRow } from '../core/records/audit.ts';
import type { FilesPort, McpSessionPort, McpSessionRequest } from '../ports/mcp-sessions.ts';
import type { Handlers, RemotePort } from '../ports/remote.ts';
import type { Principal } from '../core/people/principal.ts';
import type { Bindings } from '../storage/bindings.ts';
import type { CatalogRpc } from '../objects/catalog/client/catalog-methods.ts';
import type { UsageShardPort } from '../objects/usage/client/usage-shard-client.ts';
import { needsStorage } from './unsupported.ts';

type BindingParts = {
  catalog: CatalogRpc;
  /** Receives the audit rows of calls, before their effect and before their response. */
  audit(rows: readonly AuditRow[]): Promise<void>;
  /** Serves an MCP request without a session. */
  mcp(caller: Principal, target: string | null, request: McpSessionRequest): Promise<Response>;
  now(): number;
};

export function createEdgeBindings({ catalog, audit, mcp, now }: BindingParts): Bindings {
  return {
    KV: memoryKv(now),
    CATALOG: namespaceOf(catalog),
    SESSION: namespaceOf({}),
    MCP_SESSION: namespaceOf(
      remote<McpSessionPort & FilesPort>({
        begin: (caller, target, _id, request) => mcp(caller, target, request),
        hold: (caller, target, _name, request) => mcp(caller, target, request),
        // No session was ever begun.
        resume: () => null,
        // Each call works on empty files, which are discarded after it.
        loadFiles: () => [],
        applyFiles: () => undefined,
      }),
    ),
    // Streams need an object.
    SSE_RELAY: namespaceOf({}),
    AUDIT_SHARD: namespaceOf({ append: (_name: unknown, rows: readonly AuditRow[]) => toOutcome(() => audit(rows)) }),
    USAGE: namespaceOf(remote<UsageShardPort>({ record: () => undefined })),
    // Keys of an edge handler have no limits.
    LIMITS: namespaceOf({}),
  };
}

/** The object of a port (`ports/remote.ts`). Methods that it does not have refuse. */
function remote<Port>(handlers: Partial<Handlers<Port>>): RemotePort<Port> {
  return {
    run: (method, args) =>
      toOutcome(() => {
        const handler = handlers[method];
        if (handler === undefined) throw needsStorage();
        return handler(...args);
      }),
  };
}

/** One object under every name: an edge handler has one workspace. Methods that it does not have refuse. The callers declare its interface. */
function namespaceOf(methods: object): DurableObjectNamespace {
  const object = new Proxy(methods, {
    // An object with `then` would be awaited.
    get: (target, name) => (Object.hasOwn(target, name) || name === 'then' ? Reflect.get(target, name) : refuse),
  });
  const idOf = (name: string) => ({ name, toString: () => name, equals: (other: { toString(): string }) => other.toString() === name });
  const namespace = {
    newUniqueId: () => idOf('0'.repeat(64)),
    idFromName: idOf,
    idFromString: idOf,
    get: () => object,
  };
  // Only these members are used.
  return namespace as unknown as DurableObjectNamespace;
}

function refuse(): Promise<never> {
  return Promise.reject(needsStorage());
}

const maxKvEntries = 1_000;
const maxKvCharacters = 16 * MB;

/** Stores replies: those that clients refer to (`storage/reply-store.ts`), and cached ones, for as long as there is room. All other keys are absent. */
function memoryKv(now: () => number): KVNamespace {
  const entries = new Map<string, { text: string; expiresAt: number }>();
  let characters = 0;
  const drop = (key: string): void => {
    characters -= entries.get(key)?.text.length ?? 0;
    entries.delete(key);
  };
  const kv = {
    async get(key: string): Promise<string | null> {
      const entry = entries.get(key);
      return entry !== undefined && entry.expiresAt > now() ? entry.text : null;
    },
    async put(key: string, text: string, { expirationTtl }: { expirationTtl: number }): Promise<void> {
      drop(key);
      entries.set(key, { text, expiresAt: now() + expirationTtl * 1_000 });
      characters += text.length;
      for (const oldest of entries.keys()) {
        if (entries.size <= maxKvEntries && characters <= maxKvCharacters) break;
        drop(oldest);
      }
    },
    delete: async (key: string): Promise<void> => drop(key),
    async list({ prefix, limit }: { prefix: string; limit: number }) {
      const names = [...entries.keys()].filter((key) => key.startsWith(prefix));
      return { keys: names.slice(0, limit).map((name) => ({ name })), list_complete: names.length <= limit };
    },
  };
  // Only these members are used.
  return kv as unknown as KVNamespace;
}
