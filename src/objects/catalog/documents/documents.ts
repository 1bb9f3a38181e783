/** Rows of documents of all kinds: reads, lists and replaces them. `write-document.ts` checks writes. */
import type { DroppedWork } from '../../../core/records/audit.ts';
import { hideCredentials } from '../../../core/secrets/hidden-values.ts';
import { type ModelAlias, type NamedModel, toNamedModel } from '../../../core/model/model-alias.ts';
import { utf8Length } from '../../../core/text/utf8.ts';
import { Problem } from '../../../core/problem.ts';
import type { DocumentKind, Page, PageRequest, StoredDocument } from '../../../ports/catalog.ts';
import { sortedPage } from '../../../storage/list-pages.ts';
import { recordChange } from '../records/audit.ts';
import { overwrite, requestClose } from '../records/close-database.ts';
import type { CatalogContext } from '../context.ts';
import { keepReplacedVersion } from './document-versions.ts';

export type DocumentRow = {
  kind: DocumentKind;
  name: string;
  version: number;
  deleted: boolean;
  body: Record<string, unknown>;
  sealed: string | null;
  createdAt: number;
  updatedAt: number;
};

/** Returns the newest row, including the tombstone of a removed document; null if there never was one. */
export function readRow(sql: SqlStorage, kind: DocumentKind, name: string): DocumentRow | null {
  const row = sql.exec<SqlRow>('SELECT * FROM documents WHERE kind = ? AND name = ?', kind, name).toArray()[0];
  return row === undefined ? null : fromSql(row);
}

/** Returns an existing document, or null. */
export function findRow(sql: SqlStorage, kind: DocumentKind, name: string): DocumentRow | null {
  const row = readRow(sql, kind, name);
  return row === null || row.deleted ? null : row;
}

/** Returns an existing document, or throws `not_found`. */
export function requireRow(sql: SqlStorage, kind: DocumentKind, name: string): DocumentRow {
  const row = findRow(sql, kind, name);
  if (row === null) throw documentNotFound(kind, name);
  return row;
}

/** Throws `conflict` if the workspace has the maximum number of these documents. `plural`: as in the message. */
export function requireCapacity(sql: SqlStorage, kind: DocumentKind, maximum: number, plural: string): void {
  const query = 'SELECT count(*) AS count FROM documents WHERE kind = ? AND deleted = 0';
  const { count } = sql.exec<{ count: number }>(query, kind).one();
  if (count < maximum) return;
  throw new Problem('conflict', `The workspace already has ${count} ${plural} (maximum: ${maximum}). Delete one first.`);
}

export function listRows(sql: SqlStorage, kind: DocumentKind, page: PageRequest): Page<StoredDocument> {
  const query = 'SELECT * FROM documents WHERE kind = ? AND deleted = 0 AND name > ? ORDER BY name LIMIT ?';
  const read = (after: string, count: number) => sql.exec<SqlRow>(query, kind, after, count);
  const measure = { position: ({ name }: SqlRow) => name, bytes: ({ body }: SqlRow) => utf8Length(body) };
  const { items, nextCursor } = sortedPage(kind, { ...page, first: ownNamesEnd }, read, measure);
  return { items: items.map((row) => toStoredDocument(fromSql(row))), nextCursor };
}

/** Sorts after every internal name, which starts with a dot, and before every name that a user can choose. */
const ownNamesEnd = '/';

/** Returns all existing documents of a kind; only for kinds with small bodies. */
export function allRows(sql: SqlStorage, kind: DocumentKind): DocumentRow[] {
  return sql.exec<SqlRow>('SELECT * FROM documents WHERE kind = ? AND deleted = 0 ORDER BY name', kind).toArray().map(fromSql);
}

export function listModelAliases({ sql }: Pick<CatalogContext, 'sql'>): NamedModel[] {
  // Bodies were parsed by the schema when they were written.
  return allRows(sql, 'model-alias').map(({ name, body }) => toNamedModel(name, body as ModelAlias));
}

/** The private tools of a key or a trigger, sorted by name. */
export function ownedRows(sql: SqlStorage, owner: string): DocumentRow[] {
  // "0" follows "/", so this selects all names that start with the owner and a slash.
  const query = "SELECT * FROM documents WHERE kind = 'private-tool' AND deleted = 0 AND name > ? AND name < ? ORDER BY name";
  return sql.exec<SqlRow>(query, `${owner}/`, `${owner}0`).toArray().map(fromSql);
}

/** Replaces a document and records who changed it, in the caller's transaction. */
export function replaceRow(
  context: CatalogContext,
  row: DocumentRow,
  change: { by: string; action: 'create' | 'update' | 'delete'; dropped?: DroppedWork },
): void {
  keepReplacedVersion(context.sql, row);
  storeRow(context.sql, row);
  recordChange(context, { ...change, resource: row.kind, name: row.name, version: row.version });
}

/** For rows that the service derives; documents of users go through `replaceRow`. A removed document has no body and no `sealed` part. */
export function storeRow(sql: SqlStorage, row: DocumentRow): void {
  const { kind, name, version, deleted, sealed, createdAt, updatedAt } = row;
  const body = JSON.stringify(row.body);
  overwrite(sql, 'documents', 'body', 'kind = ? AND name = ? AND body <> ?', kind, name, body);
  const replacesSealed = overwrite(sql, 'documents', 'sealed', 'kind = ? AND name = ? AND sealed IS NOT ?', kind, name, sealed);
  if (deleted || replacesSealed) requestClose(sql);
  const statement = `INSERT INTO documents (kind, name, version, deleted, body, sealed, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (kind, name) DO UPDATE SET version = excluded.version, deleted = excluded.deleted, body = excluded.body,
       sealed = excluded.sealed, created_at = excluded.created_at, updated_at = excluded.updated_at`;
  sql.exec(statement, kind, name, version, deleted ? 1 : 0, body, sealed, createdAt, updatedAt);
}

/** The document as GET shows it. */
export function toStoredDocument(row: DocumentRow): StoredDocument {
  return {
    name: row.name,
    version: row.version,
    body: shownBody(row),
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}

/**
 * Never includes a sealed value, nor one that may be a credential (`core/secrets/hidden-values.ts`), but for a provider whether it has a key; for a made tool neither pin nor writer, and for a server no
 * hashes of its listing and OpenAPI document.
 */
function shownBody({ kind, body, sealed }: DocumentRow): Record<string, unknown> {
  if (kind === 'provider')
    return {
      ...hideCredentials(kind, body),
      hasApiKey: sealed !== null || body.apiKeySecret !== undefined || body.apiKeySecrets !== undefined,
    };
  if (kind === 'made-tool' || kind === 'private-tool') {
    const { pin: _pin, by: _by, ...tool } = body;
    return tool;
  }
  if (kind !== 'server') return body;
  const { listing: _listing, givenDocument: _document, ...server } = hideCredentials(kind, body);
  return server;
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

export function documentNotFound(kind: DocumentKind, name: string): Problem {
  return new Problem('not_found', `There is no ${kindWords[kind]} ${JSON.stringify(name.slice(0, 128))}.`);
}

export const kindWords: Readonly<Record<DocumentKind, string>> = {
  toolset: 'toolset',
  agent: 'agent',
  provider: 'provider',
  secret: 'secret',
  'tool-aliases': 'set of default aliases for',
  policy: 'policy',
  'known-host': 'known host',
  server: 'server',
  skill: 'skill',
  'ui-tool': 'UI tool',
  'made-tool': 'made tool',
  'private-tool': 'private made tool',
  webhook: 'webhook',
  schedule: 'schedule',
  subscription: 'subscription',
  'model-alias': 'model alias',
  suite: 'suite',
  member: 'member',
  workspace: 'workspace',
};

type SqlRow = Omit<DocumentRow, 'deleted' | 'body' | 'createdAt' | 'updatedAt'> & {
  deleted: number;
  body: string;
  created_at: number;
  updated_at: number;
};

/** Rows are written only by `storeRow`, so their kind is valid and their body an object. */
function fromSql({ created_at: createdAt, updated_at: updatedAt, ...row }: SqlRow): DocumentRow {
  return { ...row, deleted: row.deleted === 1, body: JSON.parse(row.body) as Record<string, unknown>, createdAt, updatedAt };
}
