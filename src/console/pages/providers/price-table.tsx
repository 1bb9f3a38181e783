/** Prices per million tokens, by model. */
import { Suggestions } from '../../parts/fields/controls.tsx';
import { useSignal } from '@preact/signals';
import type { components } from '../../../../client/src/index.ts';
import { FieldFault } from '../../parts/fields/fields.tsx';
import { CellInput, type RowColumn, RowTable } from '../../parts/fields/row-table.tsx';

type Prices = components['schemas']['Prices'];
type Price = components['schemas']['Price'];
type Row = { model: string } & Partial<Price>;

type PriceProps = { prices: Prices; models: readonly string[]; onChange(prices: Prices | undefined): void };

const members: readonly (readonly [member: keyof Price, label: string])[] = [
  ['input', 'Input'],
  ['output', 'Output'],
  ['cachedInput', 'Cached input'],
  ['cacheWrite', 'Cache write'],
];

export function PriceTable({ prices, models, onChange }: PriceProps) {
  // What is typed stays as it is typed: a row may be incomplete for a moment.
  const rows = useSignal<readonly Row[]>(Object.entries(prices).map(([model, price]) => ({ model, ...price })));
  const set = (next: readonly Row[]): void => {
    rows.value = next;
    const named = next.filter(({ model }) => model.trim() !== '');
    // The service says which prices are missing.
    onChange(named.length > 0 ? (Object.fromEntries(named.map(({ model, ...price }) => [model.trim(), price])) as Prices) : undefined);
  };
  return (
    <fieldset>
      <legend>Prices per million tokens</legend>
      {rows.value.length === 0 && (
        <p class="hint">
          None of its own: known models have their list prices. Where costs are limited, models without a price are refused; 0: it costs
          nothing.
        </p>
      )}
      <RowTable class="prices" noun="a price" columns={columns} rows={rows.value} blank={{ model: '' }} onChange={set} />
      <Suggestions id="priced-models" values={models} />
      <FieldFault path="prices" />
    </fieldset>
  );
}

const columns: readonly RowColumn<Row>[] = [
  {
    label: 'Model, or a pattern with *',
    input: ({ model }, change, of) => (
      <CellInput label={`Model of ${of}`} list="priced-models" value={model} onInput={(text) => change({ model: text })} />
    ),
  },
  ...members.map(
    ([member, label]): RowColumn<Row> => ({
      label,
      input: (row, change, of) => (
        <input
          type="number"
          step="any"
          min="0"
          aria-label={`${label} of ${of}`}
          placeholder={member === 'input' || member === 'output' ? '' : 'as input'}
          value={row[member] ?? ''}
          onInput={({ currentTarget: { value, valueAsNumber } }) => change({ [member]: value === '' ? undefined : valueAsNumber })}
        />
      ),
    }),
  ),
];
