/**
 * Stores what reaches an object at the same time in one transaction, in order: a commit takes several times as long as a row. What arrives
 * during a commit is the next group.
 */
/** Bounds how long one transaction blocks the object. */
const maxGroupItems = 64;

type Parts<Item, Result> = {
  /** Stores a group in one transaction, synchronously, and returns how each item of it ended. If it throws, none of them is stored. */
  store(items: readonly Item[]): readonly PromiseSettledResult<Result>[];
  /** Resolves when what was written is on the disk. */
  sync(): Promise<void>;
};

/** Returns a function that stores an item. It resolves when the item is on the disk, and rejects only for this item's own group or fault. */
export function createGroupCommit<Item, Result>({ store, sync }: Parts<Item, Result>): (item: Item) => Promise<Result> {
  const waiting: { item: Item; stored: PromiseWithResolvers<Result> }[] = [];
  let isStoring = false;

  const storeNext = async (): Promise<void> => {
    const group = waiting.splice(0, maxGroupItems);
    try {
      const outcomes = store(group.map(({ item }) => item));
      await sync();
      for (const [index, { stored }] of group.entries()) {
        const outcome = outcomes[index] as PromiseSettledResult<Result>;
        if (outcome.status === 'fulfilled') stored.resolve(outcome.value);
        else stored.reject(outcome.reason);
      }
    } catch (error) {
      for (const { stored } of group) stored.reject(error);
    }
  };

  const storeAll = async (): Promise<void> => {
    isStoring = true;
    // Those that arrive in the same tick belong together.
    await Promise.resolve();
    while (waiting.length > 0) await storeNext();
    isStoring = false;
  };

  return async (item) => {
    const stored = Promise.withResolvers<Result>();
    waiting.push({ item, stored });
    if (!isStoring) void storeAll();
    return await stored.promise;
  };
}
