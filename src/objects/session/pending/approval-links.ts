/**
 * Nonces of approval links. Each link allows one decision on one approval. Only the SHA-256 of a nonce is stored, so reading
 * the table does not allow a decision. `storage/keys/signed-token.ts` builds the signed token of a link.
 */
import { wasClockSettled } from '../../../platform/settled-clock.ts';

/** Links to one approval that are valid at the same time. */
const maxLinksPerApproval = 10;

/** The call, the round of its question, and the key that created the link. */
export type StoredApprovalLink = { callId: string; keyId: string; round: number };

export class ApprovalLinks {
  readonly #sql: SqlStorage;
  readonly #now: () => number;

  constructor(sql: SqlStorage, now: () => number) {
    this.#sql = sql;
    this.#now = now;
  }

  /** Stores a nonce. Deletes expired ones, and the oldest of a call beyond `maxLinksPerApproval`. */
  add(nonceHash: string, { callId, keyId, expiresAt, round }: StoredApprovalLink & { expiresAt: number }): void {
    if (wasClockSettled()) this.#sql.exec('DELETE FROM approval_links WHERE expires_at <= ?', this.#now());
    const insert = 'INSERT INTO approval_links (nonce_hash, call_id, key_id, expires_at, round) VALUES (?, ?, ?, ?, ?)';
    this.#sql.exec(insert, nonceHash, callId, keyId, expiresAt, round);
    const newest = 'SELECT nonce_hash FROM approval_links WHERE call_id = ? ORDER BY expires_at DESC LIMIT ?';
    const remove = `DELETE FROM approval_links WHERE call_id = ? AND nonce_hash NOT IN (${newest})`;
    this.#sql.exec(remove, callId, callId, maxLinksPerApproval);
  }

  /** Returns the link of a nonce; null when it is unknown, used or expired. */
  find(nonceHash: string): StoredApprovalLink | null {
    const query =
      'SELECT call_id AS callId, key_id AS keyId, round FROM approval_links WHERE nonce_hash = ? AND used = 0 AND expires_at > ?';
    return this.#sql.exec<StoredApprovalLink>(query, nonceHash, this.#now()).toArray()[0] ?? null;
  }

  markUsed(nonceHash: string): void {
    this.#sql.exec('UPDATE approval_links SET used = 1 WHERE nonce_hash = ?', nonceHash);
  }
}
