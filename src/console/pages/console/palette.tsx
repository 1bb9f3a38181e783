/** `Ctrl K`: goes to a page, a chat or a document, or starts a chat with an agent or a model. A combobox in a dialog (WAI-ARIA APG). */
import { signal } from '@preact/signals';
import type { TargetedKeyboardEvent } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { chosenModel, loadModels, models } from '../../api/models.ts';
import { visible } from '../../parts/text/visible.ts';
import { navigate, pathOf } from '../../router.ts';
import { chatTitles, recentChats } from './recent-chats.tsx';
import { permittedViews } from './views.ts';
import { moniker } from '../../api/moniker.ts';

const isOpen = signal(false);
const maxShown = 12;

type Entry = { kind: string; label: string; run(): void };

export function openPalette(): void {
  isOpen.value = true;
}

export function Palette() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [index, setIndex] = useState(0);
  // Before the next key: it belongs into the field.
  useLayoutEffect(() => {
    if (!isOpen.value || dialog.current?.open) return;
    setText('');
    setIndex(0);
    // The list of models may be missing; pages and chats are found without it.
    loadModels().catch(() => undefined);
    void loadThings(permittedViews.value.map(({ name }) => name));
    dialog.current?.showModal();
  }, [isOpen.value]);
  const close = (): void => dialog.current?.close();
  const found = isOpen.value ? findEntries(text) : [];
  const chosen = found[Math.min(index, found.length - 1)];
  const run = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    close();
    entry.run();
  };
  const press = (event: TargetedKeyboardEvent<HTMLInputElement>): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setIndex((Math.min(index, found.length - 1) + step + found.length) % Math.max(1, found.length));
    // Read from the field: who types fast presses Enter before the list is rendered.
    else if (event.key === 'Enter') run(event.currentTarget.value === text ? chosen : findEntries(event.currentTarget.value)[0]);
    else return;
    event.preventDefault();
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click beside the panel closes it, as Escape does
    <dialog
      ref={dialog}
      class="palette"
      aria-label="Search"
      onClose={() => (isOpen.value = false)}
      onClick={(event) => {
        if (event.target === dialog.current) close();
      }}
    >
      <input
        role="combobox"
        aria-label="Search pages, chats, documents and models"
        aria-expanded={found.length > 0}
        aria-controls="palette-options"
        aria-autocomplete="list"
        aria-activedescendant={chosen === undefined ? undefined : `palette-${found.indexOf(chosen)}`}
        placeholder="Go to a page, a chat, a toolset, …"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setIndex(0);
        }}
        onKeyDown={press}
      />
      <div id="palette-options" role="listbox" aria-label="Results">
        {found.map((entry, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the combobox handles the keys
          // biome-ignore lint/a11y/useFocusableInteractive: the combobox keeps the focus
          <div
            key={`${entry.kind} ${entry.label} ${at}`}
            id={`palette-${at}`}
            role="option"
            aria-selected={entry === chosen}
            onClick={() => run(entry)}
          >
            <span>{visible(entry.label)}</span>
            <span class="muted">{entry.kind}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && <p class="muted none">Nothing found for “{visible(text)}”.</p>}
    </dialog>
  );
}

function findEntries(text: string): Entry[] {
  const words = text.toLowerCase().split(/\s+/);
  const go = (path: string) => () => navigate(path);
  const entries: Entry[] = [
    { kind: 'Chat', label: 'New chat', run: go(pathOf('chat')) },
    ...permittedViews.value.map(({ name, title }) => ({ kind: 'Page', label: title, run: go(pathOf(name)) })),
    { kind: 'Page', label: 'API reference', run: () => location.assign('/docs') },
    ...recentChats.value.map(({ id, who, createdAt }) => ({
      kind: 'Chat',
      label: chatTitles.value.get(id) ?? `${who}, ${new Date(createdAt).toLocaleString()}`,
      run: go(pathOf('chat', id)),
    })),
    ...things.value.map(({ view, kind, name }) => ({ kind, label: name, run: go(pathOf(view, name)) })),
    ...models.value.map((id) => ({ kind: 'Chat with', label: id, run: () => startWith(id) })),
  ];
  return entries.filter(({ kind, label }) => words.every((word) => `${kind} ${label}`.toLowerCase().includes(word))).slice(0, maxShown);
}

function startWith(model: string): void {
  chosenModel.value = model;
  navigate(pathOf('chat'));
}

type Thing = { view: string; kind: string; name: string };

const things = signal<readonly Thing[]>([]);

const params = { query: { limit: 100 } };
type Source = { view: string; kind: string; list(): Promise<{ items: readonly { name: string }[] }> };

const sources: readonly Source[] = [
  { view: 'toolsets', kind: 'Toolset', list: () => moniker.value.get('/v1/toolsets', { params }) },
  { view: 'agents', kind: 'Agent', list: () => moniker.value.get('/v1/agents', { params }) },
  {
    view: 'made',
    kind: 'Made tool',
    list: () => moniker.value.get('/v1/tools', { params: { query: { ...params.query, kind: 'made', fields: 'summary' } } }),
  },
  { view: 'skills', kind: 'Skill', list: () => moniker.value.get('/v1/skills', { params }) },
  { view: 'suites', kind: 'Suite', list: () => moniker.value.get('/v1/suites', { params }) },
  { view: 'servers', kind: 'Server', list: () => moniker.value.get('/v1/servers', { params }) },
  { view: 'providers', kind: 'Provider', list: () => moniker.value.get('/v1/providers', { params }) },
  { view: 'secrets', kind: 'Secret', list: () => moniker.value.get('/v1/secrets', { params }) },
  { view: 'webhooks', kind: 'Webhook', list: () => moniker.value.get('/v1/webhooks', { params }) },
  { view: 'schedules', kind: 'Schedule', list: () => moniker.value.get('/v1/schedules', { params }) },
];

/** Loads the newest names of the views. A list that the key may not read, or that fails, stays empty. */
async function loadThings(views: readonly string[]): Promise<void> {
  const lists = await Promise.all(
    sources
      .filter(({ view }) => views.includes(view))
      .map(async ({ view, kind, list }) => {
        const { items } = await list().catch(() => ({ items: [] }));
        return items.map(({ name }) => ({ view, kind, name }));
      }),
  );
  things.value = lists.flat();
}
