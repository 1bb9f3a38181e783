/** What the parts of the Catalog work with: one workspace's SQLite, its keys and the known tools. Made by `catalog.ts`. */
import type { Settings } from '../core/settings.ts';
import type { ToolDefinition } from '../core/tool.ts';
import type { Logger } from '../ports/runtime.ts';
import type { MasterKey } from '../storage/master-key.ts';

export type CatalogContext = {
  workspace: string;
  sql: SqlStorage;
  /** All or nothing; `work` does not wait for anything. For what documents, tools or toolsets are made of. */
  transact<T>(work: () => T): T;
  /** The same for rows that no tool depends on: deliveries, runs, callbacks, the audit. */
  record<T>(work: () => T): T;
  /** How many `transact` there were in this object's life: what was made of documents and tools holds while it is the same. */
  writes(): number;
  /** Milliseconds since the epoch. */
  now(): number;
  master: MasterKey;
  settings: Settings;
  /** Tools of this code base, with the default aliases they were written with. */
  definitions(): readonly ToolDefinition[];
  log: Logger;
};
