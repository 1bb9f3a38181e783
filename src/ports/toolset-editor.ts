/**
 * Edits toolsets for the configuration tools (contract §10), on behalf of one key and within its rights: every change could also be made by
 * the REST routes. Implemented by `engine/configuration/toolset-editor.ts` over the Catalog; one instance per call, which caches what it reads. Each
 * method throws `forbidden` if the key lacks the scope `toolsets`, also if it lost the scope since.
 */
import type { Equipment, StoredDocument } from './catalog.ts';
import type { ServerHealth } from '../core/servers/server-state.ts';
import type { ToolDefinition } from '../core/tools/tool.ts';
import type { ToolsetUses } from '../core/toolset/toolset-uses.ts';
import type { Toolset } from '../core/toolset/toolset.ts';
import type { Warning } from '../core/problem.ts';

export interface ToolsetEditor {
  /** Whether tools are called by the names that toolsets give them. False: `MONIKER_ALIASES=off`, each is called by its own name. */
  readonly aliases: boolean;
  /** Returns every tool that the key may list in toolsets, sorted by canonical name; for a bound key, those in its toolsets. */
  tools(): Promise<readonly ToolDefinition[]>;
  /** Returns the health of those tools' servers by name, as far as it is known. */
  servers(): Promise<ReadonlyMap<string, Pick<ServerHealth, 'status' | 'reason'>>>;
  /** Returns the toolsets that the key may use, sorted by name. */
  toolsets(): Promise<readonly StoredDocument[]>;
  /** Returns null for a toolset that does not exist or that the key may not use. */
  toolset(name: string): Promise<StoredDocument | null>;
  /** `version`: the one that was read; null: the toolset must not exist. Throws `Problem`s, for example `precondition_failed`. */
  write(name: string, document: Toolset, version: number | null): Promise<{ document: StoredDocument; warnings: readonly Warning[] }>;
  /** Says which names of past calls the stored change has broken, and how to keep them, in at most two lines; empty: none. */
  brokenCalls(name: string, before: Toolset, after: Toolset): Promise<readonly string[]>;
  rename(from: string, to: string, version: number): Promise<{ document: StoredDocument; warnings: readonly Warning[] }>;
  /** Returns what depends on a toolset, apart from the key itself; null if it does not exist, and for a bound key. */
  usedBy(toolset: string): Promise<ToolsetUses | null>;
  remove(name: string, version: number): Promise<void>;
  /** Omits a toolset that the key may no longer use. */
  equipment(): Promise<Equipment>;
  equip(change: Partial<Equipment>): Promise<Equipment>;
}
