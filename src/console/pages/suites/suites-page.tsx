/** `/console/suites/{name?}`: the list of suites, or the editor of one with the cases that it selects. */
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { components } from '../../../../client/src/index.ts';
import { openDocument, withMembers } from '../../api/document.ts';
import { documentAt } from '../../api/document-requests.ts';
import { useNames, usePages } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { DocumentEditor, documentPage } from '../../parts/documents/document-view.tsx';
import { ChoiceField, FieldFault, TextField } from '../../parts/fields/fields.tsx';
import { memberFields } from '../../parts/fields/member-fields.tsx';
import { RecordPages, type Column, Time } from '../../parts/records/records.tsx';
import { visible } from '../../parts/text/visible.ts';
import { pathOf } from '../../router.ts';
import { caseFromLine, caseLine } from './case-text.ts';
import { Select } from '../../parts/fields/controls.tsx';
import { CellInput, RowTable } from '../../parts/fields/row-table.tsx';
import { type Rule, type RuleKind, partsOf, ruleKinds, ruleOf } from '../../text/replay-rules.ts';

type Suite = components['schemas']['Suite'];
type Selection = components['schemas']['SuiteSelection'];

export const SuitesPage = documentPage({
  Editor: SuiteEditor,
  view: 'suites',
  title: 'Suites',
  about: 'A suite says which recorded work is replayed, and what must hold: before you change a model, an agent or a toolset.',
  noun: 'suite',
  empty: 'No suites yet. Create one: name it, then choose the agent whose turns it replays.',
  example: 'support',
  read: (query) => moniker.value.get('/v1/suites', { params: { query } }),
  row: ({ name, description, select, cases, rules = [] }) => ({
    ...{ name, description },
    facts: `${cases === undefined ? (select?.agent ?? select?.model ?? 'a selection') : `${cases.length} cases`}${rules.length === 0 ? '' : `, ${rules.length} rules`}`,
  }),
});

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
  const members = memberFields<Suite>(draft, edit);
  const source = draft.cases === undefined ? 'select' : 'cases';
  return (
    <>
      {members.text('description', 'Description')}
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
  const members = memberFields<Selection>(selection, edit, 'select.');
  const isOfTurns = selection.kind !== 'request';
  return (
    <div class="fields two">
      {members.choice('kind', 'Kind', [
        ['turn', 'turns of sessions'],
        ['request', 'requests to models, whose bodies are logged'],
      ])}
      {members.word('agent', 'Agent', { suggestions: agents, placeholder: 'any' })}
      {members.word('model', 'Model', { placeholder: 'any, or provider/model' })}
      {isOfTurns && members.word('toolset', 'Toolset', { suggestions: toolsets, placeholder: 'any' })}
      {isOfTurns && members.names('tools', 'Called one of these tools', { placeholder: 'github.*' })}
      {members.choice('status', 'Ended as', [
        ['', 'any'],
        ...(['completed', 'failed', 'cancelled', 'interrupted'] as const).map((one) => [one, one] as const),
      ])}
      {members.word('key', 'Key', { placeholder: 'any, or the id of a key' })}
      {members.number('days', 'Last days', { placeholder: '30' })}
      {members.word('from', 'From', { hint: 'In place of days, such as 2026-11-01 (UTC).' })}
      {members.word('to', 'To', { placeholder: 'today' })}
      {members.number('limit', 'Most cases', { hint: 'The newest ones, at most 1000.', placeholder: '100' })}
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
        hint="Nothing matches. Chat with the agent first, or change the selection."
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

type SuiteCase = components['schemas']['SuiteCase'];

/** What is typed stays as it is typed. A line that is unchanged keeps the rules of its case, which are in the document. */
function CaseLines({ cases, onInput }: { cases: readonly SuiteCase[]; onInput(cases: SuiteCase[]): void }) {
  const text = useSignal(cases.map(caseLine).join('\n'));
  return (
    <TextField
      label="Cases"
      path="cases"
      isCode
      rows={8}
      hint="One a line: the id of a session for all of its turns, of a session and a turn, or request and its id. Rules of single cases are in the document below."
      placeholder={'0a1b2c3d\n0a1b2c3d turn_2\nrequest 4e5f6a7b'}
      value={text.value}
      onInput={(typed) => {
        text.value = typed;
        const known = new Map(cases.map((one) => [caseLine(one), one]));
        onInput(typed.split('\n').flatMap((line) => (line.trim() === '' ? [] : [known.get(line.trim()) ?? caseFromLine(line)])));
      }}
    />
  );
}

const choices = Object.entries(ruleKinds).map(([kind, { label }]) => [kind as RuleKind, label] as const);

type Row = { rule: Rule };

/** The rules of a suite as rows: a kind, and a value where the kind has one. */
function RuleRows({ rules, onChange }: { rules: readonly Rule[]; onChange(rules: Rule[]): void }) {
  return (
    <RowTable<Row>
      class="rule-rows"
      noun="a rule"
      rows={rules.map((rule) => ({ rule }))}
      blank={{ rule: { calls: 'same' } }}
      onChange={(rows) => onChange(rows.map(({ rule }) => rule))}
      columns={[
        {
          label: 'A replay has',
          input: ({ rule }, change, of) => {
            const { kind, value } = partsOf(rule);
            return (
              <Select
                aria-label={`Kind of ${of}`}
                value={kind}
                choices={choices}
                onInput={(next) => change({ rule: ruleOf(next, value ?? '') })}
              />
            );
          },
        },
        {
          label: 'Value',
          input: ({ rule }, change, of) => {
            const { kind, value } = partsOf(rule);
            // JSON is read when the field is left: half of it is another text.
            if (kind === 'json-value')
              return (
                <input
                  class="code"
                  aria-label={`Value of ${of}`}
                  value={value ?? ''}
                  onChange={({ currentTarget }) => change({ rule: ruleOf(kind, currentTarget.value) })}
                />
              );
            return (
              value !== null && (
                <CellInput label={`Value of ${of}`} value={value} onInput={(text) => change({ rule: ruleOf(kind, text) })} />
              )
            );
          },
        },
      ]}
    />
  );
}
