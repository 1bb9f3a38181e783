/**
 * What keys made at providers (`core/records/provider-item.ts`), for their lists and so that a batch is counted once. A key has the newest
 * `maxItemsOfKey` of each kind. A row of a deleted item stays for a day, so that a list that is being paged continues after it.
 */
import type { ItemState, NotedItem, ProviderItem, ProviderItemQuery } from '../../../core/records/provider-item.ts';
import type { CatalogContext } from '../context.ts';

const dayMs = 86_400_000;
const keptMs = 366 * dayMs;
const maxItemsOfKey = 2_000;

/** Repeating it has no effect. */
export function noteProviderItems(context: CatalogContext, keyId: string, items: readonly NotedItem[]): ItemState[] {
  return context.record(() => items.map((item) => note(context, keyId, item)));
}

function note({ sql, now }: CatalogContext, keyId: string, { kind, provider, id, state, ...item }: NotedItem): ItemState {
  const { purpose = null, batch = null, model = null, expiresAt = null } = item;
  const own = [keyId, kind, provider, id] as const;
  const added = sql.exec(insertItem, ...own, expiresAt ?? now() + keptMs).rowsWritten > 0;
  if (added) sql.exec(dropSurplus, keyId, kind, maxItemsOfKey);
  const until = state === 'deleted' ? now() + dayMs : expiresAt;
  const [counted, deleted] = [state === 'counted' ? 1 : 0, state === 'deleted' ? 1 : 0];
  const row = sql.exec<ItemRow>(updateItem, ...own, purpose, batch, model, counted, deleted, until).one();
  return { isCounted: row.counted === 1, batch: row.batch, model: row.model };
}

type ItemRow = { counted: number; batch: string | null; model: string | null };
const insertItem = 'INSERT OR IGNORE INTO provider_items (key_id, kind, provider, id, expires_at) VALUES (?, ?, ?, ?, ?)';
const updateItem = `UPDATE provider_items SET purpose = coalesce(purpose, ?5), batch = coalesce(batch, ?6), model = coalesce(model, ?7),
  counted = max(counted, ?8), deleted = max(deleted, ?9), expires_at = coalesce(?10, expires_at)
  WHERE key_id = ?1 AND kind = ?2 AND provider = ?3 AND id = ?4 RETURNING counted, batch, model`;
const dropSurplus = `DELETE FROM provider_items WHERE key_id = ?1 AND kind = ?2 AND number <=
  (SELECT number FROM provider_items WHERE key_id = ?1 AND kind = ?2 ORDER BY number DESC LIMIT 1 OFFSET ?3)`;

export function listProviderItems(
  { sql, now }: CatalogContext,
  keyId: string,
  { kind, providers, purpose, order, limit, after }: ProviderItemQuery,
): { items: ProviderItem[]; hasMore: boolean } | null {
  const found = 'SELECT number FROM provider_items WHERE key_id = ? AND kind = ? AND provider = ? AND id = ?';
  const start = after && sql.exec<{ number: number }>(found, keyId, kind, after.provider, after.id).toArray()[0]?.number;
  if (after !== undefined && start === undefined) return null;
  const isNewest = order === 'desc';
  const query = `SELECT provider, id FROM provider_items WHERE key_id = ?1 AND kind = ?2 AND deleted = 0 AND expires_at > ?3
    AND provider IN (SELECT value FROM json_each(?4)) AND (?5 IS NULL OR purpose = ?5) AND number ${isNewest ? '<' : '>'} ?6
    ORDER BY number ${isNewest ? 'DESC' : 'ASC'} LIMIT ?7`;
  const from = start ?? (isNewest ? Number.MAX_SAFE_INTEGER : 0);
  const values = [keyId, kind, now(), JSON.stringify(providers), purpose ?? null, from, limit + 1] as const;
  const rows = sql.exec<{ provider: string; id: string }>(query, ...values).toArray();
  return { items: rows.slice(0, limit).map((row) => ({ kind, ...row })), hasMore: rows.length > limit };
}
