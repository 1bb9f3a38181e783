/**
 * The bindings of `wrangler.toml` for the adapters. The Durable Object classes are on a higher floor, so their RPC methods are
 * declared where they are called (`catalog-methods.ts` here).
 */
export type Bindings = {
  KV: KVNamespace;
  CATALOG: DurableObjectNamespace;
  SESSION: DurableObjectNamespace;
  MCP_SESSION: DurableObjectNamespace;
  SSE_RELAY: DurableObjectNamespace;
  AUDIT_SHARD: DurableObjectNamespace;
  USAGE: DurableObjectNamespace;
  LIMITS: DurableObjectNamespace;
  /** Set by `local/launch/runtime.ts`: connects to public addresses only, after DNS resolution. Absent on Cloudflare, where `fetch` is used. */
  PUBLIC_NETWORK?: Fetcher;
  /** Set by `local/launch/runtime.ts`: connects to private addresses too, for the hosts in MONIKER_ALLOW_PRIVATE_HOSTS. */
  PRIVATE_NETWORK?: Fetcher;
  /** Where audit rows are exported to before retention deletes them. Absent: nowhere. */
  AUDIT_EXPORT?: R2Bucket;
  /** The built pages. Absent in tests that run without a build. */
  ASSETS?: Fetcher;
  /** Variables and secrets; `core/people/settings.ts` reads them. */
  [setting: string]: unknown;
};
