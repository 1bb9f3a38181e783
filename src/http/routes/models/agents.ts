/** `/v1/agents`: a model, instructions and a toolset under one name. Chat clients use an agent as the model `agent/<name>`. */
import * as z from 'zod';
import { Agent, ResourceName } from '../../../core/turn/agent.ts';
import { requireAllowed, type AgentTools } from '../../../core/people/authority.ts';
import { nullIfNotFound, Warning } from '../../../core/problem.ts';
import { checkAgent } from '../../../engine/configuration/write-toolset.ts';
import { readableAgents } from '../../../engine/configuration/readable.ts';
import { documentRoutes } from '../../document-routes.ts';
import type { Principal } from '../../../core/people/principal.ts';
import type { CatalogPort, StoredDocument } from '../../../ports/catalog.ts';

const AgentView = z.object({ ...Agent.shape, name: ResourceName }).meta({ id: 'AgentView' });
const warnings = z.array(Warning).optional();
/** The output of GET can be written unchanged. */
export const WrittenAgent = Agent.extend({ warnings: warnings.meta({ description: 'As shown by GET; ignored on writes.' }) }).meta({
  id: 'AgentToWrite',
  example: Agent.meta()?.example,
});

export const agentRoutes = [
  ...documentRoutes({
    kind: 'agent',
    noun: 'agent',
    tag: 'Agents',
    scopes: ['toolsets'],
    name: ResourceName.meta({ example: 'demo' }),
    body: WrittenAgent,
    view: AgentView,
    warnings: warnings.meta({
      description: 'Problems in the current workspace, such as names that match no tool or a missing toolset. Absent: none.',
    }),
    storesName: true,
    check: (catalog, principal, name, document, options) => checkAgent(catalog, principal, name, document as Agent, options),
    hasVersions: true,
    reading: { get: readAgent, list: readableAgents },
  }),
];

async function readAgent(catalog: CatalogPort, principal: Principal, name: string): Promise<StoredDocument> {
  requireAllowed(principal, { act: 'use-agent', agent: name });
  const document = await nullIfNotFound(catalog.get('agent', name));
  // Agent bodies were parsed by the schema when they were written.
  requireAllowed(principal, { act: 'read-agent', name, agent: (document?.body as AgentTools | undefined) ?? null });
  return document ?? (await catalog.get('agent', name));
}
