/** `/console/policy`: the rules of the workspace in an editor, with a tester beside them. */
import { signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { components } from '../../../../client/src/index.ts';
import { moniker } from '../../api/moniker.ts';
import { openDocument, withMembers } from '../../api/document.ts';
import { documentAt } from '../../api/document-requests.ts';
import { DocumentEditor } from '../../parts/documents/document-view.tsx';
import { CheckField, FieldFault } from '../../parts/fields/fields.tsx';
import { PolicyTester } from './policy-tester.tsx';
import { RuleRow } from './rule-row.tsx';
import { useAttempt, usePages } from '../../api/load.ts';
import { ConfirmButton } from '../../parts/actions/confirm-button.tsx';
import { RecordPages, type Column, Time } from '../../parts/records/records.tsx';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { visible } from '../../parts/text/visible.ts';

type Draft = components['schemas']['Policy'];

function openPolicy() {
  /** The index of the rule that decided the newest test. */
  const decided = signal<number | null>(null);
  const document = openDocument('policy rules', {
    ...documentAt('/v1/policy', {}),
    blank: { rules: [] } as Draft,
    toDraft: (policy): Draft => policy,
    compare: (body, signal) => moniker.value.post('/v1/policy/impact', { body, signal }),
  });
  return { document, decided };
}

export function PolicyPage() {
  const { document, decided } = useMemo(openPolicy, []);
  const { draft, isChanged } = document;
  return (
    <div class="policy">
      <DocumentEditor
        {...{
          document,
          hasText: true,
          name: 'rules',
          view: 'policy',
          title: 'Policy',
          canDelete: false,
          isBeside: true,
          hasVersions: true,
        }}
        notes={
          <p class="muted">
            Deny comes before ask, ask before allow, whatever the order. Without a rule, reading runs at once, and what cannot be undone or
            leaves the service requires approval. Approvals that were remembered are rules at the end.
          </p>
        }
        fields={(policy) => <Rules draft={policy} decided={decided.value} edit={document.edit} replace={document.replace} />}
        below={
          draft.value !== null && (
            <>
              <CheckField
                label="Require approval to send data after private and untrusted content was seen"
                path="taint"
                hint="The taint rule, against instructions that are hidden in what a tool returns."
                value={draft.value.taint !== 'off'}
                onInput={(isAsked) => draft.value && document.edit(withMembers(draft.value, { taint: isAsked ? undefined : 'off' }))}
              />
              <KnownHosts />
            </>
          )
        }
      />
      <PolicyTester draft={isChanged.value ? draft.value : null} onDecided={(index) => (decided.value = index)} />
    </div>
  );
}

type RulesProps = { draft: Draft; decided: number | null; edit(next: Draft): void; replace(next: Draft): void };

function Rules({ draft, decided, edit, replace }: RulesProps) {
  const { rules } = draft;
  return (
    <>
      {rules.length === 0 && <p class="empty">No rules yet: the defaults apply. Add one, or test a call to see what the defaults say.</p>}
      <ol class="rules">
        {rules.map((rule, index) => (
          <RuleRow
            key={index}
            rule={rule}
            index={index}
            isDecided={index === decided}
            onChange={(next) => edit({ ...draft, rules: rules.map((one, at) => (at === index ? next : one)) })}
            onRemove={() => replace({ ...draft, rules: rules.filter((_one, at) => at !== index) })}
          />
        ))}
      </ol>
      <FieldFault path="rules" />
      <p>
        <button type="button" onClick={() => edit({ ...draft, rules: [...rules, { decision: 'deny', tool: '' }] })}>
          Add a rule
        </button>
      </p>
    </>
  );
}

type KnownHost = components['schemas']['KnownHost'];

/** The hosts that approvals made known to the workspace; each can be forgotten. */
function KnownHosts() {
  const pages = usePages((page, signal) => moniker.value.get('/v1/policy/hosts', { params: { query: { limit: 100, ...page } }, signal }));
  const { problem, act } = useAttempt();
  const forget = (host: string) =>
    act(() => moniker.value.delete('/v1/policy/hosts/{host}', { params: { path: { host } } }), `${host} is forgotten`, pages.reload);
  const columns: readonly Column<KnownHost>[] = [
    { label: 'Host', cell: ({ host }) => <code>{visible(host)}</code> },
    { label: 'Approved', cell: ({ approvedAt }) => <Time iso={approvedAt} /> },
    { label: 'By', cell: ({ approvedBy }) => visible(approvedBy) },
    {
      label: 'Action',
      cell: ({ host }) => (
        <ConfirmButton label="Forget" name={`Forget ${host}`} question={`Ask about ${host} again?`} onConfirm={() => void forget(host)} />
      ),
    },
  ];
  return (
    <section aria-label="Known hosts">
      <h2>Known hosts</h2>
      <p class="muted">Requests to these are not asked about as new, since an administrator approved one.</p>
      {problem.value !== null && <ProblemView error={problem.value} />}
      <RecordPages
        caption="Known hosts"
        pages={pages}
        columns={columns}
        keyOf={({ host }) => host}
        hint="None yet: a host appears here when an administrator approves a request to it."
      />
    </section>
  );
}
