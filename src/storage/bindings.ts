/**
 * The bindings of `wrangler.toml` as the adapters see them. The Durable Object classes live on a higher floor, so their
 * RPC methods are declared where they are called from (`catalog-rpc.ts` here).
 */
export type Bindings = {
  KV: KVNamespace;
  CATALOG: DurableObjectNamespace;
  SESSION: DurableObjectNamespace;
  MCP_SESSION: DurableObjectNamespace;
  /** Vars and secrets: `core/settings.ts` reads them. */
  [setting: string]: unknown;
};
