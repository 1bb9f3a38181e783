/**
 * Applies a project to the workspace. All documents are written in one transaction. Then the servers that were written list their tools, and
 * the documents that wait for these tools are written; one that still cannot be written is skipped, and written by the next call.
 */
import type { Principal } from '../../core/people/principal.ts';
import { Problem } from '../../core/problem.ts';
import type { Project } from '../../core/project/project.ts';
import type { AppliedDocument, ApplyRequest, ApplyResult, Projects } from '../../ports/projects.ts';
import { createConcurrencyLimit } from '../concurrency-limit.ts';
import { type ProjectDeps, projectWrites } from './project-writes.ts';

export type ApplyDeps = ProjectDeps & {
  projects: Projects;
  /** Lists the tools of a server; resolves to null if it was not read. Throws `Problem`. */
  refresh(server: string): Promise<unknown>;
};

export type ApplyOptions = Omit<ApplyRequest, 'writes'> & { unset?: ReadonlySet<string> };

/** Servers that are listed at the same time. */
const maxRefreshesAtOnce = 6;

/** `forbidden`, `invalid_request`, …: nothing was written. */
export async function applyProject(deps: ApplyDeps, principal: Principal, project: Project, options: ApplyOptions): Promise<ApplyResult> {
  const { unset = new Set<string>(), ...request } = options;
  const writes = await projectWrites(deps, principal, project, { unset, mayRunCommands: request.mayRunCommands === true });
  const applied = await deps.projects.applyDocuments({ ...request, writes });
  if (request.dryRun === true) return applied;
  const written = new Set(applied.documents.flatMap(({ kind, name, action }) => (kind === 'server' && isWrite(action) ? [name] : [])));
  const isDeferred = applied.documents.some(({ action }) => action === 'deferred');
  const listed = Object.entries(project.servers ?? {}).flatMap(([name, { kind }]) =>
    kind !== 'static' && (written.has(name) || isDeferred) ? [name] : [],
  );
  const reasons = await listTools(deps, listed);
  const documents = isDeferred ? await completed(deps, { ...request, writes }, applied.documents) : applied.documents;
  return { ...applied, documents: documents.map((document) => withReason(document, reasons)) };
}

function isWrite(action: AppliedDocument['action']): boolean {
  return action === 'created' || action === 'updated';
}

/** Returns why servers could not be listed, by server. */
async function listTools({ refresh }: ApplyDeps, servers: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const reasons = new Map<string, string>();
  const fewAtOnce = createConcurrencyLimit(maxRefreshesAtOnce);
  const list = (server: string): Promise<unknown> =>
    fewAtOnce(() => refresh(server)).catch((error: unknown) => {
      reasons.set(server, error instanceof Problem ? error.detail : 'internal error; see the server log.');
    });
  await Promise.all(servers.map(list));
  return reasons;
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
    return { ...rest, ...(second.warnings !== undefined && { warnings: second.warnings }) };
  });
}

function withReason(document: AppliedDocument, reasons: ReadonlyMap<string, string>): AppliedDocument {
  const reason = document.kind === 'server' ? reasons.get(document.name) : undefined;
  if (reason === undefined) return document;
  const warning = { path: '', message: `The server is stored, but its tools could not be listed: ${reason}` };
  return { ...document, warnings: [...(document.warnings ?? []), warning] };
}
