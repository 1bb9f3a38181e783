/**
 * Nonces of approval links. Each link allows one decision on one approval. Only the SHA-256 of a nonce is stored, so reading
 * the table does not allow a decision. `storage/signed-token.ts` builds the signed token of a link.
 */

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
      maxLinksPerApproval,
    );
  }

  /** Returns the link of a nonce; null when it is unknown, used or expired. */
  find(nonceHash: string): StoredApprovalLink | null {
    const rows = this.#sql.exec<StoredApprovalLink>(
      'SELECT call_id AS callId, key_id AS keyId, round FROM approval_links WHERE nonce_hash = ? AND used = 0 AND expires_at > ?',
      nonceHash,
      this.#now(),
    );
    return rows.toArray()[0] ?? null;
  }

  markUsed(nonceHash: string): void {
    this.#sql.exec('UPDATE approval_links SET used = 1 WHERE nonce_hash = ?', nonceHash);
  }
}
