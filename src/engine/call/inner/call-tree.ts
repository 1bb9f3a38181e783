/**
 * What all nested calls of one outermost call share: their number, the size of their results, and whether they were ended. One per run of
 * the outermost call, in memory; the journal has what must survive. Used by `inner-calls.ts`.
 */
import type { AliasMap } from '../../../core/toolset/alias-map.ts';
import { innerIdRange } from '../../../core/toolset/composite-tool.ts';
import { limits } from '../../../core/limits/limits.ts';
import { errorResult, type ToolResult } from '../../../core/tools/tool.ts';
import type { CallJournal } from '../../../ports/call-journal.ts';

export type CallTree = ReturnType<typeof createCallTree>;

/** `plan`: the names that the plan offers. A made tool inside the tree may call fewer. */
export function createCallTree(root: string, plan: () => AliasMap | null, journal: CallJournal | null) {
  let held = 0;
  const seen = new Set(journal?.entriesUnder(root).map(({ callId }) => callId));
  const effects = new Map<string, string>();
  return {
    root,
    plan,
    /** The result that ends all calls of the tree; null while they continue. */
    end: null as ToolResult | null,
    /** Counts result bytes where no journal does. Returns false when the limit is exceeded. */
    addResultBytes(bytes: number): boolean {
      held += bytes;
      return held <= limits.maxJournalBytes;
    },
    /** Records an effect that no journal records: any call above it would repeat the effect if it ran again. */
    recordEffect: (callId: string, canonical: string): void => void effects.set(callId, canonical),
    /** Returns the canonical name of the first such nested call of this call, or null. */
    effectUnder(callId: string): string | null {
      const [from, before] = innerIdRange(callId);
      for (const [id, canonical] of effects) if (id >= from && id < before) return canonical;
      return null;
    },
    /** Counts a call. Returns false when `limits.maxInnerCalls` is reached. A call of an earlier run counts once. */
    tryAdd(callId: string): boolean {
      if (!seen.has(callId) && seen.size >= limits.maxInnerCalls) return false;
      seen.add(callId);
      return true;
    },
  };
}

/** The result that ends a call whose nested calls returned too much. */
export function resultsTooLarge(): ToolResult {
  const text = `Stopped: the results of its nested calls exceed ${limits.maxJournalBytes} bytes in total. Request less data.`;
  return errorResult('limit_reached', text);
}
