/** Results that were too long to be shown whole, kept for `fetch_result`. The session's own; gone with it. */
import type { ContentBlock } from '../core/tool.ts';

export type FetchedResult = {
  text: string;
  /** Where the next piece begins, in UTF-16 units of the whole text; null at the end. */
  nextOffset: number | null;
  totalBytes: number;
};

export interface ResultStore {
  /** True once anything is kept: only then is the tool to fetch it worth offering. */
  any(): boolean;
  has(callId: string): boolean;
  /** The content as text, up to `limits.maxStoredResultBytes`. Keeping one call twice replaces it. */
  keep(callId: string, content: readonly ContentBlock[]): void;
  /** null: nothing is kept under this id. */
  read(callId: string, offset: number, maxBytes: number): FetchedResult | null;
}
