/** `GET /v1/export`: the documents of the workspace as a project file, without the values of secrets; and the JSON Schema of such files. */
import * as z from 'zod';
import { isAllowed } from '../../../core/people/authority.ts';
import { Project, projectJsonSchema } from '../../../core/project/project.ts';
import { exportProject } from './project-export.ts';
import { definePublicRoute, defineRoute } from '../../route.ts';

export const exportRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/v1/export',
      operationId: 'exportProject',
      tag: 'Projects',
      scopes: ['admin'],
      workspace: 'Projects',
      summary: 'Export all documents',
      description:
        'A project file, which `POST /v1/import` and `moniker apply` read. Variables such as `TOKEN` stand for the values of secrets, and `SERVER_FILES_SEED_PHRASE` for values that GET hides. Keys, sessions, private tools and sign-ins are not part of it; the settings of the workspace are, for the root key.',
      query: z.strictObject({ format: z.enum(['json', 'yaml']).default('json') }),
      answers: {
        200: { description: 'The project.', schema: Project, also: 'application/yaml', headers: { 'content-disposition': 'A file name.' } },
      },
    },
    async ({ c, services, principal, query, answer }) => {
      const project = await exportProject(services.catalog(principal), {
        withSettings: isAllowed(principal, { act: 'manage-workspaces', keyId: principal.keyId }),
      });
      if (query.format === 'json') return answer(200, project);
      // Loaded on demand: few requests write YAML.
      const { writeYaml } = await import('../../../formats/write-yaml.ts');
      return c.body(writeYaml(project), 200, {
        'content-type': 'application/yaml; charset=utf-8',
        'content-disposition': 'attachment; filename="moniker.yaml"',
      });
    },
  ),

  definePublicRoute(
    {
      path: '/moniker.schema.json',
      operationId: 'getProjectSchema',
      tag: 'Projects',
      summary: 'The JSON Schema of project files',
      description: 'For editors: name this URL in `$schema` of a `moniker.json`, or in a comment `# yaml-language-server: $schema=…`.',
      answers: { 200: { description: 'JSON Schema, draft 2020-12.', schema: z.looseObject({}), contentType: 'application/schema+json' } },
    },
    () => {
      schemaText ??= JSON.stringify(projectJsonSchema());
      return new Response(schemaText, { headers: { 'content-type': 'application/schema+json', 'cache-control': 'no-cache' } });
    },
  ),
];

/** Generated on first use: it takes milliseconds that other requests should not pay. */
let schemaText: string | undefined;
