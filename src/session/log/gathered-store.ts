/**
 * The tools that a session's conversation has found or called (`core/tools/gathered-tools.ts`), one short row each, so that the list of
 * definitions of a large toolset continues without reading the log again. Updated with each event, in the same transaction.
 */
import { createGathering, type Gathered, type Gathering } from '../../core/tools/gathered-tools.ts';
import type { SessionEventBody } from '../../core/turn/session-event.ts';

export function createGatheredStore(sql: SqlStorage): { apply(event: SessionEventBody): void; list(): readonly Gathered[] } {
  let gathering: Gathering | null = null;
  const loaded = (): Gathering => {
    gathering ??= createGathering([...sql.exec<Gathered>('SELECT canonical, name FROM gathered ORDER BY seq')]);
    return gathering;
  };
  return {
    apply(event) {
      if (event.type !== 'tool-result' && event.type !== 'history') return;
      for (const { canonical, name } of loaded().apply(event))
        sql.exec('INSERT INTO gathered (canonical, name) VALUES (?, ?)', canonical, name);
    },
    list: () => loaded().list(),
  };
}
