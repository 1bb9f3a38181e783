/** Prices per million tokens, by model. */
import { useSignal } from '@preact/signals';
import type { components } from '../../../../client/src/index.ts';
import { FieldFault } from '../../parts/fields.tsx';

type Prices = components['schemas']['Prices'];
type Price = components['schemas']['Price'];
type Row = { model: string; price: Partial<Price> };

type PriceProps = { prices: Prices; models: readonly string[]; onChange(prices: Prices | undefined): void };

const members: readonly (readonly [member: keyof Price, label: string])[] = [
  ['input', 'Input'],
  ['output', 'Output'],
  ['cachedInput', 'Cached input'],
  ['cacheWrite', 'Cache write'],
];

export function PriceTable({ prices, models, onChange }: PriceProps) {
  // What is typed stays as it is typed: a row may be incomplete for a moment.
  const rows = useSignal<readonly Row[]>(Object.entries(prices).map(([model, price]) => ({ model, price })));
  const set = (next: readonly Row[]): void => {
    rows.value = next;
    const named = next.filter(({ model }) => model.trim() !== '');
    // The service says which prices are missing.
    onChange(named.length > 0 ? (Object.fromEntries(named.map(({ model, price }) => [model.trim(), price])) as Prices) : undefined);
  };
  const change = (index: number, row: Row): void => set(rows.value.map((one, at) => (at === index ? row : one)));
  return (
    <fieldset>
      <legend>Prices per million tokens</legend>
      {rows.value.length === 0 && (
        <p class="hint">
          None of its own: known models have their list prices. Where costs are limited, models without a price are refused; 0: it costs
          nothing.
        </p>
      )}
      {rows.value.length > 0 && (
        <table class="grid prices">
          <thead>
            <tr>
              <th scope="col">Model, or a pattern with *</th>
              {members.map(([member, label]) => (
                <th key={member} scope="col">
                  {label}
                </th>
              ))}
              <th scope="col">
                <span class="visually-hidden">Remove</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.value.map(({ model, price }, index) => (
              <tr key={index}>
                <td data-label="Model">
                  <input
                    aria-label={`Model of price ${index + 1}`}
                    list="priced-models"
                    autocomplete="off"
                    spellcheck={false}
                    value={model}
                    onInput={(event) => change(index, { model: event.currentTarget.value, price })}
                  />
                </td>
                {members.map(([member, label]) => (
                  <td key={member} data-label={label}>
                    <input
                      type="number"
                      step="any"
                      min="0"
                      aria-label={`${label} of price ${index + 1}`}
                      placeholder={member === 'input' || member === 'output' ? '' : 'as input'}
                      value={price[member] ?? ''}
                      onInput={({ currentTarget: { value, valueAsNumber } }) => {
                        const { [member]: _before, ...rest } = price;
                        change(index, { model, price: value === '' ? rest : { ...rest, [member]: valueAsNumber } });
                      }}
                    />
                  </td>
                ))}
                <td>
                  <button
                    type="button"
                    class="plain"
                    aria-label={`Remove price ${index + 1}`}
                    onClick={() => set(rows.value.filter((_row, at) => at !== index))}
                  >
                    Remove
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <datalist id="priced-models">
        {models.map((model) => (
          <option key={model} value={model} />
        ))}
      </datalist>
      <FieldFault path="prices" />
      <p>
        <button type="button" onClick={() => set([...rows.value, { model: '', price: {} }])}>
          Add a price
        </button>
      </p>
    </fieldset>
  );
}
