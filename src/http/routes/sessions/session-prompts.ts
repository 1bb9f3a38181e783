/** `/v1/sessions/{id}/prompts`: the prompts of MCP servers that a turn of the session can begin with. */
import * as z from 'zod';
import { SessionPrompt } from '../../../ports/session.ts';
import { defineRoute } from '../../route.ts';
import { sessionParams } from './sessions.ts';

export const sessionPromptRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/v1/sessions/{id}/prompts',
      operationId: 'listSessionPrompts',
      tag: 'Sessions',
      scopes: ['chat'],
      params: sessionParams,
      summary: 'List the prompts for a session',
      description:
        'The prompts of MCP servers that the toolset of the session offers, by the names of the toolset. A turn can begin with one (`prompt` of `POST /v1/sessions/{id}/turns`).',
      answers: { 200: { description: 'The prompts.', schema: z.object({ items: z.array(SessionPrompt) }).meta({ id: 'SessionPrompts' }) } },
    },
    async ({ services, principal, params, answer }) => {
      const session = services.sessions.get(params.id);
      const { agent, model, toolset } = await session.setup(principal);
      const plan = await services.planTurn(principal, { agent, model, toolset, callsOnly: true });
      return answer(200, { items: await services.prompts.list({ principal, plan }) });
    },
  ),
];
