/** The processes of a server with a command. Loaded when a person opens them. */
import { usePages } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { RecordPages } from '../../parts/records/record-pages.tsx';
import { Time } from '../../parts/records/time.tsx';
import { StateBadge } from '../../parts/text/state-badge.tsx';
import { visible } from '../../parts/text/visible.ts';

export function ServerProcesses({ server, instances }: { server: string; instances: string }) {
  const pages = usePages(async (_page, signal) => {
    const { items } = await moniker.value.get('/v1/programs', { signal });
    return { items: items.filter((one) => one.server === server), nextCursor: null };
  });
  const ofNobody = instances === 'shared' ? 'all' : 'the next session';
  return (
    <RecordPages
      caption="Processes of the command"
      pages={pages}
      keyOf={({ owner, startedAt }) => `${owner} ${startedAt}`}
      columns={[
        { label: 'Of', cell: ({ owner }) => (owner === null ? ofNobody : <code>{visible(owner)}</code>) },
        { label: 'State', cell: ({ state }) => <StateBadge state={state} /> },
        { label: 'Calls', cell: ({ calls }) => calls },
        { label: 'Started', cell: ({ startedAt }) => <Time iso={startedAt} /> },
        { label: 'Last use', cell: ({ usedAt }) => <Time iso={usedAt} /> },
      ]}
      empty={<p>None runs. The first call starts one.</p>}
    />
  );
}
