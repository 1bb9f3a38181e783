/** `/v1/projects`: documents that a project file owns. `POST /v1/import` writes documents without owning them. */
import * as z from 'zod';
import { ResourceName } from '../../../core/turn/agent.ts';
import { limits } from '../../../core/limits/limits.ts';
import { invalidRequest, Problem, quoted } from '../../../core/problem.ts';
import { Project, readProject } from '../../../core/project/project.ts';
import { documentPath } from '../../../core/project/project-sections.ts';
import type { ApplyDeps } from '../../../engine/project/apply-project.ts';
import type { Principal } from '../../../core/people/principal.ts';
import type { ProjectRecord } from '../../../ports/projects.ts';
import { commandPermission } from '../../launcher-proof.ts';
import type { AppContext } from '../../middleware/request-context.ts';
import { dryRunQuery, projectReport, toReport } from './project-report.ts';
import { defineRoute } from '../../route.ts';
import type { HttpServices } from '../../services.ts';

const path = '/v1/projects/{project}';
const common = { tag: 'Projects', scopes: ['admin'], workspace: 'Projects' } as const;
const params = z.object({ project: ResourceName.meta({ example: 'site' }) });
const force = z
  .enum(['true', 'false'])
  .default('false')
  .meta({ description: '`true`: also replaces and removes documents that others wrote or changed since.' });
const planHeaders = { etag: 'Identifies the plan: what the request does to which versions.' };
const planCondition = { 'if-match': 'The `ETag` of a dry run. If the request would do something else by now: 412.' };

const ProjectView = z
  .object({
    name: ResourceName,
    updatedAt: z.iso.datetime(),
    documents: z.array(
      z.object({
        name: z.string().meta({ example: 'servers.github' }),
        state: z.enum(['current', 'changed', 'missing']).meta({ description: 'Whether it is still as the project wrote it.' }),
        created: z.boolean().meta({ description: 'The project created it, and may remove it.' }),
      }),
    ),
  })
  .meta({ id: 'ProjectView' });
const ProjectReport = z.object({ project: ResourceName, ...projectReport }).meta({ id: 'ProjectReport' });

export const projectRoutes = [
  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/projects',
      operationId: 'listProjects',
      summary: 'List projects',
      answers: {
        200: {
          description: 'All projects.',
          schema: z.object({ items: z.array(ProjectView), nextCursor: z.null() }).meta({ id: 'ProjectPage' }),
        },
      },
    },
    async ({ services, principal, answer }) => {
      const projects = await services.projects(principal).projects();
      return answer(200, { items: projects.map(toView), nextCursor: null });
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'get',
      path,
      operationId: 'getProject',
      summary: 'Read what a project owns',
      params,
      answers: { 200: { description: 'The project.', schema: ProjectView } },
    },
    async ({ services, principal, params, answer }) => answer(200, toView(await requireProject(services, principal, params.project))),
  ),

  defineRoute(
    {
      ...common,
      method: 'put',
      path,
      operationId: 'putProject',
      summary: 'Apply a project',
      description:
        'Checks all documents, then writes them in one transaction: all or none. Afterwards its servers list their tools, and toolsets that need these tools are written; one that still cannot be written is `skipped`, and written when the project is applied again. Documents that others wrote or changed since are `kept`. `moniker apply` sends this request.',
      params,
      query: z.strictObject({
        dryRun: dryRunQuery,
        force,
        prune: z
          .enum(['true', 'false'])
          .default('false')
          .meta({ description: '`true`: removes documents that the project created and no longer has.' }),
        mend: z.enum(['true', 'false']).default('false').meta({
          description:
            '`true`: changed toolsets get deprecated aliases for the names and arguments of the last 30 days that they would lose, as `impact` of the plan counts them.',
        }),
      }),
      headers: planCondition,
      body: { documented: Project, maxBytes: limits.maxLargeBodyBytes },
      answers: { 200: { description: 'What was done, or the plan.', schema: ProjectReport, headers: planHeaders } },
      problems: ['precondition_failed', 'conflict', 'name_conflict'],
    },
    async ({ c, services, principal, params, query, body, answer }) => {
      const { project, unset, warnings } = readProject(body);
      const { applyProject } = await import('../../../engine/project/apply-project.ts');
      const result = await applyProject(applyDeps(services, principal), principal, project, {
        ...{ project: params.project, unset, ...planOf(c), ...commandPermission(c, services.settings) },
        ...{ dryRun: query.dryRun === 'true', force: query.force === 'true', prune: query.prune === 'true' },
        ...(query.mend === 'true' && { mend: true }),
      });
      const report = toReport(result);
      const shown = { project: params.project, ...report, warnings: [...warnings, ...report.warnings] };
      return answer(200, shown, { etag: `"${result.plan}"` });
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'delete',
      path,
      operationId: 'deleteProject',
      summary: 'Forget a project',
      description: 'Its documents stay, and belong to no project, unless `documents=true`.',
      params,
      query: z.strictObject({
        dryRun: dryRunQuery,
        force,
        documents: z
          .enum(['true', 'false'])
          .default('false')
          .meta({ description: '`true`: removes the documents that the project created.' }),
      }),
      headers: planCondition,
      answers: { 200: { description: 'What was done, or the plan.', schema: ProjectReport, headers: planHeaders } },
      problems: ['precondition_failed'],
    },
    async ({ c, services, principal, params, query, answer }) => {
      await requireProject(services, principal, params.project);
      const result = await services.projects(principal).applyDocuments({
        ...{ project: params.project, writes: [], ends: true, ...planOf(c) },
        ...{ dryRun: query.dryRun === 'true', force: query.force === 'true', prune: query.documents === 'true' },
      });
      return answer(200, { project: params.project, ...toReport(result) }, { etag: `"${result.plan}"` });
    },
  ),
];

export function applyDeps(services: HttpServices, principal: Principal): ApplyDeps {
  const servers = services.servers(principal.workspace);
  return {
    catalog: services.catalog(principal),
    projects: services.projects(principal),
    sandbox: services.sandbox,
    refresh: (server) => servers.refresh(server, 'asked', { isNew: true }),
    listGiven: (name, document) => servers.listGiven(name, document),
    impact: { ...services, aliases: services.settings.aliases, now: () => services.clock.now() },
  };
}

async function requireProject(services: HttpServices, principal: Principal, name: string): Promise<ProjectRecord> {
  const found = (await services.projects(principal).projects()).find((project) => project.name === name);
  if (found === undefined) throw new Problem('not_found', `There is no project ${quoted(name)}.`);
  return found;
}

/** The plan of If-Match. */
function planOf(c: AppContext): { plan?: string } {
  const given = c.req.header('if-match')?.trim();
  if (given === undefined) return {};
  const plan = /^"?([0-9a-f]{32})"?$/.exec(given)?.[1];
  if (plan === undefined) throw invalidRequest([{ path: 'if-match', message: 'must be the ETag of a dry run' }]);
  return { plan };
}

function toView({ documents, ...project }: ProjectRecord): z.input<typeof ProjectView> {
  return { ...project, documents: documents.map(({ kind, name, ...state }) => ({ name: documentPath(kind, name), ...state })) };
}
