/** A point in time: how long ago, or the local date and time; the other one is its title. */
import { ago } from '../../text/format.ts';

export function Time({ iso, exact = false }: { iso: string; exact?: boolean }) {
  const local = new Date(iso).toLocaleString();
  return (
    <time dateTime={iso} title={exact ? ago(iso) : local}>
      {exact ? local : ago(iso)}
    </time>
  );
}
