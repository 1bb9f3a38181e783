/** What was stored as tables and cells: records, facts, times and states. */
import type { ComponentChildren } from 'preact';
import type { Pages } from '../../api/load.ts';
import { ProblemView } from '../text/problem-view.tsx';
import { ago } from '../../text/format.ts';

export type Column<Item> = { label: string; cell(item: Item): ComponentChildren; isNumber?: boolean };

type RecordsProps<Item> = {
  /** Names the table for screen readers. */
  caption: string;
  items: readonly Item[];
  columns: readonly Column<Item>[];
  keyOf(item: Item): string;
};

/** Rows become cards in a narrow window. The first column names the record. */
export function Records<Item>({ caption, items, columns, keyOf }: RecordsProps<Item>) {
  return (
    <table class="records">
      <caption class="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ label, isNumber }) => (
            <th key={label} scope="col" class={isNumber ? 'number' : undefined}>
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {items.map((item) => (
          <tr key={keyOf(item)}>
            {columns.map(({ label, cell, isNumber }, index) =>
              index === 0 ? (
                <th key={label} scope="row">
                  {cell(item)}
                </th>
              ) : (
                <td key={label} data-label={label} class={isNumber ? 'number' : undefined}>
                  <div>{cell(item)}</div>
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export type RecordPagesProps<Item> = {
  caption: string;
  pages: Pages<Item>;
  columns: readonly Column<Item>[];
  keyOf(item: Item): string;
  /** Where the list has no items: what is missing, and what it would have or the next action. */
  none?: string;
  hint?: ComponentChildren;
};

/** A list that is read page by page: its table, its error, and what to do where there is nothing. */
export function RecordPages<Item>({ caption, pages, columns, keyOf, none, hint }: RecordPagesProps<Item>) {
  const { items, error, isLoading, hasMore, more, reload } = pages;
  return (
    <div aria-busy={isLoading}>
      {error !== null && <ProblemView error={error} retry={() => void reload()} />}
      {items === null ? (
        error === null && <p class="muted">Loading…</p>
      ) : items.length === 0 && !hasMore ? (
        <Empty title={none}>{hint}</Empty>
      ) : (
        <Records caption={caption} items={items} columns={columns} keyOf={keyOf} />
      )}
      {hasMore && (
        <p class="more">
          <button type="button" disabled={isLoading} onClick={() => void more()}>
            {isLoading ? 'Loading…' : 'Show more'}
          </button>
        </p>
      )}
    </div>
  );
}

/** Names with their values. Rows whose value is null or undefined are left out. */
export function Facts({ rows }: { rows: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {rows
        .filter(([, value]) => value !== null && value !== undefined)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** A point in time: how long ago, or the local date and time; the other one is its title. */
export function Time({ iso, exact = false }: { iso: string; exact?: boolean }) {
  const local = new Date(iso).toLocaleString();
  return (
    <time dateTime={iso} title={exact ? ago(iso) : local}>
      {exact ? local : ago(iso)}
    </time>
  );
}

const tones = Object.entries({
  ok: 'done completed delivered approved answered ran ok ready active signed-in connected same',
  bad: 'failing unauthorized missing revoked unreadable failed denied interrupted refused rejected dead',
  warn: 'held degraded signed-out deleting different ended stopped waiting pending expired outcome_unknown',
  info: 'running writing queued',
}).map(([tone, states]) => [tone, states.split(' ')] as const);

/** A state as a word with a dot, never by color alone. */
export function StateBadge({ state }: { state: string }) {
  return (
    <span class={`badge state ${tones.find(([, states]) => states.includes(state))?.[0] ?? ''}`}>
      <i aria-hidden="true" />
      {state.replaceAll('_', ' ')}
    </span>
  );
}

export function Empty({ title, children }: { title?: ComponentChildren; children?: ComponentChildren }) {
  return (
    <div class="empty">
      {title !== undefined && <h2>{title}</h2>}
      {children !== undefined && <p>{children}</p>}
    </div>
  );
}
