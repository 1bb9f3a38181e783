/**
 * Toolsets as the configuration tools work on them (DESIGN §10), in the name of one key: nothing but what that key may. Every change is
 * one that the REST routes could make. `engine/configuration-desk.ts` implements it over the Catalog, one for each call: what it has read
 * once is not asked again. Each method throws `forbidden` where the key lacks the scope `toolsets`, or has lost it since.
 */
import type { Equipment, StoredDocument } from './catalog.ts';
import type { ServerHealth } from '../core/servers/server-state.ts';
import type { ToolDefinition } from '../core/tool.ts';
import type { Toolset } from '../core/toolset.ts';
import type { Warning } from '../core/warning.ts';

export interface ConfigurationDesk {
  /** Whether tools are called by the names that toolsets give them. False: `MONIKER_ALIASES=off`, each goes by its own. */
  readonly aliases: boolean;
  /** Every tool that the key may build toolsets of, sorted by canonical name; a key bound to toolsets: those that stand in them. */
  tools(): Promise<readonly ToolDefinition[]>;
  /** How the servers of those are, by name, as far as that is known. */
  servers(): Promise<ReadonlyMap<string, Pick<ServerHealth, 'status' | 'reason'>>>;
  /** Those that the key may use, sorted by name. */
  toolsets(): Promise<readonly StoredDocument[]>;
  /** null: there is none that the key may use. */
  toolset(name: string): Promise<StoredDocument | null>;
  /** `version`: the one that was read, null: there must be none. Throws `Problem`s, `precondition_failed` among them. */
  write(name: string, document: Toolset, version: number | null): Promise<{ document: StoredDocument; warnings: readonly Warning[] }>;
  rename(from: string, to: string, version: number): Promise<{ document: StoredDocument; warnings: readonly Warning[] }>;
  /** Who names a toolset: agents, and keys as `name (id)`. */
  users(toolset: string): Promise<{ agents: readonly string[]; keys: readonly string[] }>;
  remove(name: string, version: number): Promise<void>;
  /** What the key may no longer use is not equipped. */
  equipment(): Promise<Equipment>;
  equip(change: Partial<Equipment>): Promise<Equipment>;
}
