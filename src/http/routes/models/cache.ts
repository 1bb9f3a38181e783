/** `/v1/cache`: the stored replies of models (`engine/proxy/reply-cache.ts`) and results of tools (`engine/call/stored-result.ts`), which are only erased here. */
import * as z from 'zod';
import { ToolsetName } from '../../../core/toolset/toolset.ts';
import { defineRoute } from '../../route.ts';

const ErasedCache = z
  .object({
    erased: z.int().meta({ description: 'Replies and results that were erased now.' }),
    isDone: z
      .boolean()
      .meta({ description: 'false: some are left. They are not used any more; repeat the request to erase them, or let them expire.' }),
  })
  .meta({ id: 'ErasedCache', example: { erased: 12, isDone: true } });

export const cacheRoutes = [
  defineRoute(
    {
      method: 'delete',
      path: '/v1/cache',
      operationId: 'eraseCache',
      tag: 'Providers',
      scopes: ['admin'],
      workspace: 'Cached replies and results',
      summary: 'Erase cached replies and stored results of tools',
      description:
        'Without parameters all of the workspace. Another location may use one for up to 90 seconds more. The audit has an entry for each request.',
      query: z.strictObject({
        key: z.string().min(1).max(64).optional().meta({ description: 'Id of a key: replies and results that it got.' }),
        toolset: ToolsetName.optional().meta({ description: 'Name of a toolset: results of its tools, for all keys.' }),
      }),
      answers: { 200: { description: 'What was erased.', schema: ErasedCache } },
    },
    async ({ answer, services, principal, query }) => {
      const { key, toolset } = query;
      const named = [...(key === undefined ? [] : [`key/${key}`]), ...(toolset === undefined ? [] : [`toolset/${toolset}`])];
      await services.catalog(principal).recordErasure(named.length === 0 ? 'all' : named.join(' '));
      const cached = await services.cachedReplies();
      return answer(200, await cached.erase(principal.workspace, query));
    },
  ),
];
