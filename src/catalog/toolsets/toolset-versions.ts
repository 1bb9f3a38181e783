/** Rows of toolset versions, each with its edition, and the names in the newest ones. `toolsets.ts` writes them. */
import type { EditionPointer } from '../../core/toolset/edition-tool.ts';
import { Problem } from '../../core/problem.ts';
import { readToolsetReference } from '../../core/toolset/toolset.ts';
import type { Page, PageRequest, StoredDocument, DocumentVersion } from '../../ports/catalog.ts';
import { newestFirst } from '../../storage/cursor.ts';
import { overwrite } from '../records/close-database.ts';
import { findRow, isoTime, documentNotFound, readRow, requireRow, toStoredDocument } from '../documents/documents.ts';

/** `body` and `hash` are null for a removal. */
export type VersionRow = { version: number; body: string | null; revision: number; hash: string | null; created_at: number };

export function versionRow(sql: SqlStorage, name: string, version: number): VersionRow | null {
  const query = 'SELECT version, body, revision, hash, created_at FROM toolset_versions WHERE name = ? AND version = ?';
  return sql.exec<VersionRow>(query, name, version).toArray()[0] ?? null;
}

/**
 * Returns the edition for a call: of the newest version, or of a pinned one. Throws `not_found`, also for any version of a removed toolset.
 */
export function readPointer(sql: SqlStorage, name: string, pinned: number | undefined): EditionPointer {
  const row = requireRow(sql, 'toolset', name);
  const version = pinned ?? row.version;
  const compiled = versionRow(sql, name, version);
  if (compiled === null || compiled.hash === null) throw noVersion(name, version, compiled);
  return { toolset: name, version, revision: compiled.revision, hash: compiled.hash };
}

/** The same for `name` or `name@version`, but returns null if it does not exist. */
export function findPointer(sql: SqlStorage, reference: string): EditionPointer | null {
  const { name, version: pinned } = readToolsetReference(reference);
  const row = findRow(sql, 'toolset', name);
  if (row === null) return null;
  const version = pinned ?? row.version;
  const compiled = versionRow(sql, name, version);
  if (compiled === null || compiled.hash === null) return null;
  return { toolset: name, version, revision: compiled.revision, hash: compiled.hash };
}

/** Returns the name of a toolset with this edition, or null. */
export function toolsetOfEdition(sql: SqlStorage, hash: string): string | null {
  return sql.exec<{ name: string }>('SELECT name FROM toolset_versions WHERE hash = ? LIMIT 1', hash).toArray()[0]?.name ?? null;
}

/** Returns the document at a version, also of a removed toolset, so that it can be restored. */
export function readVersion(sql: SqlStorage, name: string, version: number): StoredDocument {
  const row = readRow(sql, 'toolset', name);
  if (row === null) throw documentNotFound('toolset', name);
  const kept = versionRow(sql, name, version);
  if (kept === null || kept.body === null) throw noVersion(name, version, kept);
  // Bodies are written only by `insertVersion`.
  const body = JSON.parse(kept.body) as Record<string, unknown>;
  return toStoredDocument({ ...row, version, body, createdAt: kept.created_at, updatedAt: kept.created_at });
}

export function listVersions(sql: SqlStorage, name: string, page: PageRequest): Page<DocumentVersion> {
  if (readRow(sql, 'toolset', name) === null) throw documentNotFound('toolset', name);
  const query = `SELECT version AS number, hash, created_at FROM toolset_versions
    WHERE name = ? AND version < ? ORDER BY version DESC LIMIT ?`;
  type Row = { number: number; hash: string | null; created_at: number };
  const read = (before: number, count: number) => sql.exec<Row>(query, name, before, count);
  return newestFirst(`versions of ${name}`, page, read, ({ number, hash, created_at: at }) => ({
    version: number,
    createdAt: isoTime(at),
    removed: hash === null,
  }));
}

/** Call in a write's transaction. `body` and `hash` null: a removal. */
export function insertVersion(sql: SqlStorage, name: string, row: VersionRow): void {
  const statement = 'INSERT INTO toolset_versions (name, version, body, revision, hash, created_at) VALUES (?, ?, ?, ?, ?, ?)';
  sql.exec(statement, name, row.version, row.body, row.revision, row.hash, row.created_at);
}

/** Call in a write's transaction: the same document, recompiled. */
export function reviseVersion(sql: SqlStorage, name: string, version: number, hash: string): void {
  sql.exec('UPDATE toolset_versions SET revision = revision + 1, hash = ? WHERE name = ? AND version = ?', hash, name, version);
}

function noVersion(name: string, version: number, row: VersionRow | null): Problem {
  const toolset = `The toolset ${JSON.stringify(name)}`;
  if (row !== null) return new Problem('not_found', `${toolset} was removed by version ${version}, which has no document.`);
  return new Problem('not_found', `${toolset} has no version ${version}.`);
}

/** Call in the transaction that removes the owner of an internal toolset. */
export function forgetVersions(sql: SqlStorage, name: string): void {
  overwrite(sql, 'toolset_versions', 'body', 'name = ?', name);
  sql.exec('DELETE FROM toolset_versions WHERE name = ?', name);
}

/** Returns the canonical names of a server's tools that toolsets name. */
export function namedTools(sql: SqlStorage, server: string): Set<string> {
  // "/" follows ".", so this selects all names that start with the server's name and a dot.
  const query = 'SELECT DISTINCT tool FROM toolset_tools WHERE tool > ? AND tool < ?';
  return new Set(Array.from(sql.exec<{ tool: string }>(query, `${server}.`, `${server}/`), ({ tool }) => tool));
}
