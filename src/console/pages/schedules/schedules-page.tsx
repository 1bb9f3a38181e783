/** `/console/schedules/{name?}`: the list of schedules, or the editor of one with its runs. */
import { moniker } from '../../api/moniker.ts';
import { DocumentList } from '../../parts/document-list.tsx';
import type { ViewProps } from '../../router.ts';
import { ScheduleEditor } from './schedule-editor.tsx';

export function SchedulesPage({ id }: ViewProps) {
  if (id !== null) return <ScheduleEditor key={id} name={id} />;
  return (
    <DocumentList
      view="schedules"
      title="Schedules"
      about="A schedule starts a turn of an agent at given times."
      noun="schedule"
      empty="No schedules yet. Create one: name it, then choose when it runs and what it tells the agent."
      example="morning"
      load={async (cursor) => {
        const { items, nextCursor } = await moniker.value.get('/v1/schedules', {
          params: { query: { limit: 100, ...(cursor && { cursor }) } },
        });
        return {
          nextCursor,
          items: items.map(({ name, description, agent, cron, timeZone, interval, at, paused }) => ({
            ...{ name, description },
            facts: `${cron ?? (interval === undefined ? at : `every ${interval}`)}${timeZone ? ` ${timeZone}` : ''} → agent/${agent}${paused ? ', paused' : ''}`,
          })),
        };
      }}
    />
  );
}
