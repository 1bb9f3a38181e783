/** A list of documents by name, with a form that opens the editor of a new one; or the editor of one. */
import { PlainForm } from '../fields/controls.tsx';
import type { ComponentChildren, ComponentType } from 'preact';
import { hasDraft } from '../../api/document.ts';
import { usePages } from '../../api/load.ts';
import { navigate, pathOf } from '../../router.ts';
import { ProblemView } from '../text/problem-view.tsx';
import { visible } from '../text/visible.ts';

type ListedDocument = { name: string; description?: string | undefined; facts: ComponentChildren };
type Query = { limit: number; cursor?: string };

type ListProps<Item> = {
  /** The document whose editor is shown; null: the list. */
  id: string | null;
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

export function DocumentList<Item>({ id, Editor, ...list }: ListProps<Item>) {
  return id === null ? <List {...list} /> : <Editor key={id} name={id} />;
}

function List<Item>({ view, title, about, noun, empty, example, read, row }: Omit<ListProps<Item>, 'id' | 'Editor'>) {
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
