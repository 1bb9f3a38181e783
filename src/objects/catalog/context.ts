/** The context of the Catalog's modules: the SQLite database of one workspace, its keys and the known tools. */
import type { Settings } from '../../core/people/settings.ts';
import type { ToolDefinition } from '../../core/tools/tool.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { MasterKey } from '../../storage/keys/master-key.ts';

export type CatalogContext = {
  workspace: string;
  sql: SqlStorage;
  /** Atomic; `work` is synchronous. For data that documents, tools or toolsets depend on. */
  transact<T>(work: () => T): T;
  /** The same for rows that no tool depends on: deliveries, runs, callbacks, the audit. */
  record<T>(work: () => T): T;
  /**
   * Runs work that waits, such as several writes. Everything that it writes is undone if it throws, or if `keeps` returns false for its
   * result; no other request runs in between.
   */
  transactAll<T>(work: () => Promise<T>, keeps: (result: T) => boolean): Promise<T>;
  /** Returns what `read` returns, cached until the next `transact`. */
  untilWrite<T>(read: (context: CatalogContext) => T): T;
  /** Milliseconds since the epoch. */
  now(): number;
  master: MasterKey;
  settings: Settings;
  /** Tools that are defined in code, with their original default aliases. */
  definitions(): readonly ToolDefinition[];
  log: Logger;
};
