/** One entry of a toolset beyond its names: modes of aliases, arguments that are renamed or set, its description and its approval. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { MonikerError } from '../../../../client/src/index.ts';
import { moniker } from '../../api/moniker.ts';
import { CheckField, ChoiceField, FieldIssues, TextField } from '../../parts/fields.tsx';
import { visible } from '../../parts/visible.ts';
import {
  argumentOf,
  type ArgumentDraft,
  type ArgumentKind,
  replaceEntry,
  type ToolsetRow,
  withAlias,
  withArgument,
} from './toolset-draft.ts';
import type { OpenToolset } from './toolset-state.ts';

const modes = [
  ['announced', 'announced'],
  ['function', 'own definition'],
  ['hidden', 'not announced'],
  ['deprecated', 'deprecated'],
] as const;

const kinds: readonly (readonly [ArgumentKind, string])[] = [
  ['model', 'the model sets it'],
  ['default', 'default'],
  ['preset', 'fixed, hidden'],
  ['secret', 'a secret, hidden'],
  ['caller', 'field of the caller, hidden'],
];

const approvals = ['never', 'always', 'policy'] as const;

export function EntryPanel({ state, selected }: { state: OpenToolset; selected: number }) {
  const { draft, generation, check } = state.document;
  const entry = draft.value?.tools[selected];
  if (draft.value === null || entry === undefined) return <p class="muted">Add a tool, or choose one in the table.</p>;
  const document = draft.value;
  const edit = (next: ToolsetRow): void => state.document.edit(replaceEntry(document, selected, next));
  const { error } = check.value;
  return (
    <FieldIssues.Provider value={error instanceof MonikerError ? error.issues : []}>
      <EntryFields key={`${generation.value} ${selected} ${entry.tool}`} entry={entry} path={`tools[${selected}]`} edit={edit} />
    </FieldIssues.Provider>
  );
}

type FieldsProps = { entry: ToolsetRow; path: string; edit(next: ToolsetRow): void };

function EntryFields({ entry, path, edit }: FieldsProps) {
  const { approval, description, alwaysOffered } = entry;
  return (
    <div class="fields">
      <h2>{visible(entry.tool ?? path)}</h2>
      <TextField
        label="Description"
        path={`${path}.description`}
        rows={3}
        placeholder="The tool’s own description"
        value={description ?? ''}
        onInput={(text) => edit({ ...without(entry, 'description'), ...(text !== '' && { description: text }) })}
      />
      <ChoiceField
        label="Approval"
        path={`${path}.approval`}
        value={approval ?? ''}
        choices={[
          ['', 'as the policy says (default)'],
          ['policy', 'as the policy says'],
          ['always', 'each call requires approval'],
          ['never', 'never'],
        ]}
        onInput={(value) => {
          const rule = approvals.find((one) => one === value);
          edit({ ...without(entry, 'approval'), ...(rule && { approval: rule }) });
        }}
      />
      <CheckField
        label="Send its definition from the first step on"
        path={`${path}.alwaysOffered`}
        hint="Large toolsets load other tools on demand."
        value={alwaysOffered === true}
        onInput={(isOffered) => edit({ ...without(entry, 'alwaysOffered'), ...(isOffered && { alwaysOffered: true }) })}
      />
      <AliasModes entry={entry} edit={edit} />
      <Arguments entry={entry} edit={edit} />
    </div>
  );
}

function AliasModes({ entry, edit }: Omit<FieldsProps, 'path'>) {
  const aliases = (entry.aliases ?? []).map((alias) => (typeof alias === 'string' ? { name: alias } : alias));
  if (aliases.length === 0) return null;
  return (
    <section aria-label="Aliases">
      <h2>Aliases</h2>
      {aliases.map((alias) => (
        <div key={alias.name} class="entry-row">
          <code>{visible(alias.name)}</code>
          <select
            aria-label={`Mode of ${alias.name}`}
            value={alias.mode ?? 'announced'}
            onChange={({ currentTarget }) => {
              const mode = modes.find(([one]) => one === currentTarget.value)?.[0] ?? 'announced';
              edit(withAlias(entry, { ...alias, mode }));
            }}
          >
            {modes.map(([mode, label]) => (
              <option key={mode} value={mode}>
                {label}
              </option>
            ))}
          </select>
          <input
            aria-label={`Note on ${alias.name}`}
            placeholder="note for the model"
            autocomplete="off"
            value={alias.note ?? ''}
            onInput={(event) => edit(withAlias(entry, { ...alias, note: event.currentTarget.value }))}
          />
        </div>
      ))}
    </section>
  );
}

function Arguments({ entry, edit }: Omit<FieldsProps, 'path'>) {
  const properties = useArguments(entry.tool);
  if (properties.length === 0) return null;
  return (
    <section aria-label="Arguments">
      <h2>Arguments</h2>
      {properties.map(({ name, about }) => (
        <ArgumentRow key={name} initial={argumentOf(entry, name)} about={about} onChange={(next) => edit(withArgument(entry, next))} />
      ))}
    </section>
  );
}

type ArgumentProps = { initial: ArgumentDraft; about: string; onChange(next: ArgumentDraft): void };

/** What is typed stays as it is typed. */
function ArgumentRow({ initial, about, onChange }: ArgumentProps) {
  const row = useSignal(initial);
  const { name, shown, kind, value } = row.value;
  const change = (members: Partial<ArgumentDraft>): void => {
    row.value = { ...row.value, ...members };
    onChange(row.value);
  };
  const common = { autocomplete: 'off', spellcheck: false };
  return (
    <div class="entry-row" title={about}>
      <code>{visible(name)}</code>
      <input
        {...common}
        aria-label={`Shown name of the argument ${name}`}
        placeholder={name}
        value={shown}
        onInput={(event) => change({ shown: event.currentTarget.value.trim() })}
      />
      <select
        aria-label={`Who sets ${name}`}
        value={kind}
        onChange={({ currentTarget }) => change({ kind: kinds.find(([one]) => one === currentTarget.value)?.[0] ?? 'model' })}
      >
        {kinds.map(([one, label]) => (
          <option key={one} value={one}>
            {label}
          </option>
        ))}
      </select>
      {kind !== 'model' && (
        <input
          {...common}
          aria-label={`Value of ${name}`}
          placeholder={{ secret: 'name of the secret', caller: 'name of the field', default: 'text or JSON', preset: 'text or JSON' }[kind]}
          value={value}
          onInput={(event) => change({ value: event.currentTarget.value })}
        />
      )}
    </div>
  );
}

type Property = { name: string; about: string };

/** The arguments that the tool itself has. Without the tool, the JSON text can still set them. */
function useArguments(canonical: string | undefined): readonly Property[] {
  const properties = useSignal<readonly Property[]>([]);
  useEffect(() => {
    if (canonical === undefined || canonical.endsWith('*')) return;
    moniker.value.get('/v1/tools/{canonical}', { params: { path: { canonical } } }).then(
      ({ inputSchema: { properties: found } }) => {
        const entries = typeof found === 'object' && found !== null ? Object.entries(found as Record<string, unknown>) : [];
        properties.value = entries.map(([name, schema]) => ({ name, about: describe(schema) }));
      },
      () => undefined,
    );
  }, [canonical]);
  return properties.value;
}

function describe(schema: unknown): string {
  const description = typeof schema === 'object' && schema !== null && 'description' in schema ? schema.description : '';
  return typeof description === 'string' ? description : '';
}

function without<Name extends keyof ToolsetRow>(entry: ToolsetRow, name: Name): Omit<ToolsetRow, Name> {
  const { [name]: _left, ...rest } = entry;
  return rest;
}
