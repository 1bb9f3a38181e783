/** A table of records, whose rows become cards in a narrow window. The first column names the record. */
import type { ComponentChildren } from 'preact';

export type Column<Item> = { label: string; cell(item: Item): ComponentChildren; isNumber?: boolean };

type RecordsProps<Item> = {
  /** Names the table for screen readers. */
  caption: string;
  items: readonly Item[];
  columns: readonly Column<Item>[];
  keyOf(item: Item): string;
};

export function Records<Item>({ caption, items, columns, keyOf }: RecordsProps<Item>) {
  return (
    <table class="records">
      <caption class="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ label, isNumber }) => (
            <th key={label} scope="col" class={isNumber ? 'number' : undefined}>
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {items.map((item) => (
          <tr key={keyOf(item)}>
            {columns.map(({ label, cell, isNumber }, index) =>
              index === 0 ? (
                <th key={label} scope="row">
                  {cell(item)}
                </th>
              ) : (
                <td key={label} data-label={label} class={isNumber ? 'number' : undefined}>
                  <div>{cell(item)}</div>
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
