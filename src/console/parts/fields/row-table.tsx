/** A table whose rows are edited in place, added and removed. */
import type { ComponentChildren } from 'preact';

export type RowColumn<Row> = {
  label: string;
  /** `of`: names the row for screen readers, such as `price 1`. */
  input(row: Row, change: (members: Partial<Row>) => void, of: string): ComponentChildren;
};

type RowTableProps<Row> = {
  class: string;
  /** With its article, such as `a price`. */
  noun: string;
  columns: readonly RowColumn<Row>[];
  rows: readonly Row[];
  /** A row that is added. */
  blank: Row;
  onChange(rows: Row[]): void;
};

export function RowTable<Row>({ class: named, noun, columns, rows, blank, onChange }: RowTableProps<Row>) {
  const change = (index: number, members: Partial<Row>): void =>
    onChange(rows.map((row, at) => (at === index ? { ...row, ...members } : row)));
  const nameOf = (index: number) => `${noun.replace(/^an? /, '')} ${index + 1}`;
  return (
    <>
      {rows.length > 0 && (
        <table class={`grid ${named}`}>
          <thead>
            <tr>
              {columns.map(({ label }) => (
                <th key={label} scope="col">
                  {label}
                </th>
              ))}
              <th scope="col">
                <span class="visually-hidden">Remove</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <tr key={index}>
                {columns.map(({ label, input }) => (
                  <td key={label} data-label={label}>
                    {input(row, (members) => change(index, members), nameOf(index))}
                  </td>
                ))}
                <td>
                  <button
                    type="button"
                    class="plain"
                    aria-label={`Remove ${nameOf(index)}`}
                    onClick={() => onChange(rows.filter((_row, at) => at !== index))}
                  >
                    Remove
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p>
        <button type="button" onClick={() => onChange([...rows, blank])}>
          Add {noun}
        </button>
      </p>
    </>
  );
}

type CellInputProps = {
  label: string;
  value: string;
  placeholder?: string;
  list?: string | undefined;
  isDisabled?: boolean;
  onInput(text: string): void;
};

/** A cell with a name or another short text. */
export function CellInput({ label, isDisabled = false, onInput, ...rest }: CellInputProps) {
  return (
    <input
      type="text"
      {...rest}
      aria-label={label}
      disabled={isDisabled}
      autocomplete="off"
      spellcheck={false}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  );
}
