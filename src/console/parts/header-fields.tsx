/** HTTP headers of a document: each has a text, names a secret, or has a hidden value, which is kept until another one is given. */
import { useSignal } from '@preact/signals';
import { useLoaded } from '../api/load.ts';
import { moniker } from '../api/moniker.ts';
import { FieldFault } from './fields.tsx';

type Value = string | { secret: string } | { hidden: string };
type Headers = Readonly<Record<string, Value>>;
type Kind = 'secret' | 'text' | 'hidden';
/** `value`: the text, the name of the secret, or the path of the hidden value. */
type Row = { name: string; value: string; kind: Kind };

/** `onChange`: called with undefined if no header is left. */
type HeaderProps = { headers: Headers; hint: string; onChange(headers: Record<string, Value> | undefined): void };

export function HeaderFields({ headers, hint, onChange }: HeaderProps) {
  const secrets = useSecretNames();
  // What is typed stays as it is typed: two rows may have the same name for a moment.
  const rows = useSignal<readonly Row[]>(Object.entries(headers).map(toRow));
  const set = (next: readonly Row[]): void => {
    rows.value = next;
    const named = next.filter(({ name }) => name.trim() !== '');
    const entries = named.map((row) => [row.name.trim(), toValue(row)] as const);
    onChange(entries.length > 0 ? Object.fromEntries(entries) : undefined);
  };
  const change = (index: number, members: Partial<Row>): void =>
    set(rows.value.map((row, at) => (at === index ? { ...row, ...members } : row)));
  return (
    <fieldset class="headers">
      <legend>Headers</legend>
      <div class="fields">
        <p class="hint">{hint}</p>
        {rows.value.map(({ name, value, kind }, index) => (
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
              value={kind}
              onChange={(event) =>
                change(index, { kind: event.currentTarget.value === 'secret' ? 'secret' : 'text', value: kind === 'hidden' ? '' : value })
              }
            >
              {kind === 'hidden' && <option value="hidden">hidden</option>}
              <option value="secret">secret</option>
              <option value="text">text</option>
            </select>
            <input
              aria-label={`Value of header ${index + 1}`}
              placeholder={placeholders[kind]}
              autocomplete="off"
              spellcheck={false}
              value={kind === 'hidden' ? '' : value}
              disabled={kind === 'hidden'}
              list={kind === 'secret' ? 'secret-names' : undefined}
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
          <button type="button" onClick={() => set([...rows.value, { name: '', value: '', kind: 'secret' }])}>
            Add a header
          </button>
        </p>
      </div>
    </fieldset>
  );
}

const placeholders: Readonly<Record<Kind, string>> = { secret: 'Name of a secret', text: 'Value', hidden: 'Stays as it is' };

function toRow([name, value]: [string, Value]): Row {
  if (typeof value === 'string') return { name, value, kind: 'text' };
  return 'hidden' in value ? { name, value: value.hidden, kind: 'hidden' } : { name, value: value.secret, kind: 'secret' };
}

function toValue({ kind, value }: Row): Value {
  return kind === 'text' ? value : kind === 'secret' ? { secret: value } : { hidden: value };
}

/** Names to choose from. Without the list, a name can still be typed. */
export function useSecretNames(): readonly string[] {
  const secrets = useLoaded((signal) => moniker.value.get('/v1/secrets', { params: { query: { limit: 100 } }, signal }));
  return secrets.data?.items.map(({ name }) => name) ?? [];
}
