/** A list of records with filters: what is read follows the filters in the address. */
import type { ComponentChildren } from 'preact';
import { type ListedPage, type Pages, usePages } from '../../api/load.ts';
import { Filters, filtersOf, type ListFilter } from './filters.tsx';
import { setQuery } from '../../router.ts';
import { RecordPages, type RecordPagesProps } from './record-pages.tsx';
import type { Column } from './records.tsx';
import { Time } from './time.tsx';

type FilteredProps<Item> = Omit<RecordPagesProps<Item>, 'pages' | 'empty'> & {
  /** Of the rows that are shown, which can offer values. */
  filters(items: readonly Item[]): readonly ListFilter[];
  /** `query`: the filters and the cursor. */
  read(query: Record<string, never>, signal: AbortSignal): Promise<ListedPage<Item>>;
  /** Between the filters and the list. */
  notes?: ComponentChildren;
  /** What is missing where the list has no items, such as `No sessions`, and the next action. */
  none: string;
  hint: ComponentChildren;
  /** The record that is opened. */
  sheet?(pages: Pages<Item>): ComponentChildren;
};

export function FilteredRecords<Item>({ filters, read, notes, none, hint, sheet, ...table }: FilteredProps<Item>) {
  const filter = filtersOf(filters([]).map(({ name }) => name));
  const pages = usePages((page, signal) => read({ ...filter, ...(page as typeof filter) }, signal), [JSON.stringify(filter)]);
  return (
    <>
      <Filters filters={filters(pages.items ?? [])} />
      {notes}
      <RecordPages
        {...table}
        pages={pages}
        empty={
          <>
            <h2>
              {none} {Object.keys(filter).length > 0 ? 'match these filters' : 'yet'}
            </h2>
            <p>{hint}</p>
          </>
        }
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
