/**
 * Nonces of approval links: each stands for one decision on one approval. Only their SHA-256 is stored, so the table gives
 * no one a right. `storage/approval-link.ts` makes the link that carries one.
 */
import { limits } from '../core/limits.ts';

/** The call that may be decided, and the key that the link was made with. */
export type ApprovalLink = { callId: string; keyId: string };

export class ApprovalLinks {
  readonly #sql: SqlStorage;
  readonly #now: () => number;

  constructor(sql: SqlStorage, now: () => number) {
    this.#sql = sql;
    this.#now = now;
  }

  /** The oldest of a call go when it has too many. */
  add(nonceHash: string, { callId, keyId, expiresAt }: ApprovalLink & { expiresAt: number }): void {
    this.#sql.exec('DELETE FROM approval_links WHERE expires_at <= ?', this.#now());
    this.#sql.exec(
      'INSERT INTO approval_links (nonce_hash, call_id, key_id, expires_at) VALUES (?, ?, ?, ?)',
      nonceHash,
      callId,
      keyId,
      expiresAt,
    );
    this.#sql.exec(
      `DELETE FROM approval_links WHERE call_id = ? AND nonce_hash NOT IN (SELECT nonce_hash FROM approval_links WHERE call_id = ? ORDER BY expires_at DESC LIMIT ?)`,
      callId,
      callId,
      limits.maxLinksPerApproval,
    );
  }

  /** What it is for; null for one that is unknown, used up or expired. */
  find(nonceHash: string): ApprovalLink | null {
    const rows = this.#sql.exec<{ call_id: string; key_id: string }>(
      'SELECT call_id, key_id FROM approval_links WHERE nonce_hash = ? AND used = 0 AND expires_at > ?',
      nonceHash,
      this.#now(),
    );
    const [row] = rows.toArray();
    return row === undefined ? null : { callId: row.call_id, keyId: row.key_id };
  }

  use(nonceHash: string): void {
    this.#sql.exec('UPDATE approval_links SET used = 1 WHERE nonce_hash = ?', nonceHash);
  }
}
