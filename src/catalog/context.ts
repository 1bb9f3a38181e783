/** What the parts of the Catalog work with: one workspace's SQLite, its keys and the known tools. Made by `catalog.ts`. */
import type { Settings } from '../core/settings.ts';
import type { ToolDefinition } from '../core/tool.ts';
import type { Logger } from '../ports/runtime.ts';
import type { MasterKey } from '../storage/master-key.ts';

export type CatalogContext = {
  workspace: string;
  sql: SqlStorage;
  /** All or nothing; `work` does not wait for anything. */
  transact<T>(work: () => T): T;
  /** How many transactions there were in this object's life: what was made of the tables holds while it is the same. */
  writes(): number;
  /** Milliseconds since the epoch. */
  now(): number;
  master: MasterKey;
  settings: Settings;
  /** Tools of this code base, with the default aliases they were written with. */
  definitions(): readonly ToolDefinition[];
  log: Logger;
};
