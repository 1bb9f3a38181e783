/**
 * The records of the OAuth library (table `oauth_records`) as its store: grants and access tokens, with the expiry that the library gives.
 * Only hashes of tokens are in them. Unlike KV, a read returns what was written last.
 */
import type { OAuthClient } from '../../../core/people/grant.ts';
import { systemKeyId } from '../../../core/people/principal.ts';
import type { OAuthStore, StoredKeys } from '../../../mcp/authorization/library.ts';
import type { CatalogContext } from '../context.ts';
import { recordChange } from '../records/audit.ts';

type Row = { key: string; value: string; metadata: string | null };

/** `client`: the only client that the library can look up. */
export function createOAuthRecords({ sql, now }: CatalogContext, client: OAuthClient | null): OAuthStore {
  return {
    async get(key) {
      if (key.startsWith('client:')) return client !== null && key === `client:${client.clientId}` ? client : null;
      const row = sql.exec<{ value: string }>(readOne, key, now()).toArray()[0];
      return row === undefined ? null : (JSON.parse(row.value) as unknown);
    },
    async put(key, value, { expiration, expirationTtl, metadata } = {}) {
      const ttlEnd = expirationTtl === undefined ? null : now() + expirationTtl * 1000;
      const expiresAt = expiration === undefined ? ttlEnd : expiration * 1000;
      sql.exec(putOne, key, value, metadata === undefined ? null : JSON.stringify(metadata), expiresAt);
    },
    async delete(key) {
      sql.exec('DELETE FROM oauth_records WHERE key = ?', key);
    },
    async list({ prefix, limit = 1000, cursor = '' }): Promise<StoredKeys> {
      const end = `${prefix}\u{10ffff}`;
      const rows = sql.exec<Row>(readPage, prefix, end, cursor, now(), limit + 1).toArray();
      const keys = rows.slice(0, limit).map(({ key, metadata }) => ({
        name: key,
        ...(metadata !== null && { metadata: JSON.parse(metadata) as unknown }),
      }));
      const last = rows.length > limit ? keys.at(-1)?.name : undefined;
      return last === undefined ? { keys, list_complete: true } : { keys, list_complete: false, cursor: last };
    },
  };
}

const alive = '(expires_at IS NULL OR expires_at > ?)';
const readOne = `SELECT value FROM oauth_records WHERE key = ? AND ${alive}`;
const readPage = `SELECT key, metadata FROM oauth_records WHERE key >= ? AND key < ? AND key > ? AND ${alive} ORDER BY key LIMIT ?`;
/** A grant keeps its number when it is written again. */
const putOne = `INSERT INTO oauth_records (key, value, metadata, expires_at) VALUES (?, ?, ?, ?)
  ON CONFLICT (key) DO UPDATE SET value = excluded.value, metadata = excluded.metadata, expires_at = excluded.expires_at`;

/** The range of a person's keys: from, and the first one after them (`;` follows `:`). */
export function keysOf(kind: 'grant' | 'token', userId: string): [from: string, to: string] {
  return [`${kind}:${userId}:`, `${kind}:${userId};`];
}

export function hasGrants({ sql }: CatalogContext, userId: string): boolean {
  const query = 'SELECT 1 AS found FROM oauth_records WHERE key >= ? AND key < ? LIMIT 1';
  return sql.exec<{ found: number }>(query, ...keysOf('grant', userId)).toArray().length > 0;
}

/** Deletes the grants of a person with their tokens, in the transaction that ends the person's rights. */
export function dropGrantsOf(context: CatalogContext, userId: string): void {
  const drop = (kind: 'grant' | 'token'): string[] => {
    const query = 'DELETE FROM oauth_records WHERE key >= ? AND key < ? RETURNING key';
    const deleted = context.sql.exec<{ key: string }>(query, ...keysOf(kind, userId));
    return deleted.toArray().map(({ key }) => key);
  };
  drop('token');
  for (const key of drop('grant'))
    recordChange(context, { by: systemKeyId, action: 'revoke', resource: 'grant', name: key.slice(key.lastIndexOf(':') + 1) });
}

/** Deletes expired records, at most `limit`. Returns their number. */
export function dropExpiredRecords({ sql, now }: CatalogContext, limit: number): number {
  return sql.exec(dropExpired, now(), limit).toArray().length;
}

const dropExpired = `DELETE FROM oauth_records WHERE number IN (SELECT number FROM oauth_records WHERE expires_at <= ? LIMIT ?)
  RETURNING number`;
