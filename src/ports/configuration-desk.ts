/**
 * Toolsets as the configuration tools work on them (DESIGN §10), in the name of one key: nothing but what that key may. Every change is
 * one that the REST routes could make. `engine/configuration-desk.ts` implements it over the Catalog.
 */
import type { StoredDocument } from './catalog.ts';
import type { Equipment } from './catalog.ts';
import type { ToolDefinition } from '../core/tool.ts';
import type { Toolset } from '../core/toolset.ts';
import type { Warning } from '../core/warning.ts';

export interface ConfigurationDesk {
  /** Every tool that there is, sorted by canonical name. */
  tools(): Promise<readonly ToolDefinition[]>;
  /** Those that the key may use, sorted by name. */
  toolsets(): Promise<readonly StoredDocument[]>;
  /** null: there is none that the key may use. */
  toolset(name: string): Promise<StoredDocument | null>;
  /** `version`: the one that was read, null: there must be none. Throws `Problem`s, `precondition_failed` among them. */
  write(name: string, document: Toolset, version: number | null): Promise<{ version: number; warnings: readonly Warning[] }>;
  remove(name: string, version: number): Promise<void>;
  equipment(): Promise<Equipment>;
  equip(change: Partial<Equipment>): Promise<Equipment>;
}
