/** A table whose rows are edited in place, added and removed. */
import type { ComponentChildren } from 'preact';
import { withMembers } from '../../api/document.ts';
import { FieldFault } from './fields.tsx';

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
  /** Of the list in the document: what the service says is wrong with a row is shown in it. */
  path?: string;
  /** Whether rows can be moved up. */
  isOrdered?: boolean;
  onChange(rows: Row[]): void;
};

export function RowTable<Row extends object>({
  class: named,
  noun,
  columns,
  rows,
  blank,
  path,
  isOrdered = false,
  onChange,
}: RowTableProps<Row>) {
  const change = (index: number, members: Partial<Row>): void =>
    onChange(rows.map((row, at) => (at === index ? withMembers<Row>(row, members) : row)));
  const moveUp = (index: number): void => {
    const [moved] = rows.slice(index);
    if (moved !== undefined) onChange([...rows.slice(0, index - 1), moved, ...rows.slice(index - 1, index), ...rows.slice(index + 1)]);
  };
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
                {columns.map(({ label, input }, at) => (
                  <td key={label} data-label={label}>
                    {input(row, (members) => change(index, members), nameOf(index))}
                    {at === 0 && path !== undefined && <FieldFault path={`${path}[${index}]`} />}
                  </td>
                ))}
                <td>
                  {isOrdered && (
                    <button
                      type="button"
                      class="plain"
                      title="Earlier"
                      aria-label={`Move ${nameOf(index)} up`}
                      disabled={index === 0}
                      onClick={() => moveUp(index)}
                    >
                      ↑
                    </button>
                  )}
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
      {path !== undefined && <FieldFault path={path} isOnlyOwn />}
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

type TextColumnMore = Pick<CellInputProps, 'placeholder' | 'list'> & { isWord?: boolean };

/** `isWord`: without spaces around it. */
export function textColumn<Row>(label: string, name: keyof Row & string, { isWord = false, ...more }: TextColumnMore = {}): RowColumn<Row> {
  return {
    label,
    input: (row, change, of) => (
      <CellInput
        {...more}
        label={`${label} of ${of}`}
        value={String(row[name] ?? '')}
        onInput={(text) => change({ [name]: isWord ? text.trim() : text } as Partial<Row>)}
      />
    ),
  };
}

/** Numbers that are not negative. An empty cell leaves the member out. */
export function numberColumn<Row>(label: string, name: keyof Row & string, placeholder: string): RowColumn<Row> {
  return {
    label,
    input: (row, change, of) => (
      <input
        type="number"
        step="any"
        min="0"
        aria-label={`${label} of ${of}`}
        placeholder={placeholder}
        value={String(row[name] ?? '')}
        onInput={({ currentTarget: { value, valueAsNumber } }) =>
          change({ [name]: value === '' ? undefined : valueAsNumber } as Partial<Row>)
        }
      />
    ),
  };
}
