/** What depends on a toolset. `toolset-use.ts` calls its tools. */
import { ToolsetUses } from '../../../core/toolset/toolset-uses.ts';
import { defineRoute } from '../../route.ts';
import { ofToolset } from './toolset-names.ts';

export const toolsetUsesRoutes = [
  defineRoute(
    {
      ...ofToolset,
      method: 'get',
      path: '/v1/toolsets/{toolset}/uses',
      operationId: 'listToolsetUses',
      scopes: ['admin'],
      workspace: 'Uses of toolsets',
      summary: 'List what uses a toolset',
      description:
        'Agents that have the toolset, webhooks and schedules that run them, keys that are bound to it or to them, and keys that have equipped it. Also of a deleted toolset that something still names.',
      answers: { 200: { description: 'At most 200 of each kind, by name.', schema: ToolsetUses } },
    },
    async ({ answer, services, principal, params }) => answer(200, await services.catalog(principal).toolsetUses(params.toolset)),
  ),
];
