/** `GET /v1/export`: the documents of the workspace as a project file, without the values of secrets. */
import { z } from 'zod';
import { Project } from '../../core/project/project.ts';
import { exportProject } from '../project-export.ts';
import { defineRoute, type Route } from '../route.ts';

export const exportRoutes: readonly Route[] = [
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
        'A project file, which `POST /v1/import` and `moniker apply` read. Variables such as `TOKEN` stand for the values of secrets. Keys, sessions, private tools and sign-ins are not part of it.',
      query: z.strictObject({ format: z.enum(['json', 'yaml']).default('json') }),
      answers: {
        200: { description: 'The project.', schema: Project, also: 'application/yaml', headers: { 'content-disposition': 'A file name.' } },
      },
    },
    async ({ c, services, principal, query, answer }) => {
      const project = await exportProject(services.catalog(principal));
      if (query.format === 'json') return answer(200, project);
      // Loaded on demand: few requests write YAML.
      const { writeYaml } = await import('../../platform/write-yaml.ts');
      return c.body(writeYaml(project), 200, {
        'content-type': 'application/yaml; charset=utf-8',
        'content-disposition': 'attachment; filename="moniker.yaml"',
      });
    },
  ),
];
