/** The table of resources that results linked to (`ports/mcp-sessions.ts`), of a session or of a key with one toolset. */
import { limits } from '../../core/limits/limits.ts';
import type { ResourceLink } from '../../ports/mcp-sessions.ts';
import { hasTable } from '../shared/migrate.ts';

export function findLinks(sql: SqlStorage, uris: readonly string[]): ResourceLink[] {
  if (!hasTable(sql, 'links')) return [];
  const query = 'SELECT server, uri FROM links WHERE uri IN (SELECT value FROM json_each(?))';
  return sql.exec<ResourceLink>(query, JSON.stringify(uris)).toArray();
}

/** The table exists once the object is migrated. A link that is repeated gets the newest number. */
export function addLinks(sql: SqlStorage, links: readonly ResourceLink[]): void {
  for (const { server, uri } of links) sql.exec('INSERT OR REPLACE INTO links (uri, server) VALUES (?, ?)', uri, server);
  sql.exec('DELETE FROM links WHERE number <= (SELECT max(number) FROM links) - ?', limits.maxResourceLinks);
}
