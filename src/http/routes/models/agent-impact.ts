/** `/v1/agents/{agent}/impact`: what a draft of an agent would have done to the calls of its past turns. Nothing is stored. */
import * as z from 'zod';
import { nullIfNotFound } from '../../../core/problem.ts';
import { Agent, ResourceName } from '../../../core/turn/agent.ts';
import { agentImpact } from '../../../engine/configuration/agent-impact.ts';
import { requireSameName } from '../../conditions.ts';
import { ArgumentImpactView, ChangedNameView, callCount, pastCallsOf, pastCallsQuery, pastRange } from '../../past-calls.ts';
import { WrittenAgent } from './agents.ts';
import { defineRoute } from '../../route.ts';

const AgentImpact = z
  .object({
    agent: ResourceName,
    ...pastRange,
    same: z.object({ names: callCount, calls: callCount }).meta({ description: 'Names that lead where they led.' }),
    changed: z.array(ChangedNameView).meta({ description: 'The most called first.' }),
    unjudged: callCount.meta({ description: 'Calls whose names were not kept, since a day had too many, or before names were counted.' }),
    elsewhere: callCount.meta({
      description: 'Calls of turns that named another toolset than that of the stored agent. They are not compared.',
    }),
    arguments: ArgumentImpactView,
    mends: z
      .array(z.object({ requested: z.string(), tool: z.string() }))
      .meta({ description: 'Tools that keep a name working, once they are in `tools` of the draft. Each was tried.' }),
    mended: Agent.nullable().meta({ description: 'The draft with these tools. null: no fix is known.' }),
    nextCursor: z.string().nullable().meta({ description: 'More names follow; a name may be on two pages.' }),
  })
  .meta({ id: 'AgentImpact' });

export const agentImpactRoutes = [
  defineRoute(
    {
      tag: 'Agents',
      method: 'post',
      path: '/v1/agents/{agent}/impact',
      storesNothing: true,
      operationId: 'getAgentImpact',
      scopes: ['toolsets'],
      workspace: 'Agents',
      summary: 'Compare a draft of an agent with past calls',
      description:
        'Resolves every name that turns of the agent called in the last days as a turn of the stored agent and one of the draft would: with their toolset, `tools`, skills, made tools and code mode. Nothing is stored, and no model is called. For a key that sees only its own usage, only its own calls count.',
      params: z.object({ agent: ResourceName.meta({ example: 'demo' }) }),
      query: pastCallsQuery,
      body: WrittenAgent,
      answers: { 200: { description: 'What would change.', schema: AgentImpact } },
      problems: ['conflict'],
    },
    async ({ answer, services, principal, params: { agent: name }, query: { days, cursor }, body: { warnings: _warnings, ...draft } }) => {
      requireSameName(name, draft);
      const stored = await nullIfNotFound(services.catalog(principal).get('agent', name));
      const { range, key } = pastCallsOf(principal, services, days);
      const { usage, sessions, directory, settings } = services;
      const asked = { workspace: principal.workspace, agent: name, ...range, key, cursor };
      const deps = { usage, sessions, directory, aliases: settings.aliases };
      // Agent bodies were parsed by the schema when they were written.
      const impact = await agentImpact(deps, principal, asked, (stored?.body as Agent | undefined) ?? null, draft);
      return answer(200, { agent: name, ...range, ...impact });
    },
  ),
];
