/** A list of documents by name, with a form that opens the editor of a new one. */
import type { ComponentChildren } from 'preact';
import { hasDraft } from '../api/document.ts';
import { usePages } from '../api/load.ts';
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
  /** The next action where the list has no items. */
  empty: string;
  /** A name for a new one, as an example. */
  example: string;
  load(cursor: string | undefined): Promise<{ items: ListedDocument[]; nextCursor: string | null }>;
};

export function DocumentList({ view, title, about, noun, empty, example, load }: ListProps) {
  const { items, hasMore, more, error, isLoading, reload } = usePages(load);
  return (
    <div class="view">
      <h1>{title}</h1>
      <p class="muted">{about}</p>
      {error !== null && <ProblemView error={error} retry={() => void reload()} />}
      {items?.length === 0 && !hasMore && <p>{empty}</p>}
      <ul class="rows">
        {items?.map(({ name, description, facts }) => (
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
