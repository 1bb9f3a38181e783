/** The stored data of an MCP session: its owner, what its client sent at the start, and when it was last used. */
import { limits } from '../../core/limits/limits.ts';
import type { ResourceSubscription } from '../../ports/mcp-sessions.ts';
import { hasTable } from '../shared/migrate.ts';

/** Lifetime of an idle session, and of one that was never used. */
export const mcpSessionIdleMs = 24 * 60 * 60_000;
const mcpSessionUnusedMs = 60 * 60_000;

export type SessionMeta = {
  workspace: string;
  keyId: string;
  target: string | null;
  session: string;
  /** JSON of the request, unchanged. */
  initialize: string;
  logLevel: string | null;
  seenAt: number;
  /** True once the client has sent a request after the start. */
  used: boolean;
};

export class MetaStore {
  readonly #sql: SqlStorage;
  #cached: SessionMeta | null = null;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Returns what is in memory, else what is stored. */
  current(): SessionMeta | null {
    this.#cached ??= hasTable(this.#sql, 'meta') ? this.read() : null;
    return this.#cached;
  }

  /** Called when the table is written or deleted. */
  forget(): void {
    this.#cached = null;
  }

  read(): SessionMeta | null {
    const query =
      'SELECT workspace, key_id AS keyId, target, session, initialize, log_level AS logLevel, seen_at AS seenAt, used FROM meta';
    const row = this.#sql.exec<Omit<SessionMeta, 'used'> & { used: number }>(query).toArray()[0];
    return row === undefined ? null : { ...row, used: row.used === 1 };
  }

  create({ workspace, keyId, target, session, initialize, seenAt }: Omit<SessionMeta, 'logLevel' | 'used'>): void {
    const insert = 'INSERT INTO meta (id, workspace, key_id, target, session, initialize, seen_at) VALUES (1, ?, ?, ?, ?, ?, ?)';
    this.#sql.exec(insert, workspace, keyId, target, session, initialize, seenAt);
  }

  touch(now: number, isUse: boolean): void {
    this.forget();
    this.#sql.exec('UPDATE meta SET seen_at = ?, used = max(used, ?)', now, isUse ? 1 : 0);
  }

  logLevel(level: string): void {
    this.forget();
    this.#sql.exec('UPDATE meta SET log_level = ?', level);
  }

  subscriptions(): ResourceSubscription[] {
    return this.#sql.exec<ResourceSubscription>('SELECT uri, server, own FROM subscriptions ORDER BY uri').toArray();
  }

  /** Returns false when the session has the maximum number of subscriptions. */
  subscribe({ uri, server, own }: ResourceSubscription): boolean {
    const { count } = this.#sql.exec<{ count: number }>('SELECT count(*) AS count FROM subscriptions WHERE uri <> ?', uri).one();
    if (count >= limits.maxMcpSubscriptions) return false;
    this.#sql.exec('INSERT OR REPLACE INTO subscriptions (uri, server, own) VALUES (?, ?, ?)', uri, server, own);
    return true;
  }

  unsubscribe(uri: string): void {
    this.#sql.exec('DELETE FROM subscriptions WHERE uri = ?', uri);
  }
}

/** Returns when a session that was last used at `seenAt` expires. */
export function expiresAt({ seenAt, used }: Pick<SessionMeta, 'seenAt' | 'used'>): number {
  return seenAt + (used ? mcpSessionIdleMs : mcpSessionUnusedMs);
}
