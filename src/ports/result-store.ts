/** Full results that were shown shortened, for `fetch_result`. Belongs to a session and is deleted with it. */
import type { ContentBlock } from '../core/tools/tool.ts';

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
