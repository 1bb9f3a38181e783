/** `/console/suites/{name?}`: the list of suites, or the editor of one with the cases that it selects. */
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { components } from '../../../../client/src/index.ts';
import { openDocument, withMembers } from '../../api/document.ts';
import { documentAt } from '../../api/document-requests.ts';
import { useNames, usePages } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { DocumentEditor } from '../../parts/documents/document-editor.tsx';
import { DocumentList } from '../../parts/documents/document-list.tsx';
import { ChoiceField, FieldFault, NamesField, NumberField, TextField } from '../../parts/fields/fields.tsx';
import { membersOf } from '../../parts/fields/members.ts';
import { RecordPages } from '../../parts/records/record-pages.tsx';
import type { Column } from '../../parts/records/records.tsx';
import { Time } from '../../parts/records/time.tsx';
import { visible } from '../../parts/text/visible.ts';
import { pathOf, type ViewProps } from '../../router.ts';
import { CaseLines } from './case-lines.tsx';
import { RuleRows } from './rule-rows.tsx';

type Suite = components['schemas']['Suite'];
type Selection = components['schemas']['SuiteSelection'];

export function SuitesPage({ id }: ViewProps) {
  return (
    <DocumentList
      id={id}
      Editor={SuiteEditor}
      view="suites"
      title="Suites"
      about="A suite says which recorded work is replayed, and what must hold: before you change a model, an agent or a toolset."
      noun="suite"
      empty="No suites yet. Create one: name it, then choose the agent whose turns it replays."
      example="support"
      read={(query) => moniker.value.get('/v1/suites', { params: { query } })}
      row={({ name, description, select, cases, rules = [] }) => ({
        ...{ name, description },
        facts: `${cases === undefined ? (select?.agent ?? select?.model ?? 'a selection') : `${cases.length} cases`}${rules.length === 0 ? '' : `, ${rules.length} rules`}`,
      })}
    />
  );
}

function openSuite(name: string) {
  return openDocument(`suites ${name}`, {
    ...documentAt('/v1/suites/{suite}', { suite: name }),
    blank: { select: { days: 30, limit: 100 }, rules: [{ calls: 'same' }] } as Suite,
    toDraft: (suite) => suite as Suite,
  });
}

function SuiteEditor({ name }: { name: string }) {
  const document = useMemo(() => openSuite(name), [name]);
  return (
    <DocumentEditor
      {...{ document, hasText: true, name, view: 'suites', title: 'Suites', hasVersions: true }}
      notes={
        document.etag.value !== null && (
          <p class="actions">
            <a class="button" href={pathOf('replays', 'new', { suite: name })}>
              Start a replay
            </a>
            <a href={pathOf('replays', null, { suite: name })}>Its replays</a>
          </p>
        )
      }
      below={document.etag.value !== null && <SelectedCases key={document.etag.value} name={name} />}
      fields={(draft) => <SuiteFields draft={draft} edit={document.edit} />}
    />
  );
}

const sources = [
  ['select', 'a selection of the request log'],
  ['cases', 'a list of turns and requests'],
] as const;

function SuiteFields({ draft, edit }: { draft: Suite; edit(next: Suite): void }) {
  const members = membersOf<Suite>(draft, edit);
  const source = draft.cases === undefined ? 'select' : 'cases';
  return (
    <>
      <TextField label="Description" {...members.text('description')} />
      <fieldset class="fields">
        <legend>What is replayed</legend>
        <ChoiceField
          label="Cases are"
          path="source"
          value={source}
          choices={sources}
          onInput={(chosen) =>
            edit(
              withMembers(
                draft,
                chosen === 'select' ? { select: { days: 30, limit: 100 }, cases: undefined } : { select: undefined, cases: [] },
              ),
            )
          }
        />
        {source === 'select' ? (
          <SelectionFields selection={draft.select ?? {}} edit={(select) => edit({ ...draft, select })} />
        ) : (
          <CaseLines cases={draft.cases ?? []} onInput={(cases) => edit({ ...draft, cases })} />
        )}
      </fieldset>
      <fieldset>
        <legend>Rules</legend>
        <RuleRows rules={draft.rules ?? []} onChange={(rules) => edit({ ...draft, rules })} />
        <FieldFault path="rules" />
      </fieldset>
    </>
  );
}

function SelectionFields({ selection, edit }: { selection: Selection; edit(next: Selection): void }) {
  const agents = useNames((signal) => moniker.value.get('/v1/agents', { params: { query: { limit: 100 } }, signal }));
  const toolsets = useNames((signal) => moniker.value.get('/v1/toolsets', { params: { query: { limit: 100 } }, signal }));
  const members = membersOf<Selection>(selection, edit, 'select.');
  const isOfTurns = selection.kind !== 'request';
  return (
    <div class="fields two">
      <ChoiceField
        label="Kind"
        {...members.choice('kind', [
          ['turn', 'turns of sessions'],
          ['request', 'requests to models, whose bodies are logged'],
        ])}
      />
      <TextField label="Agent" suggestions={agents} placeholder="any" {...members.word('agent')} />
      <TextField label="Model" placeholder="any, or provider/model" {...members.word('model')} />
      {isOfTurns && <TextField label="Toolset" suggestions={toolsets} placeholder="any" {...members.word('toolset')} />}
      {isOfTurns && <NamesField label="Called one of these tools" placeholder="github.*" {...members.names('tools')} />}
      <ChoiceField
        label="Ended as"
        {...members.choice('status', [
          ['', 'any'],
          ...(['completed', 'failed', 'cancelled', 'interrupted'] as const).map((one) => [one, one] as const),
        ])}
      />
      <TextField label="Key" placeholder="any, or the id of a key" {...members.word('key')} />
      <NumberField label="Last days" placeholder="30" {...members.number('days')} />
      <TextField label="From" hint="In place of days, such as 2026-11-01 (UTC)." {...members.word('from')} />
      <TextField label="To" placeholder="today" {...members.word('to')} />
      <NumberField label="Most cases" hint="The newest ones, at most 1000." placeholder="100" {...members.number('limit')} />
    </div>
  );
}

type Selected = components['schemas']['SelectedCase'];

/** What a replay that is started now would have. */
function SelectedCases({ name }: { name: string }) {
  const left = useSignal(0);
  const pages = usePages(async (page, signal) => {
    const found = await moniker.value.get('/v1/suites/{suite}/cases', {
      params: { path: { suite: name }, query: { limit: 20, ...page } },
      signal,
    });
    left.value = found.left;
    return found;
  });
  return (
    <section class="selected" aria-label="Selected cases">
      <h2>What a replay would have now</h2>
      {left.value > 0 && <p class="muted">{left.value} more match, and are left out by the limit or cannot be read.</p>}
      <RecordPages
        caption="Selected cases"
        pages={pages}
        keyOf={(one) => JSON.stringify(one)}
        columns={columns}
        empty={<p>Nothing matches. Chat with the agent first, or change the selection.</p>}
      />
    </section>
  );
}

const columns: readonly Column<Selected>[] = [
  {
    label: 'Recorded in',
    cell: ({ session, turn, request }) =>
      request !== null ? (
        <a href={pathOf('usage', 'requests', { request })}>request {visible(request.slice(0, 12))}</a>
      ) : (
        <>
          <a href={pathOf('sessions', session)}>session {visible((session ?? '').slice(0, 12))}</a> {visible(turn ?? '')}
        </>
      ),
  },
  { label: 'At', cell: ({ at }) => (at === null ? '–' : <Time iso={at} exact />) },
  { label: 'With', cell: ({ agent, model }) => visible(agent === null ? (model ?? '–') : `agent/${agent}`) },
  { label: 'Cannot be replayed', cell: ({ reason }) => visible(reason ?? '–') },
];
