/**
 * The files of a key with one toolset, or of a name, for MCP calls without an MCP session, and the links of their results: an object of its
 * own, which deletes itself a day after its last use.
 */
import type { FileChange, StoredFile } from '../../ports/file-space.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import type { ResourceLink } from '../../ports/mcp-sessions.ts';
import { applyChanges, copyFiles } from '../../storage/files/file-image.ts';
import { migrate } from '../shared/migrate.ts';
import { addLinks } from './link-table.ts';
import { mcpSessionMigrations } from './schema.ts';
import { mcpSessionIdleMs } from './session-meta.ts';

/** The last use is stored at most this often. */
const touchMs = 5 * 60_000;

export class FileSpaceStore {
  readonly #storage: DurableObjectStorage;
  readonly #files: () => FileSystem;
  readonly #now: () => number;

  constructor(storage: DurableObjectStorage, files: () => FileSystem, now: () => number) {
    this.#storage = storage;
    this.#files = files;
    this.#now = now;
  }

  /** Creates nothing: a space is stored with its first file. */
  async load(): Promise<StoredFile[]> {
    const seenAt = this.#seenAt();
    if (seenAt === null) return [];
    if (this.#now() - seenAt >= touchMs) await this.#touch();
    return copyFiles(this.#files());
  }

  async apply(changes: readonly FileChange[]): Promise<void> {
    migrate(this.#storage, mcpSessionMigrations);
    applyChanges(this.#files(), changes);
    await this.#touch();
  }

  async addLinks(links: readonly ResourceLink[]): Promise<void> {
    migrate(this.#storage, mcpSessionMigrations);
    addLinks(this.#storage.sql, links);
    await this.#touch();
  }

  /** Returns when the space expires; null: the object has none. */
  expiresAt(): number | null {
    const seenAt = this.#seenAt();
    return seenAt === null ? null : seenAt + mcpSessionIdleMs;
  }

  async #touch(): Promise<void> {
    const at = this.#now();
    this.#storage.sql.exec('INSERT INTO file_space (id, seen_at) VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET seen_at = ?1', at);
    await this.#storage.setAlarm(at + mcpSessionIdleMs);
  }

  #seenAt(): number | null {
    const { sql } = this.#storage;
    if (sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'file_space'").toArray().length === 0) return null;
    return sql.exec<{ at: number }>('SELECT seen_at AS at FROM file_space').toArray()[0]?.at ?? null;
  }
}
