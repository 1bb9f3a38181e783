/** Single-use nonces: of an approval that a client carries (`requestState`), or of the state of a sign-in. */
import type { CatalogContext } from '../context.ts';

/** Returns true the first time. */
export function consumeNonce({ sql, now }: CatalogContext, nonce: string, expiresAt: number): boolean {
  sql.exec('DELETE FROM spent WHERE expires_at < ?', now());
  return sql.exec('INSERT OR IGNORE INTO spent (nonce, expires_at) VALUES (?, ?) RETURNING nonce', nonce, expiresAt).toArray().length > 0;
}
