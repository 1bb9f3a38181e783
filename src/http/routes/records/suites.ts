/** `/v1/suites`: which recorded work replays compare, and the facts that must hold. */
import * as z from 'zod';
import { SelectedCase, Suite } from '../../../core/replay/suite.ts';
import { ResourceName } from '../../../core/turn/agent.ts';
import { selectCases } from '../../../engine/replay/select-cases.ts';
import { storedBody } from '../../conditions.ts';
import { documentRoutes } from '../../document-routes.ts';
import { PageQuery, pageOf } from '../../paging.ts';
import { defineRoute } from '../../route.ts';

const SuiteView = z.object({ ...Suite.shape, name: ResourceName }).meta({ id: 'SuiteView' });
const access = { tag: 'Suites', scopes: ['toolsets'] } as const;

export const suiteRoutes = [
  ...documentRoutes({
    ...{ kind: 'suite', noun: 'suite', ...access },
    words: { one: 'suite', many: 'suites', path: 'suites', id: 'Suite', ids: 'Suites' },
    name: ResourceName.meta({ example: 'support' }),
    body: Suite,
    view: SuiteView,
    storesName: true,
    hasVersions: true,
  }),

  defineRoute(
    {
      ...access,
      workspace: 'Suites',
      method: 'get',
      path: '/v1/suites/{suite}/cases',
      operationId: 'listSuiteCases',
      summary: 'List what a replay of a suite would replay',
      description:
        'Selects as a replay does when it starts, and runs nothing. A page reads a limited part of the request log and a limited number of sessions: it can be short or empty while `nextCursor` is set. A key without the scope `admin` gets only its own work.',
      params: z.object({ suite: ResourceName.meta({ example: 'support' }) }),
      query: PageQuery,
      answers: {
        200: {
          description: 'A page of cases.',
          schema: pageOf(SelectedCase).extend({
            left: z.int().nonnegative().meta({
              description:
                'What matched and is on no page so far: it is beyond the limit of the suite, of which at most 1,000 are counted, or its session could not be read. On the last page, of all.',
            }),
          }),
        },
      },
      problems: ['not_found'],
    },
    async ({ answer, services, principal, params: { suite }, query: { cursor, limit } }) => {
      const document = await services.catalog(principal).get('suite', suite);
      const page = { limit, now: services.clock.now(), ...(cursor !== undefined && { cursor }) };
      const { cases, ...rest } = await selectCases(services, principal, storedBody<Suite>(document), page);
      return answer(200, { items: cases, ...rest });
    },
  ),
];
