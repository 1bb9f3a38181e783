/** Rows of toolset versions, each with its edition, and the names in the newest ones. `toolsets.ts` writes them. */
import type { EditionPointer, ToolsetStanding } from '../../../core/toolset/edition-tool.ts';
import { Problem } from '../../../core/problem.ts';
import { readToolsetReference, type Toolset } from '../../../core/toolset/toolset.ts';
import type { Page, PageRequest, StoredDocument, DocumentVersion } from '../../../ports/catalog.ts';
import { newestFirst } from '../../../storage/list-pages.ts';
import { overwrite } from '../records/close-database.ts';
import { noteStale, readBuildStanding } from './compiled-build.ts';
import { type DocumentRow, findRow, isoTime, documentNotFound, readRow, requireRow, toStoredDocument } from '../documents/documents.ts';

/** `body` and `hash` are null for a removal. */
export type VersionRow = { version: number; body: string | null; revision: number; hash: string | null; created_at: number };
/** `retired_at` null: it is not retired. */
type StoredVersionRow = VersionRow & { retired_at: number | null };

export function versionRow(sql: SqlStorage, name: string, version: number): StoredVersionRow | null {
  const query = 'SELECT version, body, revision, hash, created_at, retired_at FROM toolset_versions WHERE name = ? AND version = ?';
  return sql.exec<StoredVersionRow>(query, name, version).toArray()[0] ?? null;
}

/**
 * Returns the edition for a call, of the newest version or of a pinned one, with what applies to all versions. Throws `not_found`, also for any
 * version of a removed toolset.
 */
export function readPointer(sql: SqlStorage, name: string, pinned: number | undefined): EditionPointer & ToolsetStanding {
  const row = requireRow(sql, 'toolset', name);
  const version = pinned ?? row.version;
  const compiled = versionRow(sql, name, version);
  if (compiled === null || compiled.hash === null) throw noVersion(name, version, compiled);
  return { toolset: name, version, revision: compiled.revision, hash: compiled.hash, ...readStanding(sql, row) };
}

/** Returns what applies to every version of a toolset. */
export function readStanding(sql: SqlStorage, { name, body }: Pick<DocumentRow, 'name' | 'body'>): ToolsetStanding {
  const retired = Array.from(sql.exec<{ version: number }>(retiredVersions, name), ({ version }) => version);
  const { revoked } = body as Partial<Toolset>; // Parsed by the schema on write.
  return { ...(retired.length > 0 && { retired }), ...(revoked !== undefined && { revoked }), ...readBuildStanding(sql, name) };
}

const retiredVersions = 'SELECT version FROM toolset_versions WHERE name = ? AND retired_at IS NOT NULL ORDER BY version';

/** Returns the pointer for `name` or `name@version`, also for a retired version; null if it does not exist. */
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
  const document = toStoredDocument({ ...row, version, body, createdAt: kept.created_at, updatedAt: kept.created_at });
  return { ...document, ...(kept.retired_at !== null && { retired: true }) };
}

export function listVersions(sql: SqlStorage, name: string, page: PageRequest): Page<DocumentVersion> {
  if (readRow(sql, 'toolset', name) === null) throw documentNotFound('toolset', name);
  const query = `SELECT version AS number, hash, created_at, retired_at, retired_by FROM toolset_versions
    WHERE name = ? AND version < ? ORDER BY version DESC LIMIT ?`;
  type Row = { number: number; hash: string | null; created_at: number; retired_at: number | null; retired_by: string | null };
  const read = (before: number, count: number) => sql.exec<Row>(query, name, before, count);
  return newestFirst(`versions of ${name}`, page, read, ({ number, hash, created_at: at, ...row }) => ({
    version: number,
    createdAt: isoTime(at),
    removed: hash === null,
    ...(row.retired_at !== null && { retired: { at: isoTime(row.retired_at), by: row.retired_by ?? '' } }),
  }));
}

/** Returns the newest document of a toolset, also of a removed one; null: there was none. */
export function lastDocument(sql: SqlStorage, name: string): Toolset | null {
  const query = 'SELECT body FROM toolset_versions WHERE name = ? AND body IS NOT NULL ORDER BY version DESC LIMIT 1';
  const [row] = sql.exec<{ body: string }>(query, name).toArray();
  // Bodies are written only by `insertVersion`.
  return row === undefined ? null : (JSON.parse(row.body) as Toolset);
}

/** Returns whether a version of a toolset is retired. Throws `not_found` for a version without a document. */
export function isRetiredVersion(sql: SqlStorage, name: string, version: number): boolean {
  if (readRow(sql, 'toolset', name) === null) throw documentNotFound('toolset', name);
  const row = versionRow(sql, name, version);
  if (row === null || row.hash === null) throw noVersion(name, version, row);
  return row.retired_at !== null;
}

/** Call in a write's transaction. null: the version is no longer retired. */
export function setRetired(sql: SqlStorage, name: string, version: number, retired: { at: number; by: string } | null): void {
  const statement = 'UPDATE toolset_versions SET retired_at = ?, retired_by = ? WHERE name = ? AND version = ?';
  sql.exec(statement, retired?.at ?? null, retired?.by ?? null, name, version);
}

/** Call in a write's transaction. `body` and `hash` null: a removal. */
export function insertVersion(sql: SqlStorage, name: string, row: VersionRow): void {
  noteStale(sql, name, null);
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
  return new Set(Array.from(sql.exec<{ tool: string }>(distinctTools, `${server}.`, `${server}/`), ({ tool }) => tool));
}

/** Seeks each name instead of reading its rows: thousands of toolsets may name the same few tools. */
const distinctTools = `WITH RECURSIVE named (tool) AS (SELECT min(tool) FROM toolset_tools WHERE tool > ?1 AND tool < ?2
  UNION ALL SELECT (SELECT min(toolset_tools.tool) FROM toolset_tools WHERE toolset_tools.tool > named.tool AND toolset_tools.tool < ?2)
    FROM named WHERE named.tool IS NOT NULL) SELECT tool FROM named WHERE tool IS NOT NULL`;
