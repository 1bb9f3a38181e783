/** What may be used once: an approval that travels with a client (`requestState`), the state of a sign-in. */
import type { CatalogContext } from './context.ts';

/** True the first time. */
export function spend({ sql, now }: CatalogContext, nonce: string, expiresAt: number): boolean {
  sql.exec('DELETE FROM spent WHERE expires_at < ?', now());
  return sql.exec('INSERT OR IGNORE INTO spent (nonce, expires_at) VALUES (?, ?) RETURNING nonce', nonce, expiresAt).toArray().length > 0;
}
