/** A list of records with filters: what is read follows the filters in the address. */
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { type ListedPage, type Pages, useEvery, usePages } from '../../api/load.ts';
import { Filters, filtersOf, type ListFilter } from './filters.tsx';
import { setQuery } from '../../router.ts';
import { RecordPages, type RecordPagesProps, type Column, Time } from './records.tsx';

type FilteredProps<Item> = Omit<RecordPagesProps<Item>, 'pages'> & {
  /** Of the rows that are shown, which can offer values. */
  filters(items: readonly Item[]): readonly ListFilter[];
  /** `query`: the filters and the cursor. */
  read(query: Record<string, never>, signal: AbortSignal): Promise<ListedPage<Item>>;
  /** Between the filters and the list. */
  notes?: ComponentChildren;
  /** What is missing where the list has no items, such as `No sessions`, and the next action. */
  none: string;
  hint: ComponentChildren;
  /** Whether records that are shown change by themselves, such as work in progress: the list is then read again and again. */
  isLive?(items: readonly Item[]): boolean;
  /** The record that is opened. */
  sheet?(pages: Pages<Item>): ComponentChildren;
};

const refreshMs = 2_000;

export function FilteredRecords<Item>({ filters, read, notes, none, hint, isLive, sheet, ...table }: FilteredProps<Item>) {
  const filter = filtersOf(filters([]).map(({ name }) => name));
  const pages = usePages((page, signal) => read({ ...filter, ...(page as typeof filter) }, signal), [JSON.stringify(filter)]);
  const live = isLive?.(pages.items ?? []) ?? false;
  // Not before the previous reading has ended, which would be given up.
  useEvery(refreshMs, live && !pages.isLoading, pages.reload);
  // What ended between two readings is read once more.
  useEffect(() => void (pages.items !== null && pages.reload()), [live]);
  return (
    <>
      <Filters filters={filters(pages.items ?? [])} />
      {notes}
      <RecordPages
        {...table}
        pages={pages}
        none={`${none} ${Object.keys(filter).length > 0 ? 'match these filters' : 'yet'}`}
        hint={hint}
      />
      {sheet?.(pages)}
    </>
  );
}

/** The first column of records that open: the time, as a button that sets what is opened in the query. */
export function openingColumn<Item>(
  label: string,
  iso: (item: Item) => string,
  opened: (item: Item) => Record<string, string>,
): Column<Item> {
  return {
    label,
    cell: (item) => (
      <button type="button" class="link" onClick={() => setQuery(opened(item), { push: true })}>
        <Time iso={iso(item)} exact />
      </button>
    ),
  };
}
