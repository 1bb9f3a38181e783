/** `/v1/cache`: the stored replies of models (`engine/proxy/reply-cache.ts`), which are only erased here. */
import * as z from 'zod';
import { defineRoute } from '../../route.ts';

const ErasedReplies = z
  .object({
    erased: z.int().meta({ description: 'Replies that were erased now.' }),
    isDone: z
      .boolean()
      .meta({ description: 'false: some are left. They are not used any more; repeat the request to erase them, or let them expire.' }),
  })
  .meta({ id: 'ErasedReplies', example: { erased: 12, isDone: true } });

export const cacheRoutes = [
  defineRoute(
    {
      method: 'delete',
      path: '/v1/cache',
      operationId: 'eraseCache',
      tag: 'Providers',
      scopes: ['admin'],
      workspace: 'Cached replies',
      summary: 'Erase cached replies',
      description: 'Of the workspace, or those that one key got. Another location may use a reply for up to 90 seconds more.',
      query: z.strictObject({ key: z.string().min(1).max(64).optional().meta({ description: 'Id of the key.' }) }),
      answers: { 200: { description: 'What was erased.', schema: ErasedReplies } },
    },
    async ({ answer, services, principal, query }) => {
      const replies = await services.cachedReplies();
      return answer(200, await replies.erase(principal.workspace, query.key));
    },
  ),
];
