/** `/console/made/{name?}`: the list of made tools, or the editor of one. */
import { asWritten, Select } from '../../parts/fields/controls.tsx';
import { signal, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { components } from '../../../../client/src/index.ts';
import { openDocument } from '../../api/document.ts';
import { documentAt } from '../../api/document-requests.ts';
import { moniker } from '../../api/moniker.ts';
import { DocumentEditor, documentPage } from '../../parts/documents/document-view.tsx';
import { CellInput, type RowColumn, RowTable, textColumn } from '../../parts/fields/row-table.tsx';
import { memberFields } from '../../parts/fields/member-fields.tsx';
import { visible } from '../../parts/text/visible.ts';
import { blankMadeTool, type MadeDraft, type MadeParameterDraft, toDefault, toMadeDraft } from './made-draft.ts';

export const MadePage = documentPage({
  Editor: MadeToolEditor,
  view: 'made',
  title: 'Made tools',
  about: 'A made tool is JavaScript that calls other tools. It runs in a sandbox without network and files.',
  noun: 'made tool',
  empty: 'No made tools yet. Create one: name it, then write its code. Agents that have create_tool make them, too.',
  example: 'find_and_replace',
  read: async (paged) => {
    const query = { ...paged, kind: 'made' as const, fields: 'summary' as const };
    const { items, nextCursor } = await moniker.value.get('/v1/tools', { params: { query } });
    return { nextCursor, items: items.filter(({ visibility }) => visibility !== 'private') };
  },
  row: ({ name, description, state }) => ({ name, description, facts: state === 'ready' ? '' : state }),
});

type Written = components['schemas']['WrittenMadeTool'];

function openMadeTool(name: string) {
  const path = { canonical: `made.${name}` };
  /** Of the newest check of a changed draft: what the code may call, and what is doubtful. */
  const checked = signal<Pick<Written, 'uses' | 'warnings'> | null>(null);
  const document = openDocument(`made ${name}`, {
    ...documentAt('/v1/tools/{canonical}', path),
    blank: blankMadeTool,
    toDraft: (tool: components['schemas']['Tool']) => toMadeDraft(tool),
    check: async (draft, aborted) => {
      const query = { dryRun: 'true' as const };
      const written = await moniker.value.put('/v1/tools/{canonical}', { params: { path, query }, body: draft, signal: aborted });
      if ('uses' in written) checked.value = written;
    },
    compare: (body, signal) => moniker.value.post('/v1/tools/{canonical}/impact', { params: { path }, body, signal }),
  });
  return { document, checked };
}

/** The editor of a made tool. Its code is checked while it is written. */
function MadeToolEditor({ name }: { name: string }) {
  const { document, checked } = useMemo(() => openMadeTool(name), [name]);
  const { state = 'ready', made } = document.view.value ?? {};
  const stored = { uses: made?.uses ?? [], warnings: [] };
  const { uses, warnings } = (document.isChanged.value && checked.value) || stored;
  return (
    <DocumentEditor
      {...{ document, hasText: true, name, view: 'made', title: 'Made tools', warnings, hasVersions: true }}
      notes={state !== 'ready' && <p class="notice warn rounded">This tool is {state}: it cannot be called.</p>}
      fields={(draft) => <MadeFields draft={draft} edit={document.edit} />}
      below={<Uses uses={uses} />}
    />
  );
}

function Uses({ uses }: Pick<Written, 'uses'>) {
  if (uses.length === 0) return <p class="muted">It calls no other tool.</p>;
  return (
    <p class="muted">
      It may call{' '}
      {uses.map((canonical, index) => (
        <>
          {index > 0 && ', '}
          <code key={canonical}>{visible(canonical)}</code>
        </>
      ))}
      , and nothing else.
    </p>
  );
}

function MadeFields({ draft, edit }: { draft: MadeDraft; edit(next: MadeDraft): void }) {
  const members = memberFields(draft, edit);
  return (
    <>
      {members.required('description', 'Description', { hint: 'Models choose tools by their descriptions.' })}
      <div>
        <h2>Arguments</h2>
        <RowTable
          class="parameters"
          noun="an argument"
          columns={parameterColumns}
          rows={draft.parameters ?? []}
          blank={{ name: '', type: 'string', description: '', required: true }}
          onChange={(parameters) => edit({ ...draft, parameters })}
        />
      </div>
      {members.code('implementation', 'Implementation', {
        rows: 14,
        hint: 'The body of an async function: args has the arguments, await tools.NAME({…}) calls a tool and returns {success, output, error}, and the returned value is the result.',
      })}
      <div class="fields two">
        {members.names('aliases', 'Aliases', { hint: 'Used by toolsets that set none.' })}
        {members.names('uses', 'Tools that it may call', { hint: 'Empty: those that its code names.' })}
      </div>
    </>
  );
}

const types = asWritten(['string', 'number', 'boolean', 'array', 'object']);

const parameterColumns: readonly RowColumn<MadeParameterDraft>[] = [
  textColumn('Name', 'name'),
  {
    label: 'Type',
    input: ({ type }, change, of) => (
      <Select aria-label={`Type of ${of}`} value={type} choices={types} onInput={(chosen) => change({ type: chosen })} />
    ),
  },
  textColumn('Description', 'description'),
  {
    label: 'Default',
    input: (parameter, change, of) => <DefaultInput initial={parameter.default} label={`Default of ${of}`} onInput={change} />,
  },
  {
    label: 'Required',
    input: ({ required }, change, of) => (
      <input
        type="checkbox"
        aria-label={`${of} is required`}
        checked={required !== false}
        onChange={(event) => change({ required: event.currentTarget.checked })}
      />
    ),
  },
];

type DefaultProps = { initial: unknown; label: string; onInput(members: Pick<MadeParameterDraft, 'default'>): void };

/** What is typed stays as it is typed. */
function DefaultInput({ initial, label, onInput }: DefaultProps) {
  const text = useSignal(initial === undefined ? '' : typeof initial === 'string' ? initial : JSON.stringify(initial));
  const type = (typed: string): void => {
    text.value = typed;
    onInput({ default: toDefault(typed) });
  };
  return <CellInput label={label} placeholder="none" value={text.value} onInput={type} />;
}
