/**
 * The tools that a session's conversation has come to (`core/gathered-tools.ts`), one short row each, so that a large toolset's list of
 * definitions goes on where it was without the log being read again. A view of the log: fed with its events, in the same breath.
 */
import { createGathering, type Gathered, type Gathering } from '../core/gathered-tools.ts';
import type { SessionEventBody } from '../core/session-event.ts';

export function createGatheredStore(sql: SqlStorage): { apply(event: SessionEventBody): void; list(): readonly Gathered[] } {
  let gathering: Gathering | null = null;
  const begun = (): Gathering => {
    gathering ??= createGathering([...sql.exec<Gathered>('SELECT canonical, name FROM gathered ORDER BY seq')]);
    return gathering;
  };
  return {
    apply(event) {
      if (event.type !== 'tool-result' && event.type !== 'history') return;
      for (const { canonical, name } of begun().apply(event))
        sql.exec('INSERT INTO gathered (canonical, name) VALUES (?, ?)', canonical, name);
    },
    list: () => begun().list(),
  };
}
