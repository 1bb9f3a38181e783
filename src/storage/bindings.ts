/**
 * The bindings of `wrangler.toml` as the adapters see them. The Durable Object classes live on a higher floor, so their
 * RPC methods are declared where they are called from (`catalog-rpc.ts` here).
 */
export type Bindings = {
  KV: KVNamespace;
  CATALOG: DurableObjectNamespace;
  SESSION: DurableObjectNamespace;
  MCP_SESSION: DurableObjectNamespace;
  /** Set by `local/runtime.ts`: connects to public addresses only, after DNS resolution. Absent on Cloudflare, where `fetch` does. */
  PUBLIC_NETWORK?: Fetcher;
  /** Set by `local/runtime.ts`: connects to private addresses too, for the hosts in MONIKER_ALLOW_PRIVATE_HOSTS. */
  PRIVATE_NETWORK?: Fetcher;
  /** Vars and secrets: `core/settings.ts` reads them. */
  [setting: string]: unknown;
};
