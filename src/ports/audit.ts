/**
 * The audit of a workspace. It consists of logs (`audit-log.ts`): one for the changes of the configuration in the Catalog, and one in each
 * shard for calls and approval decisions.
 */
import type { AuditEntry, AuditFilter, AuditRow, AuditVerification, UnreadableLog } from '../core/records/audit.ts';
import type { Page, PageRequest } from './catalog.ts';

export type AuditListPage = Page<AuditEntry> & { leftOut: UnreadableLog[] };

export interface AuditPort {
  /** Stores all rows durably, each once: a row of a session by its sequence, another by its call id. The outcome of a call supersedes its intent. */
  append(rows: readonly AuditRow[]): Promise<void>;
  /** Newest first, without `leftOut`, the logs that cannot be read. A page of a filtered list can be short or empty while `nextCursor` is set: a request reads a limited number of rows. */
  list(query: PageRequest & AuditFilter): Promise<AuditListPage>;
  /** Checks the hash chains from the cursor on, a limited number of rows. A log with a fault does not end the check of the others. */
  verify(cursor?: string): Promise<AuditVerification>;
}
