/** The next five times of a stored schedule, in its time zone and in UTC. */
import { useLoaded } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { ProblemView } from '../../parts/problem-view.tsx';
import { Records } from '../../parts/records.tsx';
import { duration } from '../../text/format.ts';

type NextTimesProps = { name: string; timeZone: string | null; isPaused: boolean /** Loads again when it changes. */; version: string };

export function NextTimes({ name, timeZone, isPaused, version }: NextTimesProps) {
  const { data, error } = useLoaded(
    (signal) => moniker.value.get('/v1/schedules/{schedule}/next', { params: { path: { schedule: name }, query: { count: 5 } }, signal }),
    [name, version],
  );
  const zone = timeZone ?? 'UTC';
  return (
    <section class="next" aria-label="Next runs">
      <h2>Next runs</h2>
      {isPaused && <p class="notice warn rounded">The schedule is paused: these are the times if it were resumed now.</p>}
      {error !== null && <ProblemView error={error} />}
      {data?.times.length === 0 && <p class="muted">It does not run again.</p>}
      {data !== null && data.times.length > 0 && (
        <Records
          caption="Next runs"
          items={data.times}
          keyOf={(iso) => iso}
          columns={[
            { label: zone, cell: (iso) => <time dateTime={iso}>{inZone(iso, zone)}</time> },
            { label: 'UTC', cell: (iso) => inZone(iso, 'UTC') },
            { label: 'In', cell: (iso) => duration(Math.max(0, Date.parse(iso) - Date.now())) },
          ]}
        />
      )}
    </section>
  );
}

function inZone(iso: string, timeZone: string): string {
  const at = new Date(iso);
  const options = { weekday: 'short', year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' } as const;
  try {
    return at.toLocaleString(undefined, { ...options, timeZone, timeZoneName: 'short' });
  } catch {
    // The browser does not know the zone, which the service does.
    return at.toLocaleString(undefined, { ...options, timeZone: 'UTC', timeZoneName: 'short' });
  }
}
