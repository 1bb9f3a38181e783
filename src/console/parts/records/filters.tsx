/** Filters of a list. Their values are in the query of the address, so that a list can be linked to. In a narrow window a button shows them. */
import { type Choices, Select, Suggestions } from '../fields/controls.tsx';
import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { query, setQuery } from '../../router.ts';

export type ListFilter = { name: string; label: string; placeholder?: string } & (
  | { kind: 'text'; suggestions?: readonly string[] }
  | { kind: 'time' | 'date' }
  | { kind: 'choice'; choices: Choices<string> }
);

/**
 * The filters that are set, as parameters of a list. Typed as never: an address can hold any text, which the service checks.
 */
export function filtersOf(names: readonly string[]): Record<string, never> {
  const set = names.flatMap((name) => (query.value.get(name) ? [[name, query.value.get(name)]] : []));
  return Object.fromEntries(set) as Record<string, never>;
}

const inputTypes = { text: 'search', time: 'datetime-local', date: 'date' } as const;

export function Filters({ filters }: { filters: readonly ListFilter[] }) {
  const isOpen = useSignal(false);
  const set = filters.filter(({ name }) => query.value.has(name));
  return (
    <form class={isOpen.value ? 'filters open' : 'filters'} aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
      <button type="button" class="filter-toggle" aria-expanded={isOpen.value} onClick={() => (isOpen.value = !isOpen.value)}>
        Filters{set.length > 0 && `: ${set.length} set`}
      </button>
      {filters.map((filter) => (
        <FilterField key={filter.name} filter={filter} />
      ))}
      {set.length > 0 && (
        <button type="button" class="plain" onClick={() => setQuery(Object.fromEntries(set.map(({ name }) => [name, null])))}>
          Clear filters
        </button>
      )}
    </form>
  );
}

function FilterField({ filter }: { filter: ListFilter }) {
  const id = useId();
  const { name, label, kind, placeholder } = filter;
  const value = query.value.get(name) ?? '';
  const apply = (text: string): void => setQuery({ [name]: kind === 'time' ? toIso(text) : text.trim() });
  const suggestions = kind === 'text' ? (filter.suggestions ?? []) : [];
  return (
    <div class="filter-field">
      <label for={id}>{label}</label>
      {kind === 'choice' ? (
        <Select id={id} value={value} choices={filter.choices} onInput={apply} />
      ) : (
        <input
          id={id}
          type={inputTypes[kind]}
          step={kind === 'time' ? 1 : undefined}
          value={kind === 'time' ? toLocal(value) : value}
          placeholder={placeholder}
          autocomplete="off"
          spellcheck={false}
          list={suggestions.length > 0 ? `${id}-list` : undefined}
          onChange={(event) => apply(event.currentTarget.value)}
        />
      )}
      {suggestions.length > 0 && <Suggestions id={`${id}-list`} values={suggestions} />}
    </div>
  );
}

/** The form of `datetime-local`, in the zone of the browser. */
function toLocal(iso: string): string {
  const at = Date.parse(iso);
  return Number.isNaN(at) ? '' : new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

function toIso(local: string): string {
  const at = Date.parse(local);
  return Number.isNaN(at) ? '' : new Date(at).toISOString();
}
