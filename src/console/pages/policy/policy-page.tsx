/** `/console/policy`: the rules of the workspace in an editor, with a tester beside them. */
import { signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { components } from '../../../../client/src/index.ts';
import { moniker } from '../../api/moniker.ts';
import { openDocument, withMembers } from '../../api/document.ts';
import { documentAt } from '../../api/document-requests.ts';
import { DocumentEditor } from '../../parts/documents/document-editor.tsx';
import { CheckField, FieldFault } from '../../parts/fields/fields.tsx';
import { KnownHosts } from './known-hosts.tsx';
import { PolicyTester } from './policy-tester.tsx';
import { RuleRow } from './rule-row.tsx';

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
