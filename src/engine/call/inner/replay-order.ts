/**
 * Delivers results in the order of an earlier run, then in order of completion, so that code which makes concurrent calls takes the same
 * path when it is replayed. Used by `inner-calls.ts`.
 */
export type ReplayOrder = {
  /** Appends a position after all others. */
  add(order: number): void;
  /** Resolves when all earlier positions were delivered. */
  waitForTurn(order: number): Promise<void>;
};

/** `recorded`: positions from an earlier run. */
export function createReplayOrder(recorded: readonly number[]): ReplayOrder {
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
    add: (order) => void ahead.push(order),
    waitForTurn: (order) =>
      new Promise((resolve) => {
        ready.set(order, resolve);
        // In a microtask, so that a later position that is already waiting is not delivered before this one is registered.
        queueMicrotask(deliver);
      }),
  };
}
