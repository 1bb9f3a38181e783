/** HTTP headers of a document: each has a text, or names a secret. */
import { useSignal } from '@preact/signals';
import { useLoaded } from '../api/load.ts';
import { moniker } from '../api/moniker.ts';
import { FieldFault } from './fields.tsx';

type Headers = Readonly<Record<string, string | { secret: string }>>;
type Row = { name: string; value: string; isSecret: boolean };

/** `onChange`: called with undefined if no header is left. */
type HeaderProps = { headers: Headers; hint: string; onChange(headers: Record<string, string | { secret: string }> | undefined): void };

export function HeaderFields({ headers, hint, onChange }: HeaderProps) {
  const secrets = useSecretNames();
  // What is typed stays as it is typed: two rows may have the same name for a moment.
  const rows = useSignal<readonly Row[]>(Object.entries(headers).map(toRow));
  const set = (next: readonly Row[]): void => {
    rows.value = next;
    const named = next.filter(({ name }) => name.trim() !== '');
    const entries = named.map(({ name, value, isSecret }) => [name.trim(), isSecret ? { secret: value } : value] as const);
    onChange(entries.length > 0 ? Object.fromEntries(entries) : undefined);
  };
  const change = (index: number, members: Partial<Row>): void =>
    set(rows.value.map((row, at) => (at === index ? { ...row, ...members } : row)));
  return (
    <fieldset class="headers">
      <legend>Headers</legend>
      <div class="fields">
        <p class="hint">{hint}</p>
        {rows.value.map(({ name, value, isSecret }, index) => (
          <div key={index} class="header-row">
            <input
              aria-label={`Name of header ${index + 1}`}
              placeholder="authorization"
              autocomplete="off"
              spellcheck={false}
              value={name}
              onInput={(event) => change(index, { name: event.currentTarget.value })}
            />
            <select
              aria-label={`Kind of header ${index + 1}`}
              value={isSecret ? 'secret' : 'text'}
              onChange={(event) => change(index, { isSecret: event.currentTarget.value === 'secret' })}
            >
              <option value="secret">secret</option>
              <option value="text">text</option>
            </select>
            <input
              aria-label={`Value of header ${index + 1}`}
              placeholder={isSecret ? 'Name of a secret' : 'Value'}
              autocomplete="off"
              spellcheck={false}
              value={value}
              list={isSecret ? 'secret-names' : undefined}
              onInput={(event) => change(index, { value: event.currentTarget.value })}
            />
            <button
              type="button"
              class="plain"
              aria-label={`Remove header ${index + 1}`}
              onClick={() => set(rows.value.filter((_row, at) => at !== index))}
            >
              Remove
            </button>
          </div>
        ))}
        <datalist id="secret-names">
          {secrets.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <FieldFault path="headers" />
        <p>
          <button type="button" onClick={() => set([...rows.value, { name: '', value: '', isSecret: true }])}>
            Add a header
          </button>
        </p>
      </div>
    </fieldset>
  );
}

function toRow([name, value]: [string, string | { secret: string }]): Row {
  return typeof value === 'string' ? { name, value, isSecret: false } : { name, value: value.secret, isSecret: true };
}

/** Names to choose from. Without the list, a name can still be typed. */
export function useSecretNames(): readonly string[] {
  const secrets = useLoaded((signal) => moniker.value.get('/v1/secrets', { params: { query: { limit: 100 } }, signal }));
  return secrets.data?.items.map(({ name }) => name) ?? [];
}
