/** Replaces the secret of a key. The id stays, and with it the sessions of the key; earlier secrets work during the overlap. */
import { Problem } from '../../../core/problem.ts';
import { rootKeyId } from '../../../core/people/principal.ts';
import type { KeyRecord } from '../../../core/people/key-view.ts';
import { mintKey } from '../../../storage/keys/key-crypto.ts';
import type { CatalogContext } from '../context.ts';
import { recordChange } from '../records/audit.ts';
import { type PreviousSecret, previousSecrets, requestOf, requireKey, requireNoWider, toRecord } from './key-rows.ts';

/** Secrets of one key that work at the same time, besides the newest. */
const maxPreviousSecrets = 5;

/** `overlapMs` also ends secrets of earlier rotations, if they would work longer; 0 ends all at once. */
export async function rotateKey(
  context: CatalogContext,
  id: string,
  { by, overlapMs }: { by: string; overlapMs: number },
): Promise<{ key: string; record: KeyRecord }> {
  if (id === rootKeyId) throw new Problem('conflict', 'The root key is set by MONIKER_ROOT_KEY. Change that setting to replace it.');
  requireKey(context.sql, id);
  const { key, hash } = await mintKey(context.master, context.workspace, id);
  const now = context.now();
  context.record(() => {
    // Read again: the key may have been revoked meanwhile.
    const row = requireKey(context.sql, id);
    requireNoWider(context.sql, by, requestOf(row));
    if (row.revoked_at !== null) throw new Problem('conflict', 'The key was revoked. Create a new key.');
    if (row.expires_at !== null && row.expires_at <= now) throw new Problem('conflict', 'The key has expired. Create a new key.');
    const end = now + overlapMs;
    const replaced: PreviousSecret = { hash: row.hash, expiresAt: end, usedAt: null };
    const earlier = previousSecrets(row, now).map((secret) => ({ ...secret, expiresAt: Math.min(secret.expiresAt, end) }));
    const previous = overlapMs === 0 ? [] : [replaced, ...earlier];
    if (previous.length > maxPreviousSecrets) {
      const detail = `${maxPreviousSecrets} earlier secrets of the key still work. Rotate with overlapSeconds 0 to end them, or wait.`;
      throw new Problem('conflict', detail);
    }
    const update = 'UPDATE keys SET hash = ?, rotated_at = ?, previous = ? WHERE id = ?';
    context.sql.exec(update, hash, now, previous.length === 0 ? null : JSON.stringify(previous), id);
    recordChange(context, { by, action: 'rotate', resource: 'key', name: id });
  });
  return { key, record: toRecord(requireKey(context.sql, id), now) };
}
