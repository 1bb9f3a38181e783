/**
 * Applies a project to the workspace. All documents are written in one transaction. Then the servers that were written list their tools, and
 * the documents that wait for these tools are written; one that still cannot be written is skipped, and written by the next call. A plan
 * reads the OpenAPI documents that are in the project, and contacts nothing.
 */
import type { Principal } from '../../core/people/principal.ts';
import { Problem } from '../../core/problem.ts';
import { boundedChanges, comparedTools, documentChanges } from '../../core/project/document-changes.ts';
import type { PlanImpact } from '../../core/project/plan-impact.ts';
import type { Project } from '../../core/project/project.ts';
import type { CompleteServer } from '../../core/servers/server.ts';
import type { GivenListing, ListingReport } from '../../core/servers/server-tool.ts';
import { limits } from '../../core/limits/limits.ts';
import type { AppliedDocument, ApplyRequest, ApplyResult, DocumentPart, DocumentWrite, Projects } from '../../ports/projects.ts';
import { createConcurrencyLimit } from '../concurrency-limit.ts';
import { readAllPages } from '../read-pages.ts';
import { planImpact, type PlanImpactDeps } from './plan-impact.ts';
import { type ProjectDeps, projectWrites } from './project-writes.ts';

export type ApplyDeps = ProjectDeps & {
  projects: Projects;
  /** Lists the tools of a server; resolves to null if it was not read. Throws `Problem`. */
  refresh(server: string): Promise<ListingReport | null>;
  /** Compares plans with past calls. */
  impact: PlanImpactDeps;
  /** The tools of a server that has its OpenAPI document in its own. Throws `Problem`. */
  listGiven(server: string, document: CompleteServer): Promise<GivenListing>;
};

export type ApplyOptions = Omit<ApplyRequest, 'writes'> & { unset?: ReadonlySet<string> };

/** Servers that are listed at the same time. */
const maxRefreshesAtOnce = 6;

/** `forbidden`, `invalid_request`, …: nothing was written. */
export async function applyProject(deps: ApplyDeps, principal: Principal, project: Project, options: ApplyOptions): Promise<ApplyResult> {
  const { unset = new Set<string>(), ...request } = options;
  const given = await projectWrites(deps, principal, project, { unset, mayRunCommands: request.mayRunCommands === true });
  const mending = request.mend === true ? await mendedWrites(deps, principal, { ...request, writes: given }) : null;
  const writes = mending?.writes ?? given;
  const applied = await deps.projects.applyDocuments({ ...request, writes });
  if (request.dryRun === true) {
    const { rows, unknown } = await planImpact(deps.impact, deps.catalog, principal, applied.documents);
    return { ...applied, documents: await plannedTools(deps, applied.documents, project.servers ?? {}), impact: { rows, unknown } };
  }
  const written = new Set(applied.documents.flatMap(({ kind, name, action }) => (kind === 'server' && isWrite(action) ? [name] : [])));
  const isDeferred = applied.documents.some(({ action }) => action === 'deferred');
  const skipped = new Set(applied.documents.flatMap(({ kind, name, action }) => (kind === 'server' && action === 'skipped' ? [name] : [])));
  const listed = Object.entries(project.servers ?? {}).flatMap(([name, { kind }]) =>
    kind !== 'static' && (written.has(name) || (isDeferred && !skipped.has(name))) ? [name] : [],
  );
  const listings = await listTools(deps, listed);
  // A toolset with all tools of a server gets those that a newer version of the server lists.
  const isOfWritten = request.import !== undefined && written.size > 0 && writes.some(({ awaitsTools }) => awaitsTools === true);
  const documents = isDeferred || isOfWritten ? await completed(deps, { ...request, writes }, applied.documents) : applied.documents;
  const notMended = mending === null ? {} : { impact: { rows: [], unknown: mending.unknown } };
  return { ...applied, ...notMended, documents: documents.map((document) => withListing(document, listings)) };
}

/** Adds the aliases that keep past calls of changed toolsets working. `unknown`: the toolsets that were not compared. */
async function mendedWrites(
  { projects, impact, catalog }: ApplyDeps,
  principal: Principal,
  request: ApplyRequest,
): Promise<{ writes: DocumentWrite[]; unknown: PlanImpact['unknown'] }> {
  const { plan: _plan, ...rest } = request;
  const { documents } = await projects.applyDocuments({ ...rest, dryRun: true });
  const { mended, unknown } = await planImpact(impact, catalog, principal, documents);
  const writes = request.writes.map((write) => {
    const toolset = write.kind === 'toolset' ? mended.get(write.name) : undefined;
    return toolset === undefined ? write : { ...write, body: { ...toolset, name: write.name } };
  });
  return { writes, unknown };
}

function isWrite(action: AppliedDocument['action']): boolean {
  return action === 'created' || action === 'updated';
}

type Listing = Pick<AppliedDocument, 'changes' | 'warnings'>;

/** Returns what the listings of servers found, or why they failed, by server. */
async function listTools({ refresh }: ApplyDeps, servers: readonly string[]): Promise<ReadonlyMap<string, Listing>> {
  const fewAtOnce = createConcurrencyLimit(maxRefreshesAtOnce);
  const list = async (server: string): Promise<[string, Listing]> => [
    server,
    await fewAtOnce(() => refresh(server)).then(
      (report) => (report === null ? {} : reported(report)),
      (error: unknown) => ({
        warnings: [{ path: '', message: `The server is stored, but its tools could not be listed: ${reasonOf(error)}` }],
      }),
    ),
  ];
  return new Map(await Promise.all(servers.map(list)));
}

function reasonOf(error: unknown): string {
  return error instanceof Problem ? error.detail : 'internal error; see the server log.';
}

function reported({ added, removed, updated, warnings }: ListingReport): Listing {
  const changes = [
    ...added.map((name) => ({ path: `tools.${name}`, after: '"listed"' })),
    ...removed.map((name) => ({ path: `tools.${name}`, before: '"listed"' })),
    ...updated.map((name) => ({ path: `tools.${name}` })),
  ];
  return { changes: boundedChanges(changes), warnings };
}

/** Adds what a plan changes in the tools of servers that were there, and what listing them reports, as far as the project says it. */
async function plannedTools(
  { catalog, listGiven }: ApplyDeps,
  documents: readonly AppliedDocument[],
  servers: NonNullable<Project['servers']>,
): Promise<AppliedDocument[]> {
  const plan = async (name: string, server: NonNullable<Project['servers']>[string], isNew: boolean): Promise<Listing> => {
    const isHeld = server.updates === 'review' ? ' Those that change are held, since `updates` is "review".' : '';
    if (server.kind !== 'openapi' || server.document === undefined)
      return isNew ? {} : { warnings: [{ path: '', message: `Its tools are listed when this is applied.${isHeld}` }] };
    try {
      // Hidden values of the document are not used to read its operations.
      const { tools, warnings: reported } = await listGiven(name, server as CompleteServer);
      // What a new server lists is no change.
      if (isNew) return { warnings: reported };
      const after = comparedTools(tools);
      const before = comparedTools(await readAllPages((page) => catalog.serverTools(name, page)));
      const warnings = isHeld === '' ? reported : [...reported, { path: 'tools', message: isHeld.trim() }];
      return { changes: documentChanges({ tools: before }, { tools: after }), warnings };
    } catch (error) {
      return { warnings: [{ path: 'document', message: `Its tools could not be listed: ${reasonOf(error)}` }] };
    }
  };
  const fewAtOnce = createConcurrencyLimit(maxRefreshesAtOnce);
  let room = limits.maxPlanChanges;
  return await Promise.all(
    documents.map(async (document) => {
      const server = document.kind === 'server' && isWrite(document.action) ? servers[document.name] : undefined;
      if (server === undefined || server.kind === 'static') return document;
      const planned = await fewAtOnce(() => plan(document.name, server, document.action === 'created'));
      room -= planned.changes?.length ?? 0;
      return added(document, room < 0 ? { ...planned, changes: [{ path: '…' }] } : planned);
    }),
  );
}

/** Writes everything again, now that the tools are known. What was written before is unchanged. */
async function completed(deps: ApplyDeps, request: ApplyRequest, before: readonly AppliedDocument[]): Promise<AppliedDocument[]> {
  const { plan: _plan, prune: _prune, ends: _ends, ...rest } = request;
  const writes = request.writes.map(({ options: _options, awaitsTools: _awaits, ...write }) => ({ ...write, mayFail: true as const }));
  const { documents } = await deps.projects.applyDocuments({ ...rest, writes });
  const keyOf = ({ kind, name }: AppliedDocument): string => `${kind} ${name}`;
  const again = new Map(documents.map((document) => [keyOf(document), document]));
  return before.map((document): AppliedDocument => {
    const second = again.get(keyOf(document));
    if (second === undefined) return document;
    if (document.action === 'deferred' || isWrite(second.action))
      return isWrite(document.action) ? { ...second, action: document.action } : second;
    const { warnings: _warnings, ...rest } = document;
    return {
      ...{ ...rest, keptParts: joined(second.keptParts, rest.keptParts), skippedParts: joined(second.skippedParts, rest.skippedParts) },
      ...(second.warnings !== undefined && { warnings: second.warnings }),
    };
  });
}

/** Those of the second write, and what only the first one reports. */
function joined(second: readonly DocumentPart[] = [], first: readonly DocumentPart[] = []): DocumentPart[] {
  const paths = new Set(second.map(({ path }) => path));
  return [...second, ...first.filter(({ path }) => !paths.has(path))];
}

function withListing(document: AppliedDocument, listings: ReadonlyMap<string, Listing>): AppliedDocument {
  const listing = document.kind === 'server' ? listings.get(document.name) : undefined;
  if (listing === undefined) return document;
  // What a new server lists is no change.
  return added(document, document.action === 'updated' ? listing : { ...listing, changes: [] });
}

function added(document: AppliedDocument, { changes = [], warnings = [] }: Listing): AppliedDocument {
  return {
    ...document,
    ...(changes.length > 0 && { changes: [...(document.changes ?? []), ...changes] }),
    ...(warnings.length > 0 && { warnings: [...(document.warnings ?? []), ...warnings] }),
  };
}
