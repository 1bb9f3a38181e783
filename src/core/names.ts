/**
 * The three kinds of tool name (DESIGN §3), branded so that a raw string cannot stand in for one, and their rules.
 * Not here: which names a toolset gives to which tool (`edition.ts`) and resolving a called name (`alias-map.ts`).
 */
import { z } from 'zod';

/** `<server>.<name>`, ours. Never parsed back into its parts: every lookup is by exact key. */
export const CanonicalName = z.string().min(3).max(192).brand<'CanonicalName'>();
export type CanonicalName = z.infer<typeof CanonicalName>;

/** What a provider or MCP client is shown. */
export const WireName = z
  .string()
  .regex(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/)
  .brand<'WireName'>();
export type WireName = z.infer<typeof WireName>;

export const Alias = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{1,63}$/)
  .brand<'Alias'>();
export type Alias = z.infer<typeof Alias>;
