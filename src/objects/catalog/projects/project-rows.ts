/** Rows of projects and of the documents that they own. A document belongs to at most one project. */
import { limits } from '../../../core/limits/limits.ts';
import { Problem } from '../../../core/problem.ts';
import type { ProjectDocument, ProjectKind, ProjectRecord } from '../../../ports/projects.ts';
import { isoTime } from '../documents/documents.ts';

/** `version`: the one that the project wrote. `created`: the project created the document. */
export type OwnedDocument = { kind: ProjectKind; name: string; project: string; version: number; created: boolean };

type OwnedRow = Omit<OwnedDocument, 'created'> & { created: number };

export function findOwner(sql: SqlStorage, kind: ProjectKind, name: string): OwnedDocument | null {
  const row = sql.exec<OwnedRow>('SELECT * FROM project_documents WHERE kind = ? AND name = ?', kind, name).toArray()[0];
  return row === undefined ? null : { ...row, created: row.created === 1 };
}

export function documentsOf(sql: SqlStorage, project: string): OwnedDocument[] {
  const rows = sql.exec<OwnedRow>('SELECT * FROM project_documents WHERE project = ? ORDER BY kind, name', project).toArray();
  return rows.map((row) => ({ ...row, created: row.created === 1 }));
}

export function storeOwner(sql: SqlStorage, { kind, name, project, version, created }: OwnedDocument): void {
  const put = `INSERT INTO project_documents (kind, name, project, version, created) VALUES (?, ?, ?, ?, ?) ON CONFLICT (kind, name)
    DO UPDATE SET project = excluded.project, version = excluded.version, created = excluded.created`;
  sql.exec(put, kind, name, project, version, created ? 1 : 0);
}

export function deleteOwner(sql: SqlStorage, kind: ProjectKind, name: string): void {
  sql.exec('DELETE FROM project_documents WHERE kind = ? AND name = ?', kind, name);
}

/** Creates the project, or notes the time. Throws `conflict` if there are too many. */
export function storeProject(sql: SqlStorage, name: string, now: number): void {
  const { count } = sql.exec<{ count: number }>('SELECT count(*) AS count FROM projects WHERE name <> ?', name).one();
  if (count >= limits.maxProjects)
    throw new Problem('conflict', `The workspace already has ${count} projects (maximum: ${limits.maxProjects}). Delete one first.`);
  sql.exec(
    'INSERT INTO projects (name, updated_at) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET updated_at = excluded.updated_at',
    name,
    now,
  );
}

/** Its documents then belong to no project. */
export function deleteProject(sql: SqlStorage, name: string): void {
  sql.exec('DELETE FROM project_documents WHERE project = ?', name);
  sql.exec('DELETE FROM projects WHERE name = ?', name);
}

export function listProjects(sql: SqlStorage): ProjectRecord[] {
  const rows = sql.exec<{ name: string; updated_at: number }>('SELECT name, updated_at FROM projects ORDER BY name').toArray();
  return rows.map(({ name, updated_at: updatedAt }) => ({ name, updatedAt: isoTime(updatedAt), documents: withStates(sql, name) }));
}

function withStates(sql: SqlStorage, project: string): ProjectDocument[] {
  const query = `SELECT owned.kind, owned.name, owned.created, CASE WHEN document.version IS NULL OR document.deleted = 1 THEN 'missing'
      WHEN document.version = owned.version THEN 'current' ELSE 'changed' END AS state
    FROM project_documents AS owned LEFT JOIN documents AS document ON document.kind = owned.kind AND document.name = owned.name
    WHERE owned.project = ? ORDER BY owned.kind, owned.name`;
  const rows = sql.exec<{ kind: ProjectKind; name: string; created: number; state: ProjectDocument['state'] }>(query, project).toArray();
  return rows.map(({ created, ...row }) => ({ ...row, created: created === 1 }));
}
