/** A list of documents by name, with a form that opens the editor of a new one. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { hasDraft } from '../api/document.ts';
import { moniker } from '../api/moniker.ts';
import { navigate, pathOf } from '../router.ts';
import { ProblemView } from './problem-view.tsx';
import { visible } from './visible.ts';

type ListedDocument = { name: string; description?: string | undefined; facts: ComponentChildren };

type ListProps = {
  view: string;
  title: string;
  /** What such a document is. */
  about: string;
  /** What is in the list, such as `agent`. */
  noun: string;
  /** What to do if there is none. */
  empty: string;
  /** A name for a new one, as an example. */
  example: string;
  load(cursor: string | undefined): Promise<{ items: ListedDocument[]; nextCursor: string | null }>;
};

export function DocumentList({ view, title, about, noun, empty, example, load }: ListProps) {
  const rows = useSignal<ListedDocument[] | null>(null);
  const cursor = useSignal<string | null>(null);
  const problem = useSignal<unknown>(null);
  const read = async (known: ListedDocument[], from?: string): Promise<void> => {
    try {
      const { items, nextCursor } = await load(from);
      rows.value = [...known, ...items];
      cursor.value = nextCursor;
      problem.value = null;
    } catch (error) {
      problem.value = error;
    }
  };
  useEffect(() => void read([]), [moniker.value]);
  const known = rows.value ?? [];
  const next = cursor.value;
  return (
    <div class="view">
      <h1>{title}</h1>
      <p class="muted">{about}</p>
      {problem.value !== null && <ProblemView error={problem.value} retry={() => void read([])} />}
      {rows.value?.length === 0 && <p>{empty}</p>}
      <ul class="rows">
        {known.map(({ name, description, facts }) => (
          <li key={name}>
            <a href={pathOf(view, name)}>{visible(name)}</a>
            <span class="muted">{visible(description ?? '')}</span>
            {hasDraft(`${view} ${name}`) && <span class="badge warn">unsaved changes</span>}
            <span class="muted">{facts}</span>
          </li>
        ))}
      </ul>
      {next !== null && (
        <p>
          <button type="button" onClick={() => void read(known, next)}>
            Show more
          </button>
        </p>
      )}
      <form
        class="actions"
        onSubmit={(event) => {
          event.preventDefault();
          const name = String(new FormData(event.currentTarget).get('name') ?? '').trim();
          if (name !== '') navigate(pathOf(view, name));
        }}
      >
        <label for="new-document">New {noun}</label>
        <input id="new-document" name="name" required placeholder={example} autocomplete="off" spellcheck={false} />
        <button type="submit">Create</button>
      </form>
    </div>
  );
}
