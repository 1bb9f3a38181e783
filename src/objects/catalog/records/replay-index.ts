/** The replays in the index of sessions, whose objects they share. */
import type { ListedReplay } from '../../../core/replay/replay.ts';
import type { Page, PageRequest, ReplayFilter } from '../../../ports/catalog.ts';
import { newestFirst } from '../../../storage/list-pages.ts';
import type { CatalogContext } from '../context.ts';

/** Newest first. `suite`: only runs of this suite. `running`: only those that have not ended. */
export function listReplays({ sql }: CatalogContext, { keyId, suite, running }: ReplayFilter, page: PageRequest): Page<ListedReplay> {
  const conditions: [string, ...string[]][] = [['replay IS NOT NULL']];
  if (keyId !== null) conditions.push(['key_id = ?', keyId]);
  if (suite !== undefined) conditions.push([`replay ->> '$.suite.name' = ?`, suite]);
  // In the words of the partial index.
  if (running === true) conditions.push([`status = 'running' AND status NOT IN ('idle', 'completed')`]);
  const where = conditions.map(([text]) => `${text} AND `).join('');
  const query = `SELECT number, replay FROM sessions WHERE ${where}number < ? ORDER BY number DESC LIMIT ?`;
  const values = conditions.flatMap(([, ...given]) => given);
  const read = (...end: [number, number]) => sql.exec<{ number: number; replay: string }>(query, ...values, ...end);
  // Written by the replay.
  return newestFirst(
    'replays',
    page,
    read,
    ({ replay }) => JSON.parse(replay) as ListedReplay,
    ({ replay }) => replay.length,
  );
}

/** Returns those of these ids that are of sessions. */
export function knownSessions({ sql }: CatalogContext, ids: readonly string[]): string[] {
  const known = sql.exec<{ id: string }>('SELECT id FROM sessions WHERE id IN (SELECT value FROM json_each(?))', JSON.stringify(ids));
  return [...known].map(({ id }) => id);
}
