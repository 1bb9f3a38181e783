/** `/v1/publications`: whether readers see the newest documents, for `moniker doctor`. */
import * as z from 'zod';
import { defineRoute } from '../../route.ts';

const PublicationCheck = z
  .object({
    checked: z.int().meta({ description: 'Number of documents whose copies were compared.' }),
    isPart: z.boolean().meta({ description: 'Whether the workspace has more.' }),
    waiting: z
      .array(z.object({ kind: z.string(), name: z.string(), attempts: z.int() }))
      .meta({ description: 'Copies that could not be written yet. They are retried.' }),
    different: z.array(z.object({ kind: z.string(), name: z.string(), published: z.int().nullable(), stored: z.int() })).meta({
      description: 'Copies of another version than the stored one; `published` is null without one. They are written again.',
    }),
  })
  .meta({ id: 'PublicationCheck', example: { checked: 12, isPart: false, waiting: [], different: [] } });

export const publicationRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/v1/publications',
      operationId: 'checkPublications',
      tag: 'Service',
      scopes: ['admin'],
      workspace: 'Published copies',
      summary: 'Check the published copies',
      description:
        'Compares the copies that requests read (KV) with the documents of the workspace, the 300 newest ones. A copy that differs is written again in the background.',
      answers: { 200: { description: 'What was found.', schema: PublicationCheck } },
    },
    async ({ answer, services, principal }) => answer(200, await services.catalog(principal).checkPublications()),
  ),
];
