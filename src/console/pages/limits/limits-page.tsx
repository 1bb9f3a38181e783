/** `/console/limits`: what the workspace, its keys and its agents are limited to, and how much of it they have used. */
import type { components } from '../../../../client/src/index.ts';
import { useLoaded } from '../../api/load.ts';
import { hasScope, isRoot, me } from '../../api/me.ts';
import { moniker } from '../../api/moniker.ts';
import { amount, limitNames } from '../../parts/fields/limit-fields.tsx';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { type Column, Records, Time, Empty } from '../../parts/records/records.tsx';
import { visible } from '../../parts/text/visible.ts';
import { pathOf } from '../../router.ts';

type Limit = components['schemas']['LimitUse'];

const titles = { workspace: 'Workspace', key: 'Key', agent: 'Agent' } as const;
/** A share of the limit from which on the bar warns. */
const near = 0.8;

export function LimitsPage() {
  const { data, error, isLoading, reload } = useLoaded(async (signal) => {
    const options = { params: { query: { limit: 100 } }, signal };
    // The names of keys are an aid: a key that may not list them sees ids.
    const keys = moniker.value.get('/v1/keys', options).then(
      ({ items }) => items,
      () => [],
    );
    const { items } = await moniker.value.get('/v1/limits', { signal });
    return { items, keyNames: new Map((await keys).map(({ id, name }) => [id, name])) };
  });
  const holders = Map.groupBy(data?.items ?? [], ({ of, name }) => `${of} ${name}`);
  return (
    <div class="view wide limits" aria-busy={isLoading}>
      <div class="head">
        <h1>Limits</h1>
        <span class="grow" />
        <button type="button" disabled={isLoading} onClick={() => void reload()}>
          Refresh
        </button>
      </div>
      <p class="muted">
        A request over a limit gets 429 with the time to wait. A turn counts for its key, its agent and the workspace. Days and months are
        in UTC.
      </p>
      {error !== null && <ProblemView error={error} retry={() => void reload()} />}
      {data === null && error === null && <p class="muted">Loading…</p>}
      {data?.items.length === 0 && <NoLimits />}
      {[...holders.values()].map((items) => (
        <Holder key={`${items[0]?.of} ${items[0]?.name}`} items={items} keyNames={data?.keyNames ?? new Map()} />
      ))}
    </div>
  );
}

function NoLimits() {
  return (
    <Empty title="No limits are set">
      {hasScope(['admin']) ? (
        <>
          Set them where they belong: on a <a href={pathOf('keys')}>key</a>, on an <a href={pathOf('agents')}>agent</a>
          {isRoot() && me.value !== null && (
            <>
              , or on the <a href={pathOf('workspaces', me.value.workspace)}>workspace</a>
            </>
          )}
          .
        </>
      ) : (
        'None concerns your requests.'
      )}
    </Empty>
  );
}

const columns: readonly Column<Limit>[] = [
  { label: 'Limit', cell: ({ limit }) => limitNames.find(([name]) => name === limit)?.[1] ?? limit },
  { label: 'Used', cell: (item) => <Use item={item} /> },
  { label: 'Starts again', cell: ({ resetsAt }) => (resetsAt === null ? 'as it becomes free' : <Time iso={resetsAt} />) },
];

function Holder({ items, keyNames }: { items: readonly Limit[]; keyNames: ReadonlyMap<string, string> }) {
  const [first] = items;
  if (first === undefined) return null;
  const { of, name } = first;
  const shown = of === 'key' ? (keyNames.get(name) ?? name) : name;
  return (
    <section aria-label={`${titles[of]} ${shown}`}>
      <h2>
        <small>{titles[of]}</small> {of === 'agent' ? <a href={pathOf('agents', name)}>{visible(shown)}</a> : visible(shown)}
      </h2>
      <Records caption={`Limits of ${titles[of].toLowerCase()} ${shown}`} items={items} columns={columns} keyOf={({ limit }) => limit} />
    </section>
  );
}

function Use({ item: { limit, used, max } }: { item: Limit }) {
  const share = max === 0 ? 1 : Math.min(1, used / max);
  return (
    <span class="use">
      <svg
        viewBox="0 0 100 8"
        preserveAspectRatio="none"
        aria-hidden="true"
        class={share >= 1 ? 'full' : share >= near ? 'near' : undefined}
      >
        <rect width={share * 100} height="8" />
      </svg>
      <span class="number">
        {amount(limit, used)} of {amount(limit, max)}
        {share >= 1 && <strong> reached</strong>}
      </span>
    </span>
  );
}
