/**
 * Earlier versions of agents, suites, the policy and shared made tools; the newest version of a document is its row in `documents`. Toolsets have
 * versions of their own, with editions (`toolset-versions.ts`).
 */
import type { DocumentKind, DocumentVersion, Page, PageRequest } from '../../../ports/catalog.ts';
import { newestFirst } from '../../../storage/list-pages.ts';
import { overwrite } from '../records/close-database.ts';

const versionedKinds: ReadonlySet<DocumentKind> = new Set(['agent', 'suite', 'policy', 'made-tool']);

/** Call in the transaction of a write, before the row is replaced. A removal deletes all versions. */
export function keepReplacedVersion(
  sql: SqlStorage,
  { kind, name, deleted }: { kind: DocumentKind; name: string; deleted: boolean },
): void {
  if (!versionedKinds.has(kind)) return;
  if (deleted) {
    overwrite(sql, 'document_versions', 'body', 'kind = ? AND name = ?', kind, name);
    sql.exec('DELETE FROM document_versions WHERE kind = ? AND name = ?', kind, name);
    return;
  }
  const copy = `INSERT OR REPLACE INTO document_versions (kind, name, version, body, created_at)
    SELECT kind, name, version, body, updated_at FROM documents WHERE kind = ? AND name = ? AND deleted = 0`;
  sql.exec(copy, kind, name);
}

export type EarlierVersion = { version: number; body: Record<string, unknown>; updatedAt: number };

/** Returns null if the version is not stored, and for the newest one. */
export function findEarlierVersion(sql: SqlStorage, kind: DocumentKind, name: string, version: number): EarlierVersion | null {
  const query = 'SELECT body, created_at FROM document_versions WHERE kind = ? AND name = ? AND version = ?';
  const row = sql.exec<{ body: string; created_at: number }>(query, kind, name, version).toArray()[0];
  // Copied from a row of `documents`, whose body is an object.
  return row === undefined ? null : { version, body: JSON.parse(row.body) as Record<string, unknown>, updatedAt: row.created_at };
}

/** Returns the versions of an existing document, newest first. */
export function listDocumentVersions(sql: SqlStorage, kind: DocumentKind, name: string, page: PageRequest): Page<DocumentVersion> {
  const query = `SELECT version AS number, updated_at AS at FROM documents WHERE kind = ?1 AND name = ?2 AND deleted = 0 AND version < ?3
    UNION ALL SELECT version, created_at FROM document_versions WHERE kind = ?1 AND name = ?2 AND version < ?3 ORDER BY 1 DESC LIMIT ?4`;
  const read = (before: number, count: number) => sql.exec<{ number: number; at: number }>(query, kind, name, before, count);
  return newestFirst(`versions of ${kind} ${name}`, page, read, ({ number, at }) => ({
    version: number,
    createdAt: new Date(at).toISOString(),
    removed: false,
  }));
}

/** Deletes a number of the versions that are older than the newest `kept` of their document. Returns how many. */
export function dropDocumentVersions(sql: SqlStorage, kept: number, maximum: number): number {
  const query = `SELECT kind, name, version FROM (SELECT kind, name, version,
      row_number() OVER (PARTITION BY kind, name ORDER BY version DESC) AS place FROM document_versions) WHERE place >= ? LIMIT ?`;
  const rows = sql.exec<{ kind: string; name: string; version: number }>(query, kept, maximum).toArray();
  for (const { kind, name, version } of rows) {
    overwrite(sql, 'document_versions', 'body', 'kind = ? AND name = ? AND version = ?', kind, name, version);
    sql.exec('DELETE FROM document_versions WHERE kind = ? AND name = ? AND version = ?', kind, name, version);
  }
  return rows.length;
}
