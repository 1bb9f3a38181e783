/**
 * Gives answers out in the order in which they were given before, then in the order in which they come: code that makes its calls side by side
 * then goes the same way again. Used by `inner-calls.ts`.
 */
export type ReplayOrder = {
  /** One more has its place, behind all others. */
  add(order: number): void;
  /** Resolves when all before it were given out. */
  turn(order: number): Promise<void>;
};

/** `recorded`: places of those that have one from before. */
export function createReplayOrder(recorded: readonly number[]): ReplayOrder {
  const ahead = recorded.toSorted((one, other) => one - other);
  const ready = new Map<number, () => void>();
  let given = 0;
  const giveOut = (): void => {
    for (let next = ahead[given]; next !== undefined && ready.has(next); next = ahead[given]) {
      ready.get(next)?.();
      ready.delete(next);
      given += 1;
    }
  };
  return {
    add: (order) => void ahead.push(order),
    turn: (order) =>
      new Promise((resolve) => {
        ready.set(order, resolve);
        // Not before this one is waited for, or one behind it that is waited for already would be heard of first.
        queueMicrotask(giveOut);
      }),
  };
}
