/** The replays in the index of sessions, whose objects they share. */
import { noUsage } from '../../../core/model/chat-event.ts';
import { type ListedReplay, maxRunningReplays } from '../../../core/replay/replay.ts';
import type { Page, PageRequest, ReplayFilter } from '../../../ports/catalog.ts';
import { newestFirst } from '../../../storage/list-pages.ts';
import type { CatalogContext } from '../context.ts';

/** Newest first. `suite`: only runs of this suite. */
export function listReplays({ sql }: CatalogContext, { keyId, suite }: ReplayFilter, page: PageRequest): Page<ListedReplay> {
  const conditions: [string, ...string[]][] = [['replay IS NOT NULL']];
  if (keyId !== null) conditions.push(['key_id = ?', keyId]);
  if (suite !== undefined) conditions.push([`replay ->> '$.suite.name' = ?`, suite]);
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

/** In the words of the partial index. */
const runningReplays = `SELECT id FROM sessions WHERE key_id = ? AND replay IS NOT NULL AND status = 'running' AND status NOT IN ('idle', 'completed')
  ORDER BY number DESC LIMIT ?`;

/** Counts and inserts in one transaction, so that the limit holds for requests that arrive at the same time. */
export function admitReplay(context: CatalogContext, keyId: string, replay: ListedReplay | null): string | null {
  const { sql } = context;
  if (replay !== null && knownSessions(context, [replay.id]).length > 0) return null;
  const running = sql.exec<{ id: string }>(runningReplays, keyId, maxRunningReplays).toArray();
  if (running.length >= maxRunningReplays) return running[0]?.id ?? null;
  if (replay === null) return null;
  const insert = `INSERT INTO sessions (id, key_id, created_at, active_at, usage, status, replay) VALUES (?1, ?2, ?3, ?3, ?4, 'running', ?5)`;
  sql.exec(insert, replay.id, keyId, Date.parse(replay.createdAt), JSON.stringify(noUsage), JSON.stringify(replay));
  return null;
}

/** Returns those of these ids that are of sessions. */
export function knownSessions({ sql }: CatalogContext, ids: readonly string[]): string[] {
  const known = sql.exec<{ id: string }>('SELECT id FROM sessions WHERE id IN (SELECT value FROM json_each(?))', JSON.stringify(ids));
  return [...known].map(({ id }) => id);
}
