/** A list that is read page by page: its table, its error, and what to do where there is nothing. */
import type { ComponentChildren } from 'preact';
import type { Pages } from '../../api/load.ts';
import { ProblemView } from '../text/problem-view.tsx';
import { type Column, Records } from './records.tsx';

export type RecordPagesProps<Item> = {
  caption: string;
  pages: Pages<Item>;
  columns: readonly Column<Item>[];
  keyOf(item: Item): string;
  /** Shown where the list has no items: what it would have, and the next action. */
  empty: ComponentChildren;
};

export function RecordPages<Item>({ caption, pages, columns, keyOf, empty }: RecordPagesProps<Item>) {
  const { items, error, isLoading, hasMore, more, reload } = pages;
  return (
    <div aria-busy={isLoading}>
      {error !== null && <ProblemView error={error} retry={() => void reload()} />}
      {items === null ? (
        error === null && <p class="muted">Loading…</p>
      ) : items.length === 0 && !hasMore ? (
        <div class="empty">{empty}</div>
      ) : (
        <Records caption={caption} items={items} columns={columns} keyOf={keyOf} />
      )}
      {hasMore && (
        <p class="more">
          <button type="button" disabled={isLoading} onClick={() => void more()}>
            {isLoading ? 'Loading…' : 'Show more'}
          </button>
        </p>
      )}
    </div>
  );
}
