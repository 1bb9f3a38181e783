/** Results of tools that only read, which answer equal calls for a while (`engine/call/stored-result.ts`). An error of the store is a missing result. */
import type { ToolResult } from '../core/tools/tool.ts';

/** `at`: when the tool ran, in milliseconds since the epoch. `result`: as the tool returned it, before redaction, guard and bounds. */
export type StoredResult = { at: number; result: ToolResult };

export interface StoredResults {
  /** Returns null if there is none. */
  get(toolset: string, hash: string): Promise<StoredResult | null>;
  /** Stores in the background; a result that is too large is not stored. */
  put(toolset: string, hash: string, stored: StoredResult, ttlSeconds: number): void;
}
