/** `/console/policy`: the rules of the workspace in an editor, with a tester beside them. */
import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { MonikerError, type components } from '../../../../client/src/index.ts';
import { openDocument } from '../../api/document.ts';
import { moniker } from '../../api/moniker.ts';
import { Disclosure } from '../../parts/disclosure.tsx';
import { DocumentHeader } from '../../parts/document-header.tsx';
import { DocumentText } from '../../parts/document-text.tsx';
import type { VersionsProps } from '../../parts/document-versions.tsx';
import { CheckField, FieldFault, FieldIssues } from '../../parts/fields.tsx';
import { late } from '../../parts/late.tsx';
import { PolicyTester } from './policy-tester.tsx';
import { RuleRow } from './rule-row.tsx';

type Draft = components['schemas']['Policy'];

const DocumentVersions = late<VersionsProps<Draft>>(async () => (await import('../../parts/document-versions.tsx')).DocumentVersions);

function openPolicy() {
  /** The index of the rule that decided the newest test. */
  const decided = signal<number | null>(null);
  const document = openDocument<Draft>('policy rules', {
    blank: { rules: [] },
    read: () => moniker.value.GET('/v1/policy'),
    write: (draft, header) => moniker.value.PUT('/v1/policy', { params: { header }, body: draft }),
    remove: (header) => moniker.value.DELETE('/v1/policy', { params: { header } }),
  });
  return { document, decided };
}

export function PolicyPage() {
  const { document, decided } = useMemo(openPolicy, []);
  useEffect(() => void document.load(), [document, moniker.value]);
  const { draft, etag, generation, problem, stored } = document;
  const issues = problem.value instanceof MonikerError ? problem.value.issues : [];
  const policy = draft.value;
  const isChanged = policy !== null && JSON.stringify(policy) !== stored.value;
  return (
    <div class="policy">
      <div class="editor">
        <DocumentHeader document={document} view="policy" title="Policy" name="rules" canDelete={false} />
        <p class="muted">
          Deny comes before ask, ask before allow, whatever the order. Without a rule, reading runs at once, and what cannot be undone or
          leaves the service requires approval. Approvals that were remembered are rules at the end.
        </p>
        {policy !== null && (
          <FieldIssues.Provider value={issues}>
            <Rules key={generation.value} draft={policy} decided={decided.value} edit={document.edit} replace={document.replace} />
            <CheckField
              label="Require approval to send data after private and untrusted content was seen"
              path="taint"
              hint="The taint rule, against instructions that are hidden in what a tool returns."
              value={policy.taint !== 'off'}
              onInput={(isAsked) => {
                const { taint: _taint, ...rest } = policy;
                document.edit(isAsked ? rest : { ...rest, taint: 'off' });
              }}
            />
            {etag.value !== null && (
              <Disclosure title="Versions">
                <DocumentVersions
                  document={document}
                  list={() => moniker.value.get('/v1/policy/versions')}
                  read={(version) => moniker.value.get('/v1/policy', { params: { query: { version } } })}
                />
              </Disclosure>
            )}
            <Disclosure title="Document">
              <DocumentText document={document} read={(value) => value as Draft} rows={16} />
            </Disclosure>
          </FieldIssues.Provider>
        )}
      </div>
      <PolicyTester draft={isChanged ? draft.value : null} onDecided={(index) => (decided.value = index)} />
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
