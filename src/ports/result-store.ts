/** Full results that were shown shortened, for `fetch_result`. Belongs to a session and is deleted with it. */
import type { ContentBlock, ToolResult } from '../core/tools/tool.ts';

export type FetchedResult = {
  text: string;
  /** The images, audio and files of this piece; its text names each of them. */
  media: ContentBlock[];
  /** Where the next piece starts, in UTF-16 units of the whole text; null at the end. */
  nextOffset: number | null;
  totalBytes: number;
};

export interface ResultStore {
  /** Whether any result is stored; only then is `fetch_result` offered. */
  hasAny(): boolean;
  has(callId: string): boolean;
  /**
   * Stores the content as text with its images, audio and files, each up to `limits.maxResultMediaBytes`, in total up to 16 MB; replaces an
   * earlier one of the same call.
   */
  store(callId: string, content: readonly ContentBlock[]): void;
  /** `maxBytes`: of text. Returns null if nothing is stored under this id. */
  read(callId: string, offset: number, maxBytes: number): FetchedResult | null;
}

// Results of tools that only read, which answer equal calls for a while (`engine/call/stored-result.ts`). An error of the store is a missing result.

/** `at`: when the tool ran, in milliseconds since the epoch. `keyId`: for whom. `result`: as the tool returned it, before redaction, guard and bounds. */
export type StoredResult = { at: number; keyId: string; result: ToolResult };

export interface StoredResults {
  /** Returns null if there is none. */
  get(toolset: string, hash: string): Promise<StoredResult | null>;
  /** Stores in the background; a result that is too large is not stored. */
  put(toolset: string, hash: string, stored: StoredResult, ttlSeconds: number): void;
}
