/** Records and reads the usage of a workspace (`core/records/usage.ts`). */
import type { LoggedRequest, RequestEntry, UsageDimension, UsageReport, UsageRow, UsageTotals } from '../core/records/usage.ts';
import type { Page, PageRequest } from './catalog.ts';

/** Days are inclusive. */
export type UsageQuery = PageRequest & {
  from: string;
  to: string;
  by: readonly UsageDimension[];
  where: Readonly<Partial<Record<Exclude<UsageDimension, 'day'>, string>>>;
  /** Of calls of tools: each row says who made its calls, and there are no totals, which cost a scan for each page. */
  who?: true;
};
/** `agents`, `keys`: some of them, with `who`. */
export type CountedRow = UsageRow & { agents?: readonly string[]; keys?: readonly string[] };

/** `from` and `to`: milliseconds since the epoch, `to` exclusive. */
export type RequestQuery = PageRequest & { from?: number; to?: number; where: Readonly<RequestFilter> };
export type RequestFilter = Partial<Record<'key' | 'agent' | 'session' | 'model' | 'provider' | 'status' | 'kind' | 'requestId', string>>;

export interface UsageReader {
  /** Sorted by the values of `by`. `totals`: of all groups, also of those on other pages; zeros with `who`. */
  usage(workspace: string, query: UsageQuery): Promise<Page<CountedRow> & { totals: UsageTotals }>;
  /** Newest first. A page may have fewer items than requested, or none, before the last one. */
  requests(workspace: string, query: RequestQuery): Promise<Page<RequestEntry>>;
  /** Finds a request by the id of its row, or the newest one with this `x-request-id`. `key`: of this key only. */
  request(workspace: string, id: string, key: string | undefined): Promise<LoggedRequest | null>;
  /** Returns those of these ids, as `request` takes them, whose bodies are stored. */
  withBodies(workspace: string, ids: readonly string[]): Promise<string[]>;
}

export interface UsageRecorder {
  /** Sends the reports of a session. Resolves when they are stored. */
  record(workspace: string, session: string, reports: readonly UsageReport[]): Promise<void>;
  /** Gathers a report in memory and sends it soon, in the background. Never throws. */
  gather(workspace: string, report: UsageReport): void;
}
