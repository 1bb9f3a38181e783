/**
 * The steps of every write (contract §4): conditions, then the kind's own checks and compilation (asynchronous), then one transaction. Writes
 * of a workspace are serialized (`catalog.ts`), so nothing changes between the steps.
 */
import { canonicalJson } from '../../../core/hash.ts';
import { invalidRequest, Problem, type Warning, issuePath } from '../../../core/problem.ts';
import type { DocumentKind, PutAnswer, StoredDocument, WriteOptions } from '../../../ports/catalog.ts';
import type { CatalogContext } from '../context.ts';
import { warnUsers } from './document-uses.ts';
import { countDropped, droppedWarnings } from '../records/dropped-work.ts';
import { enqueueDocument } from '../records/publications.ts';
import { type DocumentRow, kindWords, readRow, replaceRow, requireCapacity, requireRow, toStoredDocument } from './documents.ts';

/** The hooks of a document kind for writes. */
export interface DocumentWriter {
  /** Returns why a name is invalid for this kind, or null. */
  nameFault(context: CatalogContext, name: string): string | null;
  /** Checks and compiles; throws problems. `previous`: the current document, or null. */
  prepare(
    context: CatalogContext,
    name: string,
    body: Record<string, unknown>,
    previous: DocumentRow | null,
    options: Writing,
  ): Promise<Prepared>;
  /** The member that is sealed, if `WriteOptions.removed` may name it. */
  sealedMember?: string;
  /** Returns current warnings for a stored document. Default: none. */
  review?(context: CatalogContext, body: Record<string, unknown>): Warning[];
  /** Returns additional current fields for these stored documents, by name. Default: none. */
  shown?(context: CatalogContext, names: readonly string[]): ReadonlyMap<string, Record<string, unknown>>;
  /** The same as `prepare` for a removal. Default: no checks. */
  prepareRemoval?(context: CatalogContext, name: string): Promise<Commit>;
}

/** `by`: the id of the key that writes. */
export type Writing = WriteOptions & { by: string };

export type Prepared = {
  /** As stored and shown. */
  body: Record<string, unknown>;
  sealed?: string | null;
  /** Whether the sealed part has changed, which cannot be seen from the ciphertext. */
  sealedChanged?: boolean;
  warnings?: Warning[];
  commit?: Commit;
};

/** Runs inside the transaction, after the row. `changed` is false if the document is unchanged. */
export type Commit = (row: DocumentRow, changed: boolean) => void;

export async function putDocument(
  context: CatalogContext,
  writer: DocumentWriter,
  request: { kind: DocumentKind; name: string; body: Record<string, unknown>; options: WriteOptions; by: string },
): Promise<PutAnswer> {
  const { kind, name, options, by } = request;
  const fault = writer.nameFault(context, name);
  if (fault !== null) throw invalidRequest([{ path: 'name', message: fault }]);
  const before = readRow(context.sql, kind, name);
  const previous = before?.deleted === false ? before : null;
  checkConditions(kind, name, previous?.version ?? null, options);
  const [maximum, plural] = maxDocuments[kind] ?? [];
  if (previous === null && maximum !== undefined) requireCapacity(context.sql, kind, maximum, plural ?? `${kindWords[kind]}s`);

  const kept =
    previous === null || options.removed === undefined ? previous : withoutMembers(previous, options.removed, writer.sealedMember);
  const prepared = await writer.prepare(context, name, request.body, kept, { ...options, by });
  const isUnsealed = previous?.sealed !== null && kept?.sealed === null && (prepared.sealed ?? null) === null;
  const changed =
    previous === null || isUnsealed || prepared.sealedChanged === true || canonicalJson(prepared.body) !== canonicalJson(previous.body);
  const now = context.now();
  const row: DocumentRow = changed
    ? {
        kind,
        name,
        version: (before?.version ?? 0) + 1,
        deleted: false,
        body: prepared.body,
        sealed: prepared.sealed ?? null,
        createdAt: previous?.createdAt ?? now,
        updatedAt: now,
      }
    : previous;

  if (options.dryRun !== true) {
    context.transact(() => {
      if (changed) replaceRow(context, row, { by, action: previous === null ? 'create' : 'update' });
      if (changed) enqueueDocument(context, kind, name);
      prepared.commit?.(row, changed);
    });
  }
  return {
    document: showDocument(context, writer, row),
    created: previous === null,
    changed,
    warnings: prepared.warnings ?? [],
  };
}

/** Of a workspace, for the kinds whose writers have no bound of their own. */
const maxDocuments: Partial<Record<DocumentKind, readonly [maximum: number, plural?: string]>> = {
  toolset: [5_000],
  agent: [5_000],
  suite: [500],
  provider: [500],
  secret: [5_000],
  'tool-aliases': [20_000, 'tools with default aliases'],
  server: [1_000],
  skill: [2_000],
  'ui-tool': [2_000],
  webhook: [1_000],
};

/** Returns the document as if it had been written without these members, one of which may be its sealed value. */
function withoutMembers(row: DocumentRow, removed: readonly string[], sealedMember: string | undefined): DocumentRow {
  const body = Object.fromEntries(Object.entries(row.body).filter(([member]) => !removed.includes(member)));
  return { ...row, body, sealed: sealedMember !== undefined && removed.includes(sealedMember) ? null : row.sealed };
}

export function showDocument(context: CatalogContext, writer: DocumentWriter, row: DocumentRow): StoredDocument {
  const [document] = showDocuments(context, writer, [toStoredDocument(row)]);
  return document as StoredDocument; // One for each given document.
}

export function showDocuments(context: CatalogContext, writer: DocumentWriter, documents: readonly StoredDocument[]): StoredDocument[] {
  const shown = writer.shown?.(
    context,
    documents.map(({ name }) => name),
  );
  return documents.map((document) => ({ ...document, body: { ...document.body, ...shown?.get(document.name) } }));
}

/** Returns which documents and keys still name it, and what was accepted and ends with it. */
export async function removeDocument(
  context: CatalogContext,
  writer: DocumentWriter,
  request: { kind: DocumentKind; name: string; options: WriteOptions; by: string },
): Promise<Warning[]> {
  const { kind, name, options, by } = request;
  const before = requireRow(context.sql, kind, name);
  checkConditions(kind, name, before.version, options);
  const commit = await writer.prepareRemoval?.(context, name);
  const warnings = [...warnUsers(context, kind, name, 'which does not exist any more'), ...droppedWarnings(context, kind, name)];
  if (options.dryRun === true) return warnings;
  const row: DocumentRow = { ...before, version: before.version + 1, deleted: true, body: {}, sealed: null, updatedAt: context.now() };
  context.transact(() => {
    const dropped = countDropped(context, { kind, name });
    replaceRow(context, row, { by, action: 'delete', ...(dropped && { dropped }) });
    enqueueDocument(context, kind, name);
    commit?.(row, true);
  });
  return warnings;
}

/** A `name` in the body may repeat the name in the path, but not differ from it. */
export function checkNameInBody(name: string, body: { name?: string | undefined }): void {
  if (body.name !== undefined && body.name !== name) {
    throw invalidRequest([{ path: issuePath(['name']), message: `differs from the name in the path, ${JSON.stringify(name)}: omit it` }]);
  }
}

function checkConditions(kind: DocumentKind, name: string, current: number | null, options: WriteOptions): void {
  const lost = (state: string): Problem =>
    new Problem('precondition_failed', `The ${kindWords[kind]} ${JSON.stringify(name)} ${state}.`, { version: current });
  if (options.ifNoneMatch === true && current !== null) throw lost(`already exists, at version ${current}`);
  if (options.ifMatch === undefined) return;
  if (current === null) throw lost('does not exist');
  if (options.ifMatch !== '*' && options.ifMatch !== current) throw lost(`is at version ${current}, not ${options.ifMatch}: read it again`);
}
