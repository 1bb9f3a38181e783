/** The next five times of a schedule, as it is in the editor, in its time zone and in UTC. */
import { Records } from '../../parts/records.tsx';
import { duration } from '../../text/format.ts';

type NextTimesProps = { times: readonly string[] | null; timeZone: string | null; isPaused: boolean };

export function NextTimes({ times, timeZone, isPaused }: NextTimesProps) {
  const zone = timeZone ?? 'UTC';
  return (
    <section class="next" aria-label="Next runs">
      <h2>Next runs</h2>
      {isPaused && <p class="notice warn rounded">The schedule is paused: these are the times if it were resumed now.</p>}
      {times?.length === 0 && <p class="muted">It does not run again.</p>}
      {times !== null && times.length > 0 && (
        <Records
          caption="Next runs"
          items={times}
          keyOf={(iso) => iso}
          columns={[
            { label: zone, cell: (iso) => <time dateTime={iso}>{inZone(iso, zone)}</time> },
            ...(zone === 'UTC' ? [] : [{ label: 'UTC', cell: (iso: string) => inZone(iso, 'UTC') }]),
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
