/** The newest sessions of the key, by their first message. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { moniker } from '../../api/moniker.ts';
import { visible } from '../../parts/text/visible.ts';
import { pathOf } from '../../router.ts';
import { ago } from '../../text/format.ts';

export type RecentChat = { id: string; who: string; createdAt: string };

export const recentChats = signal<readonly RecentChat[]>([]);
/** By session. A chat that has just begun has its title before the list does. */
export const chatTitles = signal<ReadonlyMap<string, string>>(new Map());
/** Whether the menu is open, in a narrow window. */
export const isListOpen = signal(false);

/** The palette finds all of them. */
const maxLoaded = 20;
const maxListed = 5;
const maxTitleLength = 60;

export function RecentChats({ current }: { current: string | null }) {
  const isKnown = current === null || recentChats.value.some(({ id }) => id === current);
  useEffect(() => {
    void loadRecentChats();
  }, [moniker.value, isKnown]);
  if (recentChats.value.length === 0) return null;
  return (
    <section aria-label="Recent chats" class="recent">
      <h2>Recent chats</h2>
      <ul>
        {recentChats.value.slice(0, maxListed).map(({ id, who, createdAt }) => (
          <li key={id}>
            <a
              href={pathOf('chat', id)}
              aria-current={id === current ? 'page' : undefined}
              title={`${who}, ${new Date(createdAt).toLocaleString()}`}
            >
              <span class="title">{visible(chatTitles.value.get(id) ?? who)}</span>
              <span class="who">{ago(createdAt)}</span>
            </a>
          </li>
        ))}
        <li>
          <a href={pathOf('sessions')} class="all">
            All chats
          </a>
        </li>
      </ul>
    </section>
  );
}

/** The list is an aid: without it, the chat works the same. Its errors are shown by the view that sends the same key. */
async function loadRecentChats(): Promise<void> {
  try {
    const { items } = await moniker.value.get('/v1/sessions', { params: { query: { limit: maxLoaded } } });
    recentChats.value = items.map(({ id, agent, model, createdAt }) => ({
      id,
      who: agent === undefined ? (model ?? '') : `agent/${agent}`,
      createdAt,
    }));
    for (const { id, title } of items) if (title !== null) setTitle(id, title);
  } catch {
    // As above.
  }
}

export function setTitle(id: string, text: string): void {
  const title = text.trim().replaceAll(/\s+/g, ' ').slice(0, maxTitleLength);
  if (title !== '' && chatTitles.value.get(id) !== title) chatTitles.value = new Map(chatTitles.value).set(id, title);
}

export function removeRecentChat(removed: string): void {
  recentChats.value = recentChats.value.filter(({ id }) => id !== removed);
}
