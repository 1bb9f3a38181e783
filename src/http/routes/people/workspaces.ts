/** `/v1/workspaces`: the workspaces of the installation and their settings, for the root key. */
import * as z from 'zod';
import type { Principal } from '../../../core/people/principal.ts';
import { invalidRequest, nullIfNotFound, Problem, quoted } from '../../../core/problem.ts';
import { nameMapIssues } from '../../../core/toolset/settle-names.ts';
import { defaultWorkspace, Workspace, WorkspaceName, WorkspaceStatus } from '../../../core/people/workspace.ts';
import { workspaceDocument, type StoredDocument } from '../../../ports/catalog.ts';
import type { WorkspaceRecord } from '../../../ports/workspaces.ts';
import { PageQuery, pageOf } from '../../paging.ts';
import { defineRoute } from '../../route.ts';
import type { HttpServices } from '../../services.ts';
import { optionalWarnings, shownIfAny, storedDocument } from '../../stored-document.ts';

const common = { tag: 'Workspaces', scopes: ['admin'], rootOnly: true } as const;
const path = '/v1/workspaces/{workspace}';
const params = z.object({ workspace: WorkspaceName });

const Deletion = z
  .object({
    startedAt: z.iso.datetime(),
    finishedAt: z.iso.datetime().optional().meta({ description: 'When nothing was left. Absent: the deletion is in progress.' }),
    left: z.record(z.string(), z.int()).meta({
      description: 'What is left, by kind, as far as it was counted: `sessions`, `objects` (other sessions and files) and `values` of KV.',
    }),
  })
  .meta({ id: 'WorkspaceDeletion' });

const WorkspaceView = Workspace.extend({
  name: z.string(),
  version: z.int().meta({ description: 'Counts the writes of the settings. 0: none; all settings have their defaults.' }),
  status: WorkspaceStatus.meta({
    description: '`deleting`: keys are refused, and the content is being erased. `deleted`: nothing is left; listed for 30 days.',
  }),
  createdAt: z.iso.datetime().nullable().meta({ description: 'null: the workspace `default`, which always exists.' }),
  deletion: Deletion.optional(),
}).meta({ id: 'WorkspaceView' });
const WrittenWorkspace = WorkspaceView.extend({
  warnings: optionalWarnings(
    'Toolsets that leave a name of `nameMap` out, or keep their previous names; a guard that cannot be reached, or whose secret does not exist. Absent: none.',
  ),
}).meta({ id: 'WrittenWorkspace' });

const settings = storedDocument({
  ...common,
  path,
  params,
  id: 'Workspace',
  one: 'workspace',
  at: ({ services, principal: { keyId }, params: { workspace } }) => ({
    catalog: services.catalog({ workspace, keyId }),
    kind: 'workspace',
    name: workspaceDocument,
  }),
});

export const workspaceRoutes = [
  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/workspaces',
      operationId: 'listWorkspaces',
      summary: 'List workspaces',
      query: PageQuery,
      answers: {
        200: {
          description: 'Workspaces, sorted by name.',
          schema: pageOf(WorkspaceView).meta({ id: 'WorkspacePage' }),
        },
      },
    },
    async ({ services, principal, query, answer }) => {
      const { items, nextCursor } = await services.workspaces(principal).workspaces(query);
      const views = await Promise.all(items.map(async (record) => toView(record, await readSettings(services, principal, record))));
      return answer(200, { items: views, nextCursor });
    },
  ),

  settings.read(
    {
      summary: 'Read the settings of a workspace',
      view: WorkspaceView,
      found: 'The settings with their defaults; without `etag` if none were written.',
    },
    async ({ services, principal, params }) => {
      const record = await services.workspaces(principal).workspace(params.workspace);
      const document = await readSettings(services, principal, record);
      return { document, view: toView(record, document) };
    },
  ),

  settings.put(
    {
      summary: 'Create a workspace, or write its settings',
      description:
        'Creates the workspace if it does not exist. A setting that is left out has its default; a change takes effect within a few seconds. The name of a deleted workspace can be used again.',
      body: Workspace,
      written: WrittenWorkspace,
      created: 'Created, or written for the first time.',
    },
    async ({ services, principal, params, body, options, place: { catalog, kind, name } }) => {
      const issues = nameMapIssues(body.settings.nameMap);
      if (issues.length > 0) throw invalidRequest(issues);
      if (options.ifMatch !== undefined) await services.workspaces(principal).workspace(params.workspace).catch(preconditionFailed);
      const { record, created } = await services.workspaces(principal).registerWorkspace(params.workspace);
      const written = await catalog.put(kind, name, body, options);
      const view = { ...toView(record, written.document), ...shownIfAny(written.warnings) };
      return { document: written.document, created: created || written.created, view };
    },
  ),

  settings.patch(
    {
      summary: 'Change settings of a workspace',
      description: 'A setting that is removed with `null` has its default again.',
      body: Workspace,
      written: WrittenWorkspace,
    },
    ({ services, principal, params, place: { catalog, kind, name } }) => {
      const active = services.workspaces(principal).workspace(params.workspace).then(requireActive);
      return {
        read: async () => {
          await active;
          return (await nullIfNotFound(catalog.get(kind, name))) ?? { body: {}, version: null };
        },
        write: async (patched, options) => {
          const { document, warnings } = await catalog.put(kind, name, patched, options);
          return { document, view: { ...toView(await active, document), ...shownIfAny(warnings) } };
        },
      };
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'delete',
      path,
      operationId: 'deleteWorkspace',
      summary: 'Delete a workspace with everything in it',
      description:
        'Its keys are refused within 30 seconds, and running turns end. Documents, sessions, files, deliveries, the audit, usage and logged bodies are erased in the background: read the workspace until its status is `deleted`. Cannot be undone. The workspace `default` cannot be deleted.',
      params,
      answers: { 202: { description: 'The deletion has begun, or was requested before.', schema: WorkspaceView } },
      problems: ['conflict'],
    },
    async ({ services, principal, params, answer }) => {
      const workspaces = services.workspaces(principal);
      const { name, status } = await workspaces.workspace(params.workspace);
      if (status === 'active' && name !== defaultWorkspace) {
        const { state } = await services.backups({ ...principal, workspace: name }).restoreState();
        if (state === 'clearing' || state === 'restoring')
          throw new Problem('conflict', 'A restore of this workspace is in progress. Give it up with DELETE /v1/restore first.');
      }
      const record = await workspaces.deleteWorkspace(name);
      return answer(202, toView(record, null));
    },
  ),
];

/** A workspace that does not exist has no version to match. */
function preconditionFailed(error: unknown): never {
  if (!(error instanceof Problem) || error.code !== 'not_found') throw error;
  throw new Problem('precondition_failed', 'The workspace does not exist. Leave If-Match out to create it.');
}

function requireActive(record: WorkspaceRecord): WorkspaceRecord {
  const { name, status } = record;
  if (status === 'active') return record;
  throw new Problem('conflict', `The workspace ${quoted(name)} is ${status === 'deleted' ? 'deleted' : 'being deleted'}.`);
}

/** Returns null if no settings were written, or the workspace is no longer there. */
async function readSettings(
  services: HttpServices,
  { keyId }: Principal,
  { name, status }: WorkspaceRecord,
): Promise<StoredDocument | null> {
  if (status !== 'active') return null;
  return await nullIfNotFound(services.catalog({ workspace: name, keyId }).get('workspace', workspaceDocument));
}

function toView({ name, status, createdAt, deletion }: WorkspaceRecord, document: StoredDocument | null): z.infer<typeof WorkspaceView> {
  return {
    ...{ ...Workspace.parse(document?.body ?? {}), name, version: document?.version ?? 0, status },
    createdAt: name === defaultWorkspace ? null : toTime(createdAt),
    ...(deletion !== undefined && {
      deletion: {
        startedAt: toTime(deletion.startedAt),
        ...(deletion.finishedAt !== null && { finishedAt: toTime(deletion.finishedAt) }),
        left: deletion.left,
      },
    }),
  };
}

function toTime(at: number): string {
  return new Date(at).toISOString();
}
