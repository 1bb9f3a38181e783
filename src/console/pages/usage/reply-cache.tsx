/** What stored replies saved, by model and by key, which aliases store them, and the buttons that erase them. */
import { useSignal } from '@preact/signals';
import { useAttempt, useLoaded } from '../../api/load.ts';
import { hasScope } from '../../api/me.ts';
import { moniker } from '../../api/moniker.ts';
import { ConfirmButton } from '../../parts/actions/confirm-button.tsx';
import { filtersOf } from '../../parts/records/filters.tsx';
import { type Column, Records, Empty } from '../../parts/records/records.tsx';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { visible } from '../../parts/text/visible.ts';
import { pathOf } from '../../router.ts';
import { compact, count, duration, money } from '../../text/format.ts';
import { loadKeyNames, loadUsage, Ranges, Tiles } from './usage-range.tsx';
import { type Group, groupRows } from './usage-series.ts';

/** Each request erases a bounded number of replies. */
const maxErasing = 100;

async function loadSaved(filter: Record<string, string>, signal: AbortSignal) {
  const [models, keys, names] = await Promise.all([
    loadUsage({ ...filter, by: 'model' }, signal),
    loadUsage({ ...filter, by: 'key' }, signal),
    loadKeyNames(signal),
  ]);
  const cached = (groups: readonly Group[]) => groups.filter(({ cachedCalls = 0 }) => cachedCalls > 0);
  const { totals, isCut } = models;
  return {
    totals,
    isCut,
    names,
    models: cached(groupRows(models.rows, 'model', 'calls')),
    keys: cached(groupRows(keys.rows, 'key', 'calls')),
  };
}

export function ReplyCache() {
  const filter = filtersOf(['from', 'to']);
  const { data, error, reload } = useLoaded((signal) => loadSaved(filter, signal), [JSON.stringify(filter)]);
  const canErase = hasScope(['admin']);
  const { problem, attempt } = useAttempt();
  const erased = useSignal<string | null>(null);
  /** `key`: only replies of this key. */
  const erase = (key?: string) =>
    attempt(async () => {
      let sum = 0;
      for (let left = maxErasing; left > 0; left -= 1) {
        const found = await moniker.value.delete('/v1/cache', { params: { query: key === undefined ? {} : { key } } });
        sum += found.erased;
        if (found.isDone) break;
        erased.value = `${count(sum)} replies are erased. The others are not used any more, and are being erased…`;
      }
      erased.value = `${count(sum)} ${sum === 1 ? 'reply is' : 'replies are'} erased. Other locations may use them for up to 90 seconds more.`;
    });
  return (
    <>
      <div class="filters">
        <Ranges />
        <span class="grow" />
        {canErase && <ConfirmButton label="Erase all" question="Erase all stored replies?" onConfirm={() => void erase()} />}
      </div>
      {erased.value !== null && (
        <p class="notice info" role="status">
          {erased.value}
        </p>
      )}
      {problem.value !== null && <ProblemView error={problem.value} />}
      {error !== null && <ProblemView error={error} retry={() => void reload()} />}
      {data === null ? error === null && <p class="muted">Loading…</p> : <Saved data={data} erase={canErase ? erase : null} />}
      {canErase && <StoringAliases />}
    </>
  );
}

type SavedProps = { data: Awaited<ReturnType<typeof loadSaved>>; erase: ((key: string) => Promise<void>) | null };

function Saved({ data: { totals, isCut, names, models, keys }, erase }: SavedProps) {
  const { calls, cachedCalls = 0, savedCost, savedTokens = 0 } = totals;
  if (cachedCalls === 0)
    return (
      <Empty title="No request was answered by a stored reply">
        Replies are stored where a model alias or a key says so, or a request with the header x-moniker-cache.
      </Empty>
    );
  const eraseColumn = (eraseOf: (key: string) => Promise<void>): Column<Group> => ({
    label: 'Stored replies',
    cell: ({ name }) => (
      <ConfirmButton
        label="Erase"
        name={`Erase those of ${names.get(name) ?? name}`}
        question="Erase those of the key?"
        onConfirm={() => void eraseOf(name)}
      />
    ),
  });
  return (
    <>
      <Tiles
        tiles={[
          ['Cached replies', count(cachedCalls), `of ${count(calls)} calls`],
          ['Saved cost', savedCost === undefined ? 'unknown' : money(savedCost), 'USD unless priced otherwise'],
          ['Saved tokens', compact(savedTokens), 'of input and output'],
        ]}
      />
      {isCut && <p class="notice warn">There are more models than are shown. Choose a shorter range.</p>}
      <Records caption="Saved by model" items={models} keyOf={({ name }) => name} columns={columnsOf('Model', (name) => name)} />
      <Records
        caption="Saved by key"
        items={keys}
        keyOf={({ name }) => name}
        columns={[...columnsOf('Key', (name) => names.get(name) ?? name), ...(erase === null ? [] : [eraseColumn(erase)])]}
      />
    </>
  );
}

function columnsOf(label: string, labelOf: (name: string) => string): Column<Group>[] {
  return [
    { label, cell: ({ name }) => <code>{visible(labelOf(name))}</code> },
    { label: 'Calls', isNumber: true, cell: ({ calls }) => count(calls) },
    { label: 'Cached', isNumber: true, cell: ({ cachedCalls = 0 }) => count(cachedCalls) },
    { label: 'Saved tokens', isNumber: true, cell: ({ savedTokens = 0 }) => compact(savedTokens) },
    { label: 'Saved cost', isNumber: true, cell: ({ savedCost }) => (savedCost === undefined ? '–' : money(savedCost)) },
  ];
}

/** Aliases of the first page, of which each has one. */
function StoringAliases() {
  const { data } = useLoaded((signal) => moniker.value.get('/v1/model-aliases', { params: { query: { limit: 200 } }, signal }));
  const storing = data?.items.flatMap(({ name, cache }) => (cache ? [{ name, ...cache }] : [])) ?? [];
  if (storing.length === 0) return null;
  return (
    <>
      <h2>Aliases that store replies</h2>
      <ul class="rows">
        {storing.map(({ name, ttl, scope = 'key' }) => (
          <li key={name}>
            <a href={pathOf('aliases', name)}>{visible(name)}</a>
            <span class="muted">
              for {duration(ttl * 1_000)}, {scope === 'key' ? 'for the key that got them' : 'for all keys'}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
