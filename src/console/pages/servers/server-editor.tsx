/** One server: its health, definitions that are held, its tools, and the document, which is tested before it is stored. */
import { useEffect, useMemo } from 'preact/hooks';
import { MonikerError } from '../../../../client/src/index.ts';
import { moniker } from '../../api/moniker.ts';
import { DocumentHeader } from '../../parts/document-header.tsx';
import { DocumentText } from '../../parts/document-text.tsx';
import { FieldIssues } from '../../parts/fields.tsx';
import { late } from '../../parts/late.tsx';
import { ProblemView } from '../../parts/problem-view.tsx';
import type { ServerDraft } from './server-draft.ts';
import { ServerFields } from './server-fields.tsx';
import { openServer } from './server-state.ts';

const TestResult = late(async () => (await import('./test-result.tsx')).TestResult);
const Remarks = late(async () => (await import('./test-result.tsx')).Remarks);
const StoredServer = late(async () => (await import('./stored-server.tsx')).StoredServer);

export function ServerEditor({ name }: { name: string }) {
  const state = useMemo(() => openServer(name), [name]);
  const { document, view, test, isTesting, problem, warnings } = state;
  useEffect(() => void document.load(), [state, moniker.value]);
  const { draft, etag, generation } = document;
  const isNew = etag.value === null;
  const isTested = test.value !== null && test.value.of === JSON.stringify(draft.value);
  const error = document.problem.value ?? (isTested ? test.value?.error : null);
  return (
    <div class="editor page">
      <DocumentHeader document={document} view="servers" title="Servers" name={name} isBlocked={isNew && !isTested}>
        <button
          type="button"
          class={isNew && !isTested ? 'primary' : undefined}
          disabled={isTesting.value || draft.value === null}
          onClick={() => void state.runTest()}
        >
          {isTesting.value ? 'Testing…' : 'Test'}
        </button>
      </DocumentHeader>
      {isTested && test.value !== null && <TestResult test={test.value} isNew={isNew} />}
      {problem.value !== null && <ProblemView error={problem.value} />}
      {warnings.value.length > 0 && <Remarks warnings={warnings.value} />}
      {view.value !== null && !isNew && <StoredServer state={state} view={view.value} />}
      {draft.value !== null && (
        <FieldIssues.Provider value={error instanceof MonikerError ? error.issues : []}>
          <ServerFields key={generation.value} draft={draft.value} isNew={isNew} edit={document.edit} replace={document.replace} />
          <details>
            <summary>Document</summary>
            <DocumentText document={document} read={(value) => value as ServerDraft} rows={16} />
          </details>
        </FieldIssues.Provider>
      )}
    </div>
  );
}
