/** Links to the sessions that something concerns. */
import { pathOf } from '../../router.ts';

const maxLinks = 5;

export function SessionLinks({ sessions }: { sessions: readonly string[] }) {
  if (sessions.length === 0) return null;
  return (
    <span class="muted">
      {'in '}
      {sessions.slice(0, maxLinks).map((session) => (
        <a key={session} href={pathOf('sessions', session)}>
          {session.slice(0, 8)}{' '}
        </a>
      ))}
      {sessions.length > maxLinks && `and ${sessions.length - maxLinks} more`}
    </span>
  );
}
