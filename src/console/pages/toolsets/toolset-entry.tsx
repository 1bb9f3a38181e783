/** One entry of a toolset beyond its names: modes of aliases, arguments that are renamed or set, its description and its approval. */
import { IssuesOf } from '../../parts/fields/field-issues.tsx';
import { type Choices, Select } from '../../parts/fields/controls.tsx';
import { memberFields } from '../../parts/fields/member-fields.tsx';
import { CheckField } from '../../parts/fields/fields.tsx';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { withMembers } from '../../api/document.ts';
import { moniker } from '../../api/moniker.ts';
import { visible } from '../../parts/text/visible.ts';
import { jsonRecordOf } from '../../text/json.ts';
import {
  argumentOf,
  type ArgumentDraft,
  type ArgumentKind,
  replaceEntry,
  type ToolsetRow,
  withAlias,
  withArgument,
  firstTarget,
} from './toolset-draft.ts';
import { EntryTargets } from './entry-targets.tsx';
import type { OpenToolset } from './toolset-state.ts';

const modes = [
  ['announced', 'announced'],
  ['function', 'own definition'],
  ['hidden', 'not announced'],
  ['deprecated', 'deprecated'],
] as const;

const kinds: Choices<ArgumentKind> = [
  ['model', 'the model sets it'],
  ['default', 'default'],
  ['preset', 'fixed, hidden'],
  ['secret', 'a secret, hidden'],
  ['caller', 'field of the caller, hidden'],
];

export function EntryPanel({ state, selected }: { state: OpenToolset; selected: number }) {
  const { draft, generation, check } = state.document;
  const entry = draft.value?.tools[selected];
  if (draft.value === null || entry === undefined) return <p class="muted">Add a tool, or choose one in the table.</p>;
  const document = draft.value;
  const edit = (next: ToolsetRow): void => state.document.edit(replaceEntry(document, selected, next));
  return (
    <IssuesOf error={check.value.error}>
      <EntryFields key={`${generation.value} ${selected} ${document.tools.length}`} entry={entry} path={`tools[${selected}]`} edit={edit} />
    </IssuesOf>
  );
}

type FieldsProps = { entry: ToolsetRow; path: string; edit(next: ToolsetRow): void };

function EntryFields({ entry, path, edit }: FieldsProps) {
  const members = memberFields(entry, edit, `${path}.`);
  return (
    <div class="fields">
      <h2>{visible([entry.tool ?? path].flat().join(' / '))}</h2>
      {members.text('description', 'Description', { rows: 3, placeholder: 'The tool’s own description' })}
      {members.choice('approval', 'Approval', [
        ['', 'as the policy says (default)'],
        ['policy', 'as the policy says'],
        ['always', 'each call requires approval'],
        ['never', 'never'],
      ])}
      {members.check('alwaysOffered', 'Send its definition from the first step on', { hint: 'Large toolsets load other tools on demand.' })}
      {firstTarget(entry)?.endsWith('*') !== true && (
        <>
          <CheckField
            label="Runs in place of the web search that clients declare"
            hint="For models whose provider has none. One entry of the toolset; its tool takes a query."
            path={`${path}.standsFor`}
            value={entry.standsFor === 'web_search'}
            onInput={(isSet) => edit(withMembers(entry, { standsFor: isSet ? 'web_search' : undefined }))}
          />
          <EntryTargets entry={entry} path={path} edit={edit} />
        </>
      )}
      <EntryCache entry={entry} path={path} edit={edit} />
      <AliasModes entry={entry} edit={edit} />
      <Arguments entry={entry} edit={edit} />
    </div>
  );
}

type Cache = NonNullable<ToolsetRow['cache']>;

/** Without a time, results are not stored. */
function EntryCache({ entry, path, edit }: FieldsProps) {
  const { cache } = entry;
  const members = memberFields<Partial<Cache>>(cache ?? {}, (next) => edit(withMembers(entry, { cache: next as Cache })), `${path}.cache.`);
  return (
    <>
      {members.number('ttl', 'Seconds that a result is stored', {
        hint: 'Equal calls get it. Only for tools of servers that only read.',
        placeholder: 'not stored',
        path: cache === undefined ? `${path}.cache` : `${path}.cache.ttl`,
        onInput: (ttl) => edit(withMembers(entry, { cache: ttl === undefined ? undefined : { ...cache, ttl } })),
      })}
      {cache !== undefined &&
        members.choice('per', 'A result is for', [
          ['key', 'calls of the same key'],
          ['workspace', 'all calls of the workspace'],
        ])}
    </>
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
          <Select
            aria-label={`Mode of ${alias.name}`}
            value={alias.mode ?? 'announced'}
            choices={modes}
            onInput={(mode) => edit(withAlias(entry, { ...alias, mode }))}
          />
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
  const properties = useArguments(firstTarget(entry));
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
      <Select aria-label={`Who sets ${name}`} value={kind} choices={kinds} onInput={(chosen) => change({ kind: chosen })} />
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
    const load = async (): Promise<void> => {
      const { data } = await moniker.value.GET('/v1/tools/{canonical}', { params: { path: { canonical } } });
      const found = Object.entries(jsonRecordOf(data?.inputSchema.properties));
      properties.value = found.map(([name, schema]) => ({ name, about: String(jsonRecordOf(schema).description ?? '') }));
    };
    // While the name is typed, nothing is asked.
    const timer = setTimeout(() => void load().catch(() => undefined), 250);
    return () => clearTimeout(timer);
  }, [canonical]);
  return properties.value;
}
