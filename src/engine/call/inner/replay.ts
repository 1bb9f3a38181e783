/** Replaying nested calls: how one is recognized in a later run of the outer call, and in which order results are delivered. Used by `inner-calls.ts`. */
import { memoizeByObject } from '../../../core/memoize.ts';
import type { EditionTool } from '../../../core/toolset/edition-tool.ts';
import { canonicalJson, sha256Hex } from '../../../core/hash.ts';

/**
 * Identifies a nested call at its position: a hash of the name and arguments the code gave and the tool's toolset entry. An approval or a
 * recorded result applies only to a call with the same fingerprint. Aliases and descriptions are not part of it.
 */
export async function innerFingerprint(name: string, args: unknown, tool: EditionTool | null): Promise<string> {
  const entry = tool === null ? null : await entryHash(tool);
  return await sha256Hex(canonicalJson({ name, arguments: args ?? null, entry }));
}

/** Cached, since a made tool contains its code and its tools and may be called often. */
const entryHash = memoizeByObject(({ aliases: _aliases, description: _description, presentation: _shown, ...entry }: EditionTool) =>
  sha256Hex(canonicalJson(entry)),
);

/**
 * Delivers results in the order of an earlier run, then in order of completion, so that code which makes concurrent calls takes the same
 * path when it is replayed.
 */
export type ReplayOrder = ReturnType<typeof createReplayOrder>;

/** `recorded`: positions from an earlier run. */
export function createReplayOrder(recorded: readonly number[]) {
  const ahead = recorded.toSorted((one, other) => one - other);
  const ready = new Map<number, () => void>();
  let given = 0;
  const deliver = (): void => {
    for (let next = ahead[given]; next !== undefined && ready.has(next); next = ahead[given]) {
      ready.get(next)?.();
      ready.delete(next);
      given += 1;
    }
  };
  return {
    /** Appends a position after all others. */
    add: (order: number): void => void ahead.push(order),
    /** Resolves when all earlier positions were delivered. */
    waitForTurn: (order: number): Promise<void> =>
      new Promise((resolve) => {
        ready.set(order, resolve);
        // In a microtask, so that a later position that is already waiting is not delivered before this one is registered.
        queueMicrotask(deliver);
      }),
  };
}
