/** The editor of a stored document: its header, its fields, its earlier versions, and the draft as text. */
import type { ComponentChildren } from 'preact';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { MonikerError, type components } from '../../../../client/src/index.ts';
import { moniker } from '../../api/moniker.ts';
import { FieldIssues } from '../fields/field-issues.tsx';
import { Disclosure } from '../layout/disclosure.tsx';
import { late } from '../layout/late.tsx';
import { DocumentHeader, type HeaderProps } from './document-header.tsx';
import type { OpenDocument } from '../../api/document.ts';
import { Warnings } from './warnings.tsx';

const DocumentText = late(async () => (await import('./document-text.tsx')).DocumentText<unknown>);
const PastCalls = late(async () => (await import('../records/past-calls.tsx')).DraftPastCalls);
const DocumentVersions = late(async () => (await import('./document-versions.tsx')).DocumentVersions<unknown>);

type EditorProps<Draft> = Omit<HeaderProps<Draft>, 'children'> & {
  class?: string;
  warnings?: readonly components['schemas']['Warning'][];
  /** Whether a panel is beside it, instead of the whole width of the page. */
  isBeside?: boolean;
  /** More buttons of the header. */
  actions?: ComponentChildren;
  /** Between the header and the fields. */
  notes?: ComponentChildren;
  /** Above and below the fields. They stay when the draft is replaced, and the fields do not. */
  above?(draft: Draft): ComponentChildren;
  below?: ComponentChildren;
  /** What the page itself found wrong with the draft. */
  fault?: unknown;
  /** Whether there is a draft, but nothing to edit. */
  isHidden?: boolean;
  /** Called with the draft when the document is read. An error of it is shown by the next check. */
  onLoaded?(draft: Draft): Promise<void>;
  /** Whether its versions can be read. */
  hasVersions?: boolean;
  /** Whether the draft is also shown as text, which can be changed. */
  hasText?: boolean;
  fields?(draft: Draft): ComponentChildren;
};

export function DocumentEditor<Draft>(props: EditorProps<Draft>) {
  const {
    class: named,
    warnings = [],
    isBeside = false,
    actions,
    notes,
    above,
    below,
    isHidden = false,
    fault = null,
    onLoaded,
    hasVersions = false,
    hasText = false,
    fields,
    ...header
  } = props;
  const { document } = header;
  const { draft, etag, generation, problem, check } = document;
  /** The draft that is compared with past calls. */
  const compared = useSignal<Draft | null>(null);
  useEffect(() => {
    void document.load().then(async () => {
      if (draft.value !== null) await onLoaded?.(draft.value).catch(() => undefined);
    });
  }, [document, moniker.value]);
  const error = problem.value ?? check.value.error ?? fault;
  const issues = error instanceof MonikerError ? error.issues : [];
  return (
    <div class={`editor ${isBeside ? '' : 'page'} ${named ?? ''}`}>
      <DocumentHeader {...header}>
        {actions}
        {document.compare !== undefined && etag.value !== null && (
          <button type="button" onClick={() => (compared.value = draft.value)}>
            What would this break?
          </button>
        )}
      </DocumentHeader>
      {compared.value !== null && compared.value === draft.value && <PastCalls document={document as OpenDocument<unknown>} />}
      {notes}
      <Warnings warnings={warnings} />
      {draft.value !== null && !isHidden && (
        // A check of a draft names it in its paths.
        <FieldIssues.Provider value={issues.map(({ path, message }) => ({ path: path.replace(/^draft\./, ''), message }))}>
          {above?.(draft.value)}
          {fields !== undefined && (
            <div key={generation.value} class="fields">
              {fields(draft.value)}
            </div>
          )}
          {below}
          {hasVersions && etag.value !== null && (
            <Disclosure title="Versions">
              <DocumentVersions document={document as OpenDocument<unknown>} />
            </Disclosure>
          )}
          {hasText && (
            <Disclosure title="Document">
              <DocumentText document={document as OpenDocument<unknown>} rows={16} />
            </Disclosure>
          )}
        </FieldIssues.Provider>
      )}
    </div>
  );
}
