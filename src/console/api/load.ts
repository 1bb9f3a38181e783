/** Hooks that load what a page shows. An older response never replaces a newer one, and an error keeps what was shown before. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { announce } from './announce.ts';
import { moniker } from './moniker.ts';

export type LoadedData<Data> = { data: Data | null; error: unknown; isLoading: boolean; reload(): Promise<void> };

/** Loads again whenever the key of the tab or a value of `on` changes. */
export function useLoaded<Data>(load: (signal: AbortSignal) => Promise<Data>, on: readonly unknown[] = []): LoadedData<Data> {
  const data = useSignal<Data | null>(null);
  const { error, isLoading, run } = useWork();
  const reload = () =>
    run(load, (found) => {
      data.value = found;
    });
  useEffect(() => void reload(), [moniker.value, ...on]);
  return { data: data.value, error, isLoading, reload };
}

export type ListedPage<Item> = { items: readonly Item[]; nextCursor: string | null };
export type Pages<Item> = {
  /** null: not loaded yet. */
  items: readonly Item[] | null;
  hasMore: boolean;
  more(): Promise<void>;
  error: unknown;
  isLoading: boolean;
  reload(): Promise<void>;
};

/** Pages that are read at once, as long as they are empty: filters can leave nothing of a page. */
const maxEmptyPages = 10;

/** A list that is read page by page, by cursor. */
export function usePages<Item>(
  load: (page: { cursor?: string }, signal: AbortSignal) => Promise<ListedPage<Item>>,
  on: readonly unknown[] = [],
): Pages<Item> {
  const page = useSignal<ListedPage<Item> | null>(null);
  const { error, isLoading, run } = useWork();
  /** `atLeast`: items, as far as there are so many. */
  const read = (previous: ListedPage<Item> | null, atLeast = 0) =>
    run(
      async (signal) => {
        const items = [...(previous?.items ?? [])];
        let cursor = previous?.nextCursor ?? undefined;
        for (let empty = 0; ; ) {
          const found = await load(cursor === undefined ? {} : { cursor }, signal);
          items.push(...found.items);
          cursor = found.nextCursor ?? undefined;
          if (found.items.length === 0) empty += 1;
          if (cursor === undefined || empty > maxEmptyPages || (found.items.length > 0 && items.length >= atLeast))
            return { items, nextCursor: found.nextCursor };
        }
      },
      (found) => {
        page.value = found;
      },
    );
  useEffect(() => void read(null), [moniker.value, ...on]);
  return {
    items: page.value?.items ?? null,
    hasMore: page.value?.nextCursor != null,
    more: () => read(page.value),
    ...{ error, isLoading },
    // What was shown of further pages stays shown.
    reload: () => read(null, page.value?.items.length),
  };
}

/**
 * For work that a person begins. `problem` has the error of the last attempt, null after one that succeeded. `act`: what succeeded is said to screen
 * readers, and then shown.
 */
export function useAttempt() {
  const problem = useSignal<unknown>(null);
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
      problem.value = null;
    } catch (error) {
      problem.value = error;
    }
  };
  const act = (work: () => Promise<unknown>, done: string, show: () => Promise<void>) =>
    attempt(async () => {
      await work();
      announce(done);
      await show();
    });
  return { problem, attempt, act };
}

/** Runs one piece of work at a time: a later one aborts the earlier one, and the end of the component aborts the last. */
function useWork() {
  const error = useSignal<unknown>(null);
  const isLoading = useSignal(true);
  const current = useRef<AbortController | null>(null);
  useEffect(() => () => current.current?.abort(), []);
  const run = async <Result>(work: (signal: AbortSignal) => Promise<Result>, apply: (result: Result) => void): Promise<void> => {
    current.current?.abort();
    const own = new AbortController();
    current.current = own;
    isLoading.value = true;
    try {
      const result = await work(own.signal);
      if (own.signal.aborted) return;
      error.value = null;
      apply(result);
    } catch (thrown) {
      if (!own.signal.aborted) error.value = thrown;
    } finally {
      if (current.current === own) isLoading.value = false;
    }
  };
  return { error: error.value, isLoading: isLoading.value, run };
}

/** Repeats `work` while `isOn`, as long as the tab is visible. */
export function useEvery(everyMs: number, isOn: boolean, work: () => Promise<void>): void {
  const newest = useRef(work);
  newest.current = work;
  useEffect(() => {
    if (!isOn) return;
    const timer = setInterval(() => {
      if (!document.hidden) void newest.current();
    }, everyMs);
    return () => clearInterval(timer);
  }, [isOn]);
}

/** Names of documents to choose from. Without the list, a name can still be typed. */
export function useNames(
  list: (signal: AbortSignal) => Promise<{ items: readonly ({ name: string } | { canonical: string })[] }>,
): readonly string[] {
  const { data } = useLoaded(list);
  return data?.items.map((item) => ('canonical' in item ? item.canonical : item.name)) ?? [];
}

export function useSecretNames(): readonly string[] {
  return useNames((signal) => moniker.value.get('/v1/secrets', { params: { query: { limit: 100 } }, signal }));
}
