/** `/v1/limits`: the limits of the workspace, its keys and agents, and what is used of them. */
import * as z from 'zod';
import { isAllowed } from '../../../core/people/authority.ts';
import { Scope } from '../../../core/people/principal.ts';
import { limitedHolders, limitHolders, type LimitName, usageLimits } from '../../../core/usage-limits.ts';
import type { Pools } from '../../../engine/fair-pool.ts';
import type { LimitUse } from '../../../ports/limiter.ts';
import { defineRoute } from '../../route.ts';

const names = Object.keys(usageLimits) as [LimitName, ...LimitName[]];

const LimitUseView = z
  .object({
    of: z.enum(limitHolders),
    name: z.string().meta({ description: 'The name of the workspace or agent, or the id of the key.' }),
    limit: z.enum(names),
    max: z.number(),
    used: z.number().meta({
      description: 'In the current minute, day or month (UTC), or now. Below the true value by what isolates have not reported yet.',
    }),
    resetsAt: z.iso.datetime().nullable().meta({ description: 'When the minute, day or month ends. null: the limit has no period.' }),
  })
  .meta({
    id: 'LimitUse',
    example: { of: 'key', name: 'k7pd2mxw4q9z', limit: 'dailyCost', max: 5, used: 1.25, resetsAt: '2026-01-02T00:00:00.000Z' },
  });

export const limitRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/v1/limits',
      operationId: 'listLimits',
      tag: 'Keys',
      scopes: Scope.options,
      summary: 'List limits and what is used of them',
      description:
        'Any key sees its own limits. Unbound keys with the scope `admin` see those of the workspace and of all its keys and agents.',
      query: z.strictObject({ of: z.enum(limitHolders).optional(), name: z.string().min(1).max(64).optional() }),
      answers: {
        200: {
          description: 'All limits that are set, of at most 500 keys and 500 agents.',
          schema: z.object({ items: z.array(LimitUseView) }).meta({ id: 'LimitList' }),
        },
      },
    },
    async ({ answer, services, principal, query }) => {
      const isAdministrator = isAllowed(principal, { act: 'read-usage', isOwn: false });
      const all = isAdministrator
        ? await services.catalog(principal).limitedHolders()
        : limitedHolders(principal).filter(({ of }) => of === 'key');
      const asked = all.filter(
        ({ of, name }) => (query.of === undefined || query.of === of) && (query.name === undefined || query.name === name),
      );
      const uses = await services.limiter.uses(principal.workspace, asked);
      const hasQuestions = uses.some(({ limit }) => limit === 'pendingQuestions');
      const questions = hasQuestions ? await services.catalog(principal).questionsByKey() : new Map<string, number>();
      const items = uses.map((use) => ({
        ...use,
        ...placesUsed(services.pools, principal.workspace, use),
        ...questionsOf(questions, use),
        resetsAt: use.resetsAt === null ? null : new Date(use.resetsAt).toISOString(),
      }));
      return answer(200, { items });
    },
  ),
];

function questionsOf(questions: ReadonlyMap<string, number>, { of, name, limit }: LimitUse): { used?: number } {
  if (limit !== 'pendingQuestions') return {};
  const ofWorkspace = [...questions.values()].reduce((sum, count) => sum + count, 0);
  return { used: of === 'key' ? (questions.get(name) ?? 0) : ofWorkspace };
}

/** Requests and streams are counted where they are. */
function placesUsed(pools: Pools, workspace: string, { of, name, limit }: LimitUse): { used?: number } {
  if (limit !== 'concurrentRequests' && limit !== 'openStreams') return {};
  const pool = limit === 'openStreams' ? pools.streams : pools.requests;
  return { used: pool.usedBy({ workspace, ...(of === 'key' && { keyId: name }) }) };
}
