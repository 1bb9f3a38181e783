/** Lists the questions of all sessions (`session-waits.ts`). */
import type { Page, PageRequest } from '../../../ports/catalog.ts';
import type { ListedWait, SessionWait, WaitFilter } from '../../../core/turn/session-summary.ts';
import { newestFirst } from '../../../storage/list-pages.ts';
import type { CatalogContext } from '../context.ts';

export function listWaits({ sql }: CatalogContext, filter: WaitFilter, page: PageRequest): Page<ListedWait> {
  const { state, of, kind, agent, session } = filter;
  const conditions: [string, ...(string | number)[]][] = [['pending = ?', state === 'pending' ? 1 : 0]];
  if (kind !== undefined) conditions.push(['kind = ?', kind]);
  if (agent !== undefined) conditions.push(['agent = ?', agent]);
  if (session !== undefined) conditions.push(['session = ?', session]);
  if (of !== null) conditions.push(ownership(of));
  const where = conditions.map(([text]) => text).join(' AND ');
  const values = conditions.flatMap(([, ...given]) => given);
  const query = `SELECT * FROM session_waits WHERE ${where} AND number < ? ORDER BY number DESC LIMIT ?`;
  return newestFirst(`waits ${state}`, page, (...end) => sql.exec<SqlRow>(query, ...values, ...end), toListed);
}

/** Ids of triggers contain a colon, ids of keys never (`core/triggers/trigger-principal.ts`). */
function ownership({ keyId, triggered }: NonNullable<WaitFilter['of']>): [string, ...string[]] {
  if (triggered === undefined) return ['key_id = ?', keyId];
  if (triggered === 'all') return [`(key_id = ? OR instr(key_id, ':') > 0)`, keyId];
  return [`(key_id = ? OR (instr(key_id, ':') > 0 AND agent IN (SELECT value FROM json_each(?))))`, keyId, JSON.stringify(triggered)];
}

type SqlRow = { number: number; session: string; key_id: string; agent: string | null; wait: string };

function toListed({ session, key_id: keyId, agent, wait }: SqlRow): ListedWait {
  // Written by `storeWaits`.
  return { ...(JSON.parse(wait) as SessionWait), session, keyId, ...(agent !== null && { agent }) };
}
