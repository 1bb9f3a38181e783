/** The range of days of the usage pages, and the sums that are read for it. */
import { paginate } from '../../../../client/src/index.ts';
import { moniker } from '../../api/moniker.ts';
import { query, setQuery } from '../../router.ts';

/** Rows are a group, or a group on a day. Beyond that, a range has more groups than a person compares. */
export const maxRows = 5_000;

/** `asked`: the filters, and `by`. */
export async function loadUsage(asked: Record<string, string>, signal: AbortSignal) {
  const { from, to, totals } = await moniker.value.get('/v1/usage', { params: { query: { ...asked, limit: 1 } }, signal });
  const rows = [];
  for await (const row of paginate(moniker.value, '/v1/usage', { query: { ...asked, limit: 200 } }, { signal }))
    if (rows.push(row) >= maxRows) break;
  return { from, to, totals, rows, isCut: rows.length >= maxRows };
}

/** Names by id. Only administrators can list keys: others see ids. */
export async function loadKeyNames(signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const { data } = await moniker.value.GET('/v1/keys', { params: { query: { limit: 200 } }, signal });
  return new Map(data?.items.map(({ id, name }) => [id, name]));
}

export function Ranges() {
  const from = query.value.get('from');
  const isOpen = query.value.get('to') === null;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would be announced as a form
    <div class="tabs" role="group" aria-label="Range">
      {[7, 30, 90].map((days) => {
        const start = new Date(Date.now() - (days - 1) * 86_400_000).toISOString().slice(0, 10);
        // 30 days are the default of the service.
        const isSet = isOpen && (from === start || (from === null && days === 30));
        return (
          <button key={days} type="button" aria-pressed={isSet} onClick={() => setQuery({ from: days === 30 ? null : start, to: null })}>
            {days} days
          </button>
        );
      })}
    </div>
  );
}

type Tile = readonly [name: string, value: string, note: string];

export function Tiles({ tiles }: { tiles: readonly Tile[] }) {
  return (
    <ul class="tiles">
      {tiles.map(([name, value, note]) => (
        <li key={name}>
          <span class="muted">{name}</span> <strong>{value}</strong> <span class="muted">{note}</span>
        </li>
      ))}
    </ul>
  );
}
