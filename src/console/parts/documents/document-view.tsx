/** A view of documents: their list by name, with a form that opens the editor of a new one; or the editor of one. */
import { Warnings, FieldIssues } from '../fields/field-issues.tsx';
import { PlainForm } from '../fields/controls.tsx';
import type { ComponentChildren, ComponentType } from 'preact';
import { hasDraft, type OpenDocument } from '../../api/document.ts';
import { usePages } from '../../api/load.ts';
import { navigate, pathOf, type ViewProps } from '../../router.ts';
import { ProblemView } from '../text/problem-view.tsx';
import { visible } from '../text/visible.ts';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { MonikerError, type components } from '../../../../client/src/index.ts';
import { moniker } from '../../api/moniker.ts';
import { Disclosure } from '../layout/disclosure.tsx';
import { late } from '../layout/late.tsx';
import { DocumentHeader, type HeaderProps } from './document-header.tsx';

type ListedDocument = { name: string; description?: string | undefined; facts: ComponentChildren };
type Query = { limit: number; cursor?: string };

type ListProps<Item> = {
  Editor: ComponentType<{ name: string }>;
  view: string;
  title: string;
  /** What such a document is. */
  about: string;
  /** What is in the list, such as `agent`. */
  noun: string;
  /** The next action where the list has no items. */
  empty: ComponentChildren;
  /** A name for a new one, as an example. */
  example: string;
  read(query: Query): Promise<{ items: readonly Item[]; nextCursor: string | null }>;
  row(item: Item): ListedDocument;
};

export function documentPage<Item>({ Editor, ...list }: ListProps<Item>) {
  return ({ id }: ViewProps) => (id === null ? <List {...list} /> : <Editor key={id} name={id} />);
}

function List<Item>({ view, title, about, noun, empty, example, read, row }: Omit<ListProps<Item>, 'Editor'>) {
  const { items, hasMore, more, error, isLoading, reload } = usePages((page) => read({ limit: 100, ...page }));
  return (
    <div class="view">
      <h1>{title}</h1>
      <p class="muted">{about}</p>
      {error !== null && <ProblemView error={error} retry={() => void reload()} />}
      {items?.length === 0 && !hasMore && <p>{empty}</p>}
      <ul class="rows">
        {items?.map(row).map(({ name, description, facts }) => (
          <li key={name}>
            <a href={pathOf(view, name)}>{visible(name)}</a>
            <span class="muted">{visible(description ?? '')}</span>
            {hasDraft(`${view} ${name}`) && <span class="badge warn">unsaved changes</span>}
            <span class="muted">{facts}</span>
          </li>
        ))}
      </ul>
      {hasMore && (
        <p>
          <button type="button" disabled={isLoading} onClick={() => void more()}>
            Show more
          </button>
        </p>
      )}
      <PlainForm
        class="actions"
        send={(form) => {
          const name = String(new FormData(form).get('name') ?? '').trim();
          if (name !== '') navigate(pathOf(view, name));
        }}
      >
        <label for="new-document">New {noun}</label>
        <input id="new-document" name="name" required placeholder={example} autocomplete="off" spellcheck={false} />
        <button type="submit">Create</button>
      </PlainForm>
    </div>
  );
}

const DocumentText = late(async () => (await import('./document-text.tsx')).DocumentText<unknown>);
const PastCalls = late(async () => (await import('../records/past-calls.tsx')).DraftPastCalls);
const DocumentVersions = late(async () => (await import('./document-versions.tsx')).DocumentVersions<unknown>);

type EditorProps<Draft> = Omit<HeaderProps<Draft>, 'children'> & {
  class?: string;
  /** Default: those of the stored document. */
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

/** The editor of a stored document: its header, its fields, its earlier versions, and the draft as text. */
export function DocumentEditor<Draft>(props: EditorProps<Draft>) {
  const {
    class: named,
    warnings = props.document.warnings.value,
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
