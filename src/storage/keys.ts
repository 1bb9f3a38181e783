/**
 * Every key in KV and every name of a Durable Object. Parts are joined with `:`, which no workspace, toolset or agent name can
 * contain, so that keys never collide. Tables are in `schema.ts`.
 *
 * | key | example | value | lifetime | writer |
 * |---|---|---|---|---|
 * | `edition:{workspace}:{hash}` | `edition:default:9f86…` | the edition's bytes (JSON, `format: 1`) whose SHA-256 is the hash | until 30 days after no version has it | Catalog's publisher |
 * | `toolset:{workspace}:{toolset}` | `toolset:default:support` | `PublishedPointer` (JSON): which edition is the newest | until the next write; tombstone 1 day | Catalog's publisher |
 * | `{kind}:{workspace}:{name}` | `agent:default:helper` | `PublishedValue` (JSON): an agent, skill, provider, secret, webhook (`hook`), server or what it `offers`; secret values and keys are sealed | until the next write; tombstone 1 day | Catalog's publisher |
 * | `{kind}:{workspace}` | `rules:default` | `PublishedValue` (JSON): `rules`, `providers`, `model-aliases`, `subscriptions`, `settings`, `retired-keys` (sealed) | until the next write | Catalog's publisher |
 * | `reply:{workspace}:{hash}` | `reply:default:9f86…` | parts or items (JSON) of a translated reply, or the id of an answer of a session; the hash is of the key's id and the reply's. Of a batch of plain replies: their items by key and id, and the hash is of its name | 1 hour | the Worker |
 * | `result:{workspace}:{toolset}:{hash}` | `result:default:support:9f86…` | `StoredResult` (JSON) of a tool with `cache`; the hash is of the caller, the tool, the toolset's version, the server's version and the arguments | `cache.ttl`, at least 1 minute | the Worker, sessions |
 * | `cache:{workspace}:{key}:{hash}` | `cache:default:k7pd2mxw4q9z:9f86…` | `CachedReply` (JSON): a reply that equal requests are answered with, of a key (by its id) or of `all`; the hash is of the request | as its policy says, 30 days at most | the Worker |
 * | `cache-erased:{workspace}:` | `cache-erased:default:` | when cached replies and results were erased (JSON), of the workspace, of keys and of toolsets | 30 days | the Worker |
 *
 * KV may return an old value for up to 90 s (`cacheTtl` plus propagation). API keys are never stored in it, and secret
 * values only sealed.
 */
import { sha256Hex } from '../core/hash.ts';
import type { PublishedKind } from './published-values.ts';

export const kvKeys = {
  edition: (workspace: string, hash: string): string => `edition:${workspace}:${hash}`,
  toolset: (workspace: string, toolset: string): string => `toolset:${workspace}:${toolset}`,
  published: (kind: PublishedKind, workspace: string, name: string): string =>
    name === '' ? `${kind}:${workspace}` : `${kind}:${workspace}:${name}`,
  reply: (workspace: string, hash: string): string => `reply:${workspace}:${hash}`,
  result: (workspace: string, name: string): string => `result:${workspace}:${name}`,
  cached: (workspace: string, name: string): string => `cache:${workspace}:${name}`,
  erasedCache: (workspace: string, name: string): string => `cache-erased:${workspace}:${name}`,
} as const;

const publishedKinds = Object.keys({
  ...{ agent: true, skill: true, provider: true, secret: true, server: true, offers: true },
  ...{
    providers: true,
    'model-aliases': true,
    rules: true,
    subscriptions: true,
    settings: true,
    'workspace-status': true,
    'retired-keys': true,
    hook: true,
  },
} satisfies Record<PublishedKind, true>) as PublishedKind[];

/** Returns the beginnings of all keys of a workspace that end with a name. */
export function kvPrefixes(workspace: string): string[] {
  const { published, ...others } = kvKeys;
  return [...Object.values(others).map((key) => key(workspace, '')), ...publishedKinds.map((kind) => `${published(kind, workspace, '')}:`)];
}

/** Returns the keys of the values that a workspace has once. */
export function kvSingles(workspace: string): string[] {
  return publishedKinds.map((kind) => kvKeys.published(kind, workspace, ''));
}

/**
 * Returns the name of a workspace's Durable Object, a hash of workspace, kind and id, so that an id from outside is never a name. For a
 * session created with an idempotency key, `id` has the key and a secret of the installation (`session-client.ts`); for an MCP session
 * it is the unsigned part of its id (`session-client.ts`).
 */
export async function objectName(workspace: string, kind: NamedKind, id: string): Promise<string> {
  return sha256Hex(JSON.stringify([workspace, kind, id]));
}

export type NamedKind = 'catalog' | 'session' | 'mcp-session' | 'sse-relay' | 'audit-shard' | 'usage' | 'limits';
