/** Full texts of results that were shown shortened, for `fetch_result`. Belongs to a session and is deleted with it. */
import type { ContentBlock } from '../core/tools/tool.ts';

export type FetchedResult = {
  text: string;
  /** Where the next piece starts, in UTF-16 units of the whole text; null at the end. */
  nextOffset: number | null;
  totalBytes: number;
};

export interface ResultStore {
  /** Whether any result is stored; only then is `fetch_result` offered. */
  hasAny(): boolean;
  has(callId: string): boolean;
  /** Stores the content as text, up to `limits.maxStoredResultBytes`; replaces an earlier one of the same call. */
  store(callId: string, content: readonly ContentBlock[]): void;
  /** Returns null if nothing is stored under this id. */
  read(callId: string, offset: number, maxBytes: number): FetchedResult | null;
}
