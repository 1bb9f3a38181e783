/** HTTP headers of a document: each has a text, names a secret, or has a hidden value, which is kept until another one is given. */
import { asWritten, Select, Suggestions } from './controls.tsx';
import { useSignal } from '@preact/signals';
import { useSecretNames } from '../../api/load.ts';
import { FieldFault } from './fields.tsx';
import { CellInput, type RowColumn, RowTable, textColumn } from './row-table.tsx';

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
  return (
    <fieldset class="headers">
      <legend>Headers</legend>
      <p class="hint">{hint}</p>
      <RowTable class="header-rows" noun="a header" columns={columns} rows={rows.value} blank={blank} onChange={set} />
      <Suggestions id="secret-names" values={secrets} />
      <FieldFault path="headers" />
    </fieldset>
  );
}

const blank: Row = { name: '', value: '', kind: 'secret' };

const columns: readonly RowColumn<Row>[] = [
  textColumn('Name', 'name', { placeholder: 'authorization' }),
  {
    label: 'Kind',
    input: ({ kind, value }, change, of) => (
      <Select
        aria-label={`Kind of ${of}`}
        value={kind}
        choices={asWritten<Kind>(kind === 'hidden' ? ['hidden', 'secret', 'text'] : ['secret', 'text'])}
        onInput={(chosen) => change({ kind: chosen, value: kind === 'hidden' ? '' : value })}
      />
    ),
  },
  {
    label: 'Value',
    input: ({ kind, value }, change, of) => (
      <CellInput
        label={`Value of ${of}`}
        placeholder={placeholders[kind]}
        value={kind === 'hidden' ? '' : value}
        isDisabled={kind === 'hidden'}
        list={kind === 'secret' ? 'secret-names' : undefined}
        onInput={(text) => change({ value: text })}
      />
    ),
  },
];

const placeholders: Readonly<Record<Kind, string>> = { secret: 'Name of a secret', text: 'Value', hidden: 'Stays as it is' };

function toRow([name, value]: [string, Value]): Row {
  if (typeof value === 'string') return { name, value, kind: 'text' };
  return 'hidden' in value ? { name, value: value.hidden, kind: 'hidden' } : { name, value: value.secret, kind: 'secret' };
}

function toValue({ kind, value }: Row): Value {
  return kind === 'text' ? value : kind === 'secret' ? { secret: value } : { hidden: value };
}
