/**
 * Writes several documents in one transaction, each as by its own write, and keeps track of which project owns them. A dry run does the same
 * and undoes it, so that its plan has the checks and warnings of the real write.
 */
import { canonicalJson, sha256Hex } from '../../../core/hash.ts';
import { hiddenChanges } from '../../../core/secrets/hidden-values.ts';
import { limits } from '../../../core/limits/limits.ts';
import { type Issue, Problem, type Warning } from '../../../core/problem.ts';
import { toServerTool } from '../../../core/listing/stored-tool.ts';
import { comparedTools, documentChanges, type DocumentChange } from '../../../core/project/document-changes.ts';
import { documentPath } from '../../../core/project/project-sections.ts';
import type { PutAnswer, WriteOptions } from '../../../ports/catalog.ts';
import {
  type AppliedDocument,
  type ApplyRequest,
  type ApplyResult,
  type DocumentWrite,
  type ImportOrigin,
  maxComparedToolsets,
  projectKinds,
} from '../../../ports/projects.ts';
import { type DocumentRow, findRow, toStoredDocument } from '../documents/documents.ts';
import type { CatalogContext } from '../context.ts';
import { readTools } from '../servers/server-tools.ts';
import { type ImportMerge, openImport } from './merge-import.ts';
import { deleteOwner, deleteProject, documentsOf, findOwner, type OwnedDocument, storeOwner, storeProject } from './project-rows.ts';

/** Writes and removes one document with the rules of its kind, as the caller of the request. */
export type DocumentOperations = {
  /** Only the root key removes the settings of the workspace. */
  isRoot: boolean;
  put(write: Pick<DocumentWrite, 'kind' | 'name' | 'body'>, options: WriteOptions): Promise<PutAnswer>;
  remove(document: Pick<DocumentWrite, 'kind' | 'name'>): Promise<{ warnings: Warning[] }>;
};

export async function applyDocuments(context: CatalogContext, operations: DocumentOperations, request: ApplyRequest): Promise<ApplyResult> {
  const apply = async (): Promise<ApplyResult> => {
    const { project } = request;
    if (project !== null) storeProject(context.sql, project, context.now());
    const before = new Map<string, number | null>();
    const documents = await writeAll(context, operations, request, before);
    if (project !== null) documents.push(...(await release(context, operations, request, project, before)));
    if (project !== null && request.ends === true) deleteProject(context.sql, project);
    const plan = await planOf(request, documents, before);
    if (request.plan !== undefined && request.plan !== plan)
      throw new Problem('precondition_failed', 'The documents have changed since this plan was made. Make a new plan with dryRun=true.', {
        plan,
      });
    return { plan, documents };
  };
  return await context.transactAll(apply, () => request.dryRun !== true);
}

/** A hash of the documents of the request, and of what is done to which versions. */
async function planOf(
  { project, writes }: ApplyRequest,
  documents: readonly AppliedDocument[],
  before: ReadonlyMap<string, number | null>,
): Promise<string> {
  const bodies = writes.map(({ kind, name, body }) => [kind, name, body]);
  const actions = documents.map(({ kind, name, action }) => [kind, name, action, before.get(keyOf({ kind, name }))]);
  return (await sha256Hex(canonicalJson([project, bodies, actions]))).slice(0, 32);
}

async function writeAll(
  context: CatalogContext,
  operations: DocumentOperations,
  request: ApplyRequest,
  before: Map<string, number | null>,
): Promise<AppliedDocument[]> {
  const documents: AppliedDocument[] = [];
  const failures: Failure[] = [];
  let shownChanges = 0;
  let compared = 0;
  const merge = request.import === undefined ? null : await openImport(context, request.import, request.writes);
  for (const kind of projectKinds) {
    // Documents that depend on one that failed would only repeat its error.
    if (failures.length > 0) throw combined(failures);
    for (const write of request.writes) {
      if (write.kind !== kind) continue;
      before.set(keyOf(write), findRow(context.sql, kind, write.name)?.version ?? null);
      const done = await writeOne(context, operations, request, write, merge);
      if (done instanceof Problem) failures.push({ write, problem: done });
      else {
        shownChanges += done.changes?.length ?? 0;
        const isLeftOut = done.changes !== undefined && shownChanges > limits.maxPlanChanges;
        if (done.after !== undefined && kind === 'toolset') compared += 1;
        const { after: _after, ...bounded } = done;
        const kept = compared > maxComparedToolsets && kind === 'toolset' ? bounded : done;
        documents.push(isLeftOut ? { ...kept, changes: [{ path: '…' }] } : kept);
      }
    }
  }
  if (failures.length > 0) throw combined(failures);
  if (request.import !== undefined) documents.push(...notGiven(context, request.import, request.writes));
  return documents;
}

/** What earlier imports of the file gave, and this one does not. An import removes no documents. */
function notGiven({ sql }: CatalogContext, { source }: ImportOrigin, writes: readonly DocumentWrite[]): AppliedDocument[] {
  const given = new Set(writes.map(keyOf));
  const query = 'SELECT kind, name FROM imported WHERE source = ? ORDER BY kind, name';
  const earlier = sql.exec<Pick<DocumentWrite, 'kind' | 'name'>>(query, source).toArray();
  return earlier
    .filter((one) => !given.has(keyOf(one)) && findRow(sql, one.kind, one.name) !== null)
    .map((one) => ({
      ...one,
      action: 'kept',
      reason: 'an earlier import of the file gave it, and this one does not: delete it if it is of no use',
    }));
}

async function writeOne(
  context: CatalogContext,
  operations: DocumentOperations,
  { project, force, mayRunCommands, import: origin, dryRun }: ApplyRequest,
  given: DocumentWrite,
  merge: ImportMerge | null,
): Promise<AppliedDocument | Problem> {
  const { kind, name } = given;
  const row = findRow(context.sql, kind, name);
  const owner = findOwner(context.sql, kind, name);
  const done = (action: AppliedDocument['action'], more: Partial<AppliedDocument> = {}): AppliedDocument => ({
    kind,
    name,
    action,
    ...more,
    ...parts,
  });
  let parts: Pick<AppliedDocument, 'keptParts' | 'skippedParts'> = {};
  if (given.fault !== undefined) return done('skipped', { reason: given.fault });
  const merged = merge === null ? null : await merge(given);
  const write = merged === null ? given : { ...given, body: merged.body };
  if (merged !== null) parts = { keptParts: merged.keptParts, skippedParts: merged.skippedParts };
  if (merged?.stays !== undefined) {
    merged.remember();
    return done(merged.stays.action, { reason: merged.stays.reason });
  }
  try {
    if (kind === 'secret' && write.body.value === undefined) return withoutValue(row, write, done);
    const why = project === null || force === true || row === null ? null : whyKept(row, owner, project);
    // What a server lists itself changes when it is read, after the write.
    const toolsNow = () =>
      kind === 'server' && write.body.kind === 'static' && row !== null
        ? { tools: comparedTools(readTools(context.sql, name).map((tool) => toServerTool(name, tool))) }
        : {};
    const before = toolsNow();
    const options = { ...write.options, ...(mayRunCommands && { mayRunCommands }), ...(why !== null && { dryRun: true }) };
    const { changed, created, warnings } = await operations.put(write, options);
    if (why !== null && changed) return done('kept', { reason: why });
    const after = findRow(context.sql, kind, name);
    if (project !== null && why === null && after !== null)
      storeOwner(context.sql, { kind, name, project, version: after.version, created: isCreated(row, owner, project) });
    merged?.remember();
    const more = { ...(warnings.length > 0 && { warnings }) };
    if (!changed) return done('unchanged', more);
    return done(created ? 'created' : 'updated', {
      ...more,
      ...(dryRun === true && (kind === 'policy' || (kind === 'toolset' && !created)) && { after: write.body }),
      ...(row !== null && { changes: changesOf({ row, more: before }, { row: after, more: toolsNow() }) }),
    });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (write.awaitsTools === true) {
      // The plan shows what is known before the servers have listed their tools.
      const changes = dryRun === true && merged !== null && row !== null ? documentChanges(row.body, { ...write.body, name }) : [];
      return done('deferred', {
        reason: error.detail,
        ...(row === null && { isNew: true as const }),
        ...(changes.length > 0 && { changes }),
      });
    }
    return write.mayFail === true || origin?.isPartial === true ? done('skipped', { reason: error.detail }) : error;
  }
}

/** A project that replaces a document of another one has not created it. */
function isCreated(row: DocumentRow | null, owner: OwnedDocument | null, project: string): boolean {
  return row === null || (owner?.project === project && owner.created);
}

/** Returns why a project must not replace or remove a document; null: it may. */
function whyKept({ version }: DocumentRow, owner: OwnedDocument | null, project: string): string | null {
  if (owner === null) return 'it exists, and no project wrote it';
  if (owner.project !== project) return `it belongs to the project ${JSON.stringify(owner.project)}`;
  return owner.version === version ? null : `it was changed since, at version ${version}`;
}

/** The value of a secret must be given again for other hosts or tools, since they decide where it may be sent. */
function withoutValue(
  row: DocumentRow | null,
  { body: { hosts, tools } }: DocumentWrite,
  done: (action: AppliedDocument['action'], more?: Partial<AppliedDocument>) => AppliedDocument,
): AppliedDocument {
  if (row === null) return done('skipped', { reason: 'it has no value: give one, or create the secret with PUT /v1/secrets/{secret}' });
  const isSame =
    (hosts === undefined || canonicalJson(hosts) === canonicalJson(row.body.hosts)) &&
    canonicalJson(tools ?? null) === canonicalJson(row.body.tools ?? null);
  return isSame
    ? done('unchanged')
    : done('skipped', { reason: 'its hosts or tools differ from the stored ones: give its value to change them' });
}

type Compared<Row> = { row: Row; more: Record<string, unknown> };

/** The changed paths; a value that is not shown is named by its path or member. */
function changesOf({ row, more }: Compared<DocumentRow>, after: Compared<DocumentRow | null>): DocumentChange[] {
  const { kind, body } = row;
  const next = after.row?.body;
  const shown = documentChanges(
    { ...toStoredDocument(row).body, ...more },
    after.row === null ? undefined : { ...toStoredDocument(after.row).body, ...after.more },
  );
  const paths = new Set(shown.map(({ path }) => path));
  const given = next !== undefined && canonicalJson(body.givenDocument) !== canonicalJson(next.givenDocument) ? ['document'] : [];
  const hidden = [...given, ...(next === undefined ? [] : hiddenChanges(kind, body, next))].filter((path) => !paths.has(path));
  const changes = [...shown, ...hidden.map((path) => ({ path }))];
  if (changes.length > 0) return changes;
  return [{ path: kind === 'secret' ? 'value' : kind === 'server' ? 'tools' : 'secret' }];
}

/** Documents that the project owns and no longer has: removed if it created them, and the request says so. */
async function release(
  context: CatalogContext,
  operations: DocumentOperations,
  { writes, prune, force, ends }: ApplyRequest,
  project: string,
  before: Map<string, number | null>,
): Promise<AppliedDocument[]> {
  const written = new Set(writes.map(keyOf));
  const left = documentsOf(context.sql, project).filter((document) => !written.has(keyOf(document)));
  left.sort((one, other) => projectKinds.indexOf(other.kind) - projectKinds.indexOf(one.kind));
  const documents: AppliedDocument[] = [];
  for (const owned of left) {
    const { kind, name } = owned;
    const row = findRow(context.sql, kind, name);
    before.set(keyOf(owned), row?.version ?? null);
    const why = row === null ? null : whyNotRemoved(row, owned, { prune, force }, operations);
    const warnings = row !== null && why === null ? (await operations.remove(owned)).warnings : [];
    const users = warnings.map(({ path, message }) => ({ path: '', message: `${path}: ${message}` }));
    const more = { ...(why !== null && { reason: why }), ...(users.length > 0 && { warnings: users }) };
    if (row !== null) documents.push({ kind, name, action: why === null ? 'removed' : 'kept', ...more });
    // A document that prune would remove stays owned, so that a later prune does.
    if (row === null || why === null || !owned.created || ends === true) deleteOwner(context.sql, kind, name);
  }
  return documents;
}

function whyNotRemoved(
  { version }: DocumentRow,
  { kind, created, version: written }: OwnedDocument,
  { prune, force }: Pick<ApplyRequest, 'prune' | 'force'>,
  { isRoot }: Pick<DocumentOperations, 'isRoot'>,
): string | null {
  if (!created) return 'it existed before the project';
  if (kind === 'workspace' && !isRoot) return 'only the root key removes it';
  if (prune !== true) return 'it is no longer in the project; prune removes it';
  return version === written || force === true ? null : `it was changed since, at version ${version}`;
}

type Failure = { write: DocumentWrite; problem: Problem };

/** One problem for all documents that could not be written, with the place of each fault in the project. */
function combined(failures: readonly Failure[]): Problem {
  const [first] = failures;
  const issues = failures.flatMap(({ write, problem }): Issue[] => {
    const base = documentPath(write.kind, write.name);
    // `core/problem.ts` writes issues in this shape.
    const own = problem.extra.issues as Issue[] | undefined;
    if (own === undefined) return [{ path: base, message: problem.detail }];
    return own.map(({ path, message }) => ({ path: path === '' ? base : `${base}.${path}`, message }));
  });
  const shown = issues.slice(0, limits.maxReportedIssues);
  const detail = shown.map(({ path, message }) => `${path}: ${message}`).join('; ');
  return new Problem(first?.problem.code ?? 'invalid_request', `Nothing was written. ${detail}`, { issues: shown });
}

function keyOf({ kind, name }: { kind: string; name: string }): string {
  return `${kind} ${name}`;
}
