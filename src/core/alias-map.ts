/** PLACEHOLDER SIGNATURES: the names helper replaces this file. */
import type { Edition, EditionTool } from './edition.ts';
import type { Via } from './message.ts';

/** The one table that lists, filters, resolves and authorises. */
export type AliasMap = { edition: Edition; tools: readonly EditionTool[]; aliases: boolean };

export type Resolution =
  | { ok: true; requested: string; canonical: string; via: Via; tool: EditionTool }
  | { ok: false; code: 'unknown_tool'; requested: string; suggestions: string[] }
  | { ok: false; code: 'ambiguous_tool'; requested: string; candidates: string[] };
