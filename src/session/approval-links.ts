/**
 * Nonces of approval links: each stands for one decision on one approval. Only their SHA-256 is stored, so the table gives
 * no one a right. `storage/approval-link.ts` makes the link that carries one.
 */
import { limits } from '../core/limits.ts';

/** The call and the question about it that may be decided, and the key that the link was made with. */
export type ApprovalLink = { callId: string; keyId: string; round: number };

export class ApprovalLinks {
  readonly #sql: SqlStorage;
  readonly #now: () => number;

  constructor(sql: SqlStorage, now: () => number) {
    this.#sql = sql;
    this.#now = now;
  }

  /** The oldest of a call go when it has too many. */
  add(nonceHash: string, { callId, keyId, expiresAt, round }: ApprovalLink & { expiresAt: number }): void {
    this.#sql.exec('DELETE FROM approval_links WHERE expires_at <= ?', this.#now());
    this.#sql.exec(
      'INSERT INTO approval_links (nonce_hash, call_id, key_id, expires_at, round) VALUES (?, ?, ?, ?, ?)',
      nonceHash,
      callId,
      keyId,
      expiresAt,
      round,
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
    const rows = this.#sql.exec<ApprovalLink>(
      'SELECT call_id AS callId, key_id AS keyId, round FROM approval_links WHERE nonce_hash = ? AND used = 0 AND expires_at > ?',
      nonceHash,
      this.#now(),
    );
    return rows.toArray()[0] ?? null;
  }

  use(nonceHash: string): void {
    this.#sql.exec('UPDATE approval_links SET used = 1 WHERE nonce_hash = ?', nonceHash);
  }
}
