/**
 * What the calls beneath one outermost call share: how many there are, and whether all of it has come to an end. One a run of that call, in
 * memory; what outlives it is the journal. Used by `inner-calls.ts`.
 */
import type { AliasMap } from '../../core/alias-map.ts';
import { idsBeneath } from '../../core/composite-tool.ts';
import { limits } from '../../core/limits.ts';
import type { ToolResult } from '../../core/tool.ts';
import type { CallJournal } from '../../ports/call-journal.ts';

export type CallTree = {
  readonly root: string;
  /** What the plan offers, beneath made tools too, which may call less. */
  plan(): AliasMap | null;
  /** False: there are as many already as there can be. One that an earlier run made is counted once. */
  admit(callId: string): boolean;
  /** False: what the calls have answered is more than all of it may be. For where no journal counts it. */
  hold(bytes: number): boolean;
  /** What all of it ends with; null: it goes on. */
  end: ToolResult | null;
  /** One has had an effect that nothing remembers: whatever is above it and runs again does it again. */
  done(callId: string, canonical: string): void;
  /** Canonical name of the first such call beneath this one; null: there is none. */
  doneBeneath(callId: string): string | null;
};

export function createCallTree(root: string, plan: () => AliasMap | null, journal: CallJournal | null): CallTree {
  let held = 0;
  const seen = new Set(journal?.beneath(root).map(({ callId }) => callId));
  const effects = new Map<string, string>();
  return {
    root,
    plan,
    end: null,
    hold(bytes) {
      held += bytes;
      return held <= limits.maxJournalBytes;
    },
    done: (callId, canonical) => void effects.set(callId, canonical),
    doneBeneath(callId) {
      const [from, before] = idsBeneath(callId);
      for (const [id, canonical] of effects) if (id >= from && id < before) return canonical;
      return null;
    },
    admit(callId) {
      if (!seen.has(callId) && seen.size >= limits.maxInnerCalls) return false;
      seen.add(callId);
      return true;
    },
  };
}
