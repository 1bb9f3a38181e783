/** What happened in a chat: where the time went, the events, and the files. */
import { bound } from '../../parts/fields/controls.tsx';
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { useListeners } from '../../parts/layout/use-listeners.ts';
import { TabPanel } from '../../parts/layout/tab-panel.tsx';
import { TimelineView } from '../../parts/records/timeline-view.tsx';
import { visible } from '../../parts/text/visible.ts';
import type { ChatSession } from '../../session/chat-session.ts';
import { FilesView } from './files-view.tsx';

const tabs = ['Timeline', 'Events', 'Files'] as const;

export function Inspector({ session, onClose }: { session: ChatSession; onClose(): void }) {
  const tab = useSignal<(typeof tabs)[number]>('Timeline');
  const panel = useRef<HTMLElement>(null);
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && panel.current?.contains(document.activeElement)) onClose();
  };
  useListeners({ keydown: press }, [onClose]);
  return (
    <TabPanel
      label="Inspector"
      tabs={tabs}
      tab={tab}
      panel={panel}
      action={
        <button type="button" class="plain close" onClick={onClose}>
          Close
        </button>
      }
    >
      {tab.value === 'Timeline' && <TurnTimelines session={session} />}
      {tab.value === 'Events' && <EventsView session={session} />}
      {tab.value === 'Files' && <FilesView session={session} />}
    </TabPanel>
  );
}

function TurnTimelines({ session }: { session: ChatSession }) {
  const version = session.version.value;
  const { turns, log } = session.conversation;
  return <TimelineView turns={version < 0 ? [] : turns} now={Math.max(Date.now(), log.at(-1)?.at ?? 0)} />;
}

const maxEventsShown = 300;

function EventsView({ session }: { session: ChatSession }) {
  const filter = useSignal('');
  const log = session.version.value < 0 ? [] : session.conversation.log;
  const found = log.filter(({ type }) => type.includes(filter.value.trim()));
  return (
    <>
      <label class="filter">
        <span class="visually-hidden">Filter by type</span>
        <input type="search" placeholder="Filter by type" {...bound(filter)} />
      </label>
      <p class="muted">
        {found.length} events{found.length > maxEventsShown && `, the newest ${maxEventsShown} shown`}
      </p>
      <ol class="events">
        {found.slice(-maxEventsShown).map((event) => (
          <li key={event.id}>
            <details>
              <summary>
                <span class="number">{event.id}</span> {event.type}
              </summary>
              <pre>{visible(JSON.stringify(event, null, 1))}</pre>
            </details>
          </li>
        ))}
      </ol>
    </>
  );
}
