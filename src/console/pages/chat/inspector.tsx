/** What happened in a chat: where the time went, the events, and the files. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { visible } from '../../parts/visible.ts';
import type { ChatSession } from '../../session/chat-session.ts';
import { timelineRows, timelineScale, type TimelineScale } from '../../session/timeline.ts';
import { duration } from '../../text/format.ts';
import { FilesView } from './files-view.tsx';

const tabs = ['Timeline', 'Events', 'Files'] as const;

export function Inspector({ session, onClose }: { session: ChatSession; onClose(): void }) {
  const tab = useSignal<(typeof tabs)[number]>('Timeline');
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && panel.current?.contains(document.activeElement)) onClose();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [onClose]);
  return (
    <aside class="inspector" aria-label="Inspector" ref={panel}>
      <header>
        <div class="tabs" role="tablist" aria-label="Inspector">
          {tabs.map((name) => (
            <button
              key={name}
              type="button"
              role="tab"
              id={`tab-${name}`}
              aria-selected={tab.value === name}
              aria-controls="inspected"
              onClick={() => {
                tab.value = name;
              }}
            >
              {name}
            </button>
          ))}
        </div>
        <button type="button" class="plain close" onClick={onClose}>
          Close
        </button>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <div id="inspected" role="tabpanel" aria-labelledby={`tab-${tab.value}`} tabIndex={0}>
        {tab.value === 'Timeline' && <TimelineView session={session} />}
        {tab.value === 'Events' && <EventsView session={session} />}
        {tab.value === 'Files' && <FilesView session={session} />}
      </div>
    </aside>
  );
}

function TimelineView({ session }: { session: ChatSession }) {
  const scale = useSignal<TimelineScale>('sequence');
  const onlyFailed = useSignal(false);
  const version = session.version.value;
  const turns = version < 0 ? [] : session.conversation.turns;
  if (turns.length === 0) return <p class="muted">Nothing happened yet.</p>;
  return (
    <>
      <div class="filters">
        <label>
          Scale{' '}
          <select
            value={scale.value}
            onChange={(event) => {
              scale.value = event.currentTarget.value === 'real' ? 'real' : 'sequence';
            }}
          >
            <option value="sequence">Sequence</option>
            <option value="real">Real time</option>
          </select>
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={onlyFailed.value}
            onChange={(event) => {
              onlyFailed.value = event.currentTarget.checked;
            }}
          />
          Failures only
        </label>
      </div>
      {turns.toReversed().map((turn) => {
        const all = timelineRows(turn, Math.max(Date.now(), session.conversation.log.at(-1)?.at ?? 0));
        const rows = onlyFailed.value ? all.filter(({ isFailed }) => isFailed) : all;
        if (rows.length === 0) return null;
        const at = timelineScale(all, scale.value);
        return (
          <table key={turn.id} class="timeline">
            <caption>{visible(turn.input.slice(0, 80))}</caption>
            <colgroup>
              <col class="what" />
              <col />
              <col class="ms" />
            </colgroup>
            <thead class="visually-hidden">
              <tr>
                <th scope="col">What</th>
                <th scope="col">When</th>
                <th scope="col">Duration</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ key, label, depth, bars, runMs, waitMs, isFailed, isWaiting }) => (
                <tr key={key}>
                  <th scope="row" class={`depth-${Math.min(depth, 3)}`}>
                    {visible(label)}
                  </th>
                  <td class="bars">
                    <span class="track" aria-hidden="true">
                      {bars.map(({ kind, from, to }, index) => (
                        <i key={index} class={kind} style={{ left: `${at(from)}%`, width: `${Math.max(at(to) - at(from), 1.5)}%` }} />
                      ))}
                    </span>
                  </td>
                  <td class="ms">
                    {duration(runMs)}
                    {waitMs > 0 && <span class="wait">{isWaiting ? 'waiting' : `+ ${duration(waitMs)} waiting`}</span>}
                    {isFailed && <span class="error"> failed</span>}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        );
      })}
      <p class="legend muted">
        <span class="model">model</span> <span class="run">tool</span> <span class="wait">waiting</span> <span class="failed">failed</span>
      </p>
    </>
  );
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
        <input
          type="search"
          placeholder="Filter by type"
          value={filter.value}
          onInput={(event) => {
            filter.value = event.currentTarget.value;
          }}
        />
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
