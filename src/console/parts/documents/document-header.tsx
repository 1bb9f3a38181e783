/** The top of an editor: what is edited, whether it can be saved, and what went wrong. Needs `src/console/api/document.ts`. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { MonikerError } from '../../../../client/src/index.ts';
import type { OpenDocument } from '../../api/document.ts';
import { navigate, pathOf } from '../../router.ts';
import { announce } from '../../api/announce.ts';
import { ConfirmButton } from '../actions/confirm-button.tsx';
import { late } from '../layout/late.tsx';
import { ProblemView } from '../text/problem-view.tsx';
import { visible } from '../text/visible.ts';

const DiffLines = late(async () => (await import('./diff-lines.tsx')).DiffLines);

export type HeaderProps<Draft> = {
  document: OpenDocument<Draft>;
  /** The view that lists documents of this kind. */
  view: string;
  title: string;
  name: string;
  /** Whether the page itself shows what the check found. */
  showsCheck?: boolean;
  canDelete?: boolean;
  /** Whether the page has a reason not to save the draft yet. */
  isBlocked?: boolean;
  /** Whether the page has a title of its own. */
  isPart?: boolean;
  /** More buttons. */
  children?: ComponentChildren;
};

export function DocumentHeader<Draft>(props: HeaderProps<Draft>) {
  const { document, view, title, name, showsCheck = false, canDelete = true, isBlocked = false, isPart = false, children } = props;
  const saved = useSignal<number | null>(null);
  const newest = useSignal<Draft | null>(null);
  const left = useSignal('');
  const { draft, etag, check, problem } = document;
  const isChanged = document.isChanged.value;
  const { state, error } = check.value;
  const top = useRef<HTMLElement>(null);
  useEffect(() => {
    // The problem is shown below the header, which stays visible while the fields scroll.
    if (problem.value !== null) top.current?.closest('main')?.scrollTo({ top: 0 });
  }, [problem.value]);
  const isStale = problem.value instanceof MonikerError && problem.value.code === 'precondition_failed';
  const save = async (overwrite = false): Promise<void> => {
    saved.value = await document.save(overwrite);
    newest.value = null;
    if (saved.value !== null) announce(`Saved as version ${saved.value}`);
  };
  const remove = async (): Promise<void> => {
    const users = await document.remove();
    if (users === '') navigate(pathOf(view));
    left.value = users ?? '';
  };
  return (
    <>
      <header class="document-header actions" ref={top}>
        {!isPart && (
          <h1>
            <a href={pathOf(view)}>{title}</a> / {visible(name)}
          </h1>
        )}
        <span class="grow" />
        {saved.value !== null && !isChanged && <span class="badge ok">saved as version {saved.value}</span>}
        {isChanged && <CheckBadge state={document.isChecked ? state : 'unsaved'} />}
        {canDelete && etag.value !== null && <ConfirmButton label="Delete" question={`Delete ${name}?`} onConfirm={() => void remove()} />}
        <button type="button" disabled={!isChanged} onClick={() => void document.discard()}>
          Discard
        </button>
        {children}
        <button type="button" class="primary" disabled={!isChanged || isBlocked || state !== 'valid'} onClick={() => void save()}>
          Save
        </button>
      </header>
      {left.value !== '' && (
        <p class="notice warn" role="alert">
          Deleted, but still named by {visible(left.value)}.
        </p>
      )}
      {isStale ? (
        <div class="problem" role="alert">
          <h2>The stored document was changed meanwhile</h2>
          <p>Another client stored a version after you opened this one. Your changes are kept.</p>
          {newest.value !== null && (
            <DiffLines before={toText(newest.value)} after={toText(draft.value)} label="The stored version, and yours" />
          )}
          <p class="actions">
            <button type="button" onClick={() => void document.discard()}>
              Load the stored version
            </button>
            <button
              type="button"
              onClick={async () => {
                newest.value = await document.readStored();
              }}
            >
              Compare
            </button>
            <button type="button" class="danger" onClick={() => void save(true)}>
              Overwrite it
            </button>
          </p>
        </div>
      ) : (
        problem.value !== null && (
          <ProblemView error={problem.value} retry={draft.value === null ? () => void document.load() : undefined} />
        )
      )}
      {state === 'invalid' && isChanged && !showsCheck && <ProblemView error={error} />}
    </>
  );
}

function toText(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

function CheckBadge({ state }: { state: 'pending' | 'valid' | 'invalid' | 'unsaved' }) {
  const [tone, text] = {
    pending: ['', 'checking'] as const,
    valid: ['ok', 'can be saved'] as const,
    invalid: ['bad', 'cannot be saved'] as const,
    unsaved: ['warn', 'unsaved changes'] as const,
  }[state];
  return <span class={`badge ${tone}`}>{text}</span>;
}
