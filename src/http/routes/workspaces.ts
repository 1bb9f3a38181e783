/** `/v1/workspaces`: the settings of a workspace, for the root key. There is one workspace, `default`. */
import { z } from 'zod';
import type { Principal } from '../../core/principal.ts';
import { nullIfNotFound, Problem, quoted } from '../../core/problem.ts';
import { Warning } from '../../core/warning.ts';
import { Workspace } from '../../core/workspace.ts';
import { workspaceDocument, type StoredDocument } from '../../ports/catalog.ts';
import {
  answerDocument,
  answerWrite,
  conditionHeaders,
  etag,
  etagHeader,
  readConditionHeaders,
  unchanged,
  writeConditions,
} from '../documents.ts';
import { patchBody, patchDocument, patchHeaders, patchedAnswer } from '../patch.ts';
import { defineRoute, type Route } from '../route.ts';

const path = '/v1/workspaces/{workspace}';
const tag = 'Workspaces';
const scopes = ['admin'] as const;
const rootOnly = true;
const params = z.object({ workspace: z.string().min(1).max(64).meta({ example: 'default' }) });

const WorkspaceView = Workspace.extend({
  name: z.string(),
  version: z.int().meta({ description: 'Counts the writes of the settings. 0: none; all settings have their defaults.' }),
}).meta({ id: 'WorkspaceView' });
const WrittenWorkspace = WorkspaceView.extend({
  warnings: z
    .array(Warning)
    .optional()
    .meta({ description: 'Toolsets that leave a name of `nameMap` out, or keep their previous names. Absent: none.' }),
}).meta({ id: 'WrittenWorkspace' });

export const workspaceRoutes: readonly Route[] = [
  defineRoute(
    {
      method: 'get',
      path: '/v1/workspaces',
      operationId: 'listWorkspaces',
      tag,
      scopes,
      rootOnly,
      summary: 'List workspaces',
      answers: {
        200: {
          description: 'All workspaces.',
          schema: z.object({ items: z.array(WorkspaceView), nextCursor: z.null() }).meta({ id: 'WorkspacePage' }),
        },
      },
    },
    async ({ services, principal, answer }) => {
      const document = await nullIfNotFound(services.catalog(principal).get('workspace', workspaceDocument));
      return answer(200, { items: [toView(principal, document)], nextCursor: null });
    },
  ),

  defineRoute(
    {
      method: 'get',
      path,
      operationId: 'getWorkspace',
      tag,
      scopes,
      rootOnly,
      summary: 'Read the settings of a workspace',
      params,
      headers: readConditionHeaders,
      answers: {
        200: {
          description: 'The settings with their defaults; without `etag` if none were written.',
          schema: WorkspaceView,
          headers: etagHeader,
        },
        304: unchanged,
      },
    },
    async ({ c, services, principal, params, answer }) => {
      requireOwnWorkspace(principal, params.workspace);
      const document = await nullIfNotFound(services.catalog(principal).get('workspace', workspaceDocument));
      const view = toView(principal, document);
      return document === null ? answer(200, view) : answerDocument({ c, answer }, document, view);
    },
  ),

  defineRoute(
    {
      method: 'put',
      path,
      operationId: 'putWorkspace',
      tag,
      scopes,
      rootOnly,
      summary: 'Write the settings of a workspace',
      description: 'A setting that is left out has its default. A change takes effect within a few seconds.',
      params,
      headers: conditionHeaders,
      body: { schema: Workspace },
      answers: {
        200: { description: 'Replaced or unchanged.', schema: WrittenWorkspace, headers: etagHeader },
        201: {
          description: 'Written for the first time.',
          schema: WrittenWorkspace,
          headers: { ...etagHeader, location: 'URL of the workspace.' },
        },
      },
      problems: ['precondition_failed'],
    },
    async ({ c, services, principal, params, body, answer }) => {
      requireOwnWorkspace(principal, params.workspace);
      const written = await services.catalog(principal).put('workspace', workspaceDocument, body, writeConditions(c));
      const { document, warnings } = written;
      const view = { ...toView(principal, document), ...(warnings.length > 0 && { warnings }) };
      return answerWrite(answer, written, `/v1/workspaces/${params.workspace}`, view);
    },
  ),

  defineRoute(
    {
      method: 'patch',
      path,
      operationId: 'patchWorkspace',
      tag,
      scopes,
      rootOnly,
      summary: 'Change settings of a workspace',
      description: 'A setting that is removed with `null` has its default again.',
      params,
      headers: patchHeaders,
      body: patchBody,
      answers: { 200: { description: patchedAnswer, schema: WrittenWorkspace, headers: etagHeader } },
      problems: ['precondition_failed'],
    },
    async ({ c, services, principal, params, body, answer }) => {
      requireOwnWorkspace(principal, params.workspace);
      const catalog = services.catalog(principal);
      const { document, warnings } = await patchDocument(body, writeConditions(c), {
        schema: Workspace,
        read: async () => (await nullIfNotFound(catalog.get('workspace', workspaceDocument))) ?? { body: {}, version: null },
        write: (patched, options) => catalog.put('workspace', workspaceDocument, patched, options),
      });
      const view = { ...toView(principal, document), ...(warnings.length > 0 && { warnings }) };
      return answer(200, view, { etag: etag(document.version) });
    },
  ),
];

function requireOwnWorkspace(principal: Principal, name: string): void {
  if (name !== principal.workspace) throw new Problem('not_found', `There is no workspace ${quoted(name)}.`);
}

function toView({ workspace }: Principal, document: StoredDocument | null): z.infer<typeof WorkspaceView> {
  return { ...Workspace.parse(document?.body ?? {}), name: workspace, version: document?.version ?? 0 };
}
